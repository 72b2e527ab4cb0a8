/* The mesh files (configs/meshes/) that the binary carries. */
#ifndef TILESIM_MESH_EMBEDDED_H
#define TILESIM_MESH_EMBEDDED_H

#include <stddef.h>

#include "config/tree.h"

typedef ts_tree_builtin ts_embedded_file;

/* Sorted by name. */
extern const ts_embedded_file ts_embedded_slices[];
extern const size_t ts_embedded_slice_count;

#endif
