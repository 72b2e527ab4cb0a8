/* The simulators of a channel: stepping compiled for the shapes of the machines that must be fast, and for
 * any. Private. */
#ifndef TILESIM_DRAM_HBM_SIMULATORS_H
#define TILESIM_DRAM_HBM_SIMULATORS_H

#include "hbm_channel.h"

/* What the compiler may know of a machine. */
typedef struct {
    int banks, banks_of_pc, banks_of_group;
    bool half; /* HBM3: half CKs */
    bool closed_page;
    bool row_hit; /* the scheduler of this name */
} shape;

ALWAYS static inline int group_shift(const shape sh) { return __builtin_ctz((unsigned)sh.banks_of_group); }

typedef struct {
    void (*simulate)(ts_hbm *hbm, hbm_channel *ch, int32_t until); /* all steps up to `until` */
    /* Offers segments of a block, all of this channel. */
    void (*run)(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_segment *const *segments, int count);
} hbm_simulator;

hbm_simulator hbm_simulator_base(const ts_hbm *hbm);
hbm_simulator hbm_simulator_avx2(const ts_hbm *hbm);
hbm_simulator hbm_banks_simulator_base(const ts_hbm *hbm); /* of the per bank scheduler */
hbm_simulator hbm_banks_simulator_avx2(const ts_hbm *hbm);

#define SIMULATOR(name, ...)                                                                                 \
    static __attribute__((noinline)) void name##_row(const ts_hbm *hbm, hbm_channel *ch, int32_t key,        \
                                                     int32_t t) {                                            \
        row_step(hbm, ch, key, t, (shape){__VA_ARGS__});                                                     \
    }                                                                                                        \
    static __attribute__((noinline)) int32_t name##_waiting(const ts_hbm *hbm, hbm_channel *ch, int32_t t) { \
        return waiting_cycle(hbm, ch, t, (shape){__VA_ARGS__});                                              \
    }                                                                                                        \
    static __attribute__((noinline)) int32_t name##_full(const ts_hbm *hbm, hbm_channel *ch, int32_t t) {    \
        return full_step(hbm, ch, t, (steps){NULL, name##_waiting, name##_row}, (shape){__VA_ARGS__});       \
    }                                                                                                        \
    static void name##_simulate(ts_hbm *hbm, hbm_channel *ch, int32_t until) {                               \
        while (ch->next <= until) ch->next = name##_full(hbm, ch, ch->next);                                 \
    }                                                                                                        \
    static void name##_run(ts_hbm *hbm, ts_hbm_stream *st, hbm_channel *ch, hbm_segment *const *segments,    \
                           int count) {                                                                      \
        run((target){hbm, st, ch, {name##_full, NULL, name##_row}, {__VA_ARGS__}}, segments, count);         \
    }

#define FITS(s, banks_, banks_of_pc_, banks_of_group_, ticks)                                                \
    ((s)->banks == (banks_) && (s)->banks_of_pc == (banks_of_pc_) &&                                         \
     (s)->banks_of_group == (banks_of_group_) && (s)->ticks_per_ck == (ticks))

#define SIMULATORS(name)                                                                                     \
    SIMULATOR(name##_hbm2, 32, 16, 4, false, false, true)                                                    \
    SIMULATOR(name##_hbm3, 64, 32, 4, true, false, true)                                                     \
    SIMULATOR(name##_hbm3_one_sid, 32, 16, 4, true, false, true)                                             \
    SIMULATOR(name##_any, hbm->spec->banks, hbm->spec->banks_of_pc, hbm->spec->banks_of_group, false,        \
              hbm->config.page == TS_HBM_PAGE_CLOSED, hbm->config.scheduler == TS_HBM_SCHEDULER_ROW_HIT)     \
    SIMULATOR(name##_any_half, hbm->spec->banks, hbm->spec->banks_of_pc, hbm->spec->banks_of_group, true,    \
              hbm->config.page == TS_HBM_PAGE_CLOSED, hbm->config.scheduler == TS_HBM_SCHEDULER_ROW_HIT)     \
    hbm_simulator hbm_simulator_##name(const ts_hbm *hbm) {                                                  \
        bool usual =                                                                                         \
            hbm->config.page == TS_HBM_PAGE_OPEN && hbm->config.scheduler == TS_HBM_SCHEDULER_ROW_HIT;       \
        if (usual && FITS(hbm->spec, 32, 16, 4, 1))                                                          \
            return (hbm_simulator){name##_hbm2_simulate, name##_hbm2_run};                                   \
        if (usual && FITS(hbm->spec, 64, 32, 4, 2))                                                          \
            return (hbm_simulator){name##_hbm3_simulate, name##_hbm3_run};                                   \
        if (usual && FITS(hbm->spec, 32, 16, 4, 2))                                                          \
            return (hbm_simulator){name##_hbm3_one_sid_simulate, name##_hbm3_one_sid_run};                   \
        if (hbm->spec->ticks_per_ck == 2)                                                                    \
            return (hbm_simulator){name##_any_half_simulate, name##_any_half_run};                           \
        return (hbm_simulator){name##_any_simulate, name##_any_run};                                         \
    }

#endif
