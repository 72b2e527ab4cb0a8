/* Points to other ranks, rows back. */
#include "sweep/crew.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AHEAD = 4, PATH_BYTES = 4096 };
static const int64_t dismissed = -1; /* in place of a point */

/* ---- What speaks MPI ---- */

int ts_sweep_ranks_started(char *(*variable)(const char *name)) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *text = variable(names[i]);
        if (text && atoi(text) > 1) return atoi(text);
    }
    return 1;
}

static void *open_beside(ts_arena *arena, const char *folder, size_t length, const char *name) {
    const char *path = ts_text_format(arena, "%.*s/%s", (int)length, folder, name);
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

bool ts_sweep_ranks_load(ts_error *err, ts_arena *arena, int started, ts_sweep_ranks *ranks) {
    char program[PATH_BYTES] = "/"; /* where it is not known */
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    size_t folder = (size_t)(strrchr(program, '/') - program);
    (void)length;
    void *library = open_beside(arena, program, folder, "tilesim-mpi.so");
    if (!library) library = open_beside(arena, program, folder, "../lib/tilesim-mpi.so");
    void *symbol = library ? dlsym(library, TS_SWEEP_RANKS_BEGIN) : NULL;
    ts_sweep_ranks_begin begin;
    memcpy(&begin, &symbol, sizeof begin);
    if (!symbol)
        return ts_error_set(err, TS_ERROR_UNMODELLED,
                            "MPI started %d of these, but tilesim was built without MPI: with mpicc in PATH "
                            "./configure.py and ninja build it in",
                            started);
    return begin(ranks) || ts_error_set(err, TS_ERROR_IO, "MPI cannot begin");
}

/* ---- Rank 0 ---- */

static bool hand(ts_error *err, void *self, int member, int64_t index) {
    const ts_sweep_ranks *ranks = self;
    return ranks->send(member + 1, &index, sizeof index) ||
           ts_error_set(err, TS_ERROR_IO, "cannot hand a point to rank %d", member + 1);
}

/* A reply is the point, then its row. */
static bool wait_for_one(ts_error *err, void *self, ts_sweep_reply *reply) {
    const ts_sweep_ranks *ranks = self;
    const void *bytes;
    size_t length;
    if (!ranks->receive(&reply->member, &bytes, &length) || length < sizeof reply->index)
        return ts_error_set(err, TS_ERROR_IO, "no answer from the other ranks");
    memcpy(&reply->index, bytes, sizeof reply->index);
    reply->member--;
    reply->bytes = (const char *)bytes + sizeof reply->index;
    reply->length = length - sizeof reply->index;
    return true;
}

static void dismiss(void *self) {
    const ts_sweep_ranks *ranks = self;
    for (int i = 1; i < ranks->size; i++) ranks->send(i, &dismissed, sizeof dismissed);
}

void ts_sweep_ranks_crew(ts_arena *arena, const ts_sweep_ranks *ranks, ts_sweep_crew *crew) {
    ts_sweep_ranks *own = TS_NEW(arena, ts_sweep_ranks);
    *own = *ranks;
    *crew = (ts_sweep_crew){own, ranks->size - 1, AHEAD, hand, wait_for_one, dismiss};
}

/* ---- The others ---- */

static bool answer(ts_error *err, const ts_sweep_ranks *ranks, const ts_sweep_crew *crew, int64_t index) {
    ts_arena *arena = ts_arena_new();
    ts_sweep_reply reply;
    bool good = crew->hand(err, crew->self, 0, index) && crew->wait(err, crew->self, &reply);
    ts_text out = ts_text_begin(arena);
    if (good) {
        ts_text_add_bytes(&out, (const char *)&reply.index, sizeof reply.index);
        ts_text_add_bytes(&out, reply.bytes, reply.length);
        good =
            ranks->send(0, out.bytes, out.length) || ts_error_set(err, TS_ERROR_IO, "cannot answer rank 0");
    }
    ts_arena_free(arena);
    return good;
}

bool ts_sweep_ranks_serve(ts_error *err, ts_arena *arena, const ts_sweep_ranks *ranks,
                          const ts_sweep_crew_request *request) {
    ts_sweep_crew_request one = *request;
    ts_sweep_crew crew;
    bool good;
    one.workers = 1;
    if (!ts_sweep_processes(err, arena, &one, &crew)) return false;
    for (good = true; good;) {
        int from;
        int64_t index = dismissed;
        const void *bytes;
        size_t length;
        good = ranks->receive(&from, &bytes, &length) && length == sizeof index;
        if (good) memcpy(&index, bytes, sizeof index);
        if (!good) ts_error_set(err, TS_ERROR_IO, "no word from rank 0");
        if (index == dismissed) break;
        good = answer(err, ranks, &crew, index);
    }
    crew.dismiss(crew.self);
    return good;
}
