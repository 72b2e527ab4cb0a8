/* Worker processes: points go to them, and rows come back, through a socket each. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include "base/host_clock.h"
#include "sweep/crew.h"
#include "sweep/case.h"

enum { AHEAD = 8, MOST_ROW_BYTES = 1 << 24 };

typedef struct {
    pid_t pid; /* 0: none */
    int socket;
    int64_t points[AHEAD]; /* out, the oldest first */
    int count;
    double since; /* the oldest is worked on */
} worker;

typedef struct {
    const ts_sweep_crew_request *request;
    ts_arena *arena;
    worker *workers;
    int count, next; /* who is looked at first */
    char *bytes;     /* of the last reply */
    size_t capacity;
} crew;

/* ---- In the worker ---- */

static bool read_all(int fd, void *bytes, size_t length) {
    for (char *at = bytes; length > 0;) {
        ssize_t got = read(fd, at, length);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        at += got;
        length -= (size_t)got;
    }
    return true;
}

static bool write_all(int fd, const void *bytes, size_t length) {
    for (const char *at = bytes; length > 0;) {
        ssize_t put = send(fd, at, length, MSG_NOSIGNAL);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        at += put;
        length -= (size_t)put;
    }
    return true;
}

static bool answer(ts_arena *scratch, int socket, ts_sweep_context *context, int64_t index) {
    ts_arena_reset(scratch);
    ts_sweep_row row;
    uint32_t length = 0;
    ts_text out = ts_text_begin(scratch);
    ts_sweep_answer(scratch, context, index, &row);
    ts_text_add_bytes(&out, (const char *)&length, sizeof length);
    ts_sweep_row_pack(&out, &row);
    length = (uint32_t)(out.length - sizeof length);
    memcpy(out.bytes, &length, sizeof length);
    return write_all(socket, out.bytes, out.length);
}

/* A worker dies with the process that it works for. */
static _Noreturn void work(const ts_sweep_study *study, int socket, pid_t master) {
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
    signal(SIGINT, SIG_IGN);                          /* the master is told too, and ends it */
    dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO); /* which is the master's alone */
    ts_sweep_context *context = getppid() == master ? ts_sweep_context_new(study) : NULL;
    ts_arena *scratch = ts_arena_new();
    int64_t index;
    while (context && read_all(socket, &index, sizeof index) && answer(scratch, socket, context, index))
        continue;
    ts_arena_free(scratch);
    ts_sweep_context_free(context);
    _exit(0);
}

/* ---- In the master ---- */

static bool start(ts_error *err, crew *all, worker *new) {
    int pair[2];
    pid_t master = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return ts_error_set(err, TS_ERROR_IO, "cannot start a worker: %s", strerror(errno));
    fflush(NULL);
    new->pid = fork();
    if (new->pid == 0) {
        close(pair[0]);
        for (int i = 0; i < all->count; i++)
            if (all->workers[i].pid > 0 && &all->workers[i] != new) close(all->workers[i].socket);
        work(all->request->study, pair[1], master);
    }
    int cause = errno;
    close(pair[1]);
    new->socket = pair[0];
    new->count = 0;
    if (new->pid > 0) return true;
    close(pair[0]);
    new->pid = 0;
    return ts_error_set(err, TS_ERROR_IO, "cannot start a worker: %s", strerror(cause));
}

/* Kills it if it still lives; how it ended. */
static int stop(worker *old) {
    int status = 0;
    kill(old->pid, SIGKILL);
    while (waitpid(old->pid, &status, 0) < 0 && errno == EINTR) continue;
    close(old->socket);
    old->pid = 0;
    return status;
}

static bool hand(ts_error *err, void *self, int member, int64_t index) {
    crew *all = self;
    worker *to = &all->workers[member];
    if (to->pid == 0 && !start(err, all, to)) return false;
    if (to->count == 0) to->since = ts_host_seconds(CLOCK_MONOTONIC);
    to->points[to->count++] = index;
    write_all(to->socket, &index, sizeof index); /* that it is gone, wait finds */
    return true;
}

static void take_point(worker *from, ts_sweep_reply *reply) {
    reply->index = from->points[0];
    memmove(from->points, from->points + 1, (size_t)--from->count * sizeof *from->points);
    from->since = ts_host_seconds(CLOCK_MONOTONIC);
}

/* The row of a point whose worker is gone; a new one gets the others. */
static bool replace(ts_error *err, crew *all, worker *gone, const ts_sweep_row *row, ts_sweep_reply *reply) {
    worker old;
    ts_text out = ts_text_begin(all->arena);
    ts_sweep_row_pack(&out, row);
    reply->bytes = out.bytes;
    reply->length = out.length;
    take_point(gone, reply);
    old = *gone;
    for (int i = 0; i < old.count; i++)
        if (!hand(err, all, reply->member, old.points[i])) return false;
    return true;
}

