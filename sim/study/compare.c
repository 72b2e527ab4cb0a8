/* Two JSON reports of one command, figure by figure. Lists are matched by what their elements are called. */
#include "study/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "host/json_tree.h"

/* The figures that a command's report is about. A path has keys and positions in lists. */
static const struct {
    const char *command, *path;
} figures[] = {
    {"run", "microseconds"},     {"dma", "microseconds"},
    {"audit", "microseconds"},   {"audit", "all.padded_bytes"},
    {"hbm", "cycles"},           {"layout", "storage_bytes"},
    {"bench", "host_seconds"},   {"choose", "candidates.0.microseconds"},
    {"relayout", "cycles"},      {"blocks", "candidates.0.microseconds"},
    {"reshard", "microseconds"},
};
enum { FIGURES = sizeof figures / sizeof *figures };

/* Keys at the top that say what was asked for, not what came out. */
static const char *const settings[] = {
    "version", "machine", "machine_hash", "machine_overrides", "program", "params",
    "input",   "module",  "tensor",       "time_only",         "title",   "requests_from",
};
enum { SETTINGS = sizeof settings / sizeof *settings };

enum { NAME = 32 }; /* characters of an element's name in a path */

typedef struct {
    ts_arena *arena;
    const char *names[2]; /* of the reports */
    ts_comparison *result;
    ts_text path;
    size_t section;
} comparer;

/* ---- Values ---- */

static ts_compare_value value_of(ts_arena *arena, const cJSON *item) {
    ts_compare_value value = {0};
    char digits[32];
    if (!item) return value;
    if (cJSON_IsNumber(item)) {
        value.is_number = true;
        value.number = item->valuedouble;
        int length = snprintf(digits, sizeof digits, "%.17g", value.number);
        value.text = ts_arena_copy_text(arena, digits, (size_t)length);
    } else if (cJSON_IsString(item)) {
        value.text = ts_arena_copy_text(arena, item->valuestring, strlen(item->valuestring));
    } else {
        value.text = cJSON_IsObject(item)  ? "{..}"
                     : cJSON_IsArray(item) ? "[..]"
                     : cJSON_IsNull(item)  ? "null"
                     : cJSON_IsTrue(item)  ? "true"
                                           : "false";
    }
    return value;
}

static bool is_setting(const char *key, size_t length) {
    for (int i = 0; i < SETTINGS; i++)
        if (ts_text_is(key, length, settings[i])) return true;
    return false;
}

static void add_change(comparer *c, const cJSON *before, const cJSON *after) {
    ts_comparison *r = c->result;
    bool setting = is_setting(c->path.bytes, c->section);
    ts_compare_change **list = setting ? &r->settings : &r->results;
    int *count = setting ? &r->setting_count : &r->result_count;
    *list = ts_arena_extend(c->arena, *list, (size_t)*count, sizeof **list);
    (*list)[(*count)++] = (ts_compare_change){
        .path = ts_arena_copy_text(c->arena, c->path.bytes, c->path.length),
        .section = c->section,
        .before = value_of(c->arena, before),
        .after = value_of(c->arena, after),
    };
}

/* ---- Walking both ---- */

static bool holds_values(const cJSON *item) { return cJSON_IsObject(item) || cJSON_IsArray(item); }

/* "BM=256, BK=128" of {"BM": 256, "BK": 128} */
static const char *joined(ts_arena *arena, const cJSON *object) {
    ts_text text = ts_text_begin(arena);
    for (const cJSON *item = object->child; item; item = item->next)
        ts_text_add(&text, "%s%s=%s", item == object->child ? "" : ", ", item->string,
                    value_of(arena, item).text);
    return text.bytes;
}

/* What an element of a list is called: what it begins with. NULL: nothing. */
static const char *name_of(ts_arena *arena, const cJSON *element) {
    const cJSON *first = cJSON_IsObject(element) ? element->child : NULL;
    if (cJSON_IsObject(first) && first->child) return joined(arena, first);
    return cJSON_IsString(first) ? first->valuestring : NULL;
}

