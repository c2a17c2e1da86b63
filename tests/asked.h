/* Options as they are written: "clusters=5 search=closest". */
#ifndef VEM_TESTS_ASKED_H
#define VEM_TESTS_ASKED_H

#include "context.h"

static inline vem_options asked_of(const char *list)
{
    vem_options o;
    char text[300], *rest = text;
    vem_options_init(&o);
    snprintf(text, sizeof text, "%s", list);
    for (char *one; (one = strtok_r(rest, " ", &rest));) {
        char *value = strchr(one, '=');
        assert_non_null(value);
        *value++ = '\0';
        if (vem_options_set(ctx, &o, one, value) != VEM_OK)
            fail_msg("%s: %s", list, vem_ctx_message(ctx));
    }
    return o;
}

#endif