/* A signal's name; else the code with which a worker ended, that should not end. */
static bool note_crash(ts_error *err, crew *all, worker *gone, ts_sweep_reply *reply) {
    ts_sweep_row row;
    ts_error why = {0};
    int status = 0;
    while (waitpid(gone->pid, &status, 0) < 0 && errno == EINTR) continue;
    close(gone->socket);
    gone->pid = 0;
    if (WIFSIGNALED(status))
        ts_error_set(&why, TS_ERROR_IO, "its process was ended by signal %d (%s)", WTERMSIG(status),
                     strsignal(WTERMSIG(status)));
    else
        ts_error_set(&why, TS_ERROR_IO, "its process ended with exit code %d", WEXITSTATUS(status));
    ts_sweep_row_error(all->arena, TS_SWEEP_CRASH, &why, &row);
    return replace(err, all, gone, &row, reply);
}

static bool note_timeout(ts_error *err, crew *all, worker *late, ts_sweep_reply *reply) {
    ts_sweep_row row;
    ts_error why = {0};
    stop(late);
    ts_error_set(&why, TS_ERROR_IO, "it took longer than %g s", all->request->timeout_seconds);
    ts_sweep_row_error(all->arena, TS_SWEEP_TIMEOUT, &why, &row);
    return replace(err, all, late, &row, reply);
}

static bool receive(ts_error *err, crew *all, worker *from, ts_sweep_reply *reply) {
    uint32_t length;
    bool got = read_all(from->socket, &length, sizeof length);
    if (got && length > MOST_ROW_BYTES) kill(from->pid, SIGKILL);
    if (!got || length > MOST_ROW_BYTES) return note_crash(err, all, from, reply);
    if (length > all->capacity) {
        all->capacity = 2 * (size_t)length;
        all->bytes = TS_NEW_ARRAY(all->arena, char, all->capacity);
    }
    if (!read_all(from->socket, all->bytes, length)) return note_crash(err, all, from, reply);
    reply->bytes = all->bytes;
    reply->length = length;
    take_point(from, reply);
    return true;
}

static const double ASK_SECONDS = 0.1;     /* nobody waits for that */
static const double LONGEST_SECONDS = 1e6; /* that poll takes */

/* Who has taken too long, or -1; *left: milliseconds until the next may have, or the caller is asked again. */
static int find_late(const crew *all, int *left) {
    double limit = all->request->timeout_seconds, now = limit > 0 ? ts_host_seconds(CLOCK_MONOTONIC) : 0,
           least = all->request->stopped ? ASK_SECONDS : LONGEST_SECONDS;
    for (int i = 0; i < all->count && limit > 0; i++) {
        const worker *w = &all->workers[i];
        if (w->count == 0) continue;
        double rest = limit - (now - w->since);
        if (rest <= 0) return i;
        least = rest < least ? rest : least;
    }
    *left = (int)(least * 1e3) + 1;
    return -1;
}

static bool wait_for_one(ts_error *err, void *self, ts_sweep_reply *reply) {
    crew *all = self;
    const ts_sweep_crew_request *request = all->request;
    for (;;) {
        if (request->stopped && request->stopped(request->context))
            return ts_error_set(err, TS_ERROR_IO, "the study is stopped");
        int left, late = find_late(all, &left);
        reply->member = late;
        if (late >= 0) return note_timeout(err, all, &all->workers[late], reply);
        struct pollfd waits[TS_SWEEP_WORKERS];
        for (int i = 0; i < all->count; i++)
            waits[i] = (struct pollfd){all->workers[i].count > 0 ? all->workers[i].socket : -1, POLLIN, 0};
        int ready = poll(waits, (nfds_t)all->count, left);
        if (ready < 0 && errno != EINTR)
            return ts_error_set(err, TS_ERROR_IO, "cannot wait: %s", strerror(errno));
        for (int k = 0; ready > 0 && k < all->count; k++) {
            int i = (all->next + k) % all->count;
            if (waits[i].revents == 0) continue;
            all->next = i + 1;
            reply->member = i;
            return receive(err, all, &all->workers[i], reply);
        }
    }
}

static void dismiss(void *self) {
    crew *all = self;
    for (int i = 0; i < all->count; i++)
        if (all->workers[i].pid > 0) stop(&all->workers[i]);
}

bool ts_sweep_processes(ts_error *err, ts_arena *arena, const ts_sweep_crew_request *request,
                        ts_sweep_crew *out) {
    crew *all = TS_NEW(arena, crew);
    if (request->workers < 1 || request->workers > TS_SWEEP_WORKERS)
        return ts_error_set(err, TS_ERROR_USAGE, "%d workers, expected 1 to %d", request->workers,
                            TS_SWEEP_WORKERS);
    all->request = request;
    all->arena = arena;
    all->count = request->workers;
    all->workers = TS_NEW_ARRAY(arena, worker, all->count);
    *out = (ts_sweep_crew){all, all->count, AHEAD, hand, wait_for_one, dismiss};
    return true;
}
