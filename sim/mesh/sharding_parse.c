/* Reading shardings: partition specs, HLO's, Shardy's, and Axe layouts over a mesh. */
#include <inttypes.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "layout/notation/axe.h"
#include "sharding_private.h"

/* ---- Names of axes: 'x', "x", "x":(1)2 ---- */

bool sharding_read_name(sharding_reader *r, ts_span *name) {
    ts_cursor_skip_space(&r->cursor);
    size_t at = r->cursor.at;
    char quote = at < r->cursor.source->length ? r->cursor.source->text[at] : '\0';
    if (quote != '\'' && quote != '"')
        return ts_cursor_unexpected(r->err, &r->cursor, "the name of an axis in quotes");
    const char *begin = r->cursor.source->text + at + 1;
    const char *end = memchr(begin, quote, r->cursor.source->length - at - 1);
    r->cursor.token = at;
    if (!end) return sharding_refuse(r, "the quote does not end");
    *name = (ts_span){begin, (size_t)(end - begin)};
    r->cursor.at = at + name->length + 2;
    return true;
}

/* "x":(m)k, of Shardy: k of the axis, m of it before them. */
bool sharding_read_sub_axis(sharding_reader *r, ts_mesh_digit *digit) {
    int64_t before, extent, all;
    if (!ts_cursor_take(&r->cursor, ":")) return true;
    if (!ts_cursor_expect(r->err, &r->cursor, "(") ||
        !ts_cursor_integer(r->err, &r->cursor, "an extent", &before) ||
        !ts_cursor_expect(r->err, &r->cursor, ")") ||
        !ts_cursor_integer(r->err, &r->cursor, "an extent", &extent))
        return false;
    if (before < 1 || extent < 1 || !ts_mul(before, extent, &all) || digit->extent % all != 0)
        return ts_cursor_refuse(r->err, &r->cursor,
                                "(%" PRId64 ")%" PRId64 " does not divide the axis, which has %" PRId64,
                                before, extent, digit->extent);
    digit->stride *= digit->extent / all;
    digit->extent = extent;
    return true;
}

/* The axis of the mesh that may have been meant; NULL. */
static const char *nearest_axis(const sharding_reader *r, const char *name) {
    const ts_mesh_axis *axes = r->mesh->axes;
    for (int i = 0; i < r->mesh->axis_count; i++)
        if (strcasecmp(axes[i].name, name) == 0) return axes[i].name;
    return ts_text_nearest(name, &axes[0].name, (size_t)r->mesh->axis_count, sizeof axes[0]);
}

static bool read_axis(sharding_reader *r, ts_mesh_digit digit) {
    ts_span name;
    if (!sharding_read_name(r, &name)) return false;
    int axis = ts_mesh_find_axis(r->mesh, name.text, name.length);
    if (axis < 0) {
        ts_cursor_refuse(r->err, &r->cursor, "the mesh has no axis '%.*s'", (int)name.length, name.text);
        return ts_error_hint(r->err, nearest_axis(r, ts_arena_copy_text(r->arena, name.text, name.length)));
    }
    digit.extent = r->mesh->axes[axis].extent;
    digit.stride = r->mesh->axes[axis].stride;
    size_t at = r->cursor.token;
    if (!sharding_read_sub_axis(r, &digit)) return false;
    r->cursor.token = at;
    return sharding_add(r, digit);
}

static bool read_axes(sharding_reader *r, ts_mesh_digit digit, const char *end) {
    while (!ts_cursor_take(&r->cursor, end)) {
        if (!read_axis(r, digit)) return false;
        if (ts_cursor_take(&r->cursor, ",")) continue;
        return ts_cursor_expect(r->err, &r->cursor, end);
    }
    return true;
}

/* ---- P('x', None, ('y', 'z'), unreduced={'w'}) ---- */

static bool read_spec(sharding_reader *r) {
    for (int dim = 0; !ts_cursor_take(&r->cursor, ")"); dim++) {
        if (ts_cursor_take(&r->cursor, "unreduced")) {
            return ts_cursor_expect(r->err, &r->cursor, "=") && ts_cursor_expect(r->err, &r->cursor, "{") &&
                   read_axes(r, (ts_mesh_digit){.kind = TS_DIGIT_PARTIAL}, "}") &&
                   ts_cursor_expect(r->err, &r->cursor, ")");
        }
        (void)ts_cursor_peek(&r->cursor);
        r->cursor.token = r->cursor.at;
        if (!sharding_check_rank_at_most(r, dim + 1)) return false;
        bool good = ts_cursor_take(&r->cursor, "None") ? true
                    : ts_cursor_take(&r->cursor, "(")  ? read_axes(r, sharding_digit_of(dim), ")")
                                                       : read_axis(r, sharding_digit_of(dim));
        if (!good) return false;
        if (ts_cursor_take(&r->cursor, ",")) continue;
        return ts_cursor_expect(r->err, &r->cursor, ")");
    }
    return true;
}