/* All strings that it begins with: what tells those of one name apart, as an audit's copies. */
static const char *strings_of(ts_arena *arena, const cJSON *element) {
    ts_text text = ts_text_begin(arena);
    for (const cJSON *item = element->child; cJSON_IsString(item); item = item->next)
        ts_text_add(&text, "%s\n", item->valuestring);
    return text.bytes;
}

/* The items of a list or an object; those of the other side are each taken once. */
typedef struct {
    const cJSON **items;
    const char **names;   /* keys, or what elements of a list are called */
    const char **strings; /* of elements */
    int count, next;      /* where a search begins: behind the last match */
    bool in_list;
} candidates;

static candidates candidates_of(ts_arena *arena, const cJSON *holder) {
    candidates c = {.in_list = cJSON_IsArray(holder)};
    int size = cJSON_GetArraySize(holder);
    c.items = TS_NEW_ARRAY(arena, const cJSON *, size);
    c.names = TS_NEW_ARRAY(arena, const char *, size);
    c.strings = TS_NEW_ARRAY(arena, const char *, size);
    for (const cJSON *item = holder->child; item; item = item->next) {
        c.names[c.count] = c.in_list ? name_of(arena, item) : item->string;
        c.strings[c.count] = c.in_list ? strings_of(arena, item) : "";
        c.items[c.count++] = item;
    }
    return c;
}

/* The one of that name, or, of a list's without names, at that position; NULL: none is left. */
static const cJSON *take(candidates *c, const char *name, int position) {
    for (int i = 0; i < c->count; i++) {
        int at = name ? (c->next + i) % c->count : position;
        const cJSON *item = at < c->count ? c->items[at] : NULL;
        const char *own = item ? c->names[at] : NULL;
        if (item && (name ? own && strcmp(own, name) == 0 : !own)) {
            c->items[at] = NULL;
            c->next = at + 1;
            return item;
        }
        if (!name) return NULL;
    }
    return NULL;
}

typedef struct {
    const char *strings;
    int at;
} sorted_item;

static int compare_strings(const void *a, const void *b) {
    const sorted_item *one = a, *other = b;
    int order = strcmp(one->strings, other->strings);
    return order != 0 ? order : one->at - other->at;
}

static const sorted_item *sorted(ts_arena *arena, const candidates *c) {
    sorted_item *items = TS_NEW_ARRAY(arena, sorted_item, c->count);
    for (int i = 0; i < c->count; i++) items[i] = (sorted_item){c->strings[i], i};
    qsort(items, (size_t)c->count, sizeof *items, compare_strings);
    return items;
}

/* Matches the items whose strings are all equal. */
static void match_strings(ts_arena *arena, const candidates *all, candidates *rest, const cJSON **matches) {
    const sorted_item *a = sorted(arena, all), *b = sorted(arena, rest);
    for (int i = 0, j = 0; i < all->count && j < rest->count;) {
        int order = strcmp(a[i].strings, b[j].strings);
        if (order == 0 && *a[i].strings) {
            matches[a[i].at] = rest->items[b[j].at];
            rest->items[b[j].at] = NULL;
        }
        i += order <= 0;
        j += order >= 0;
    }
}

/* Their names in order: whether there is one is seen at once. */
static const char **names_of(ts_arena *arena, const candidates *c, int *count) {
    const char **names = TS_NEW_ARRAY(arena, const char *, c->count);
    *count = 0;
    for (int i = 0; i < c->count; i++)
        if (c->names[i]) names[(*count)++] = c->names[i];
    qsort(names, (size_t)*count, sizeof *names, ts_text_order);
    return names;
}

/* For each item of `all`: the item of `rest` with equal strings, else the next with its name. */
static const cJSON **matches_of(ts_arena *arena, const candidates *all, candidates *rest) {
    const cJSON **matches = TS_NEW_ARRAY(arena, const cJSON *, all->count);
    int count;
    const char **names = names_of(arena, rest, &count);
    match_strings(arena, all, rest, matches);
    for (int i = 0; i < all->count; i++) {
        const char *name = all->names[i];
        bool may = !name || bsearch(&name, names, (size_t)count, sizeof *names, ts_text_order);
        if (!matches[i] && may) matches[i] = take(rest, name, i);
    }
    return matches;
}

