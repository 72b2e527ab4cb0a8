/* What a key is made of: the texts of a point, and hashes that the test makes by itself. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "sweep/case.h"
#include "tests/support/test.h"
#include "tilesim/version.h"
#include "tests/support/temporary.h"

/* FNV-1a of 128 bits in four limbs: the prime is 2^88 + 315. */
typedef struct {
    uint32_t limbs[4]; /* lowest first */
} fnv;

static fnv fnv_begin(void) { return (fnv){{0x6295c58d, 0x62b82175, 0x07bb0142, 0x6c62272e}}; }

static void fnv_add(fnv *hash, const char *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        uint32_t out[4];
        uint64_t carry = 0;
        hash->limbs[0] ^= (unsigned char)bytes[i];
        for (int k = 0; k < 4; k++) {
            carry += (uint64_t)hash->limbs[k] * 315;
            if (k == 2) carry += (uint64_t)(hash->limbs[0] << 24);
            if (k == 3) carry += (uint64_t)(uint32_t)(hash->limbs[1] << 24 | hash->limbs[0] >> 8);
            out[k] = (uint32_t)carry;
            carry >>= 32;
        }
        memcpy(hash->limbs, out, sizeof out);
    }
}

static void fnv_text(fnv *hash, const char *text) { fnv_add(hash, text, strlen(text) + 1); }

static void fnv_print(const fnv *hash, char out[33]) {
    snprintf(out, 33, "%08x%08x%08x%08x", hash->limbs[3], hash->limbs[2], hash->limbs[1], hash->limbs[0]);
}

/* The vector of the hash's authors. */
TEST(the_hash_is_fnv) {
    char out[33];
    fnv hash = fnv_begin();
    fnv_add(&hash, "foobar", 6);
    fnv_print(&hash, out);
    assert_string_equal(out, "343e1662793c64bf6f0d3597ba446f18");
}

/* ---- Files ---- */

static void add_content(ts_arena *arena, fnv *hash, const char *path) {
    char *text;
    size_t bytes;
    if (!ts_file_read(NULL, arena, path, 1 << 24, &text, &bytes)) {
        fnv_text(hash, "none");
        return;
    }
    fnv_text(hash, "read");
    fnv_add(hash, text, bytes);
}

/* `read`: where its content is. */
static void hash_values(ts_arena *arena, const char *path, const char *read, char out[33]) {
    fnv hash = fnv_begin();
    fnv_text(&hash, path);
    add_content(arena, &hash, read);
    fnv_print(&hash, out);
}

/* Its own file, those that it includes, and other words in quotes, which are no files. */
static void hash_program(ts_arena *arena, const char *path, char out[33]) {
    fnv hash = fnv_begin();
    int count;
    const ts_program_file *files = ts_program_files(arena, path, &count);
    assert_true(count > 0);
    for (int i = 0; i < count; i++) {
        fnv_text(&hash, files[i].path);
        if (files[i].text) fnv_add(&hash, files[i].text->text, files[i].text->length);
        if (!files[i].text) add_content(arena, &hash, files[i].path);
    }
    fnv_print(&hash, out);
}

/* ---- Identities ---- */

static void identify(ts_arena *arena, const char *text, const ts_grid_axis *more, int64_t index,
                     ts_sweep_hashes *hashes, ts_sweep_identity *identity) {
    ts_error err = {0};
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"study", text, strlen(text)};
    const ts_sweep_study *study = ts_sweep_study_parse(&err, arena, source, "");
    if (study && more) study = ts_sweep_study_with(&err, arena, study, more);
    ts_sweep_point point;
    ts_sweep_case asked;
    if (!study) fail_msg("%s", err.message);
    ts_sweep_point_get(arena, study, index, &point);
    if (!ts_sweep_case_of(&err, arena, &point, &asked) ||
        !ts_sweep_identify(&err, arena, hashes, &point, &asked, identity))
        fail_msg("%s", err.message);
}

static void expect_key(ts_arena *arena, const ts_sweep_identity *i, const char *const sets[], int set_count) {
    ts_error err = {0};
    char own[17], key[33];
    const ts_machine *machine = ts_machine_load_with(&err, arena, "tpu-v5e", "set", sets, set_count);
    if (!machine) fail_msg("%s", err.message);
    snprintf(own, sizeof own, "%016llx", (unsigned long long)machine->hash);
    assert_string_equal(i->machine_hash, own);
    fnv hash = fnv_begin();
    fnv_text(&hash, TS_VERSION);
    fnv_text(&hash, i->parameters);
    fnv_text(&hash, i->question);
    fnv_text(&hash, i->machine);
    fnv_text(&hash, own);
    fnv_text(&hash, i->input_hash);
    fnv_print(&hash, key);
    assert_string_equal(i->key, key);
}

