/* Reading data: the format by the ending, then columns, then weights. */
#include "io/io.h"
#include "io/state_file.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/memory.h"
#include "base/plain.h"
#include "base/structs.h"
#include "data/missing.h"
#include "model/contract.h"
#include "model/model.h"

typedef enum format {
    FORMAT_NPY,
    FORMAT_TEXT,
    FORMAT_TSV,
    FORMAT_FVECS,
    FORMAT_BVECS,
    FORMAT_FBIN,
    FORMAT_U8BIN,
    FORMAT_I8BIN,
    FORMAT_MTX,
    FORMAT_SAFETENSORS,
    FORMAT_NPZ,
    FORMAT_UNKNOWN
} format;

static const struct {
    const char *ending;
    format kind;
} endings[] = {{".npy", FORMAT_NPY},     {".csv", FORMAT_TEXT},
               {".tsv", FORMAT_TSV},     {".txt", FORMAT_TEXT},
               {".fvecs", FORMAT_FVECS}, {".bvecs", FORMAT_BVECS},
               {".fbin", FORMAT_FBIN},   {".u8bin", FORMAT_U8BIN},
               {".i8bin", FORMAT_I8BIN}, {".mtx", FORMAT_MTX},
               {".npz", FORMAT_NPZ},     {".safetensors", FORMAT_SAFETENSORS}};

static int is_compressed(const char *path)
{
    return vem_i_path_ends(path, ".gz");
}

/* By the ending; that of DATA.csv.gz is .csv. */
static format find_format(const char *path)
{
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char compressed[16];
        snprintf(compressed, sizeof compressed, "%s.gz", endings[i].ending);
        if (vem_i_path_ends(path, endings[i].ending) ||
            (endings[i].kind != FORMAT_NPZ && vem_i_path_ends(path, compressed)))
            return endings[i].kind;
    }
    return FORMAT_UNKNOWN;
}

/* In FILE.mark:NAME, or FILE.mark, the length of FILE.mark; 0: it is no such name. */
static size_t name_behind(const char *path, const char *mark)
{
    const size_t length = strlen(mark);
    for (const char *p = path; *p; p++)
        if (vem_i_same_word(p, p + length, mark) && (p[length] == ':' || !p[length]))
            return (size_t)(p - path) + length;
    return 0;
}

/* In FILE.h5:/path, the length of FILE.h5; 0: it is no such name. */
static size_t hdf5_name(const char *path)
{
    const size_t length = name_behind(path, ".h5");
    return length ? length : name_behind(path, ".hdf5");
}

/* In FILE.safetensors:NAME, the length of FILE.safetensors; 0: no tensor is named. */
static size_t tensor_name(const char *path)
{
    static const char *const marks[] = {".safetensors", ".safetensors.gz"};
    for (int i = 0; i < 2; i++) {
        const size_t length = name_behind(path, marks[i]);
        if (path[length] == ':')
            return length;
    }
    return 0;
}

/* The bytes of a file that has a format, as they are when nothing is compressed. */
static vem_status open_file(vem_i_run *run, const char *path, vem_i_file *file)
{
    return is_compressed(path) ? vem_i_file_inflate(run, path, file)
                               : vem_i_file_open(run, path, file);
}

static vem_status file_of(vem_i_run *run, const char *path, size_t length, char **file)
{
    const vem_status status = vem_i_take(run, file, length + 1, 1);
    if (status == VEM_OK) {
        memcpy(*file, path, length);
        (*file)[length] = '\0';
    }
    return status;
}

static vem_status read_hdf5(vem_i_run *run, const char *path, size_t length,
                            vem_data *data)
{
    char *file = NULL;
    if (path[length] == '\0' || path[length + 1] == '\0')
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s may hold many arrays: say which one, as in FILE.h5:/path.",
                          path);
    vem_status status = file_of(run, path, length, &file);
    if (status == VEM_OK)
        status = vem_i_hdf5_read(run, file, path + length + 1, data);
    vem_i_free(file);
    return status;
}

/* Rows that lie in the bytes of a file keep it. */
static vem_status keep_file(vem_status status, vem_i_file *file, vem_data *data)
{
    if (status == VEM_OK && !data->owned && !data->mapping && !data->sparse.starts)
        vem_i_file_give(file, data);
    else
        vem_i_file_close(file);
    return status;
}

static vem_status read_tensor(vem_i_run *run, const char *path, size_t length,
                              vem_data *data)
{
    char *name = NULL;
    vem_i_file file;
    vem_status status = file_of(run, path, length, &name);
    if (status == VEM_OK)
        status = open_file(run, name, &file);
    if (status == VEM_OK)
        status = keep_file(vem_i_safetensors_parse(run, name, file.bytes, file.size,
                                                   path + length + 1, data),
                           &file, data);
    vem_i_free(name);
    return status;
}

