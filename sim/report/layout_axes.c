/* Layouts on named axes: the axes and replicas, and the points of one element. */
#include <inttypes.h>
#include <string.h>

#include "report/layout.h"

enum { MOST_POINTS = 64 };

static bool is_plain_memory(const ts_layout *layout) {
    return layout->axis_count == 1 && strcmp(layout->axes[0].name, "m") == 0 && layout->axes[0].offset == 0 &&
           layout->replica_count == 0 && !layout->swizzle.present && layout->function.forward == NULL;
}

void ts_report_axes(const ts_layout *layout, ts_text *out) {
    if (is_plain_memory(layout)) return;
    ts_text_add(out, "\n  %-16s%20s%20s%20s\n", "axis", "offset", "from", "to");
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t low, high;
        ts_layout_axis_range(layout, i, &low, &high);
        ts_text_add(out, "  %-16.16s%20" PRId64 "%20" PRId64 "%20" PRId64 "\n", layout->axes[i].name,
                    layout->axes[i].offset, low, high);
    }
    for (int i = 0; i < layout->replica_count; i++) {
        const ts_iter *replica = &layout->replicas[i];
        ts_text_add(out, "  replica %d: %" PRId64 " %s, %" PRId64 " apart on %.40s\n", i, replica->extent,
                    replica->extent == 1 ? "copy" : "copies", replica->stride,
                    layout->axes[replica->axis].name);
    }
    const ts_swizzle *s = &layout->swizzle;
    const char *bits = ts_text_counted(out->arena, s->bits, "bit");
    if (s->present)
        ts_text_add(out, "  swizzle: %s from bit %d on, xor the %s %d %s\n", bits,
                    s->keep + (s->outer ? s->shift : 0), bits, s->shift, s->outer ? "below" : "above");
    if (layout->function.forward != NULL) ts_text_add(out, "  no sum of digits: each element is computed\n");
}

static void add_point(const ts_layout *layout, const int64_t *point, ts_text *out) {
    for (int i = 0; i < layout->axis_count; i++)
        ts_text_add(out, "%s%s=%" PRId64, i > 0 ? "," : "{", layout->axes[i].name, point[i]);
    ts_text_add(out, layout->axis_count > 0 ? "}" : "{}");
}

/* Every point, in the order of the replicas. */
static void add_points(const ts_layout *layout, const int64_t *index, ts_text *out) {
    int64_t total = ts_layout_replica_total(layout), point[TS_LAYOUT_MAX_AXES];
    ts_text_add(out, "  at");
    for (int64_t r = 0; r < total && r < MOST_POINTS; r++) {
        ts_layout_forward_replica(layout, index, r, point);
        ts_text_add_char(out, ' ');
        add_point(layout, point, out);
    }
    ts_text_add(out, total > MOST_POINTS ? " .. (%" PRId64 " points)\n" : "\n", total);
}

static void add_sum(const ts_layout *layout, int axis, const int64_t *values, ts_text *out) {
    int64_t sum = layout->axes[axis].offset;
    ts_text_add(out, "  %s = %" PRId64, layout->axes[axis].name, sum);
    for (int i = 0; i < layout->digit_count; i++) {
        if (layout->digits[i].axis != axis || layout->digits[i].extent == 1) continue;
        ts_text_add(out, " + %" PRId64 " * %" PRId64, values[i], layout->digits[i].stride);
        sum += values[i] * layout->digits[i].stride;
    }
    ts_text_add(out, " = %" PRId64, sum);
    for (int i = 0; i < layout->replica_count; i++)
        if (layout->replicas[i].axis == axis)
            ts_text_add(out, ", + 0 to %" PRId64 " times %" PRId64, layout->replicas[i].extent - 1,
                        layout->replicas[i].stride);
    if (layout->swizzle.present && layout->swizzle.axis == axis) ts_text_add(out, ", swizzled");
    ts_text_add_char(out, '\n');
}

void ts_report_point(const ts_layout *layout, const int64_t *index, ts_text *out) {
    int64_t values[TS_LAYOUT_MAX_DIMS];
    if (layout->function.forward == NULL) {
        ts_layout_digits(layout, index, values);
        for (int axis = 0; axis < layout->axis_count; axis++) add_sum(layout, axis, values, out);
    }
    add_points(layout, index, out);
}

void ts_report_point_json(const ts_layout *layout, const int64_t *index, ts_json *json) {
    int64_t total = ts_layout_replica_total(layout), point[TS_LAYOUT_MAX_AXES];
    ts_json_array(json, "points");
    for (int64_t r = 0; r < total; r++) {
        ts_layout_forward_replica(layout, index, r, point);
        ts_json_object(json, NULL);
        for (int i = 0; i < layout->axis_count; i++) ts_json_int(json, layout->axes[i].name, point[i]);
        ts_json_close(json);
    }
    ts_json_close(json);
}

void ts_report_axes_json(const ts_layout *layout, ts_json *json) {
    ts_json_array(json, "axes");
    for (int i = 0; i < layout->axis_count; i++) {
        int64_t low, high;
        ts_layout_axis_range(layout, i, &low, &high);
        ts_json_object(json, NULL);
        ts_json_text(json, "name", layout->axes[i].name);
        ts_json_int(json, "offset", layout->axes[i].offset);
        ts_json_int(json, "low", low);
        ts_json_int(json, "high", high);
        ts_json_close(json);
    }
    ts_json_close(json);
    ts_json_array(json, "replicas");
    for (int i = 0; i < layout->replica_count; i++) {
        ts_json_object(json, NULL);
        ts_json_int(json, "extent", layout->replicas[i].extent);
        ts_json_int(json, "stride", layout->replicas[i].stride);
        ts_json_text(json, "axis", layout->axes[layout->replicas[i].axis].name);
        ts_json_close(json);
    }
    ts_json_close(json);
}
