/* The walkers: stepping compiled for the bank counts of the machines that must be fast, and for any. Private. */
#ifndef SIM_MEMORY_HBM_WALKERS_H
#define SIM_MEMORY_HBM_WALKERS_H

#include "hbm_channel.h"

typedef struct {
    void (*walk)(ts_hbm *hbm, hbm_channel *ch, int32_t until); /* all steps up to `until` */
    int32_t (*offer)(ts_hbm *hbm, ts_hbm_stream *st, int64_t burst, int direction, int32_t earliest);
} hbm_walker;

hbm_walker hbm_walker_base(int banks, int banks_of_pc, bool half);
hbm_walker hbm_walker_avx2(int banks, int banks_of_pc, bool half);

#define WALKER(name, target, banks, banks_of_pc, half)                                                       \
    target static void name##_walk(ts_hbm *hbm, hbm_channel *ch, int32_t until) {                            \
        while (ch->next <= until)                                                                            \
            ch->next = step(hbm, ch, ch->next, banks, banks_of_pc, half);                                    \
    }                                                                                                        \
    target static int32_t name##_offer(ts_hbm *hbm, ts_hbm_stream *st, int64_t burst, int direction,         \
                                       int32_t earliest) {                                                   \
        return offer(hbm, st, burst, direction, earliest, banks, banks_of_pc, half);                         \
    }

#define WALKERS(name, target)                                                                                \
    WALKER(name##_32_16, target, 32, 16, false)                                                              \
    WALKER(name##_16_16, target, 16, 16, false)                                                              \
    WALKER(name##_64_32, target, 64, 32, true)                                                               \
    WALKER(name##_any, target, hbm->spec->banks, hbm->spec->banks_of_pc, false)                              \
    WALKER(name##_any_half, target, hbm->spec->banks, hbm->spec->banks_of_pc, true)                          \
    hbm_walker hbm_walker_##name(int banks, int banks_of_pc, bool half) {                                    \
        if (banks == 32 && banks_of_pc == 16 && !half)                                                       \
            return (hbm_walker){name##_32_16_walk, name##_32_16_offer};                                       \
        if (banks == 16 && banks_of_pc == 16 && !half)                                                       \
            return (hbm_walker){name##_16_16_walk, name##_16_16_offer};                                       \
        if (banks == 64 && banks_of_pc == 32 && half)                                                        \
            return (hbm_walker){name##_64_32_walk, name##_64_32_offer};                                       \
        if (half)                                                                                            \
            return (hbm_walker){name##_any_half_walk, name##_any_half_offer};                                 \
        return (hbm_walker){name##_any_walk, name##_any_offer};                                               \
    }

#endif
