/* How fast HLO text is read: lines alone, and with the audit's tables, next to memcpy of the same bytes; and
 * the memory that this takes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "tilesim/base/file.h"
#include "tilesim/study/audit.h"

enum { CHUNK = 1 << 20, TEXT_BYTES = 256 << 20 };

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void print(const char *what, int64_t bytes, double elapsed) {
    printf("%-32s %10.0f MB/s\n", what, (double)bytes / elapsed / 1e6);
}

/* The text over and over: as much as a large module. */
static double read_lines(const char *text, size_t length) {
    ts_hlo_events events = {0};
    ts_arena *arena = ts_arena_new();
    ts_hlo_reader *reader = ts_hlo_new(arena, &events);
    double start = seconds();
    for (int64_t done = 0; done < TEXT_BYTES; done += (int64_t)length) ts_hlo_feed(reader, text, length);
    ts_hlo_finish(reader);
    double elapsed = seconds() - start;
    ts_arena_free(arena);
    return elapsed;
}

static double audit(const ts_machine *machine, const char *text, size_t length) {
    ts_audit_request request = {.machine = machine};
    ts_audit_result result;
    ts_arena *arena = ts_arena_new();
    ts_audit *state = ts_audit_new(arena, &request);
    double start = seconds();
    for (int64_t done = 0; done < TEXT_BYTES; done += (int64_t)length) ts_audit_feed(state, text, length);
    double elapsed = seconds() - start;
    if (!ts_audit_finish(NULL, state, NULL, NULL, &result)) abort();
    ts_audit_free(state);
    ts_arena_free(arena);
    return elapsed;
}

static double copy(const char *text, size_t length) {
    char *to = malloc(length);
    if (!to) abort();
    double start = seconds();
    for (int64_t done = 0; done < TEXT_BYTES; done += (int64_t)length) {
        memcpy(to, text, length);
        __asm__ volatile("" : : "r"(to) : "memory");
    }
    double elapsed = seconds() - start;
    free(to);
    return elapsed;
}

int main(void) {
    ts_arena *arena = ts_arena_new();
    ts_error err = {0};
    char *file;
    size_t size, length = 0;
    const ts_machine *machine = ts_machine_load(&err, arena, "tpu-v5e");
    if (!machine || !ts_file_read(&err, arena, "tests/data/hlo/step.txt", CHUNK, &file, &size)) {
        fprintf(stderr, "bench_hlo: %s\n", err.message);
        return 1;
    }
    char *text = ts_arena_alloc(arena, CHUNK, 1);
    for (; length + size <= CHUNK; length += size) memcpy(text + length, file, size);
    printf("%-32s %15s\n", "HLO text, 256 MiB", "");
    print("  memcpy", TEXT_BYTES, copy(text, length));
    print("  lines and their parts", TEXT_BYTES, read_lines(text, length));
    print("  audit, all but prices", TEXT_BYTES, audit(machine, text, length));
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    printf("%-32s %10.1f MB at most\n", "  memory", (double)used.ru_maxrss / 1e3);
    ts_arena_free(arena);
    return 0;
}
