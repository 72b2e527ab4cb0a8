/* What programs compute: scalar rows, reads before writes, memory, transfers, and the exact text of faults.
 */
#include <stdio.h>
#include <string.h>
#include <fenv.h>

#include "tests/support/core_fixture.h"
#include "base/number.h"
#include "tests/support/cmocka.h"

/* ---- Scalars ---- */

static const struct {
    const char *text; /* computes s1 from s2 and s3 */
    uint32_t a, b, result;
} scalars[] = {
    {"smov s1 s2", 7, 0, 7},
    {"smov s1 4294967295", 0, 0, ~0u},
    {"smov s1 1.0", 0, 0, 0x3f800000},
    {"sadd s1 s2 s3", 0x7fffffff, 1, 0x80000000},
    {"ssub s1 s2 s3", 3, 5, (uint32_t)-2},
    {"smul s1 s2 s3", 0x10001, 0x10001, 0x20001},
    {"sdiv s1 s2 s3", (uint32_t)-7, 2, (uint32_t)-4},
    {"smod s1 s2 s3", (uint32_t)-7, 2, 1},
    {"sdiv s1 s2 s3", 0x80000000, 1, 0x80000000},
    {"sand s1 s2 s3", 12, 10, 8},
    {"sor s1 s2 s3", 12, 10, 14},
    {"sxor s1 s2 s3", 12, 10, 6},
    {"sshl s1 s2 s3", 3, 31, 0x80000000},
    {"sshl s1 s2 s3", 3, 32, 0},
    {"sshr s1 s2 s3", 0x80000000, 31, 1},
    {"sshr s1 s2 s3", 0x80000000, (uint32_t)-1, 0},
    {"ssra s1 s2 s3", 0x80000000, 31, ~0u},
    {"ssra s1 s2 s3", 0x80000000, 32, ~0u},
    {"ssra s1 s2 s3", 0x40000000, 32, 0},
    {"smin s1 s2 s3", ~0u, 1, ~0u},
    {"smax s1 s2 s3", ~0u, 1, 1},
    {"scmp.eq s1 s2 s3", 4, 4, 1},
    {"scmp.ne s1 s2 s3", 4, 4, 0},
    {"scmp.lt s1 s2 s3", ~0u, 0, 1},
    {"scmp.le s1 s2 s3", 4, 4, 1},
    {"scmp.gt s1 s2 s3", 4, 4, 0},
    {"scmp.ge s1 s2 s3", 3, 4, 0},
    {"brnz s2 @2\nhalt\nsmov s1 9", 1, 0, 9},
    {"brnz s2 @2\nhalt\nsmov s1 9", 0, 0, 0},
    {"brz s2 @2\nhalt\nsmov s1 9", 0, 0, 9},
    {"brz s2 @2\nhalt\nsmov s1 9", 5, 0, 0},
    {"br.eq s2 s3 @2\nhalt\nsmov s1 9", 5, 5, 9},
    {"br.ne s2 s3 @2\nhalt\nsmov s1 9", 5, 5, 0},
    {"br.lt s2 s3 @2\nhalt\nsmov s1 9", ~0u, 0, 9},
    {"br.le s2 s3 @2\nhalt\nsmov s1 9", 1, 0, 0},
    {"br.gt s2 s3 @2\nhalt\nsmov s1 9", 1, 0, 9},
    {"br.ge s2 s3 @2\nhalt\nsmov s1 9", ~0u, 0, 0},
    {"br.ge s2 3 @2\nhalt\nsmov s1 9", 3, 0, 9},
    {"jump @2\nhalt\nsmov s1 9", 0, 0, 9},
    {"jump @1", 0, 0, 0}, /* one past the last: the end */
};

