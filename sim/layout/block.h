/* Evaluating layouts at many indices at once. */
#ifndef TILESIM_LAYOUT_BLOCK_H
#define TILESIM_LAYOUT_BLOCK_H

#include "layout/layout.h"

/* The offsets of `count` indices in row-major order from flat index `first`, of a layout with one axis,
 * without replicas and swizzle; false where its function knows no blocks. */
bool ts_layout_forward_blocks(const ts_layout *layout, int64_t first, int64_t count, int64_t *offsets);

#endif
