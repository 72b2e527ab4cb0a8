/* The machine files (configs/) that the binary carries, so that they are found from anywhere. */
#ifndef TILESIM_MACHINE_EMBEDDED_H
#define TILESIM_MACHINE_EMBEDDED_H

#include <stddef.h>

#include "config/tree.h"

typedef ts_tree_builtin ts_embedded_file;

/* Sorted by name. */
extern const ts_embedded_file ts_embedded_machines[];
extern const size_t ts_embedded_machine_count;

#endif