TEST(scalar_instructions_compute) {
    for (size_t i = 0; i < sizeof(scalars) / sizeof(scalars[0]); i++) {
        fixture *f = fixture_new();
        assert_true(fixture_load(f, scalars[i].text));
        ts_core_register(f->core, TS_OPERAND_SREG, 2)[0] = scalars[i].a;
        ts_core_register(f->core, TS_OPERAND_SREG, 3)[0] = scalars[i].b;
        assert_true(fixture_run(f));
        if (fixture_sreg(f, 1) != scalars[i].result)
            fail_msg("%s: %08x, expected %08x", scalars[i].text, fixture_sreg(f, 1), scalars[i].result);
        fixture_free(f);
    }
}

/* Which core of which device it is: of a second core of device 5 of 2 x 3, and where there is one of each. */
TEST(a_core_knows_where_it_is) {
    static const int64_t index[] = {1, 2}, size[] = {2, 3};
    static const ts_core_device device = {.id = 5, .count = 6, .axis_count = 2, .index = index, .size = size};
    static const struct {
        const char *text;
        uint32_t alone, there;
    } rows[] = {{"core.id s1", 0, 1},      {"core.count s1", 1, 2},   {"device.id s1", 0, 5},
                {"device.count s1", 1, 6}, {"axis.index s1 0", 0, 1}, {"axis.index s1 1", 0, 2},
                {"axis.index s1 2", 0, 0}, {"axis.size s1 0", 1, 2},  {"axis.size s1 1", 1, 3},
                {"axis.size s1 2", 1, 1}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int there = 0; there < 2; there++) {
            fixture *f = fixture_new();
            if (there) f->number = 1, f->cores = 2, f->device = &device;
            fixture_do(f, rows[i].text);
            if (fixture_sreg(f, 1) != (there ? rows[i].there : rows[i].alone))
                fail_msg("%s: %u", rows[i].text, fixture_sreg(f, 1));
            fixture_free(f);
        }
    }
}

TEST(a_loop_counts) {
    fixture *f = fixture_new();
    ts_core_counters counters;
    fixture_do(f, "smov s1 10\nsadd s2 s2 s1\nssub s1 s1 1\nbrnz s1 @1");
    assert_int_equal(fixture_sreg(f, 2), 55);
    ts_core_count(f->core, &counters);
    assert_int_equal(counters.bundles, 31);
    assert_int_equal(counters.instructions[TS_SLOT_SCALAR], 31);
    assert_int_equal(counters.busy_cycles[TS_SLOT_SCALAR], 31);
    fixture_free(f);
}

/* ---- All reads of a bundle before its writes ---- */