/* ---- #sdy.sharding<@mesh, [{"x"}, {?}], replicated={"y"}, unreduced={"z"}> ---- */

static bool read_sdy_dim(sharding_reader *r, int dim) {
    if (!ts_cursor_expect(r->err, &r->cursor, "{")) return false;
    if (ts_cursor_take(&r->cursor, "?"))
        return ts_cursor_expect(r->err, &r->cursor, "}"); /* open: not split yet */
    while (!ts_cursor_take(&r->cursor, "}")) {
        if (ts_cursor_take(&r->cursor, "?")) continue;
        if (!read_axis(r, sharding_digit_of(dim))) return false;
        (void)ts_cursor_take(&r->cursor, ",");
    }
    int64_t priority;
    return !ts_cursor_take(&r->cursor, "p") || ts_cursor_integer(r->err, &r->cursor, "a priority", &priority);
}

static bool read_sdy_rest(sharding_reader *r) {
    while (ts_cursor_take(&r->cursor, ",")) {
        bool partial = ts_cursor_take(&r->cursor, "unreduced");
        if (!partial && !ts_cursor_expect(r->err, &r->cursor, "replicated")) return false;
        ts_mesh_digit digit = {.kind = partial ? TS_DIGIT_PARTIAL : TS_DIGIT_REPLICA};
        if (!ts_cursor_expect(r->err, &r->cursor, "=") || !ts_cursor_expect(r->err, &r->cursor, "{") ||
            !read_axes(r, digit, "}"))
            return false;
    }
    return ts_cursor_expect(r->err, &r->cursor, ">");
}

static bool read_sdy(sharding_reader *r) {
    ts_span name;
    int dim = 0;
    if (!ts_cursor_expect(r->err, &r->cursor, "<") || !ts_cursor_expect(r->err, &r->cursor, "@"))
        return false;
    if (!ts_cursor_name(&r->cursor, &name))
        return ts_cursor_unexpected(r->err, &r->cursor, "the name of a mesh");
    if (!ts_cursor_expect(r->err, &r->cursor, ",") || !ts_cursor_expect(r->err, &r->cursor, "["))
        return false;
    for (; !ts_cursor_take(&r->cursor, "]"); dim++) {
        if (dim > 0 && !ts_cursor_expect(r->err, &r->cursor, ",")) return false;
        if (!sharding_check_rank_at_most(r, dim + 1) || !read_sdy_dim(r, dim)) return false;
    }
    return sharding_check_rank(r, dim) && read_sdy_rest(r);
}

/* ---- Axe ---- */

static bool add_axe_iter(sharding_reader *r, const ts_layout *layout, const ts_iter *iter,
                         ts_mesh_digit digit) {
    const char *name = layout->axes[iter->axis].name;
    bool device = strcmp(name, "device") == 0;
    int axis = device ? -1 : ts_mesh_find_axis(r->mesh, name, strlen(name));
    int64_t extent = device ? r->mesh->device_count : axis < 0 ? 0 : r->mesh->axes[axis].extent;
    if (extent == 0) return true; /* of a memory */
    if (layout->axes[iter->axis].offset != 0)
        return ts_error_at(r->err, TS_ERROR_UNMODELLED, r->cursor.source, 0,
                           "an offset on the axis '%s': the array would lie on a part of the mesh", name);
    if (iter->stride < 1 || iter->extent > extent || iter->stride > extent / iter->extent)
        return ts_error_at(r->err, TS_ERROR_INPUT, r->cursor.source, 0,
                           "%" PRId64 " coordinates %" PRId64 " apart on the axis '%s', which has %" PRId64,
                           iter->extent, iter->stride, name, extent);
    digit.extent = iter->extent;
    digit.stride = iter->stride * (device ? 1 : r->mesh->axes[axis].stride);
    return sharding_add(r, digit);
}

static bool is_of_mesh(const sharding_reader *r, const char *name) {
    return strcmp(name, "device") == 0 || ts_mesh_find_axis(r->mesh, name, strlen(name)) >= 0;
}

