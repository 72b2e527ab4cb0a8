/* Requests of callers that were compiled with another version. */
#include <string.h>

#include "api_private.h"

static bool is_zero(const unsigned char *bytes, size_t count) {
    while (count > 0 && bytes[count - 1] == 0) count--;
    return count == 0;
}

bool api_read_request(ts_error *err, const char *what, const void *request, void *own, size_t own_bytes) {
    size_t given = 0;
    if (request) memcpy(&given, request, sizeof given);
    if (given < sizeof given || given > 1 << 16)
        return ts_error_set(err, TS_ERROR_USAGE, "%s.struct_bytes is %zu, expected sizeof(%s), here %zu",
                            what, given, what, own_bytes);
    size_t known = given < own_bytes ? given : own_bytes;
    if (!is_zero((const unsigned char *)request + known, given - known))
        return ts_error_set(err, TS_ERROR_USAGE, "%s asks for what version " TS_VERSION " does not know",
                            what);
    memset(own, 0, own_bytes);
    memcpy(own, request, known);
    return true;
}

bool api_need_list(ts_error *err, const char *name, const void *list, int count) {
    if (count < 0)
        return ts_error_set(err, TS_ERROR_USAGE, "%s_count is %d, expected 0 or more", name, count);
    return list || count == 0 ||
           ts_error_set(err, TS_ERROR_USAGE, "%s_count is %d, and the list NULL", name, count);
}

bool api_need_defines(ts_error *err, const ts_define *defines, int count) {
    bool good = api_need_list(err, "define", defines, count);
    for (int i = 0; good && i < count; i++)
        good = ts_error_need(err, "a define's name", defines[i].name) &&
               ts_error_need(err, "a define's value", defines[i].value);
    return good;
}

ts_source api_source(const char *name, const char *text) { return (ts_source){name, text, strlen(text)}; }

ts_interrupt *api_interrupt(ts_arena *arena, const char *what, int (*stopped)(void *), void *context) {
    ts_interrupt *interrupt = TS_NEW(arena, ts_interrupt);
    *interrupt = (ts_interrupt){.what = what, .stopped = stopped, .context = context};
    return stopped ? interrupt : NULL;
}

const char *ts_version(void) { return TS_VERSION; }