TEST(bundles_read_before_they_write) {
    static const struct {
        const char *text;
        uint32_t s1, s2, s3;
    } rows[] = {
        {"smov s1 1 ; smov s2 2\nsmov s1 s2 ; smov s2 s1", 2, 1, 0},
        {"smov s1 1 ; smov s2 2 ; smov s3 3\nsmov s1 s2 ; smov s2 s3 ; smov s3 s1", 2, 3, 1},
        {"smov s1 1\nsadd s1 s1 1 ; smov s2 s1", 2, 1, 0},
        {"smov s1 1\nsmov s2 s1 ; sadd s1 s1 1", 2, 1, 0},
        {"smov s1 5\nsst [3] s1 ; sld s2 [3]\nsld s3 [3]", 5, 0, 5},
        {"sst [3] 7\nsld s1 [3] ; sst [3] s1\nsld s3 [3]", 7, 0, 0}, /* a ring: the store has the old s1 */
        {"smov s1 1\nsmov s1 0 ; brnz s1 @3\nhalt\nsmov s2 9", 0, 9, 0},
        {"sem.set e0 3\nsem.read s1 e0 ; sem.add e0 s1\nsem.read s2 e0", 3, 3, 0},
        {"sem.set e0 3\nsem.read s1 e0 ; sem.add e0 2\nsem.read s2 e0", 3, 5, 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture *f = fixture_new();
        fixture_do(f, rows[i].text);
        if (fixture_sreg(f, 1) != rows[i].s1 || fixture_sreg(f, 2) != rows[i].s2 ||
            fixture_sreg(f, 3) != rows[i].s3) {
            fail_msg("%s: %u %u %u", rows[i].text, fixture_sreg(f, 1), fixture_sreg(f, 2),
                     fixture_sreg(f, 3));
        }
        fixture_free(f);
    }
}

TEST(vector_bundles_read_before_they_write) {
    static const struct {
        const char *text;
        uint32_t v1, v2;
    } rows[] = {
        {"vmov v1 1 ; vmov v2 2\nvmov v1 v2 ; vmov v2 v1", 2, 1},
        {"vmov v1 1 ; vmov v2 2\nvmov v1 v2 ?m0 ; vmov v2 v1", 1,
         1}, /* nothing written, and yet read whole */
        {"vmov v1 1\nvst [0] v1 ; vld v1 [0]\nvld v2 [0]", 0, 1},
        {"vmov v1 1\nvst [128] v1 ; vld v1 [0]\nvld v2 [128]", 0, 1}, /* they meet in rows */
        {"vmov v1 1\nvld v1 [128] ; vst [0] v1\nvld v2 [0]", 0, 1},
        {"vmov v1 1\nvst [1024] v1 ; vld v1 [0]\nvld v2 [1024]", 0, 1}, /* and here nowhere */
        {"vmov v1 1 ; smov s1 8\nvst [0+s1*16] v1 ; vld v1 [0]\nvld v2 [128]", 0, 1},
        {"vmov v1 1\nvld v1 [0] ; vst [0] v1 ; vadd.i32 v2 v1 1", 0, 2},
        {"vmov v1 1 ; mall m1\nmnone m1 ; vmov v1 5 ?m1\nvmov v2 6 ?m1", 5, 0},
        {"vmov v1 4 ; smov s1 3\nvadd.i32 v2 v1 s1 ; smov s1 100", 4, 7},
        {"vmov v1 4\nv2s s1 v1 ; vmov v1 9\nvmov v2 s1", 9, 4},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture *f = fixture_new();
        fixture_do(f, rows[i].text);
        for (int word = 0; word < TS_VREG_WORDS; word++)
            if (fixture_vreg(f, 1)[word] != rows[i].v1 || fixture_vreg(f, 2)[word] != rows[i].v2)
                fail_msg("%s: %u %u", rows[i].text, fixture_vreg(f, 1)[word], fixture_vreg(f, 2)[word]);
        fixture_free(f);
    }
}

/* ---- VMEM and masks ---- */

static uint32_t *vmem_words(fixture *f, int word, int count) {
    return (uint32_t *)(void *)ts_space_touch(f->vmem, word * 4, count * 4);
}

static void fill_vmem(fixture *f) {
    for (int i = 0; i < 16384; i++) vmem_words(f, 0, 16384)[i] = (uint32_t)i;
}

TEST(loads_follow_stride_rows_and_mask) {
    static const struct {
        const char *text;
        int word;
        uint32_t v1;
    } rows[] = {
        {"vld v1 [1024]", 700, 1724},
        {"vld v1 [128]", 1023, 1151}, /* starts on any row */
        {"vld v1 [0] stride=3", 2 * 128 + 5, 6 * 128 + 5},
        {"vld v1 [128] stride=2", 5, 133},
        {"vld v1 [256] stride=0", 7 * 128 + 5, 261},
        {"vld v1 [1024] stride=-1", 7 * 128, 128},
        {"smov s1 16\nvld v1 [0+s1/8*2048]", 3, 4099},
        {"smov s1 16\nvld v1 [0+s1/8*2048!]", 3, 4099},
        {"smov s1 13\nvld v1 [0+s1/8*1024+s1%8*128]", 0, 1024 + 5 * 128},
        {"smov s1 13\nvld v1 [0+s1/8^3*1024]", 0, 2048}, /* (13 + 3) / 8 */
        {"smov s1 -8\nvld v1 [2048+s1/8*1024]", 0, 1024},
        {"smov s1 15\nvld v1 [0+s1/5*128!]", 1, 385}, /* a divisor that is no power of two */
        {"vmov v1 7\nvld v1 [1024] rows=0x02", 127, 7},
        {"vmov v1 7\nvld v1 [1024] rows=0x02", 128, 1152},
        {"vmov v1 7\nvld v1 [15360] rows=0x80", 1023, 16383},
        {"vmov v1 7 ; mlanes m1 3\nvld v1 [0] ?m1", 130, 130},
        {"vmov v1 7 ; mlanes m1 3\nvld v1 [0] ?m1", 131, 7},
        {"vmov v1 7 ; mlanes m1 3\nvld v1 [0] stride=2 rows=0x0f ?m1", 130, 258},
        {"vmov v1 7 ; mlanes m1 3\nvld v1 [0] stride=2 rows=0x0f ?m1", 4 * 128, 7},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture *f = fixture_new();
        assert_true(fixture_load(f, rows[i].text));
        fill_vmem(f);
        assert_true(fixture_run(f));
        uint32_t word = fixture_vreg(f, 1)[rows[i].word];
        if (word != rows[i].v1) fail_msg("%s: %u, expected %u", rows[i].text, word, rows[i].v1);
        fixture_free(f);
    }
}

TEST(stores_follow_stride_rows_and_mask) {
    static const struct {
        const char *text;
        int word, from; /* of memory; of v1, -1: it keeps what it has */
    } rows[] = {
        {"vst [1024] v1", 1024, 0},
        {"vst [1024] v1", 2047, 1023},
        {"vst [1024] v1", 1023, -1},
        {"vst [1024] v1", 2048, -1},
        {"vst [0] v1 stride=2", 14 * 128, 7 * 128},
        {"vst [0] v1 stride=2", 13 * 128, -1},
        {"vst [0] v1 rows=0x05", 256, 256},
        {"vst [0] v1 rows=0x05", 128, -1},
        {"msubs m1 2 ; mlanes m2 5\nmand m1 m1 m2\nvst [0] v1 ?m1", 128, 128},
        {"msubs m1 2 ; mlanes m2 5\nmand m1 m1 m2\nvst [0] v1 ?m1", 128 + 4, 128 + 4},
        {"msubs m1 2 ; mlanes m2 5\nmand m1 m1 m2\nvst [0] v1 ?m1", 128 + 5, -1},
        {"msubs m1 2 ; mlanes m2 5\nmand m1 m1 m2\nvst [0] v1 ?m1", 256, -1},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture *f = fixture_new();
        assert_true(fixture_load(f, rows[i].text));
        fill_vmem(f);
        for (int w = 0; w < TS_VREG_WORDS; w++) fixture_vreg(f, 1)[w] = 0x99990000 + (uint32_t)w;
        assert_true(fixture_run(f));
        uint32_t word = vmem_words(f, rows[i].word, 1)[0];
        if (word != (rows[i].from < 0 ? (uint32_t)rows[i].word : 0x99990000 + (uint32_t)rows[i].from))
            fail_msg("%s: %u", rows[i].text, word);
        fixture_free(f);
    }
}

TEST(words_of_smem_are_moved_alone) {
    fixture *f = fixture_new();
    fixture_do(f,
               "smov s0 4 ; smov s2 5\nsst [0] 7\nsst [2] 9\nsst [1] 8\nsld s1 [1]\nsld s3 [2]\nsld s4 [0]");
    static const uint32_t sregs[] = {4, 8, 5, 9, 7, 0};
    for (int i = 0; i < 6; i++) assert_int_equal(fixture_sreg(f, i), sregs[i]);
    fixture_free(f);
}

/* ---- What is told of accesses ---- */

static struct {
    uint8_t bytes[1 << 16]; /* of VMEM */
    int count, writes;
} told;

static void tell(void *chip, const ts_access *access) {
    assert_ptr_equal(access->space, ((fixture *)chip)->vmem);
    assert_int_equal(access->cycle, 0);
    assert_true(access->first >= 0 && access->first < access->end && access->end <= 1 << 16);
    memset(told.bytes + access->first, 1, (size_t)(access->end - access->first));
    told.count++;
    told.writes += access->writes;
}

/* All rows of the access, and no others; together where they are one range. */
TEST(accesses_are_told_row_for_row) {
    enum { WORD = 4096, ROW = 512 };
    static const int masks[] = {0xff, 0x01, 0x80, 0x3c, 0x05, 0x99};
    static uint8_t rows[sizeof told.bytes];
    for (size_t k = 0; k < sizeof masks / sizeof masks[0]; k++)
        for (int stride = -2; stride <= 3; stride++)
            for (int writes = 0; writes < 2; writes++) {
                char text[64];
                fixture *f = fixture_new();
                snprintf(text, sizeof text,
                         writes ? "vst [%d] v1 stride=%d rows=0x%x" : "vld v1 [%d] stride=%d rows=0x%x", WORD,
                         stride, (unsigned)masks[k]);
                memset(&told, 0, sizeof told);
                memset(rows, 0, sizeof rows);
                for (int i = 0; i < 8; i++)
                    if (masks[k] >> i & 1) memset(rows + 4 * WORD + i * stride * ROW, 1, ROW);
                f->ports.accessed = tell;
                fixture_do(f, text);
                if (memcmp(told.bytes, rows, sizeof rows) != 0) fail_msg("%s", text);
                assert_int_equal(told.writes, writes * told.count);
                const uint8_t *first = memchr(rows, 1, sizeof rows),
                              *gap = memchr(first, 0, sizeof rows - (size_t)(first - rows));
                bool apart = memchr(gap, 1, sizeof rows - (size_t)(gap - rows)) != NULL;
                assert_int_equal(told.count, apart ? __builtin_popcount((unsigned)masks[k]) : 1);
                fixture_free(f);
            }
}

/* Lanes 0 to 4 of sublanes 0 to 2 are written. */
static void tell_masked(void *chip, const ts_access *access) {
    const int row = (int)access->first / 512 % 8;
    assert_int_equal(access->end - access->first, 512);
    for (int i = 0; i < TS_LANES; i++) assert_int_equal(access->mask[i], row < 3 && i < 5 ? UINT32_MAX : 0);
    told.bytes[access->first]++;
    told.count++;
}

/* Even where the rows are one range. */
TEST(masked_stores_are_told_with_each_row_s_mask) {
    fixture *f = fixture_new();
    memset(&told, 0, sizeof told);
    f->ports.accessed = tell_masked;
    fixture_do(f, "msubs m1 3 ; mlanes m2 5\nmand m1 m1 m2\nvst [1024] v1 ?m1\nvst [0] v1 rows=0x06 ?m1");
    for (int row = 0; row < 16; row++)
        assert_int_equal(told.bytes[512 * row], row == 1 || row == 2 || row >= 8);
    assert_int_equal(told.count, 10);
    fixture_free(f);
}

static void tell_smem(void *chip, const ts_access *access) {
    assert_true(access->space == ((fixture *)chip)->smem && access->first == 16 && access->end == 20);
    told.count++;
    told.writes += access->writes;
}

TEST(words_of_smem_are_told_once) {
    fixture *f = fixture_new();
    memset(&told, 0, sizeof told);
    f->ports.accessed = tell_smem;
    fixture_do(f, "sst [4] 7\nsld s1 [4]");
    assert_int_equal(told.count, 2);
    assert_int_equal(told.writes, 1);
    fixture_free(f);
}

static const ts_tensor table[1] = {{.name = "table", .space = TS_SPACE_SMEM, .base_bytes = 512, .bytes = 16}};
static ts_outside_read outside[4];
static int outside_count;

static void tell_outside(void *chip, const ts_outside_read *read) {
    assert_non_null(chip);
    outside[outside_count++] = *read;
}

/* Of the words on both sides of the table, and of its first and last. */
TEST(words_outside_of_a_table_are_told_of) {
    fixture *f = fixture_new();
    f->code.tensors = table;
    f->code.tensor_count = 1;
    f->ports.read_outside = tell_outside;
    outside_count = 0;
    fixture_do(f, "sst [127] 7 ; sst [132] 9 ; sst [128] 5 ; sst [131] 6\nnop\n"
                  "sld s1 [127] tensor=0 beyond ; sld s2 [132] tensor=0 beyond\n"
                  "sld s3 [128] tensor=0 beyond ; sld s4 [131] tensor=0 beyond");
    static const uint32_t values[] = {7, 9, 5, 6};
    for (int i = 0; i < 4; i++) assert_int_equal(fixture_sreg(f, i + 1), values[i]);
    assert_int_equal(outside_count, 2);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(outside[i].address, i == 0 ? 508 : 528);
        assert_string_equal(outside[i].array, "table");
        assert_int_equal(outside[i].first, 512);
        assert_int_equal(outside[i].end, 528);
        assert_int_equal(outside[i].cycle, 2);
        assert_int_equal(outside[i].instruction->opcode, TS_OP_sld);
    }
    fixture_free(f);
}

