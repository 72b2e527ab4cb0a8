/* Random bits. How the chip makes its own is not stated publicly, so others stand in for them: Threefry of
 * the seeds and of how many words were drawn since, the same in every run. */
#include "lower.h"

enum { VREG_WORDS = TS_SUBLANES * TS_LANES };

/* 2^32 over the golden ratio, odd, so that no seed is lost. */
static const int32_t seed_factor = (int32_t)0x9e3779b9u;

static random_state *make_state(lowering *l) {
    random_state *r = TS_NEW(l->arena, random_state);
    *r = (random_state){fresh(l, TS_OPERAND_SREG), fresh(l, TS_OPERAND_SREG), 0};
    return r;
}

bool lower_prng_seed(lowering *l) {
    ts_operand key = ts_integer(0);
    for (int i = 0; i < l->op->operand_count; i++) {
        const value *seed = value_at(l, i);
        if (seed->kind != VALUE_SCALAR) return malformed(l, "scalars");
        key = scalar2(l, TS_OP_sadd, scalar2(l, TS_OP_smul, key, ts_integer(seed_factor)), seed->one);
    }
    if (!l->random) l->random = make_state(l);
    move_to(l, l->random->key, key);
    move_to(l, l->random->drawn, ts_integer(0));
    return true;
}

/* Each word has the number of its place in the vreg, behind what was drawn before. */
bool lower_prng_bits(lowering *l) {
    random_state *r = l->random;
    if (!r) return refuse(l, "before a seed is set");
    if (result_type(l, 0)->bits != 32) return refuse(l, "of other than words");
    ts_operand row = emit_new(l, TS_OP_viota_sublane, 0, NULL), lane = emit_new(l, TS_OP_viota_lane, 0, NULL);
    ts_operand place = emit2(l, TS_OP_vadd_i32, emit2(l, TS_OP_vmul_i32, row, ts_integer(TS_LANES)), lane);
    ts_operand bits = emit2(l, TS_OP_vrandom, emit2(l, TS_OP_vadd_i32, place, r->drawn), r->key);
    move_to(l, r->drawn, scalar2(l, TS_OP_sadd, r->drawn, ts_integer(VREG_WORDS)));
    r->vregs++;
    return set_vector(l, bits);
}
