/* What a bench says, of made-up times. */
#include "report/bench.h"

#include <string.h>

#include "tests/support/group.h"

static ts_transfer_end end_of(const char *text) {
    ts_error err = {0};
    ts_transfer_end end;
    assert_true(ts_transfer_end_parse(&err, arena, &(ts_source){"", text, strlen(text)}, &end));
    return end;
}

/* Copies that take twice as long as the move, and half. */
static ts_bench_report report(void) {
    return (ts_bench_report){.bench = {.src = end_of("f32[8,128]{1,0:T(8,128)}"),
                                       .dst = end_of("f32[8,128]{0,1}"),
                                       .how.threads = 2},
                             .kernels = "avx2",
                             .result = {.elements = 1024,
                                        .bytes = 8000,
                                        .boxes = 3,
                                        .streams = true,
                                        .rounds = 5,
                                        .move_seconds = 2e-6,
                                        .memcpy_seconds = 4e-6,
                                        .stream_seconds = 1e-6}};
}

static const char *text_of(const ts_bench_report *r) {
    ts_text out = ts_text_begin(arena);
    ts_report_bench(r, &out);
    return strstr(out.bytes, "moves");
}

static const char *json_of(const ts_bench_report *r) {
    ts_text out = ts_text_begin(arena);
    ts_report_bench_json(r, &out);
    return strstr(out.bytes, "\"elements\"");
}

TEST(a_move_beside_copies) {
    ts_bench_report r = report();
    assert_string_equal(text_of(&r),
                        "moves         1,024 elements, 8,000 bytes read and written\n"
                        "how           kernels avx2, streaming stores, 2 threads; best of 5 rounds\n"
                        "\n"
                        "on this host           GB/s   microseconds    the move is\n"
                        "the move               4.00          2.000\n"
                        "memcpy                 2.00          4.000           2.00\n"
                        "streaming copy         8.00          1.000           0.50\n");
    assert_string_equal(json_of(&r), "\"elements\": 1024,\n"
                                     "  \"bytes\": 8000,\n"
                                     "  \"boxes\": 3,\n"
                                     "  \"gathers\": false,\n"
                                     "  \"kernels\": \"avx2\",\n"
                                     "  \"streaming_stores\": true,\n"
                                     "  \"threads\": 2,\n"
                                     "  \"rounds\": 5,\n"
                                     "  \"host_seconds\": 0.000002000,\n"
                                     "  \"gb_per_s\": 4.000,\n"
                                     "  \"memcpy_gb_per_s\": 2.000,\n"
                                     "  \"ratio_to_memcpy\": 2.0000,\n"
                                     "  \"stream_gb_per_s\": 8.000,\n"
                                     "  \"ratio_to_stream\": 0.5000\n"
                                     "}\n");
}

TEST(a_copy_that_is_as_fast) {
    ts_bench_report r = report();
    r.result.memcpy_seconds = r.result.move_seconds;
    assert_string_equal(strstr(text_of(&r), "memcpy"),
                        "memcpy                 4.00          2.000           1.00\n"
                        "streaming copy         8.00          1.000           0.50\n");
}

/* No threads are asked for, this host has no streaming stores, and the clock saw no time go by. */
TEST(what_is_not_there) {
    ts_bench_report r = report();
    r.bench.how.threads = 0;
    r.result.streams = false;
    r.result.gathers = true;
    r.result.why_gather = "a table";
    r.result.stream_seconds = 0;
    assert_string_equal(text_of(&r),
                        "moves         1,024 elements, 8,000 bytes read and written\n"
                        "how           kernels avx2, ordinary stores, 1 thread; best of 5 rounds\n"
                        "gathers       a table\n"
                        "\n"
                        "on this host           GB/s   microseconds    the move is\n"
                        "the move               4.00          2.000\n"
                        "memcpy                 2.00          4.000           2.00\n");
    r.result.move_seconds = 0;
    r.result.memcpy_seconds = 0;
    assert_string_equal(json_of(&r), "\"elements\": 1024,\n"
                                     "  \"bytes\": 8000,\n"
                                     "  \"boxes\": 3,\n"
                                     "  \"gathers\": true,\n"
                                     "  \"kernels\": \"avx2\",\n"
                                     "  \"streaming_stores\": false,\n"
                                     "  \"threads\": 1,\n"
                                     "  \"rounds\": 5,\n"
                                     "  \"host_seconds\": 0.000000000,\n"
                                     "  \"gb_per_s\": 0.000,\n"
                                     "  \"memcpy_gb_per_s\": 0.000,\n"
                                     "  \"ratio_to_memcpy\": 0.0000,\n"
                                     "  \"stream_gb_per_s\": null,\n"
                                     "  \"ratio_to_stream\": null\n"
                                     "}\n");
}

int main(void) { return run_all_tests(begin_group, end_group); }