/* Nor are there words before the memory, or behind it. */
TEST(words_outside_of_the_memory_are_a_fault) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"sld s1 [-1] tensor=0 beyond", "sld touches bytes -4 to -1, expected 512 to 527 of table"},
        {"sld s1 [256] tensor=0 beyond", "sld touches bytes 1024 to 1027, expected 512 to 527 of table"},
        {"sld s1 [0] tensor=0 beyond\nsld s1 [255] tensor=0 beyond\nsld s1 [127] tensor=0",
         "sld touches bytes 508 to 511, expected 512 to 527 of table"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        fixture *f = fixture_new();
        f->code.tensors = table;
        f->code.tensor_count = 1;
        assert_true(fixture_load(f, rows[i].text));
        assert_false(fixture_run(f));
        assert_string_equal(f->err.message, rows[i].message);
        fixture_free(f);
    }
}

TEST(writes_under_a_mask_keep_the_rest) {
    fixture *f = fixture_new();
    fixture_do(f, "vmov v1 3.0 ; mlanes m1 100\nvadd.f32 v1 v1 1.0 ?m1\nvsum.lane.f32 v2 v1\nvmov v3 v1 ?m1");
    assert_int_equal(fixture_vreg(f, 1)[99], ts_f32_bits(4.0f));
    assert_int_equal(fixture_vreg(f, 1)[100], ts_f32_bits(3.0f));
    assert_int_equal(fixture_vreg(f, 2)[5], ts_f32_bits(484.0f));
    assert_int_equal(fixture_vreg(f, 3)[100], 0);
    fixture_free(f);
}

