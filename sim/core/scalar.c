/* Scalar arithmetic and control. */
#include "state.h"
#include "base/number.h"

#define UNUSED (void)err, (void)core

#define SCALAR(id, value)                                                                                    \
    CORE_FUNCTION(id) {                                                                                      \
        UNUSED;                                                                                              \
        uint32_t a = op->in[0][0], b = op->in[1][0];                                                         \
        int32_t x = (int32_t)a, y = (int32_t)b;                                                              \
        (void)x, (void)y;                                                                                    \
        op->d[0] = (uint32_t)(value);                                                                        \
        return true;                                                                                         \
    }
#include "isa/scalar.def"
#undef SCALAR

CORE_FUNCTION(smov) { return core_run_copy_word(err, core, op); }

CORE_FUNCTION(core_id) {
    (void)err;
    op->d[0] = (uint32_t)core->setup.number;
    return true;
}

CORE_FUNCTION(core_count) {
    (void)err;
    op->d[0] = core->setup.cores > 1 ? (uint32_t)core->setup.cores : 1;
    return true;
}

/* A number of the device; `off` where there is no mesh, or no such axis. */
#define DEVICE(id, member, off)                                                                              \
    CORE_FUNCTION(id) {                                                                                      \
        (void)err;                                                                                           \
        op->d[0] = core->setup.device ? (uint32_t)core->setup.device->member : off;                          \
        return true;                                                                                         \
    }
DEVICE(device_id, id, 0)
DEVICE(device_count, count, 1)

#define AXIS(id, member, off)                                                                                \
    CORE_FUNCTION(id) {                                                                                      \
        (void)err;                                                                                           \
        const ts_core_device *device = core->setup.device;                                                   \
        uint32_t axis = op->in[0][0];                                                                        \
        bool there = device && axis < (uint32_t)device->axis_count;                                          \
        op->d[0] = there ? (uint32_t)device->member[axis] : off;                                             \
        return true;                                                                                         \
    }
AXIS(axis_index, index, 0)
AXIS(axis_size, size, 1)

static bool divisor_positive(ts_error *err, const ts_core *core, const core_op *op) {
    int32_t divisor = (int32_t)op->in[1][0];
    return divisor > 0 || core_fault(err, core, op, "division by %d, expected a divisor above 0", divisor);
}

CORE_FUNCTION(sdiv) {
    if (!divisor_positive(err, core, op)) return false;
    op->d[0] = (uint32_t)ts_floor_div((int32_t)op->in[0][0], (int32_t)op->in[1][0]);
    return true;
}

CORE_FUNCTION(smod) {
    if (!divisor_positive(err, core, op)) return false;
    op->d[0] = (uint32_t)ts_floor_mod((int32_t)op->in[0][0], (int32_t)op->in[1][0]);
    return true;
}

/* ---- Control ---- */

static bool branch(ts_core *core, const core_op *op) {
    int64_t cycles = core->setup.config->latency_cycles[TS_LATENCY_BRANCH];
    core->taken = op->target;
    core_hold(core, cycles, TS_STALL_WAIT + TS_LATENCY_BRANCH);
    return true;
}

#define BRANCH(id, condition)                                                                                \
    CORE_FUNCTION(id) {                                                                                      \
        UNUSED;                                                                                              \
        int32_t x = (int32_t)op->in[0][0], y = op->in[1] ? (int32_t)op->in[1][0] : 0;                        \
        return !(condition) || branch(core, op);                                                             \
    }
BRANCH(brnz, x != y)
BRANCH(brz, x == y)
BRANCH(br_eq, x == y)
BRANCH(br_ne, x != y)
BRANCH(br_lt, x < y)
BRANCH(br_le, x <= y)
BRANCH(br_gt, x > y)
BRANCH(br_ge, x >= y)

CORE_FUNCTION(jump) {
    UNUSED;
    return branch(core, op);
}

CORE_FUNCTION(halt) {
    (void)err, (void)op;
    core->halting = true;
    return true;
}

CORE_FUNCTION(nop) {
    UNUSED;
    (void)op;
    return true;
}

CORE_FUNCTION(delay) {
    (void)err;
    core_hold(core, (int32_t)op->in[0][0], TS_STALL_WAIT + TS_LATENCY_CONTROL);
    return true;
}
