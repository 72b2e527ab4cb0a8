/* tilesim layout --mesh: a sharded tensor. */
#ifndef TILESIM_CLI_LAYOUT_SHARDING_H
#define TILESIM_CLI_LAYOUT_SHARDING_H

#include "options.h"

/* Answers, and returns the exit code. */
int cli_layout_sharding(cli_line *line);

#endif