vem_status vem_i_weights_take(vem_i_run *run, const char *source, const vem_data *from,
                              vem_data *data)
{
    double *weights;
    if (from->d != 1)
        return vem_i_fail(run, VEM_BAD_DATA,
                          "%s has %" PRId32 " columns, but weights have exactly 1.",
                          source, from->d);
    vem_status status = vem_i_take(run, &weights, (size_t)from->n, sizeof *weights);
    if (status != VEM_OK)
        return status;
    vem_i_data_load(from, 0, from->n, VEM_DOUBLE, weights, 1);
    status = vem_i_data_weigh(run, data, source, weights, from->n);
    vem_i_free(weights);
    return status;
}

static vem_status parse(vem_i_run *run, const char *path, format kind,
                        const vem_i_file *file, const vem_read_options *options,
                        vem_data *data)
{
    const char *bytes = file->bytes;
    const size_t size = file->size;
    switch (kind) {
    case FORMAT_NPY: return vem_i_npy_parse(run, path, bytes, size, data);
    case FORMAT_TEXT: return vem_i_csv_parse(run, path, bytes, size, 0, options, data);
    case FORMAT_TSV: return vem_i_csv_parse(run, path, bytes, size, '\t', options, data);
    case FORMAT_FVECS: return vem_i_vecs_parse(run, path, bytes, size, VEM_FLOAT32, data);
    case FORMAT_BVECS: return vem_i_vecs_parse(run, path, bytes, size, VEM_UINT8, data);
    case FORMAT_FBIN: return vem_i_bin_parse(run, path, bytes, size, VEM_FLOAT32, data);
    case FORMAT_U8BIN: return vem_i_bin_parse(run, path, bytes, size, VEM_UINT8, data);
    case FORMAT_I8BIN: return vem_i_bin_parse(run, path, bytes, size, VEM_INT8, data);
    case FORMAT_MTX: return vem_i_mtx_parse(run, path, bytes, size, data);
    case FORMAT_SAFETENSORS:
        return vem_i_safetensors_parse(run, path, bytes, size, NULL, data);
    case FORMAT_NPZ:
    case FORMAT_UNKNOWN: break;
    }
    return vem_i_fail(
        run, VEM_UNSUPPORTED,
        "%s has an ending that tells no format; vem reads .npy, .csv, .tsv, .txt, "
        ".fvecs, .bvecs, .fbin, .u8bin, .i8bin, .safetensors, .mtx, each also with .gz "
        "behind it, "
        "coresets and "
        "sparse matrices (.npz) and FILE.h5:/path.",
        path);
}

/* The bytes of a file, and what they are: once, since a pipe can be read once only. */
static vem_status open_bytes(vem_i_run *run, const char *path, vem_i_file *file,
                             format *kind)
{
    *kind = find_format(path);
    if (strcmp(path, "-") == 0) {
        *kind = FORMAT_TEXT;
        return vem_i_file_from_stdin(run, file);
    }
    const vem_status status = *kind != FORMAT_UNKNOWN ? open_file(run, path, file)
                                                      : vem_i_file_open(run, path, file);
    if (status == VEM_OK && *kind == FORMAT_UNKNOWN &&
        !(file->mapping && file->mapping->path))
        *kind = FORMAT_TEXT; /* a pipe has no ending */
    return status;
}

vem_status vem_i_text_open(vem_i_run *run, const char *path, vem_i_file *file,
                           char *separator, int *is_text)
{
    format kind = find_format(path);
    *is_text = 0;
    if (hdf5_name(path) || tensor_name(path) ||
        (kind != FORMAT_TEXT && kind != FORMAT_TSV && kind != FORMAT_UNKNOWN))
        return VEM_OK;
    const vem_status status = open_bytes(run, path, file, &kind);
    if (status != VEM_OK)
        return status;
    *is_text = kind == FORMAT_TEXT || kind == FORMAT_TSV;
    *separator = kind == FORMAT_TSV ? '\t' : '\0';
    if (!*is_text)
        vem_i_file_close(file);
    return VEM_OK;
}

static vem_status read_rows(vem_i_run *run, const char *path,
                            const vem_read_options *options, vem_data *data)
{
    vem_i_file file;
    format kind = find_format(path);
    const int from_stdin = strcmp(path, "-") == 0;
    const size_t hdf5 = hdf5_name(path);
    if (hdf5)
        return read_hdf5(run, path, hdf5, data);
    if (tensor_name(path))
        return read_tensor(run, path, tensor_name(path), data);
    if (kind == FORMAT_NPZ)
        return vem_i_coreset_read(run, path, data);
    vem_status status = open_bytes(run, path, &file, &kind);
    if (status != VEM_OK)
        return status;
    status = parse(run, from_stdin ? "Standard input" : path, kind, &file, options, data);
    return keep_file(status, &file, data);
}