static bool is_of_memory(const ts_machine *machine, const char *name) {
    for (int i = 0; i < machine->memory_count; i++)
        for (int j = 0; j < machine->memories[i].axis_count; j++)
            if (strcmp(name, machine->memories[i].axes[j].name) == 0) return true;
    return strcmp(name, "m") == 0;
}

/* Within a core, where no mesh reaches: a vreg's, CUDA's threads and those of the paper on Axe. */
static bool is_of_core(const char *name) {
    static const char *const names[] = {"vreg", "sublane", "lane", "sub", "reg", "warp"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(name, names[i]) == 0) return true;
    return ts_axe_is_thread(name);
}

/* An axis that nobody knows would leave the array on every device. */
static bool check_axes(const sharding_reader *r) {
    const ts_layout *layout = r->out->shape->layout;
    const char *notation = r->out->shape->notation;
    if (notation == NULL || strcmp(notation, "axe") != 0) return true;
    for (int i = 0; i < layout->axis_count; i++) {
        const char *name = layout->axes[i].name;
        if (is_of_mesh(r, name) || is_of_memory(r->mesh->machine, name) || is_of_core(name)) continue;
        ts_error_at(r->err, TS_ERROR_INPUT, r->cursor.source, 0,
                    "neither the mesh nor a memory of %s has an axis '%s'", r->mesh->machine->name, name);
        return ts_error_hint(r->err, nearest_axis(r, name));
    }
    return true;
}

static bool read_axe_group(sharding_reader *r, const ts_layout *layout, const ts_iter_group *group) {
    int64_t weight = 1;
    for (int i = group->iter_count - 1; i >= 0; weight *= group->iters[i--].extent) {
        if (!is_of_mesh(r, layout->axes[group->iters[i].axis].name)) continue;
        if (group->dim_count != 1)
            return ts_error_at(r->err, TS_ERROR_UNMODELLED, r->cursor.source, 0,
                               "an iter over a mesh axis crosses dims of the array");
        ts_mesh_digit digit = {.kind = TS_DIGIT_SHARD, .dim = group->dim, .weight = weight};
        if (!add_axe_iter(r, layout, &group->iters[i], digit)) return false;
    }
    return true;
}

static bool read_axe(sharding_reader *r) {
    const ts_layout *layout = r->out->shape->layout;
    const ts_normal_form *form = ts_layout_normalise(r->arena, layout);
    if (!form)
        return ts_error_at(r->err, TS_ERROR_UNMODELLED, r->cursor.source, 0,
                           "the layout is no list of iters");
    for (int i = 0; i < form->group_count; i++)
        if (!read_axe_group(r, layout, &form->groups[i])) return false;
    for (int i = 0; i < layout->replica_count; i++)
        if (!add_axe_iter(r, layout, &layout->replicas[i], (ts_mesh_digit){.kind = TS_DIGIT_REPLICA}))
            return false;
    return true;
}

/* ---- All of them ---- */

/* Blocks of a dim, and from the minor to the major digit what each is worth. */
static void set_weights(ts_sharding *sharding) {
    for (int d = 0; d < sharding->rank; d++) {
        int64_t weight = ts_sharding_extent(sharding, d);
        if (weight == 0) weight = 1; /* there is no element, but digits have a weight */
        for (int i = sharding->digit_count - 1; i >= 0; i--) {
            ts_mesh_digit *digit = &sharding->digits[i];
            if (digit->kind != TS_DIGIT_SHARD || digit->dim != d) continue;
            digit->weight = weight;
            weight *= digit->extent;
        }
    }
}

static void sort_by_stride(ts_sharding *sharding) {
    for (int i = 1; i < sharding->digit_count; i++) {
        ts_mesh_digit digit = sharding->digits[i];
        int at = i;
        for (; at > 0 && sharding->digits[at - 1].stride < digit.stride; at--)
            sharding->digits[at] = sharding->digits[at - 1];
        sharding->digits[at] = digit;
    }
}

static bool uncovered(sharding_reader *r, int64_t stride, int64_t extent) {
    if (r->names_all)
        return ts_error_at(r->err, TS_ERROR_UNMODELLED, r->cursor.source, 0,
                           "%" PRId64 " devices that are %" PRId64
                           " apart are neither in S nor in R: the array would "
                           "lie on a part of the mesh",
                           extent, stride);
    return sharding_add(r, (ts_mesh_digit){.extent = extent, .stride = stride, .kind = TS_DIGIT_REPLICA});
}

