/* Where requests come from: the patterns, and traces, good and bad. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/hbm2.h"
#include "tests/support/test.h"
#include "study/hbm_run.h"
#include "tests/support/temporary.h"

typedef struct {
    ts_arena *arena;
    char path[TEMPORARY_PATH];
} fixture;

static int set_up(void **state) {
    ts_arena *arena = ts_arena_new();
    fixture *f = TS_NEW(arena, fixture);
    f->arena = arena;
    close(mkstemp(temporary_path(f->path, "trace-XXXXXX")));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    unlink(f->path);
    ts_arena_free(f->arena);
    return 0;
}

static void write_trace(const fixture *f, const char *text, size_t length) {
    FILE *file = fopen(f->path, "wb");
    assert_int_equal(fwrite(text, 1, length, file), length);
    fclose(file);
}

/* Reads all, `most` at a time; returns how many, with FNV-1a over (line, is_write), a request at a time. */
static int64_t read_all(fixture *f, const char *what, int most, uint64_t *hash) {
    ts_hbm_request block[512];
    ts_error err = {0};
    int64_t total = 0;
    int count;
    *hash = UINT64_C(0xcbf29ce484222325);
    ts_hbm_requests *requests = ts_hbm_requests_open(&err, f->arena, what, &hbm2);
    assert_non_null(requests);
    do {
        assert_true(ts_hbm_requests_read(&err, requests, block, most, &count));
        for (int i = 0; i < count; i++) {
            uint64_t line = (uint64_t)block[i].address / 64;
            assert_int_equal(block[i].address % 64, 0);
            *hash = (*hash ^ (line * 2 + block[i].is_write)) * UINT64_C(0x100000001b3);
        }
        total += count;
    } while (count > 0);
    ts_hbm_requests_close(requests);
    return total;
}

/* Hashes of streams that a generator in another language made from the formulas of the patterns. */
TEST_WITH(patterns_are_those_of_the_reference, set_up, tear_down) {
    static const struct {
        const char *name;
        int64_t count;
        uint64_t hash;
    } rows[] = {
        {"a_seq_rd", 262144, UINT64_C(0xae8f80e2de7a2325)},
        {"b_seq_wr", 262144, UINT64_C(0x84b7f44bb2522325)},
        {"c_copy4k", 262144, UINT64_C(0xd14e2e56e2962325)},
        {"c2_copy4k_off", 262144, UINT64_C(0x762dbfb27efe2325)},
        {"d_s4k_512", 65536, UINT64_C(0x4902124fe1902325)},
        {"e_s32k_512", 65536, UINT64_C(0x8c90074c82d02325)},
        {"f_s4k_64", 65536, UINT64_C(0x068d80de0a3e2325)},
        {"g_tile_f32", 262144, UINT64_C(0x84fe616a66322325)},
        {"h_tile_bf16", 262144, UINT64_C(0x2fff364b7afa2325)},
        {"i_col_f32", 65536, UINT64_C(0xfd0624138dd22325)},
        {"j_random", 131072, UINT64_C(0xca24b5893b07f22f)},
        {"k_bankconf", 16384, UINT64_C(0x7bd43bfe0f432325)},
        {"l_relayout", 262144, UINT64_C(0x2480479de38a2325)},
        {"m_unlayout", 262144, UINT64_C(0x97ab5afdecb62325)},
    };
    int known = 0;
    while (ts_hbm_patterns[known].name) known++;
    assert_int_equal(known, sizeof rows / sizeof rows[0]);
    for (int i = 0; i < known; i++) {
        uint64_t hash, other;
        assert_int_equal(read_all(*state, rows[i].name, 512, &hash), rows[i].count);
        if (hash != rows[i].hash) fail_msg("%s is 0x%016llx", rows[i].name, (unsigned long long)hash);
        assert_int_equal(read_all(*state, rows[i].name, 7, &other), rows[i].count);
        assert_true(other == hash);
    }
}

