/* What an audit reads of messages about memory: figures, allocations and the memories that they are of. */
#include "audit/audit_private.h"

#include <inttypes.h>
#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

static const struct {
    const char *text, *read; /* figures, then allocations: name, memory, size */
} messages[] = {
    {"E: Allocation (size=8192) would exceed memory (size=4096) :: #allocation3 [shape = "
     "'f32[8,200]{1,0:T(8,128)}', "
     "space=vmem, size = 0x2000, scoped, tag = 'window of f32[100,200], of f32[100,200].'] :: <none>\n",
     "asked for 1 8192; capacity 1 4096; window of f32[100,200], of f32[100,200]. 1 8192 of 8192;"},
    {"Allocation (size=2048) would exceed memory (size=1024) :: #allocation1 [shape = 'u32[]', space=smem, "
     "tag = ''] "
     "::\n",
     "asked for 6 2048; capacity 6 1024;  6 2048 of 512;"},
    /* Behind the stamps of logs. */
    {"2020-05-04 09:05:40.7: E  157 xla_util.cc:76] Total hbm usage >= 2.00K:\n"
     "2020-05-04 09:05:40.7: E  157 xla_util.cc:76]     reserved        512B \n"
     "2020-05-04 09:05:40.7: E  157 xla_util.cc:76] \n"
     "2020-05-04 09:05:40.7: E  157 xla_util.cc:76]   1. Size: 1.0K\n"
     "2020-05-04 09:05:40.7: E  157 xla_util.cc:76]      Shape: f32[2,128]{1,0:T(2,128)}\n"
     "2020-05-04 09:05:40.7: E  157 xla_util.cc:76]      Allocation type: HLO temp\n"
     "2020-05-04 09:05:40.7: E  157 xla_util.cc:76]      =====\n",
     "in all, at least 0 2048; reserved 0 512; HLO temp 0 1024 of 1024;"},
    {"hbm by 1.0K. Total hbm usage >= 4.0K: reserved 1.0K program unknown size arguments 3.0K Output size "
     "0B; "
     "shares 0B with arguments. Program hbm requirement 1.0K: global 512B unreserved 1.0K\n",
     "in all, at least 0 4096; reserved 0 1024; arguments 0 3072; output 0 0; output that shares arguments 0 "
     "0; program 0 1024; global 0 512;"},
    {"HBM capacity 8.0K:\n       Top-of-Memory reserved:  1.0K (     1,024 bytes)\n"
     "          Currently allocated:    2.0K (   2,048 bytes)\n",
     "capacity -1 8192; reserved -1 1024; allocated -1 2048;"},
    {"Total hbm usage >= 4.0K:\n    reserved(Infeed/Outfeed/Continuations) 1.0K \n"
     "    heap allocations (without fragmentation)   2.0K \n    Max free chunk             1.0K (0.0% "
     "fragmentation)\n    output                     1.0K (71.6% utilization)\n",
     "in all, at least 0 4096; reserved 0 1024; allocated 0 2048; largest free 0 1024; output 0 1024;"},
    /* Of another compiler: what lives at the peak, with the arguments. */
    {"Peak buffers:\n\tBuffer 1:\n\t\tSize: 4.0KiB\n\t\tOperator: op_name=\"f\"\n\t\tXLA Label: fusion\n"
     "\t\tShape: f32[8,128]{1,0}\n\t\t====\n\n\tBuffer 2:\n\t\tSize: 4.0KiB\n"
     "\t\tEntry Parameter Subshape: s32[8,128]{1,0}\n\t\t====\n",
     "fusion -1 4096 of 4096 at the peak; entry parameter -1 4096 of 4096 at the peak;"},
};

static const char *read_of(const ts_audit_result *r) {
    ts_text *out = TS_NEW(arena, ts_text);
    *out = ts_text_begin(arena);
    for (int i = 0; i < r->figure_count; i++)
        ts_text_add(out, "%s %d %" PRId64 "; ", r->figures[i].name, r->figures[i].space, r->figures[i].bytes);
    for (int i = 0; i < r->allocation_count; i++) {
        const ts_audit_allocation *one = &r->allocations[i];
        ts_text_add(out, "%s %d %" PRId64, one->name, one->space, one->bytes);
        if (one->shape >= 0) ts_text_add(out, " of %" PRId64, r->shapes[one->shape].padded_bytes);
        ts_text_add(out, "%s; ", one->at_peak ? " at the peak" : "");
    }
    if (out->length > 0) out->bytes[out->length - 1] = '\0';
    return out->bytes;
}

