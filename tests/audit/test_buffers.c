/* Which arrays of a result count as buffers, and what is started under a name that any instruction has so. */
#include "audit/audit_private.h"

#include "tests/support/audited.h"
#include "tests/support/group.h"

#define A "f32[8,128]{1,0:T(8,128)}" /* of 4,096 bytes */
#define B "f32[16,128]{1,0:T(8,128)}"
#define S "s32[]{:T(128)}" /* of 512 */

static const struct {
    const char *instruction;
    int64_t buffers, padded_bytes;
} results[] = {
    {A " negate(%a)", 1, 4096},
    {"(" A ", " B ") fusion(%a, %b), kind=kLoop, calls=%f", 2, 12288},
    {"(" A ", " B ") fusion(%a, %b), kind=kLoop, output_to_operand_aliasing={{1}: (1, {})}, calls=%f", 1,
     4096},
    {"(" A ", " B
     ") custom-call(%a, %b), custom_call_target=\"k\", output_to_operand_aliasing={{0}: (0, {}), "
     "{1}: (1, {})}",
     0, 0},
    {"(" B ", (" A ", " A
     ")) custom-call(%a, %b), custom_call_target=\"k\", output_to_operand_aliasing={{1, 0}: "
     "(0, {})}",
     2, 12288},
    {"(" B ", (" A ", " A
     ")) custom-call(%a, %b), custom_call_target=\"k\", output_to_operand_aliasing={{1}: "
     "(0, {})}",
     1, 8192},
    {A " fusion(%a, %b), kind=kLoop, output_to_operand_aliasing={{}: (0, {})}, calls=%f", 0, 0},
    {A " fusion(%a), kind=kLoop, output_to_operand_aliasing={{0}: (0, {})}, calls=%f", 1, 4096},
    {"(" A ", u32[]{:S(2)}, token[]) send(%a, %t), channel_id=1", 1, 4},
    {"((" A ", " A "), " B ", " S ") dot-start(%a, %a), lhs_contracting_dims={0}, rhs_contracting_dims={0}",
     1, 8192},
    {B " dot-done(%d)", 0, 0},
    {B " negate-update(%d)", 0, 0},
    {A " mulhi(%a, %a)", 1, 4096},
    {A " add-dependency(%a, %t)", 0, 0},
};

TEST(results_that_lie_in_operands_are_none) {
    for (size_t i = 0; i < sizeof results / sizeof results[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text, "HloModule m, is_scheduled=true\n\nENTRY %%main {\n  ROOT %%r = %s\n}\n",
                    results[i].instruction);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        if (r.sum.buffers != results[i].buffers || r.sum.padded_bytes != results[i].padded_bytes)
            fail_msg("%s: %d buffers of %d", results[i].instruction, (int)r.sum.buffers,
                     (int)r.sum.padded_bytes);
        assert_int_equal(r.kind_count, 0);
        ts_audit_free(audit);
    }
}

static const struct {
    const char *instruction;
    ts_hlo_opcode opcode;
    int64_t read, written;
} started[] = {
    {"((" A "), f32[128,8]{1,0:T(8,128)}, " S ") transpose-start(%a), dimensions={1,0}", TS_HLO_OP_TRANSPOSE,
     4096, 65536},
    {"((" A ", " B "), f32[24,128]{1,0:T(8,128)}, " S ") concatenate-start(%a, %b), dimensions={0}",
     TS_HLO_OP_CONCATENATE, 12288, 12288},
    {"((" A "), " A ", " S ") cross-replica-sum-start(%a), replica_groups={{0,1}}",
     TS_HLO_OP_CROSS_REPLICA_SUM, 0, 4096},
};

TEST(what_is_started_moves) {
    for (size_t i = 0; i < sizeof started / sizeof started[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    "HloModule m, is_scheduled=true\n\nENTRY %%main {\n  %%a = " A " parameter(0)\n"
                    "  %%b = " B " parameter(1)\n  ROOT %%s = %s\n}\n",
                    started[i].instruction);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.group_count, 1);
        assert_int_equal(r.groups[0].first.opcode, started[i].opcode);
        assert_int_equal(r.groups[0].first.read_bytes, started[i].read);
        assert_int_equal(r.groups[0].first.written_bytes, started[i].written);
        ts_audit_free(audit);
    }
}

/* Scalars of what is applied to elements are none; those of what is called are the caller's. */
TEST(what_is_called_is_known) {
    static const char text[] =
        "HloModule m, is_scheduled=true\n\n%less {\n  %x = f32[] parameter(0)\n  ROOT "
        "%y = f32[] negate(%x)\n}\n\n"
        "%more {\n  %i = s32[] parameter(0)\n  ROOT %j = s32[] negate(%i)\n}\n\n"
        "%part {\n  %p = " A " parameter(0)\n  ROOT %q = " A " negate(%p)\n}\n\n"
        "%one {\n  %v = " A " parameter(0)\n  ROOT %w = " A " negate(%v)\n}\n\n"
        "ENTRY %main {\n  %a = " A " parameter(0)\n"
        "  %t = (" A ", s32[8,128]{1,0:T(8,128)}) topk(%a), k=128, to_apply=%less\n"
        "  %k = " A " custom-call(%a), custom_call_target=\"TopK\", called_computations={%more}\n"
        "  %f = ((" A "), " A ", " S ") fusion-start(%a), kind=kLoop, calls=%one\n"
        "  ROOT %c = ((" A "), " A ", " S ") call-start(%a), to_apply=%part\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text, sizeof text - 1, 0}, &r);
    assert_int_equal(r.sum.buffers, 7); /* a, t twice, k, f, c, and q in it */
    assert_int_equal(r.sum.padded_bytes, 7 * 4096);
    ts_audit_free(audit);
}

/* A shape that follows from the operands may be left out: then it is said. */
TEST(shapes_left_out_are_told) {
    static const char text[] = "HloModule m, is_scheduled=true\n\nENTRY %main {\n  %a = " A " parameter(0)\n"
                               "  %b = negate(%a)\n  %t = tuple(%a, %b)\n  ROOT %c = copy(%b)\n}\n";
    ts_audit_result r;
    ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text, sizeof text - 1, 0}, &r);
    assert_int_equal(r.sum.buffers, 1);
    assert_int_equal(r.kind_count, 1);
    assert_int_equal(r.kinds[0].count, 2);
    assert_int_equal(r.kinds[0].first_line, 5);
    ts_audit_free(audit);
}

/* Where there is no ENTRY, what the header says of the arguments. */
TEST(a_header_alone_has_arguments) {
    static const char *const arrows[] = {"->", " -> "};
    for (int i = 0; i < 2; i++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(&text,
                    "HloModule m, is_scheduled=true, entry_computation_layout={(" A ", " B ")%s" A "}\n",
                    arrows[i]);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        assert_int_equal(r.sum.buffers, 2);
        assert_int_equal(r.sum.padded_bytes, 12288);
        ts_audit_free(audit);
    }
}

int main(void) { return run_all_tests(begin_audits, end_group); }