static void compare(comparer *c, const cJSON *before, const cJSON *after);

/* A value of either report, or of both. */
typedef struct {
    const cJSON *before, *after;
    const char *name; /* NULL: of a list, without a name */
    int at;           /* in its report */
    int number;       /* among items of this name, from 1, as in paths */
} pair;

static int compare_names(const void *a, const void *b) {
    const pair *one = *(const pair *const *)a, *other = *(const pair *const *)b;
    int order = strcmp(one->name ? one->name : "", other->name ? other->name : "");
    return order != 0 ? order : (one > other) - (one < other);
}

static void number_names(ts_arena *arena, pair *pairs, int count) {
    pair **sorted = TS_NEW_ARRAY(arena, pair *, count);
    for (int i = 0; i < count; i++) sorted[i] = &pairs[i];
    qsort(sorted, (size_t)count, sizeof *sorted, compare_names);
    for (int i = 1; i < count; i++) {
        const pair *last = sorted[i - 1];
        bool again = last->name && sorted[i]->name && strcmp(last->name, sorted[i]->name) == 0;
        if (again) sorted[i]->number = last->number + 1;
    }
}

/* First the items of `all` with their matches, then those of `rest` that have none. */
static pair *pairs_of(ts_arena *arena, const candidates *all, const cJSON **matches, const candidates *rest,
                      int *count) {
    pair *pairs = TS_NEW_ARRAY(arena, pair, all->count + rest->count);
    *count = 0;
    for (int i = 0; i < all->count; i++)
        pairs[(*count)++] = (pair){all->items[i], matches[i], all->names[i], i, 1};
    for (int i = 0; i < rest->count; i++)
        if (rest->items[i]) pairs[(*count)++] = (pair){NULL, rest->items[i], rest->names[i], i, 1};
    for (int i = 0; i < *count && rest->in_list; i++)
        if (pairs[i].name) pairs[i].name = ts_text_cut(arena, pairs[i].name, NAME);
    if (rest->in_list) number_names(arena, pairs, *count);
    return pairs;
}

static void set_path(comparer *c, size_t length, bool in_list, const pair *p) {
    c->path.length = length;
    c->path.bytes[length] = '\0';
    if (!in_list)
        ts_text_add(&c->path, "%s%s", length > 0 ? "." : "", p->name);
    else if (!p->name)
        ts_text_add(&c->path, "[%d]", p->at);
    else if (p->number == 1)
        ts_text_add(&c->path, "[%s]", p->name);
    else
        ts_text_add(&c->path, "[%s #%d]", p->name, p->number);
    if (length == 0) c->section = c->path.length;
}

/* Both are objects, or both lists. */
static void compare_items(comparer *c, const cJSON *before, const cJSON *after) {
    candidates all = candidates_of(c->arena, before), rest = candidates_of(c->arena, after);
    const cJSON **matches = matches_of(c->arena, &all, &rest);
    size_t length = c->path.length;
    int count;
    const pair *pairs = pairs_of(c->arena, &all, matches, &rest, &count);
    for (int i = 0; i < count; i++) {
        set_path(c, length, rest.in_list, &pairs[i]);
        compare(c, pairs[i].before, pairs[i].after);
    }
}

/* Of one kind, and no lists or objects. */
static bool equal(const cJSON *a, const cJSON *b) {
    if (cJSON_IsNumber(a)) return a->valuedouble == b->valuedouble;
    return !cJSON_IsString(a) || strcmp(a->valuestring, b->valuestring) == 0;
}

