/* A progress bar on stderr: only on a terminal, only for what takes longer than a second. */
#ifndef TILESIM_CLI_PROGRESS_H
#define TILESIM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const char *what; /* "rows": is done */
    bool shows, drawn;
    double started, drawn_at;
} cli_progress;

cli_progress cli_progress_begin(const char *what);
/* As what is called while long work goes on. `of` 0: not known, then `done` is shown as bytes. */
void cli_progress_draw(void *bar, int64_t done, int64_t of);
/* The same of a study: of so many points `answered`, in all `done`, and how many a second. */
void cli_progress_rate(void *bar, int64_t done, int64_t of, int64_t answered);
void cli_progress_end(const cli_progress *bar); /* takes it away */

#endif
