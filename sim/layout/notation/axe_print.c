/* Axe layouts: their texts, TVM's and the paper's. */
#include <inttypes.h>

#include "axe_private.h"

static void print_stride(ts_text *out, int64_t value, const char *axis) {
    ts_text_add(out, "%" PRId64, value);
    if (!ts_axe_same_axis(axis, "m")) ts_text_add(out, "@%s", axis);
}

static void print_iters(ts_text *out, char kind, const ts_axe_iter *iters, int count) {
    ts_text_add(out, count > 1 ? "%c[(" : "%c[", kind);
    for (int i = 0; i < count; i++) ts_text_add(out, "%s%" PRId64, i > 0 ? "," : "", iters[i].extent);
    ts_text_add(out, count > 1 ? "):(" : ":");
    for (int i = 0; i < count; i++) {
        if (i > 0) ts_text_add_char(out, ',');
        print_stride(out, iters[i].stride, iters[i].axis);
    }
    ts_text_add(out, count > 1 ? ")]" : "]");
}

static void print_matrix(ts_text *out, const char *brackets, const ts_axe_iter *iters, int count) {
    ts_text_add(out, "%c ", brackets[0]);
    for (int i = 0; i < count; i++) ts_text_add(out, "%" PRId64 " ", iters[i].extent);
    ts_text_add_char(out, '/');
    for (int i = 0; i < count; i++) {
        ts_text_add_char(out, ' ');
        print_stride(out, iters[i].stride, iters[i].axis);
    }
    ts_text_add(out, " %c", brackets[1]);
}

typedef enum { ON_A_LINE, AS_MATRIX } form;

static void print(ts_text *out, const ts_axe *axe, form how) {
    const ts_swizzle *s = &axe->swizzle;
    const char *plus = "";
    if (s->present)
        ts_text_add(out, "SW(%d,%d,%d%s) o ", s->keep, s->bits, s->shift, s->outer ? ",outer" : "");
    if (axe->shard_count > 0 || axe->replica_count + axe->offset_count == 0) {
        static const ts_axe_iter point = {1, 1, "m"};
        const ts_axe_iter *iters = axe->shard_count > 0 ? axe->shards : &point;
        int count = axe->shard_count > 0 ? axe->shard_count : 1;
        how == AS_MATRIX ? print_matrix(out, "()", iters, count) : print_iters(out, 'S', iters, count);
        plus = " + ";
    }
    if (axe->replica_count > 0) {
        ts_text_add(out, "%s", plus);
        how == AS_MATRIX ? print_matrix(out, "[]", axe->replicas, axe->replica_count)
                         : print_iters(out, 'R', axe->replicas, axe->replica_count);
        plus = " + ";
    }
    bool alone = *plus == '\0' && axe->offset_count == 1 && !s->present;
    for (int i = 0; i < axe->offset_count; i++) {
        ts_text_add(out, "%s", plus);
        print_stride(out, axe->offsets[i].value, axe->offsets[i].axis);
        plus = " + ";
    }
    if (alone && ts_axe_same_axis(axe->offsets[0].axis, "m")) ts_text_add(out, "@m"); /* "3" is CuTe's */
}

void ts_axe_print(ts_text *out, const ts_axe *axe) { print(out, axe, ON_A_LINE); }
void ts_axe_print_matrix(ts_text *out, const ts_axe *axe) { print(out, axe, AS_MATRIX); }
