/* How fast this host moves a tensor. */
#include "report/bench.h"

#include <math.h>

#include "report/json.h"

static double gb_per_s(const ts_bench_report *r, double seconds) {
    return seconds > 0 ? (double)r->result.bytes / seconds / 1e9 : 0;
}

static double ratio(double seconds, double of) { return of > 0 ? seconds / of : 0; }

static int threads_of(const ts_bench_report *r) {
    return r->bench.how.threads > 1 ? r->bench.how.threads : 1;
}

static void add_time(const ts_bench_report *r, const char *name, double seconds, ts_text *out) {
    ts_text_add(out, "%-16s %10.2f %14.3f", name, gb_per_s(r, seconds), seconds * 1e6);
}

static void add_copy(const ts_bench_report *r, const char *name, double seconds, ts_text *out) {
    add_time(r, name, seconds, out);
    ts_text_add(out, " %14.2f\n", ratio(seconds, r->result.move_seconds));
}

void ts_report_bench(const ts_bench_report *r, ts_text *out) {
    const ts_bench_result *result = &r->result;
    ts_text_add(out, "source        %s\n", ts_transfer_end_text(out->arena, &r->bench.src));
    ts_text_add(out, "destination   %s\n", ts_transfer_end_text(out->arena, &r->bench.dst));
    ts_text_add(out, "moves         %s, %s read and written\n",
                ts_text_counted(out->arena, result->elements, "element"),
                ts_text_counted(out->arena, result->bytes, "byte"));
    ts_text_add(out, "how           kernels %s, %s stores, %s; best of %s\n", r->kernels,
                result->streams ? "streaming" : "ordinary",
                ts_text_counted(out->arena, threads_of(r), "thread"),
                ts_text_counted(out->arena, result->rounds, "round"));
    if (result->gathers) ts_text_add(out, "gathers       %s\n", result->why_gather);
    ts_text_add(out, "\n%-16s %10s %14s %14s\n", "on this host", "GB/s", "microseconds", "the move is");
    add_time(r, "the move", result->move_seconds, out);
    ts_text_add_char(out, '\n');
    add_copy(r, "memcpy", result->memcpy_seconds, out);
    if (result->stream_seconds > 0) add_copy(r, "streaming copy", result->stream_seconds, out);
}

void ts_report_bench_json(const ts_bench_report *r, ts_text *out) {
    const ts_bench_result *result = &r->result;
    ts_json json;
    ts_json_begin(&json, out, "bench");
    ts_json_text(&json, "src", ts_transfer_end_text(out->arena, &r->bench.src));
    ts_json_text(&json, "dst", ts_transfer_end_text(out->arena, &r->bench.dst));
    ts_json_int(&json, "elements", result->elements);
    ts_json_int(&json, "bytes", result->bytes);
    ts_json_int(&json, "boxes", result->boxes);
    ts_json_bool(&json, "gathers", result->gathers);
    ts_json_text(&json, "kernels", r->kernels);
    ts_json_bool(&json, "streaming_stores", result->streams);
    ts_json_int(&json, "threads", threads_of(r));
    ts_json_int(&json, "rounds", result->rounds);
    ts_json_real(&json, "host_seconds", result->move_seconds, 9);
    ts_json_real(&json, "gb_per_s", gb_per_s(r, result->move_seconds), 3);
    ts_json_real(&json, "memcpy_gb_per_s", gb_per_s(r, result->memcpy_seconds), 3);
    ts_json_real(&json, "ratio_to_memcpy", ratio(result->memcpy_seconds, result->move_seconds), 4);
    bool streams = result->stream_seconds > 0;
    double to_stream = ratio(result->stream_seconds, result->move_seconds);
    ts_json_real(&json, "stream_gb_per_s", streams ? gb_per_s(r, result->stream_seconds) : (double)NAN, 3);
    ts_json_real(&json, "ratio_to_stream", streams ? to_stream : (double)NAN, 4);
    ts_json_end(&json);
}