TEST_WITH_ARENA(texts) {
    static const struct {
        const char *study, *parameters, *question, *machine;
        const char *sets[2];
        int set_count;
    } rows[] = {
        {"ask: {layout: 'f32[8]'}", "{}", "layout: f32[8]", "tpu-v5e", {NULL}, 0},
        {"ask: {layout: 'f32[8]', rule: true}", "{}", "layout: f32[8]\nrule: true", "tpu-v5e", {NULL}, 0},
        {"vary: {A: ['a\"b'], E: [' ']}\nask: {dma: '$A', exact: true}",
         "{\"A\": \"a\\\"b\", \"E\": \" \"}",
         "dma: a\"b\nexact: true",
         "tpu-v5e",
         {NULL},
         0},
        {"set: {hbm.stacks: 2}\nvary: {hbm.burst: 32 B}\nask: {choose: 'f32[8]', uses: stream}",
         "{\"hbm.burst\": \"32 B\"}",
         "choose: f32[8]\nuses: stream",
         "tpu-v5e with hbm.stacks=2, hbm.burst=32 B",
         {"hbm.stacks=2", "hbm.burst=32 B"},
         2},
    };
    ts_sweep_hashes *hashes = ts_sweep_hashes_new(arena);
    for (int again = 0; again < 2; again++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            ts_sweep_identity found;
            identify(arena, rows[i].study, NULL, 0, hashes, &found);
            assert_string_equal(found.parameters, rows[i].parameters);
            assert_string_equal(found.question, rows[i].question);
            assert_string_equal(found.machine, rows[i].machine);
            assert_string_equal(found.input_hash, "");
            expect_key(arena, &found, rows[i].sets, rows[i].set_count);
        }
}

/* A change of nothing is no parameter, so that its answers are those of the study without it. */
TEST_WITH_ARENA(changes) {
    static const struct {
        const char *parameters, *machine;
        int set_count;
    } rows[] = {{"{\"A\": \"1\"}", "tpu-v5e", 0},
                {"{\"change\": \"hbm.stacks*2\", \"A\": \"1\"}", "tpu-v5e with hbm.stacks=4", 1}};
    const char *values[] = {"", "hbm.stacks*2"}, *sets[] = {"hbm.stacks=4"};
    const ts_grid_axis axis = {TS_SWEEP_CHANGE, values, 2};
    ts_sweep_hashes *hashes = ts_sweep_hashes_new(arena);
    for (int i = 0; i < 2; i++) {
        ts_sweep_identity found;
        identify(arena, "vary: {A: 1}\nask: {layout: 'f32[$A]'}", &axis, i, hashes, &found);
        assert_string_equal(found.parameters, rows[i].parameters);
        assert_string_equal(found.machine, rows[i].machine);
        expect_key(arena, &found, sets, rows[i].set_count);
    }
}

static const char kernel[] = "tests/mosaic/kernels/scalars.mlir";

TEST_WITH_ARENA(files) {
    char own[7][33];
    hash_values(arena, "LICENSE", "LICENSE", own[0]);
    hash_values(arena, "no/such.file", "no/such.file", own[1]);
    hash_program(arena, "programs/matmul.tsim", own[2]);
    hash_program(arena, "programs/add.tsim", own[3]);
    hash_values(arena, kernel, kernel, own[4]);
    hash_values(arena, "no.safetensors:w", "no.safetensors", own[5]);
    const struct {
        const char *study, *question, *hashes[3];
    } rows[] = {
        {"ask: {audit: LICENSE}", "audit: LICENSE", {own[0]}},
        {"ask: {audit: no/such.file}", "audit: no/such.file", {own[1]}},
        {"ask: {program: programs/matmul.tsim}", "program: programs/matmul.tsim", {own[2]}},
        {"ask: {program: tests/mosaic/kernels/scalars.mlir}",
         "program: tests/mosaic/kernels/scalars.mlir",
         {own[4]}},
        {"ask: {program: programs/add.tsim, define: {B: 2, A: 1}, input: {y: LICENSE, x: no.safetensors:w}, "
         "exact: true, "
         "time_only: true}",
         "program: programs/add.tsim\ndefine: B=2\ndefine: A=1\ninput: y=LICENSE\ninput: x=no.safetensors:w\n"
         "exact: true\ntime_only: true",
         {own[3], own[0], own[5]}},
    };
    ts_sweep_hashes *hashes = ts_sweep_hashes_new(arena);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ts_sweep_identity found;
        char expected[33];
        fnv hash = fnv_begin();
        for (int k = 0; k < 3 && rows[i].hashes[k]; k++) fnv_text(&hash, rows[i].hashes[k]);
        fnv_print(&hash, expected);
        identify(arena, rows[i].study, NULL, 0, hashes, &found);
        assert_string_equal(found.question, rows[i].question);
        assert_string_equal(found.input_hash, expected);
        expect_key(arena, &found, NULL, 0);
    }
}