/* What is known of the columns, of those that were chosen. */
static vem_status select_table(vem_i_run *run, const vem_i_columns *found, vem_data *data)
{
    const size_t count = (size_t)found->count;
    char **names = NULL;
    double *means = NULL;
    vem_i_names kept = vem_i_data_table(data), own;
    if (!found->chosen)
        return VEM_OK;
    vem_status status = vem_i_take(run, &names, count, sizeof *names);
    if (status == VEM_OK)
        status = vem_i_take(run, &means, count, sizeof *means);
    for (size_t j = 0; status == VEM_OK && j < count; j++) {
        if (data->names)
            names[j] = data->names[found->chosen[j]];
        if (data->means)
            means[j] = data->means[found->chosen[j]];
    }
    kept.count = found->count;
    kept.columns = data->names ? names : NULL;
    kept.means = data->means ? means : NULL;
    if (status == VEM_OK)
        status = vem_i_names_copy(run, &kept, &own);
    if (status == VEM_OK)
        vem_i_data_take_table(data, &own);
    vem_i_free(names);
    vem_i_free(means);
    return status;
}

static vem_status select_columns(vem_i_run *run, const char *path,
                                 const vem_read_options *options, vem_data *data)
{
    if (strcmp(data->format, "csv") == 0)
        return VEM_OK; /* done while parsing, so that text can be skipped */
    vem_i_columns found;
    vem_i_names table;
    if (data->sparse.starts && (options->columns || options->id))
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "%s is sparse, and its columns are taken as they are: leave out "
            "--columns and --id.",
            path);
    if (options->model)
        table = vem_i_model_table(options->model);
    vem_status status =
        vem_i_columns_like(run, path, options->model ? &table : NULL, options->columns,
                           options->id, data->names, data->d, &found);
    if (status == VEM_OK)
        status = select_table(run, &found, data);
    if (status == VEM_OK && data->sparse.starts && found.chosen) {
        vem_i_columns_free(&found);
        status = vem_i_fail(run, VEM_BAD_DATA,
                            "%s is sparse and has %d columns, but the model has %d.",
                            path, (int)data->d, (int)found.count);
    }
    if (status != VEM_OK)
        return status;
    data->columns = found.chosen;
    data->d = found.count;
    vem_i_free(found.ids);
    return VEM_OK;
}

static vem_status read_weights(vem_i_run *run, const char *path, const char *weights_path,
                               vem_data *data)
{
    vem_data *weights;
    if (data->weights)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%s carries weights of its own, so none can be taken from %s.",
                          path, weights_path);
    const vem_read_options plainly = {.size = sizeof plainly,
                                      .missing = VEM_MISSING_KEEP};
    vem_status status = vem_i_data_read(run, weights_path, &plainly, &weights);
    if (status != VEM_OK)
        return status;
    status = vem_i_weights_take(run, weights_path, weights, data);
    vem_data_free(weights);
    return status;
}

static vem_status check_options(vem_i_run *run, const vem_read_options *wanted)
{
    const int decimal = (unsigned char)wanted->decimal;
    if ((int)wanted->header < VEM_HEADER_AUTO || wanted->header > VEM_HEADER_NO)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The choice of a header is %d, but it must lie between 0 and %d.",
            (int)wanted->header, (int)VEM_HEADER_NO);
    if ((int)wanted->missing < VEM_MISSING_ERROR || wanted->missing > VEM_MISSING_KEEP)
        return vem_i_fail(
            run, VEM_BAD_OPTION,
            "The choice for missing values is %d, but it must lie between 0 and %d.",
            (int)wanted->missing, (int)VEM_MISSING_KEEP);
    if (decimal != 0 && decimal != '.' && decimal != ',')
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "The decimal sign has the code %d, but it must be '.' or ','.",
                          decimal);
    return VEM_OK;
}

static vem_status take_options(vem_i_run *run, const vem_read_options *options,
                               vem_read_options *wanted)
{
    *wanted = (vem_read_options){.size = sizeof *wanted};
    const vem_status status = options ? vem_i_struct_in(run, "vem_read_options", options,
                                                        wanted, sizeof *wanted)
                                      : VEM_OK;
    if (status == VEM_OK && wanted->model && vem_i_support_of(wanted->model->family))
        wanted->counts = 1;
    return status == VEM_OK ? check_options(run, wanted) : status;
}