TEST_WITH(traces_of_both_simulators, set_up, tear_down) {
    static const struct {
        const char *text;
        int count;
        ts_hbm_request requests[3];
    } rows[] = {
        {"LD 0x40\nST 128\n", 2, {{64, 0, false}, {128, 0, true}}},
        {"R 0x0\r\nW 0xFfC0\r\n", 2, {{0, 0, false}, {0xffc0, 0, true}}},
        {"0x80 READ 0\n0X7f WRITE 12\n0x0 READ 5", 3, {{128, 0, false}, {64, 12, true}, {0, 12, false}}},
        {"0x100 R\n# a comment\n\n \t0x140 P_MEM_WR 3 \n", 2, {{256, 0, false}, {320, 3, true}}},
        {"0x1ffffffff read\n", 1, {{0x1ffffffc0, 0, false}}},
        {"", 0, {{0}}},
        {"\n\n# nothing", 0, {{0}}},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_hbm_request got[4];
        ts_error err = {0};
        int count;
        write_trace(f, rows[i].text, strlen(rows[i].text));
        ts_hbm_requests *requests = ts_hbm_requests_open(&err, f->arena, f->path, &hbm2);
        assert_true(ts_hbm_requests_read(&err, requests, got, 4, &count));
        assert_int_equal(count, rows[i].count);
        for (int k = 0; k < count; k++) {
            assert_int_equal(got[k].address, rows[i].requests[k].address);
            assert_int_equal(got[k].earliest, rows[i].requests[k].earliest);
            assert_int_equal(got[k].is_write, rows[i].requests[k].is_write);
        }
        ts_hbm_requests_close(requests);
    }
}

/* Lines that lie across the pieces in which a file is read. */
TEST_WITH(long_traces_are_read_in_pieces, set_up, tear_down) {
    enum { LINES = 100000 };
    fixture *f = *state;
    ts_text text;
    uint64_t hash, expected = UINT64_C(0xcbf29ce484222325);
    text = ts_text_begin(f->arena);
    for (int i = 0; i < LINES; i++) {
        ts_text_add(&text, "%*s%s 0x%x\n", i % 13, "", i % 3 ? "LD" : "ST", i * 64);
        expected = (expected ^ ((uint64_t)i * 2 + (i % 3 == 0))) * UINT64_C(0x100000001b3);
    }
    write_trace(f, text.bytes, text.length);
    assert_int_equal(read_all(f, f->path, 512, &hash), LINES);
    assert_true(hash == expected);
}

#define OPERATION "LD, ST, R, W, READ or WRITE"

