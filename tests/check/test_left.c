/* What a program leaves at its end. */
#include <string.h>

#include "check/left.h"
#include "tests/support/cmocka.h"

static const ts_source source = {"a.tsim", "", 0};
static const ts_transfer transfers[] = {{.source_text = &source, .line = 4, .column = 2},
                                        {.source_text = &source, .line = 5, .column = 2}};
static const ts_instruction add = {.opcode = TS_OP_sem_add, .source = &source, .line = 6, .column = 3},
                            set = {.opcode = TS_OP_sem_set, .source = &source, .line = 7, .column = 3},
                            wait = {.opcode = TS_OP_wait, .source = &source, .line = 8, .column = 3};

/* What came to a semaphore: 's' and 't' a transfer, 'a' an add of 1, 'x' a set to 1 less, 'z' one to the same, 'w' a wait for 1. */
static const struct {
    const char *events;
    int64_t value;
    int line;
    const char *text;
} rows[] = {
    {"", 0, 0, NULL},
    {"sw", 0, 0, NULL},
    {"s", 1, 4, "semaphore a is 1 at the end, expected 0: the last DMA that signals it was not waited for"},
    {"stw", 1, 5, "semaphore a is 1 at the end, expected 0: the last DMA that signals it was not waited for"},
    {"a", 1, 6, "semaphore a is 1 at the end, expected 0: it was added to more often than waited for"},
    {"az", 1, 6, "semaphore a is 1 at the end, expected 0: it was added to more often than waited for"},
    {"saw", 1, 6, "semaphore a is 1 at the end, expected 0: it was added to more often than waited for"},
    {"sax", 1, 4, "semaphore a is 1 at the end, expected 0: the last DMA that signals it was not waited for"},
    {"staw", 2, 5,
     "semaphore a is 2 at the end, expected 0: the last DMA that signals it was not waited for"},
};

static void send(ts_semaphore_account *account, char event) {
    if (event == 's') ts_left_send(account, &transfers[0], 1);
    if (event == 't') ts_left_send(account, &transfers[1], 1);
    if (event == 'a') ts_left_change(account, &add, 1);
    if (event == 'x') ts_left_change(account, &set, -1);
    if (event == 'z') ts_left_change(account, &set, 0);
    if (event == 'w') ts_left_change(account, &wait, -1);
}

TEST(a_semaphore_that_is_not_0) {
    static const char *const names[] = {"a"};
    const ts_code code = {.semaphore_count = 1, .semaphore_names = names};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_findings *f = test_calloc(1, sizeof *f);
        ts_semaphore_account account = {0};
        for (const char *at = rows[i].events; *at; at++) send(&account, *at);
        ts_left_state left = {&code, -1, &account, &rows[i].value};
        ts_left_semaphores(f, &left, 99);
        assert_int_equal(f->count, rows[i].text != NULL);
        if (rows[i].text) {
            assert_int_equal(f->list[0].kind, TS_FINDING_SEMAPHORE);
            assert_int_equal(f->list[0].cycle, 99);
            assert_null(f->list[0].other.source);
            assert_int_equal(f->list[0].where.line, rows[i].line);
            assert_string_equal(f->list[0].text, rows[i].text);
        }
        test_free(f);
    }
}

/* A program without a text: each semaphore is told all the same; and the core is named. */
TEST(many_semaphores_without_lines) {
    static const char *const names[] = {"a", "b", "c"};
    const ts_code code = {.semaphore_count = 3, .semaphore_names = names};
    const int64_t values[] = {2, 0, 5};
    ts_semaphore_account accounts[3] = {{0}};
    ts_findings *f = test_calloc(1, sizeof *f);
    ts_left_state left = {&code, 0, accounts, values};
    ts_transfer bare = {.line = 4};
    for (int i = 0; i < 3; i++) ts_left_send(&accounts[i], &bare, 1);
    ts_left_semaphores(f, &left, 1);
    assert_int_equal(f->count, 2);
    assert_int_equal(f->list[0].where.column, 1);
    assert_int_equal(f->list[1].where.column, 3);
    assert_non_null(strstr(f->list[1].text, "semaphore c of core 0 is 5 at the end"));
    test_free(f);
}

TEST(a_transfer_under_way) {
    ts_findings *f = test_calloc(1, sizeof *f);
    ts_left_transfer(f, &transfers[1], -1, 40, 50);
    ts_left_transfer(f, &transfers[0], 1, 40, 50);
    assert_int_equal(f->count, 2);
    assert_int_equal(f->list[0].kind, TS_FINDING_TRANSFER);
    assert_int_equal(f->list[0].where.line, 5);
    assert_int_equal(f->list[0].cycle, 50);
    assert_null(f->list[0].other.source);
    assert_string_equal(f->list[0].text, "the program ended at cycle 40, when this DMA was under way");
    assert_string_equal(f->list[1].text,
                        "the program of core 1 ended at cycle 40, when this DMA was under way");
    test_free(f);
}