/* How columns were asked for; a coreset says how those of its data were. */
static vem_status keep_picked(vem_i_run *run, const vem_read_options *wanted,
                              vem_data *data)
{
    if (!wanted->columns && !wanted->id)
        return VEM_OK;
    vem_i_free(data->picked);
    vem_i_free(data->picked_id);
    data->picked_id = NULL;
    vem_status status = vem_i_names_text(run, wanted->columns, &data->picked);
    return status == VEM_OK ? vem_i_names_text(run, wanted->id, &data->picked_id)
                            : status;
}

vem_status vem_i_data_read_rows(vem_i_run *run, const char *path,
                                const vem_read_options *wanted, vem_data **data)
{
    vem_data *made;
    vem_status status = vem_i_data_new(run, &made);
    if (status != VEM_OK)
        return status;
    status = read_rows(run, path, wanted, made);
    if (status == VEM_OK)
        status = select_columns(run, path, wanted, made);
    if (status == VEM_OK)
        status = keep_picked(run, wanted, made);
    if (status == VEM_OK)
        *data = made;
    else
        vem_data_free(made);
    return status;
}

/* What concerns all rows: weights and missing values. */
static vem_status finish(vem_i_run *run, const char *path, const vem_read_options *wanted,
                         vem_data *made, vem_data **data)
{
    vem_status status = VEM_OK;
    double *fill = NULL;
    if (wanted->weights)
        status = read_weights(run, path, wanted->weights, made);
    if (status == VEM_OK && wanted->missing == VEM_MISSING_MEAN && wanted->model &&
        !wanted->means)
        status = vem_i_model_fill(run, wanted->model, &fill);
    if (status == VEM_OK)
        status =
            vem_i_missing(run, strcmp(path, "-") == 0 ? "Standard input" : path,
                          wanted->missing, wanted->counts, fill ? fill : wanted->means,
                          fill ? made->d : wanted->means_count, made);
    vem_i_free(fill);
    if (status == VEM_OK)
        *data = made;
    else
        vem_data_free(made);
    return status;
}

vem_status vem_i_data_read(vem_i_run *run, const char *path,
                           const vem_read_options *options, vem_data **data)
{
    vem_read_options wanted;
    vem_data *made = NULL;
    vem_status status = take_options(run, options, &wanted);
    if (status == VEM_OK)
        status = vem_i_data_read_rows(run, path, &wanted, &made);
    return status == VEM_OK ? finish(run, path, &wanted, made, data) : status;
}

vem_status vem_data_read_parts(vem_ctx *ctx, const char *const *paths, int32_t count,
                               const vem_read_options *options, vem_data **data)
{
    VEM_I_NEED(ctx, ctx, paths, data);
    for (int32_t i = 0; i < count; i++)
        if (!paths[i])
            return vem_i_refuse(ctx, VEM_BAD_OPTION, "%s was given NULL for a path.",
                                __func__);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    vem_read_options wanted;
    vem_data *made = NULL;
    if (count < 1)
        return vem_i_fail(run, VEM_BAD_OPTION,
                          "%" PRId32 " files are to be read, but at least 1 is needed.",
                          count);
    vem_status status = take_options(run, options, &wanted);
    if (status == VEM_OK)
        status = count == 1 ? vem_i_data_read_rows(run, paths[0], &wanted, &made)
                            : vem_i_data_join(run, paths, count, &wanted, &made);
    if (status != VEM_OK)
        return status;
    return finish(run, count == 1 ? paths[0] : "The data", &wanted, made, data);
}

vem_status vem_data_read(vem_ctx *ctx, const char *path, const vem_read_options *options,
                         vem_data **data)
{
    VEM_I_NEED(ctx, ctx, path, data);
    vem_i_run *run = vem_i_begin(ctx, &(vem_i_verb){0});
    return vem_i_data_read(run, path, options, data);
}

const char *vem_file_kind(const char *path)
{
    const size_t hdf5 = path ? hdf5_name(path) : 0;
    if (!path)
        return "unknown";
    if (strcmp(path, "-") == 0 || (hdf5 && path[hdf5] == ':') || tensor_name(path))
        return "data";
    if (vem_i_state_exists(path) && !vem_i_state_is_foreign(path))
        return "state";
    const format kind = find_format(path);
    if (kind == FORMAT_UNKNOWN || access(path, R_OK) != 0)
        return "unknown";
    if (kind != FORMAT_NPZ)
        return "data";
    vem_i_npz *npz;
    if (vem_i_npz_open(NULL, path, &npz) != VEM_OK)
        return "unknown";
    const char *found = "unknown";
    if (vem_i_npz_is_stats(npz))
        found = "statistics";
    else if (vem_i_npz_is_model(npz))
        found = "model";
    else if (vem_i_npz_is_tree(npz))
        found = "tree";
    else if (vem_i_npz_has(npz, "rows") || vem_i_npz_is_sparse(npz))
        found = "data";
    vem_i_npz_close(npz);
    return found;
}