/* Names of one bucket, of 4096 by the last bits of their hash, are told apart. */
TEST_WITH_ARENA(names_that_meet) {
    ts_sweep_hashes *hashes = ts_sweep_hashes_new(arena);
    fnv first = fnv_begin();
    char names[2][16] = {"no/first"}, own[33], expected[33];
    fnv_text(&first, names[0]);
    for (int i = 0, met = 0; !met; i++) {
        fnv other = fnv_begin();
        snprintf(names[1], sizeof names[1], "no/%d", i);
        fnv_text(&other, names[1]);
        met = (other.limbs[0] - first.limbs[0]) % 4096 == 0;
    }
    for (int i = 0; i < 4; i++) {
        ts_sweep_identity found;
        fnv hash = fnv_begin();
        hash_values(arena, names[i % 2], names[i % 2], own);
        fnv_text(&hash, own);
        fnv_print(&hash, expected);
        identify(arena, ts_text_format(arena, "ask: {audit: %s}", names[i % 2]), NULL, 0, hashes, &found);
        assert_string_equal(found.input_hash, expected);
    }
}

/* ---- Meshes ---- */

/* What a mesh file says, in the words of identity.c: "is" before a value, the key before what is behind it, "{" or "["
 * and "}" around. */
static void hash_words(const char *const *words, char out[33]) {
    fnv hash = fnv_begin();
    for (; *words; words++) fnv_text(&hash, *words);
    fnv_print(&hash, out);
}

static void identify_mesh(ts_arena *arena, const char *text, char out[33]) {
    char path[TEMPORARY_PATH];
    ts_sweep_identity found;
    ts_text study = ts_text_begin(arena);
    int file = mkstemps(temporary_path(path, "tilesim_identity_XXXXXX.yaml"), 5);
    assert_true(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    ts_text_add(&study, "machine: tpu-v5e\nask: {reshard: \"f32[8] P('x') -> f32[8]\", mesh: %s}", path);
    identify(arena, study.bytes, NULL, 0, ts_sweep_hashes_new(arena), &found);
    unlink(path);
    memcpy(out, found.input_hash, 33);
}

/* The same words are the same mesh, however they are laid out; any other key, value or order of them is another. */
TEST_WITH_ARENA(meshes) {
    static const char *const words[] = {"{",    "title", "is",   "a mesh", "machine", "is",   "tpu-v5e",
                                        "dims", "{",     "x",    "{",      "chips",   "is",   "4",
                                        "wrap", "is",    "rule", "}",      "}",       "list", "[",
                                        "is",   "1",     "is",   "2",      "}",       "}",    NULL};
    static const char *const others[] = {
        "title: a mesh\nmachine: tpu-v5e\ndims: {x: {chips: 8, wrap: rule}}\nlist: [1, 2]\n",
        "title: a mesh\nmachine: tpu-v5e\ndims: {y: {chips: 4, wrap: rule}}\nlist: [1, 2]\n",
        "title: a mesh\nmachine: tpu-v5e\ndims: {x: {chips: 4}, wrap: rule}\nlist: [1, 2]\n",
        "title: a mesh\nmachine: tpu-v5e\ndims: {x: {chips: 4, wrap: rule}}\nlist: [2, 1]\n",
        "title: a mesh\nmachine: tpu-v5e\ndims: {x: {chips: 4, wrap: rule}}\nlist: [1, [2]]\n",
        "title: a mesh\nmachine: tpu-v4\ndims: {x: {chips: 4, wrap: rule}}\nlist: [1, 2]\n",
        "title: a mesh\nmachine: tpu-v5e\ndims: {x: {chips: 4, wrap: rule}}\n",
    };
    char expected[33], found[33], none[33];
    hash_words(words, expected);
    identify_mesh(arena, "title: a mesh\nmachine: tpu-v5e\ndims: {x: {chips: 4, wrap: rule}}\nlist: [1, 2]\n",
                  found);
    assert_string_equal(found, expected);
    identify_mesh(arena,
                  "# of two lines\ntitle: 'a mesh'\nmachine: tpu-v5e # v5e\n"
                  "dims:\n    x:\n        chips: 4\n        wrap: rule\nlist:\n    - 1\n    - 2\n",
                  found);
    assert_string_equal(found, expected);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        identify_mesh(arena, others[i], found);
        assert_string_not_equal(found, expected);
    }
    hash_words((const char *const[]){"none", NULL}, none);
    identify_mesh(arena, "{", found); /* of what cannot be read */
    assert_string_equal(found, none);
}

/* What there is no machine of is an error each time. */
TEST_WITH_ARENA(no_machine) {
    ts_sweep_hashes *hashes = ts_sweep_hashes_new(arena);
    const ts_sweep_study study = {.name_count = 0};
    const ts_sweep_point point = {.study = &study};
    const ts_sweep_case asked = {.text = "f32[8]", .question = TS_SWEEP_LAYOUT, .machine = "tpu-v0"};
    for (int again = 0; again < 2; again++) {
        ts_error err = {0};
        ts_sweep_identity found;
        assert_false(ts_sweep_identify(&err, arena, hashes, &point, &asked, &found));
        assert_true(err.kind != TS_ERROR_NONE);
        assert_string_equal(found.machine_hash, "");
    }
}