/* Three vregs, none of a number; a number; a scalar register. */
TEST(each_operand_has_its_place) {
    fixture *f = fixture_new();
    assert_true(fixture_load(f,
                             "smov s1 1\nsmov s2 2\nvsel v3 m1 v1 v2\nvsel v4 m1 v1 9\nvrot.lane v5 v1 s1\n"
                             "vsel v6 m1 v2 v1 ?m2"));
    for (int i = 0; i < TS_VREG_WORDS; i++) {
        fixture_vreg(f, 1)[i] = (uint32_t)i;
        fixture_vreg(f, 2)[i] = 5000 + (uint32_t)i;
        fixture_vreg(f, 6)[i] = 77;
        ts_core_register(f->core, TS_OPERAND_VMASK, 1)[i] = i & 1 ? ~0u : 0;
        ts_core_register(f->core, TS_OPERAND_VMASK, 2)[i] = i & 2 ? ~0u : 0;
    }
    assert_true(fixture_run(f));
    for (uint32_t i = 0; i < TS_VREG_WORDS; i++) {
        assert_int_equal(fixture_vreg(f, 3)[i], i & 1 ? i : 5000 + i);
        assert_int_equal(fixture_vreg(f, 4)[i], i & 1 ? i : 9);
        assert_int_equal(fixture_vreg(f, 5)[i], i / TS_LANES * TS_LANES + (i + TS_LANES - 1) % TS_LANES);
        assert_int_equal(fixture_vreg(f, 6)[i], !(i & 2) ? 77 : i & 1 ? 5000 + i : i);
    }
    fixture_free(f);
}

