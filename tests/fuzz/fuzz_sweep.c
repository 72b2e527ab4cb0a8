/* Studies of any text: what is accepted has points, whose texts can be filled or say why not. */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "sweep/case.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { POINTS = 8 };

static void try_point(ts_arena *arena, const ts_sweep_study *study, int64_t index) {
    ts_error err = {0};
    ts_sweep_point point;
    ts_sweep_case asked;
    ts_sweep_row row = {0};
    ts_sweep_value value;
    bool counts = false;
    ts_sweep_point_get(arena, study, index, &point);
    for (int i = 0; i < study->name_count; i++) assert(point.values[i]);
    bool good =
        ts_sweep_point_counts(&err, arena, &point, &counts) && ts_sweep_case_of(&err, arena, &point, &asked);
    assert(good == (err.kind == TS_ERROR_NONE));
    assert(!good || (asked.text && asked.machine));
    for (int i = 0; i < study->derived_count; i++) {
        ts_error theirs = {0};
        good = ts_sweep_point_evaluate(&theirs, arena, &point, &row, &study->derived[i], &value);
        assert(good == (theirs.kind == TS_ERROR_NONE));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    ts_source source = {"fuzz", (const char *)data, size};
    const ts_sweep_study *study = ts_sweep_study_parse(&err, arena, &source, "");
    assert((study == NULL) == (err.kind != TS_ERROR_NONE));
    for (int64_t i = 0; study && i < POINTS && i < study->grid.point_count; i++) {
        ts_arena *scratch = ts_arena_new();
        try_point(scratch, study, i);
        try_point(scratch, study, study->grid.point_count - 1 - i);
        ts_arena_free(scratch);
    }
    ts_arena_free(arena);
    return 0;
}