static void compare(comparer *c, const cJSON *before, const cJSON *after) {
    bool same_kind = before && after && ((before->type ^ after->type) & 0xff) == 0;
    if (same_kind && holds_values(before))
        compare_items(c, before, after);
    else if (same_kind && equal(before, after))
        c->result->equal_count++;
    else
        add_change(c, before, after);
}

/* ---- Reading ---- */

static cJSON *read_report(ts_error *err, const ts_source *source, const char **command) {
    static const char schema_prefix[] = "tilesim.";
    const char *end = source->text;
    cJSON *root = ts_json_tree_parse(source, &end);
    const cJSON *schema = root ? cJSON_GetObjectItemCaseSensitive(root, "schema") : NULL;
    size_t prefix = sizeof schema_prefix - 1, rest = (size_t)(end - source->text);
    while (root && rest < source->length && strchr(" \t\r\n", source->text[rest])) rest++;
    if (!root)
        ts_error_at(err, TS_ERROR_INPUT, source, rest, "this is not valid JSON, expected a report of --json");
    else if (rest < source->length)
        ts_error_at(err, TS_ERROR_INPUT, source, rest, "text behind the report, expected one JSON object");
    else if (!cJSON_IsString(schema) || strncmp(schema->valuestring, schema_prefix, prefix) != 0)
        ts_error_at(
            err, TS_ERROR_INPUT, source, 0,
            "expected a report of tilesim: a JSON object with \"schema\": \"tilesim.run\" or another");
    else
        return *command = schema->valuestring + prefix, root;
    cJSON_Delete(root);
    return NULL;
}

static const cJSON *at_path(const cJSON *item, const char *path) {
    char key[32];
    for (size_t length; item && *path; path += length + (path[length] == '.')) {
        length = strcspn(path, ".");
        snprintf(key, sizeof key, "%.*s", (int)length, path);
        item = cJSON_IsArray(item) ? cJSON_GetArrayItem(item, key[0] - '0')
                                   : cJSON_GetObjectItemCaseSensitive(item, key);
    }
    return cJSON_IsNumber(item) ? item : NULL;
}

/* "b.json has no microseconds: deadlock .." */
static const char *lack(ts_arena *arena, const char *name, const cJSON *report, const char *figure) {
    const cJSON *error = cJSON_GetObjectItemCaseSensitive(report, "error");
    const cJSON *message = cJSON_GetObjectItemCaseSensitive(error, "message");
    bool said = cJSON_IsString(message);
    return ts_text_format(arena, "%s has no %s%s%s", name, figure, said ? ": " : "",
                          said ? message->valuestring : "");
}

static void find_figures(comparer *c, const cJSON *before, const cJSON *after) {
    ts_comparison *result = c->result;
    for (int i = 0; i < FIGURES; i++) {
        const char *path = figures[i].path;
        if (strcmp(figures[i].command, result->command) != 0) continue;
        const cJSON *a = at_path(before, path), *b = at_path(after, path);
        if (a && b)
            result->figures[result->figure_count++] =
                (ts_compare_figure){path, a->valuedouble, b->valuedouble};
        else
            result->lacking = lack(c->arena, a ? c->names[1] : c->names[0], a ? after : before, path);
    }
}

bool ts_compare(ts_error *err, ts_arena *arena, const ts_source *before, const ts_source *after,
                ts_comparison *result) {
    const char *command = "", *other = "";
    comparer c = {.arena = arena, .names = {before->name, after->name}, .result = result};
    cJSON *a = read_report(err, before, &command), *b = a ? read_report(err, after, &other) : NULL;
    bool good = a && b;
    if (good && strcmp(command, other) != 0)
        good = ts_error_at(err, TS_ERROR_INPUT, after, 0,
                           "this is a report of tilesim %s, expected one of tilesim %s, as %s is", other,
                           command, before->name);
    if (good) {
        *result = (ts_comparison){.command = ts_arena_copy_text(arena, command, strlen(command))};
        c.path = ts_text_begin(arena);
        find_figures(&c, a, b);
        compare_items(&c, a, b);
    }
    cJSON_Delete(a);
    cJSON_Delete(b);
    return good;
}