TEST_WITH(bad_traces, set_up, tear_down) {
    static const struct {
        const char *text, *error; /* behind the path */
    } rows[] = {
        {"LD 0x40\nLOAD 0x40\n", ":2:1: error: found 'LOAD', expected " OPERATION "\nLOAD 0x40\n^\n"},
        {"LD\n", ":1:3: error: found the end, expected an address\nLD\n  ^\n"},
        {"LD x40\n", ":1:4: error: found 'x40', expected an address\nLD x40\n   ^\n"},
        {"LD 0x\n", ":1:4: error: found '0', expected an address\nLD 0x\n   ^\n"},
        {"LD 0x40 7\n", ":1:9: error: found '7', expected the end of the line\nLD 0x40 7\n        ^\n"},
        {"R 0,1,2\n", ":1:4: error: found ',', expected the end of the line\nR 0,1,2\n   ^\n"},
        {"\n\n  0x40 REED 1\n",
         ":3:8: error: found 'REED', expected " OPERATION "\n  0x40 REED 1\n       ^\n"},
        {"0x40\n", ":1:5: error: found the end, expected " OPERATION "\n0x40\n    ^\n"},
        {"40 READ 1\n", ":1:1: error: found '40', expected LD, ST, R, W, or an address that begins with 0x\n"
                        "40 READ 1\n^\n"},
        {"0x40 READ x\n", ":1:11: error: found 'x', expected a cycle\n0x40 READ x\n          ^\n"},
        {"0x40 READ -1\n",
         ":1:11: error: found cycle -1, expected 0 to 2^46 - 1\n0x40 READ -1\n          ^\n"},
        {"0x40 READ 70368744177664\n", ":1:11: error: found cycle 70368744177664, expected 0 to 2^46 - 1\n"
                                       "0x40 READ 70368744177664\n          ^\n"},
        {"0x40 READ 1 2\n",
         ":1:13: error: found '2', expected the end of the line\n0x40 READ 1 2\n            ^\n"},
        {"LD 0x1ffffffff\nST 0x200000000\nST 0x300000000\n",
         ":2:4: error: the address is too large, expected one below 0x200000000\nST 0x200000000\n   ^\n"},
        {"0x1000000000 READ\n", ":1:1: error: the address is too large, expected one below 0x200000000\n"
                                "0x1000000000 READ\n^\n"},
        {"ST 99999999999999999999999999\n", ":1:4: error: the address is too large, expected one below "
                                            "0x200000000\nST 99999999999999999999999999\n   ^\n"},
        {"\x01\n", ":1:1: error: found the byte 0x01, expected LD, ST, R, W, or an address that begins with "
                   "0x\n?\n^\n"},
    };
    fixture *f = *state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_hbm_request got[4];
        ts_error err = {0};
        char expected[700];
        int count;
        write_trace(f, rows[i].text, strlen(rows[i].text));
        snprintf(expected, sizeof expected, "%s%s", f->path, rows[i].error);
        ts_hbm_requests *requests = ts_hbm_requests_open(&err, f->arena, f->path, &hbm2);
        assert_false(ts_hbm_requests_read(&err, requests, got, 4, &count));
        assert_error(&err, TS_ERROR_INPUT, expected);
        ts_hbm_requests_close(requests);
    }
}

TEST_WITH(a_line_without_end, set_up, tear_down) {
    enum { BYTES = 300000 };
    fixture *f = *state;
    char *text = TS_NEW_ARRAY(f->arena, char, BYTES);
    ts_hbm_request got[4];
    ts_error err = {0};
    int count;
    memset(text, ' ', BYTES);
    memcpy(text, "LD 1\n", 5);
    write_trace(f, text, BYTES);
    ts_hbm_requests *requests = ts_hbm_requests_open(&err, f->arena, f->path, &hbm2);
    assert_false(ts_hbm_requests_read(&err, requests, got, 4, &count));
    assert_string_equal(err.message, "the line has more than 262144 bytes, expected one request");
    assert_int_equal(err.line, 2);
    ts_hbm_requests_close(requests);
}

TEST_WITH(unknown_requests, set_up, tear_down) {
    fixture *f = *state;
    ts_error err = {0};
    assert_null(ts_hbm_requests_open(&err, f->arena, "a_seq_rb", &hbm2));
    assert_error(&err, TS_ERROR_INPUT,
                 "error: found 'a_seq_rb', expected a pattern (tilesim hbm --list names them), or the path "
                 "of a trace (with a '.' "
                 "or '/'); did you mean 'a_seq_rd'?\n");
    ts_error_clear(&err);
    assert_null(ts_hbm_requests_open(&err, f->arena, "./no-such", &hbm2));
    assert_error(&err, TS_ERROR_IO, "error: cannot open './no-such': No such file or directory\n");
    ts_hbm_config huge = hbm2;
    huge.stacks = 64;
    huge.channels = 32;
    huge.banks = 32;
    huge.row_bytes = 1 << 17;
    ts_error_clear(&err);
    assert_null(ts_hbm_requests_open(&err, f->arena, "k_bankconf", &huge));
    assert_error(&err, TS_ERROR_INPUT,
                 "error: pattern k_bankconf has addresses beyond 0x200000000000, where the machine's HBM "
                 "ends\n");
}