TEST(the_hosts_rounding_mode_does_not_matter) {
    fixture *f = fixture_new();
    fesetround(FE_UPWARD);
    fixture_do(f, "vmov v1 1.0 ; vmov v2 0.00000001\nvadd.f32 v3 v1 v2");
    assert_int_equal(fegetround(), FE_UPWARD);
    fesetround(FE_TONEAREST);
    assert_int_equal(fixture_vreg(f, 3)[0], ts_f32_bits(1.0f));
    fixture_free(f);
}

/* ---- Transfers ---- */

TEST(a_dma_gives_the_begins_and_the_semaphore) {
    static const ts_affine begin[3] = {{.constant = 5},
                                       {.constant = 1, .term_count = 2, .terms = {{1, 8}, {2, -1}}},
                                       {.term_count = 1, .terms = {{3, 64}}}};
    static const int64_t size[2] = {1, 1};
    static const ts_transfer transfer = {
        .source = {.tensor = 0, .rank = 2, .begin = begin, .size = size},
        .destination = {.tensor = 1, .rank = 1, .begin = begin + 2, .size = size},
        .semaphore = {.first = 2, .count = 3, .sreg = 4}};
    fixture *f = fixture_new();
    f->code.transfers = &transfer;
    f->code.transfer_count = 1;
    fixture_do(f, "smov s1 10 ; smov s2 3 ; smov s3 -2 ; smov s4 1\ndma t0 ; smov s1 0");
    assert_int_equal(f->start_count, 1);
    assert_int_equal(f->starts[0].source_begin[0], 5);
    assert_int_equal(f->starts[0].source_begin[1], 78);
    assert_int_equal(f->starts[0].destination_begin[0], -128);
    assert_int_equal(f->starts[0].semaphore, 3);
    fixture_free(f);
}

