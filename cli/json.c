/* The object that --json prints. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

json_t *cli_json_real(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

json_t *cli_json_text(const char *text)
{
    if (!text)
        return json_null();
    json_t *string = json_string(text);
    char *copy = string ? NULL : malloc(2 * strlen(text) + 1), *out = copy;
    if (!copy)
        return string;
    for (; *text;
         text++) { /* one byte a character, so that no two texts become the same */
        const unsigned char c = (unsigned char)*text;
        if (c > 127)
            *out++ = (char)(0xc0 | c >> 6);
        *out++ = (char)(c > 127 ? 0x80 | (c & 0x3f) : c);
    }
    *out = '\0';
    string = json_string(copy);
    free(copy);
    return string;
}

json_t *cli_json_begin(const cli_args *args)
{
    json_t *o =
        json_pack("{s:s, s:s}", "command", args->command->name, "version", vem_version());
    if (!args->data)
        return o;
    const vem_header header = vem_data_header(args->data);
    const char decimal[2] = {vem_data_decimal(args->data)};
    json_object_set_new(o, "header",
                        header == VEM_HEADER_AUTO
                            ? json_null()
                            : json_boolean(header == VEM_HEADER_YES));
    json_object_set_new(o, "decimal", cli_json_text(*decimal ? decimal : NULL));
    json_object_set_new(o, "missing", json_integer(vem_data_missing(args->data)));
    json_object_set_new(o, "rows_read", json_integer(vem_data_rows_read(args->data)));
    return o;
}

/* Numbers as numbers, choices as words, what was left open as null. */
json_t *cli_json_options(const vem_options *options)
{
    json_t *object = json_object();
    for (int i = 0; i < vem_option_count(); i++) {
        const vem_option_info *info = vem_option_at(i);
        char text[128];
        if (!vem_options_get(options, info->name, text, sizeof text))
            continue;
        json_t *value;
        char *end;
        if (strcmp(text, "auto") == 0 && info->default_value == VEM_AUTO)
            value = json_null();
        else if (info->kind == VEM_KIND_CHOICE ||
                 (info->choices && (strtod(text, &end), *end))) /* a word */
            value = json_string(text);
        else if (info->kind == VEM_KIND_FLAG)
            value = json_boolean(strtol(text, NULL, 10) != 0);
        else if (info->kind == VEM_KIND_INT)
            value = json_integer((json_int_t)strtod(text, NULL));
        else
            value = cli_json_real(strtod(text, NULL));
        json_object_set_new(object, info->name, value);
    }
    return object;
}

int cli_json_print(json_t *object)
{
    cli_progress_end();
    const int failed = !object || json_dumpf(object, stdout,
                                             JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0;
    json_decref(object);
    if (failed) {
        cli_error("the result could not be written as JSON.");
        return CLI_FAILED;
    }
    putchar('\n');
    return CLI_DONE;
}

vem_status cli_json_into_model(const cli_args *args, json_t *meta, vem_model *model)
{
    char *text = json_dumps(meta, JSON_COMPACT | JSON_REAL_PRECISION(17));
    json_decref(meta);
    if (!text)
        return VEM_NO_MEMORY;
    const vem_status status = vem_model_set_meta(args->ctx, model, text);
    free(text);
    return status;
}
