/* The progress bar. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

#include "base/host_clock.h"

enum { BAR = 30 };

cli_progress cli_progress_begin(const char *what) {
    return (cli_progress){
        .what = what, .shows = isatty(STDERR_FILENO) != 0, .started = ts_host_seconds(CLOCK_MONOTONIC)};
}

static void draw(cli_progress *bar, const char *what, int64_t done, int64_t of) {
    if (!bar->shows) return;
    double now = ts_host_seconds(CLOCK_MONOTONIC), elapsed = now - bar->started;
    if (elapsed < 1 || now - bar->drawn_at < 0.1) return;
    bar->drawn = true;
    bar->drawn_at = now;
    if (of <= 0 || done <= 0) {
        fprintf(stderr, "\r%s %lld MB\033[K", what, (long long)(done >> 20));
        return;
    }
    int filled = (int)((__int128)BAR * done / of);
    fprintf(stderr, "\r%-8s [%.*s%*s] %3d %%, %.0f s left\033[K", what, filled,
            "##############################", BAR - filled, "", (int)((__int128)100 * done / of),
            elapsed * (double)(of - done) / (double)done);
}

void cli_progress_draw(void *self, int64_t done, int64_t of) {
    cli_progress *bar = self;
    draw(bar, bar->what, done, of);
}

void cli_progress_rate(void *self, int64_t done, int64_t of, int64_t answered) {
    cli_progress *bar = self;
    char what[40];
    double elapsed = bar->shows ? ts_host_seconds(CLOCK_MONOTONIC) - bar->started : 0;
    if (elapsed < 1) return;
    snprintf(what, sizeof what, "%.0f points/s", (double)answered / elapsed);
    draw(bar, what, done, of);
}

void cli_progress_end(const cli_progress *bar) {
    if (bar->drawn) fputs("\r\033[K", stderr);
}
