/* A caller that may want long work to end. */
#include "base/interrupt.h"

#include "base/host_clock.h"

static const double EVERY_SECONDS = 0.05; /* nobody waits for that, and an answer takes far less */

bool ts_interrupt_is_heard(ts_interrupt *interrupt) {
    if (!interrupt || interrupt->is_heard) return interrupt != NULL;
    double now = ts_host_seconds(CLOCK_MONOTONIC);
    if (now < interrupt->asked_at + EVERY_SECONDS) return false;
    interrupt->asked_at = now;
    interrupt->is_heard = interrupt->stopped(interrupt->context) != 0;
    return interrupt->is_heard;
}

bool ts_interrupt_error(ts_error *err, const ts_interrupt *interrupt) {
    return ts_error_set(err, TS_ERROR_IO, "%s is stopped", interrupt->what);
}
