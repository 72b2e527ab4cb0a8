/* Simulated arithmetic rounds to nearest and keeps subnormals, whatever the host's thread has set. */
#ifndef TILESIM_CORE_FLOAT_MODE_H
#define TILESIM_CORE_FLOAT_MODE_H

#if defined(__x86_64__)
#include <xmmintrin.h>

/* All exceptions masked, round to nearest, no flush to zero; the low 6 bits are flags. */
typedef unsigned float_mode;
enum { FLOAT_MODE = 0x1f80, FLOAT_FLAGS = 0x3f };

static inline float_mode float_mode_enter(void) {
    unsigned old = _mm_getcsr();
    if ((old & ~(unsigned)FLOAT_FLAGS) != FLOAT_MODE) _mm_setcsr(FLOAT_MODE);
    return old;
}

static inline void float_mode_leave(float_mode old) {
    if ((old & ~(unsigned)FLOAT_FLAGS) != FLOAT_MODE) _mm_setcsr(old);
}
#else
#include <fenv.h>

typedef fenv_t float_mode;

static inline float_mode float_mode_enter(void) {
    fenv_t old;
    fegetenv(&old);
    fesetenv(FE_DFL_ENV);
    return old;
}

static inline void float_mode_leave(float_mode old) { fesetenv(&old); }
#endif

#endif
