/* What reports write: parts of texts, values of JSON. */
#include "tests/support/written.h"

#include <string.h>

#include <cjson/cJSON.h>

#include "tests/support/test.h"

void assert_holds_at(const char *text, const char *part, const char *file, int line) {
    if (strstr(text, part)) return;
    const char *styles = strstr(text, "</style>"); /* say nothing here */
    if (styles) text = styles;
    print_error("there is no\n%s\nin\n%s\n", part, text);
    _fail(file, line);
}

int count_parts(const char *text, const char *part) {
    int count = 0;
    for (; (text = strstr(text, part)) != NULL; text++) count++;
    return count;
}

const char *section_of(ts_arena *arena, const char *text, const char *beginning) {
    const char *at = text;
    while (at && strncmp(at, beginning, strlen(beginning)) != 0)
        if ((at = strchr(at, '\n')) != NULL) at++;
    if (!at) return "";
    const char *end = strstr(at, "\n\n");
    return end ? ts_text_format(arena, "%.*s", (int)(end + 1 - at), at) : at;
}

const char *json_value(ts_arena *arena, const char *json, const char *key) {
    cJSON *all = cJSON_Parse(json);
    char *text = cJSON_PrintUnformatted(cJSON_GetObjectItem(all, key));
    assert_non_null(text);
    const char *copy = ts_text_format(arena, "%s", text);
    cJSON_free(text);
    cJSON_Delete(all);
    return copy;
}