TEST(messages_are_read) {
    for (size_t i = 0; i < sizeof messages / sizeof messages[0]; i++) {
        ts_audit_result r;
        ts_audit *audit =
            audited(arena, &v6e_audit, (audited_text){messages[i].text, strlen(messages[i].text), 0}, &r);
        assert_string_equal(read_of(&r), messages[i].read);
        int allocations = r.allocation_count;
        assert_int_equal(r.sum.buffers, allocations);
        assert_int_equal(r.kind_count, 0);
        ts_audit_free(audit);
    }
}

/* ---- Lists of a compiler: allocations with their values, tables of what shares them, what lives ---- */

static const struct {
    const char *text, *read;
    int buffers;
} lists[] = {
    {"BufferAssignment:\n"
     "allocation 0: size 4096, parameter 0, shape |f32[8,128]{1,0:T(8,128)}| at ShapeIndex {}:\n"
     " value: <6 p0 @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}\n"
     "allocation 1: size 8.0KiB, preallocated-temp:\n"
     " value: <7 t @0> (size=8192,offset=0): f32[16,128]{1,0:T(8,128)}\n"
     " value: <8 u @0> (size=4096,offset=0): f32[8,128]{1,0:T(8,128)}\n"
     "allocation 2: size 2048, color 1, output shape is |f32[4,128]{1,0:T(4,128)}|, maybe-live-out:\n"
     "allocation 12: size 512, thread-local:\n"
     /* listed again */
     "allocation 1: size 8.0KiB, preallocated-temp:\n"
     " value: <7 t @0> (size=8192,offset=0): f32[16,128]{1,0:T(8,128)}\n"
     "allocation 0: size 4096, parameter 0, shape |f32[8,128]{1,0:T(8,128)}| at ShapeIndex {}:\n"
     "allocation 12: size 512, thread-local:\n",
     "preallocated-temp 0 8192; parameter 0 0 4096 of 4096; output 1 2048 of 2048; thread-local 0 512;", 4},
    {"cumulative_size; size; offset; used_by_n_values; shapes_list\n"
     "4.0KiB( 44%);    4.0KiB;            0;       1; f32[8,128]\n"
     "8.0KiB( 66%);    4.0KiB;         4096;       3; 2\xc3\x97"
     "f32[8,128], f32[4,128]\n"
     "9.0KiB( 77%);    1.0KiB;         8192;       1; (s32[], f32[8])\n",
     "at byte 0 -1 4096 of 4096; at byte 4096 -1 4096; at byte 8192 -1 1024;", 4},
    {"cumulative_size; size; offset; used_by_n_values; shapes_list\n"
     "4.0KiB( 44%);    4.0KiB;            0;       2; f32[8,128], f32[4,128]\n",
     "at byte 0 -1 4096;", 2},
    {"Live ranges at 5 (peak):\n  one{}: 16 bytes (cumulative: 16 bytes)\n  two{1}: 4096 bytes (cumulative: "
     "4112 "
     "bytes)\n",
     "two{1} -1 4096 at the peak; one{} -1 16 at the peak;", 0},
};

TEST(lists_are_read) {
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        ts_audit_result r;
        ts_audit *audit =
            audited(arena, &v6e_audit, (audited_text){lists[i].text, strlen(lists[i].text), 0}, &r);
        assert_string_equal(read_of(&r), lists[i].read);
        assert_int_equal(r.sum.buffers, lists[i].buffers);
        assert_int_equal(r.kind_count, 0); /* of what is not read */
        ts_audit_free(audit);
    }
}

/* Values that share an allocation and are alike have its size; of others it is not known. */
TEST(shared_sizes_are_read) {
    static const struct {
        const char *row;
        int64_t padded_bytes;
    } rows[] = {
        {"4B(100%); 4B; 0; 3; 3\xc3\x97u32[]", 12},
        {"4B(100%); 4B; 0; 12; 12\xc3\x97u32[]", 48},
        {"4B(100%); 4B; 0; 3; 2\xc3\x97u32[], s32[]", 3 * 512},
        {"64.0KiB(100%); 64.0KiB; 0; 2; 2\xc3\x97"
         "bf16[256,64]",
         2 << 16},
        {"64.0KiB(100%); 64.0KiB; 0; 2; bf16[256,64], f32[]", (1 << 15) + 512},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "cumulative_size; size; offset; used_by_n_values; shapes_list\n%s\n", rows[i].row);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.sum.padded_bytes, rows[i].padded_bytes);
        ts_audit_free(audit);
    }
}

int main(void) { return run_all_tests(begin_audits, end_group); }
