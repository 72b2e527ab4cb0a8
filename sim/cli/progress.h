/* A progress bar on stderr: only on a terminal, only for what takes longer than a second. */
#ifndef TILESIM_CLI_PROGRESS_H
#define TILESIM_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    bool shows, drawn;
    double started, drawn_at;
} cli_progress;

cli_progress cli_progress_begin(void);
/* `of` 0: not known, then `done` is shown as bytes. */
void cli_progress_draw(cli_progress *bar, const char *what, int64_t done, int64_t of);
/* Of a study, as its `progress`: of so many points `answered`, in all `done`, and how many a second. */
void cli_progress_rate(void *bar, int64_t done, int64_t of, int64_t answered);
void cli_progress_end(const cli_progress *bar); /* takes it away */

#endif
