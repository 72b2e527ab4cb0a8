/* The schema of machine files, for the terminal, as JSON, and as docs/machine.md. */
#include <string.h>

#include "report/machine.h"

typedef void visit(const ts_field *field, const char *path, const char *range, void *to);

/* Every field, those of a group's structs with "*" for the key. */
static void walk_fields(const ts_field_table *table, const char *prefix, ts_arena *arena, visit *each,
                        void *to) {
    for (int i = 0; i < table->count; i++) {
        const ts_field *field = &table->fields[i];
        ts_text path = ts_text_begin(arena);
        ts_text range = ts_text_begin(arena);
        ts_text_add(&path, "%s%s", prefix, field->path);
        ts_field_range(&range, field);
        each(field, path.bytes, range.bytes, to);
        ts_text_add(&path, ".*.");
        if (field->kind == TS_FIELD_GROUP) walk_fields(field->fields, path.bytes, arena, each, to);
    }
}

static void add_field(const ts_field *field, const char *path, const char *range, void *to) {
    ts_text *out = to;
    ts_text_add(out, "%-38s %s", path, ts_field_kind_text(field->kind));
    if (range[0]) ts_text_add(out, ", %s", range);
    if (field->unit[0]) ts_text_add(out, "; %s", field->unit);
    ts_text_add(out, "\n    %s\n", field->meaning);
}

static void add_field_json(const ts_field *field, const char *path, const char *range, void *to) {
    ts_json *json = to;
    ts_json_object(json, path);
    ts_json_text(json, "type", ts_field_kind_text(field->kind));
    ts_json_text(json, "range", range);
    ts_json_text(json, "unit", ts_field_unit(field));
    ts_json_text(json, "meaning", field->meaning);
    ts_json_close(json);
}

void ts_report_schema(ts_text *out) { walk_fields(&ts_machine_fields, "", out->arena, add_field, out); }

void ts_report_schema_json(ts_text *out) {
    ts_json json;
    ts_json_begin(&json, out, "schema");
    ts_json_object(&json, "fields");
    walk_fields(&ts_machine_fields, "", out->arena, add_field_json, &json);
    ts_json_close(&json);
    ts_json_end(&json);
}

/* ---- docs/machine.md ---- */

static const char introduction[] =
    "<!-- Written by `tilesim show schema --markdown`. Do not edit. -->\n"
    "# Machine files\n\n"
    "A machine is one YAML file. Those in `configs/` are also in the binary: `-m tpu-v5e` takes one by its "
    "name,\n"
    "`-m my.yaml` or `-m ./dir/my.yaml` a file. A file may lie on top of another and give only what "
    "differs:\n\n"
    "```yaml\n"
    "base: tpu-v5e # a built-in machine, or the path of a file, relative to this one\n"
    "title: v5e with twice the HBM\n"
    "hbm:\n"
    "    stacks: 4 # assumed (what if)\n"
    "memories:\n"
    "    hbm:\n"
    "        capacity: 32 GiB # assumed (what goes with it)\n"
    "```\n\n"
    "`tilesim show machine my.yaml` prints it whole, with what follows: peak rates, bandwidths, ridge "
    "points.\n\n"
    "- Mappings are merged key by key; `null` takes a key of the base away. After that every field must be\n"
    "  there: nothing has a hidden default. Unknown and duplicate keys are refused.\n"
    "- Sizes, times and frequencies have a unit, and are exact: `16 KiB`, `54.4 ns`, `1.5 GHz`. The timing "
    "of\n"
    "  HBM is in ns, and rounded up to cycles of `hbm.clock`, or in those cycles: `14 ns`, `2 ck`.\n"
    "- The comment on the line of a figure says where it comes from, and begins with `published`, `derived` "
    "or\n"
    "  `assumed`. The files that ship have one for every figure; `tilesim show machine` counts them.\n"
    "- `memories` has a key for each memory space. `axes` names further axes of a space, for layouts that "
    "use\n"
    "  them: a partitioned memory has `P: {extent: 128, step: 192 KiB}` and `F: {extent: 196608, step: 0 "
    "B}`.\n";

/* A new table for every first word of a path. */
typedef struct {
    ts_text *out;
    const char *section;
    size_t length;
} sections;

static void add_row(const ts_field *field, const char *path, const char *range, void *to) {
    sections *s = to;
    size_t length = strcspn(path, ".");
    if (length != s->length || strncmp(path, s->section, length) != 0) {
        s->section = path;
        s->length = length;
        ts_text_add(s->out, "\n## %.*s\n\n| field | value | unit | meaning |\n|---|---|---|---|\n",
                    (int)length, path);
    }
    ts_text_add(s->out, "| `%s` | %s%s%s | %s | %s |\n", path, ts_field_kind_text(field->kind),
                range[0] ? ", " : "", range, field->unit, field->meaning);
}

void ts_report_schema_markdown(ts_text *out) {
    sections s = {out, "", 0};
    ts_text_add(out, "%s", introduction);
    walk_fields(&ts_machine_fields, "", out->arena, add_row, &s);
}