/* ---- Faults and refusals ---- */

static const struct {
    const char *text, *message;
    int64_t cycle;
} faults[] = {
    {"smov s1 3\nvld v1 [0+s1/8*1024!]",
     "index 3 (s1) is not on a tile boundary, expected a multiple of 8, or stride=1 behind the index", 1},
    {"vld v1 [64]", "word address 64 is not the start of a row, expected a multiple of 128", 0},
    {"vld v1 [64] rows=0x1", "word address 64 is not the start of a row, expected a multiple of 128", 0},
    {"vld v1 [15488]", "vld touches bytes 61952 to 66047, expected 0 to 65535 of the memory", 0},
    {"nop\nvst [-128] v1", "vst touches bytes -512 to 3583, expected 0 to 65535 of the memory", 1},
    {"vld v1 [1024] tensor=0", "vld touches bytes 4096 to 8191, expected 1024 to 5119 of box", 0},
    {"vld v1 [128] stride=2 tensor=0", "vld touches bytes 512 to 8191, expected 1024 to 5119 of box", 0},
    {"vld v1 [0] stride=-1", "vld touches bytes -3584 to 511, expected 0 to 65535 of the memory", 0},
    {"vld v1 [15616] rows=0xc0", "vld touches bytes 65536 to 66559, expected 0 to 65535 of the memory", 0},
    {"vld v1 [1024] stride=-1 rows=0x03 tensor=0\nsst [256] 1",
     "sst touches bytes 1024 to 1027, expected 0 to 1023 of the memory", 1},
    {"nop\nsld s1 [256]", "sld touches bytes 1024 to 1027, expected 0 to 1023 of the memory", 1},
    {"smov s1 100\nvld v1 [2048+s1] stride=-2",
     "word address 2148 is not the start of a row, expected a multiple of 128", 1},
    {"sdiv s1 s2 0", "division by 0, expected a divisor above 0", 0},
    {"smod s1 s2 -3", "division by -3, expected a divisor above 0", 0},
    {"sem.set e1 -1", "semaphore b would become -1, expected 0 or more", 0},
    {"sem.set e1 4\nsem.add e1 -5", "semaphore b would become -1, expected 0 or more", 1},
    {"smov s1 4\nwait e1+s1:4", "semaphore index 4 is out of range, expected 0 to 3", 1},
    {"wait e0 -2", "wait for -2, expected 0 or more", 0},
};

