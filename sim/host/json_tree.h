/* JSON text as a tree of cJSON. */
#ifndef TILESIM_HOST_JSON_TREE_H
#define TILESIM_HOST_JSON_TREE_H

#include <cjson/cJSON.h>
#include <errno.h>

#include "base/arena.h"
#include "base/error.h"

/* NULL: the text is not valid at *end. cJSON says the same where memory runs out, which malloc says apart. */
static inline cJSON *ts_json_tree_parse(const ts_source *source, const char **end) {
    errno = 0;
    cJSON *root = cJSON_ParseWithLengthOpts(source->text, source->length, end, false);
    if (!root && errno == ENOMEM) ts_out_of_memory(source->length);
    return root;
}

#endif