/* The part of the device's number from `below` to `until` that no digit has: copies, an axis at a time. */
static bool fill(sharding_reader *r, int64_t below, int64_t until) {
    for (int i = r->mesh->axis_count - 1; i >= 0; i--) {
        int64_t top = r->mesh->axes[i].stride * r->mesh->axes[i].extent, end = ts_min(top, until);
        if (end <= below) continue;
        if (end % below != 0) end = until;
        if (!uncovered(r, below, end / below)) return false;
        below = end;
    }
    return true;
}

static bool complete(sharding_reader *r) {
    ts_sharding *sharding = r->out;
    sort_by_stride(sharding);
    int64_t reached = 1;
    for (int i = sharding->digit_count - 1; i >= 0; i--) {
        const ts_mesh_digit *digit = &sharding->digits[i];
        if (digit->stride % reached != 0) return sharding_refuse_overlap(r, digit, 0);
        int64_t below = reached, until = digit->stride;
        reached = digit->stride * digit->extent;
        if (!fill(r, below, until)) return false; /* added behind, which this loop does not read */
    }
    if (!fill(r, reached, r->mesh->device_count)) return false;
    sort_by_stride(sharding);
    ts_sharding_join(sharding);
    for (int i = 0; i < r->mesh->axis_count; i++) (void)ts_sharding_cut(sharding, r->mesh->axes[i].stride);
    return true;
}

static bool read_replicated(sharding_reader *r) { return r != NULL; }

static bool refuse_part(sharding_reader *r) {
    r->cursor.token = r->cursor.at;
    return ts_error_at(r->err, TS_ERROR_UNMODELLED, r->cursor.source, r->cursor.token,
                       "an array on one device, or split by hand");
}

static const struct {
    const char *text;
    bool (*read)(sharding_reader *r);
} words[] = {
#define SHARDING(text, read) {text, read},
#include "layout/notation/shardings.def"
};

/* Where a sharding's own text begins; the length of the source where there is none. */
static size_t find_sharding(const ts_source *source, int *word) {
    for (size_t i = 1; i < source->length; i++)
        for (*word = 0; *word < (int)(sizeof words / sizeof words[0]); ++*word) {
            const char *text = words[*word].text;
            bool apart = strchr(" \t\n]})", source->text[i - 1]) != NULL;
            if (apart && strlen(text) <= source->length - i &&
                memcmp(source->text + i, text, strlen(text)) == 0)
                return i;
        }
    *word = -1;
    return source->length;
}

static bool read_sharding(sharding_reader *r, int word) {
    r->cursor.at += strlen(words[word].text);
    if (!words[word].read(r)) return false;
    return ts_cursor_at_end(&r->cursor) ||
           ts_cursor_unexpected(r->err, &r->cursor, "the end of the sharding");
}

static bool read_shape(sharding_reader *r, const ts_source *source, size_t length) {
    /* A prefix of the same text, so that errors point into it. */
    ts_source *shape = TS_NEW(r->arena, ts_source);
    *shape = (ts_source){source->name, source->text, length};
    r->out->shape = ts_shape_parse(r->err, r->arena, shape);
    const ts_layout *layout = r->out->shape ? ts_shape_layout(r->err, r->out->shape, "the array") : NULL;
    if (!layout) return false;
    r->out->rank = layout->rank;
    r->out->dims = layout->dims;
    return true;
}

static bool is_axe_over_mesh(const sharding_reader *r) {
    const ts_layout *layout = r->out->shape->layout;
    for (int i = 0; i < layout->axis_count; i++)
        if (is_of_mesh(r, layout->axes[i].name)) return true;
    return false;
}

bool ts_sharding_parse(ts_error *err, ts_arena *arena, const ts_mesh *mesh, const ts_source *source,
                       ts_sharding *out) {
    int word;
    sharding_reader r = {err, arena, mesh, {source, find_sharding(source, &word), 0}, out, false};
    memset(out, 0, sizeof *out);
    if (!read_shape(&r, source, r.cursor.at)) return false;
    if (word < 0 && !check_axes(&r)) return false;
    r.names_all = word < 0 && is_axe_over_mesh(&r);
    if (r.names_all) return read_axe(&r) && complete(&r);
    if (word >= 0 && !read_sharding(&r, word)) return false;
    set_weights(out); /* digits are still in the order written */
    return complete(&r);
}
