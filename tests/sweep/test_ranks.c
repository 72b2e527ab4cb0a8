/* Ranks without MPI: what rank 0 sends and takes, what the others answer, by a mailbox of the test's own. */
#include "sweep/crew.h"

#include <stdlib.h>
#include <string.h>

#include "sweep/columns.h"
#include "tests/support/test.h"

enum { MESSAGES = 8, BYTES = 4096 };
typedef struct {
    int rank;
    size_t length;
    char bytes[BYTES];
} message;

/* ts_sweep_ranks hands its functions nothing of the caller's. */
static struct {
    message in[MESSAGES], out[MESSAGES];
    int in_count, in_at, out_count, sends;
} box;

static bool send_to(int to, const void *bytes, size_t length) {
    assert_true(length <= BYTES && to >= 0 && to < 3);
    if (box.out_count == box.sends) return false;
    message *m = &box.out[box.out_count++];
    m->rank = to;
    m->length = length;
    memcpy(m->bytes, bytes, length);
    return true;
}

static bool receive_any(int *from, const void **bytes, size_t *length) {
    if (box.in_at == box.in_count) return false;
    const message *m = &box.in[box.in_at++];
    *from = m->rank;
    *bytes = m->bytes;
    *length = m->length;
    return true;
}

static const ts_sweep_ranks of_three = {.size = 3, .send = send_to, .receive = receive_any};

static void begin(int sends) {
    memset(&box, 0, sizeof box);
    box.sends = sends;
}

static void put(int rank, const void *bytes, size_t length) {
    message *m = &box.in[box.in_count++];
    m->rank = rank;
    m->length = length;
    memcpy(m->bytes, bytes, length);
}

static void put_point(int64_t index) { put(0, &index, sizeof index); }

/* ---- Tests ---- */

TEST(started) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"};
    static const struct {
        const char *text;
        int count;
    } rows[] = {{"0", 1}, {"1", 1}, {"2", 2}, {"64", 64}, {"", 1}, {"x", 1}};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) unsetenv(names[i]);
    assert_int_equal(ts_sweep_ranks_started(getenv), 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            setenv(names[i], rows[k].text, 1);
            assert_int_equal(ts_sweep_ranks_started(getenv), rows[k].count);
        }
        unsetenv(names[i]);
    }
    setenv(names[0], "1", 1); /* of what is not the launcher */
    setenv(names[1], "4", 1);
    assert_int_equal(ts_sweep_ranks_started(getenv), 4);
    unsetenv(names[0]);
    unsetenv(names[1]);
}

TEST_WITH_ARENA(not_built_in) {
    ts_error err = {0};
    ts_sweep_ranks ranks;
    assert_false(ts_sweep_ranks_load(&err, arena, 5, &ranks)); /* none is beside the tests */
    assert_int_equal(err.kind, TS_ERROR_UNMODELLED);
    assert_memory_equal(err.message, "MPI started 5 of these,", 23);
}

TEST_WITH_ARENA(rank_0) {
    ts_error err = {0};
    ts_sweep_crew crew;
    ts_sweep_reply reply;
    int64_t index = 42, sent;
    char answer[sizeof index + 3];
    memcpy(answer, &index, sizeof index);
    memcpy(answer + sizeof index, "row", 3);
    begin(4);
    ts_sweep_ranks_crew(arena, &of_three, &crew);
    assert_int_equal(crew.size, 2);
    assert_true(crew.ahead > 1);
    for (int member = 0; member < 2; member++) {
        assert_true(crew.hand(&err, crew.self, member, 42 + member));
        assert_int_equal(box.out[member].rank, member + 1);
        assert_int_equal(box.out[member].length, sizeof sent);
        memcpy(&sent, box.out[member].bytes, sizeof sent);
        assert_int_equal(sent, 42 + member);
    }
    put(2, answer, sizeof answer);
    put(1, answer, sizeof index); /* a row of nothing is the reader's to refuse */
    put(1, answer, sizeof index - 1);
    assert_true(crew.wait(&err, crew.self, &reply));
    assert_true(reply.member == 1 && reply.index == 42 && reply.length == 3);
    assert_memory_equal(reply.bytes, "row", 3);
    assert_true(crew.wait(&err, crew.self, &reply));
    assert_true(reply.member == 0 && reply.length == 0);
    for (int again = 0; again < 2; again++) { /* too short; none */
        err = (ts_error){0};
        assert_false(crew.wait(&err, crew.self, &reply));
        assert_string_equal(err.message, "no answer from the other ranks");
    }
    crew.dismiss(crew.self);
    assert_int_equal(box.out_count, 4);
    for (int i = 2; i < 4; i++) {
        memcpy(&sent, box.out[i].bytes, sizeof sent);
        assert_true(box.out[i].rank == i - 1 && sent == -1);
    }
    err = (ts_error){0};
    assert_false(crew.hand(&err, crew.self, 1, 1));
    assert_string_equal(err.message, "cannot hand a point to rank 2");
}

/* Points 1 and 0, then the end, a word that is too long, or none; answers that cannot be sent. */
TEST(others) {
    enum { DISMISSED, TOO_LONG, SILENT, UNSENT };
    static const struct {
        int end, sends, answers;
        const char *message;
    } rows[] = {{DISMISSED, 2, 2, NULL},
                {TOO_LONG, 2, 2, "no word from rank 0"},
                {SILENT, 2, 2, "no word from rank 0"},
                {UNSENT, 1, 1, "cannot answer rank 0"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_arena *arena = ts_arena_new();
        ts_error err = {0};
        const char text[] = "vary: {A: [8, 9]}\nask: {layout: 'f32[$A]'}";
        const ts_source source = {"study", text, strlen(text)};
        const ts_sweep_crew_request request = {.study = ts_sweep_study_parse(&err, arena, &source, "")};
        begin(rows[i].sends);
        put_point(1);
        put_point(0);
        if (rows[i].end == DISMISSED) put_point(-1);
        if (rows[i].end == TOO_LONG) put(0, "123456789", 9);
        bool good = ts_sweep_ranks_serve(&err, arena, &of_three, &request);
        assert_int_equal(good, rows[i].message == NULL);
        if (!good) assert_string_equal(err.message, rows[i].message);
        assert_int_equal(box.out_count, rows[i].answers);
        for (int k = 0; k < rows[i].answers; k++) {
            int64_t index;
            ts_sweep_row row;
            memcpy(&index, box.out[k].bytes, sizeof index);
            assert_true(box.out[k].rank == 0 && index == 1 - k);
            assert_true(ts_sweep_row_unpack(arena, box.out[k].bytes + sizeof index,
                                            box.out[k].length - sizeof index, &row));
            assert_int_equal(row.values[TS_SWEEP_LOGICAL_BYTES_COLUMN].integer, 4 * (8 + index));
        }
        ts_arena_free(arena);
    }
}