TEST(faults_say_what_and_when) {
    static const ts_tensor tensors[1] = {
        {.name = "box", .space = TS_SPACE_VMEM, .base_bytes = 1024, .bytes = 4096}};
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        fixture *f = fixture_new();
        f->code.tensors = tensors;
        f->code.tensor_count = 1;
        assert_true(fixture_load(f, faults[i].text));
        assert_false(fixture_run(f));
        assert_int_equal(f->err.kind, TS_ERROR_FAULT);
        assert_string_equal(f->err.message, faults[i].message);
        assert_int_equal(f->err.cycle, faults[i].cycle);
        fixture_free(f);
    }
}

TEST(bf16_arithmetic_needs_a_machine_that_has_it) {
    fixture *f = fixture_new();
    fixture_do(f, "vmov v1 1.0\nvpack.bf16 v1 v1 v1\nvadd.bf16 v2 v1 2.0");
    assert_int_equal(fixture_vreg(f, 2)[0], 0x40404040);
    f->config.limits.bf16 = false;
    assert_false(fixture_load(f, "vadd.bf16 v2 v1 2.0"));
    assert_string_equal(f->err.message,
                        "this machine has no bf16 arithmetic, expected f32 between vunpack and vpack");
    fixture_free(f);
}

TEST(bundles_the_machine_cannot_issue_are_refused) {
    static const struct {
        const char *text, *message;
    } rows[] = {
        {"nop ; nop ; nop ; nop ; nop", "one misc instruction too many: a bundle has 4 of them"},
        {"smov s1 1 ; smov s1 2", "two instructions of the bundle write sreg 1"},
        {"vmov v1 1 ; vld v1 [0]", "two instructions of the bundle write vreg 1"},
        {"jump @0 ; halt", "the bundle has more than one branch or halt"},
        {"wait e0 ; wait e1", "the bundle has more than one wait"},
        {"delay 1 ; delay 2", "the bundle has more than one delay"},
        {"smov s32 1", "no sreg 32 here, the machine has 0 to 31"},
        {"vmov v1 v64", "no vreg 64 here, the machine has 0 to 63"},
        {"vmov v1 v2 ?m16", "no vmask 16 here, the machine has 0 to 15"},
        {"vld v1 [0+s40]", "no sreg 40 here, the machine has 0 to 31"},
        {"vld v1 [0+s1/0]", "the address does not fit vmem"},
        {"vld v1 [0] rows=0", "the address does not fit vmem"},
        {"sld s1 [99999999999999999]", "the address does not fit smem"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture *f = fixture_new();
        assert_false(fixture_load(f, rows[i].text));
        assert_int_equal(f->err.kind, TS_ERROR_INPUT);
        assert_string_equal(f->err.message, rows[i].message);
        fixture_free(f);
    }
}

TEST(a_fault_points_into_the_text) {
    fixture *f = fixture_new();
    const ts_source source = {.name = "x.tsim", .text = "nop\n  sdiv s1, s2, 0\n", .length = 21};
    char text[512];
    fixture_assemble(f->arena, &f->code, "nop\nsdiv s1 s2 0");
    ts_instruction *instruction = (ts_instruction *)(uintptr_t)&f->code.bundles[1].instructions[0];
    instruction->source = &source, instruction->line = 2, instruction->column = 3;
    ts_core_setup setup = {.config = &f->config,
                           .code = &f->code,
                           .cores = 1,
                           .vmem = f->vmem,
                           .smem = f->smem,
                           .semaphores = f->semaphores,
                           .ports = &f->ports};
    f->core = ts_core_new(&f->err, f->arena, &setup);
    assert_false(fixture_run(f));
    ts_error_format(&f->err, text, sizeof(text));
    assert_string_equal(text, "x.tsim:2:3: fault at cycle 1: division by 0, expected a divisor above 0\n"
                              "  sdiv s1, s2, 0\n  ^\n");
    fixture_free(f);
}
