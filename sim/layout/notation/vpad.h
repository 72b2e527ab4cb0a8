/* How a value lies in vregs, as Mosaic's passes write it: #tpu.vpad<"32,{0,0},(8,128)">, in a shape
 * f32[256,512] vpad<"32,{0,0},(8,128)">.
 *
 *   vpad   = ["#tpu."] "vpad<" '"' bits ",{" offset "," offset "},(" rows "," columns ")" [implicit] '"' ">"
 *   offset = "*" | int                              implicit = ",-1" | ",-2" | ",-2,-1"
 *
 * Source: jax-ml/jax@cff5c5f6aa jaxlib/mosaic/dialect/tpu/layout.h and layout.cc (Apache-2.0). A vreg has 8
 * sublanes of 128 lanes of 32 bits; a value of fewer bits is one of `packing` in a word. Tiles fill a vreg
 * along the columns alone: it holds a slice of (rows, tiles * columns). Offsets say where in the first slice
 * the first element is; "*": every position along that dim holds it. Implicit dims of 1 are put in behind
 * (-1), before the last (-2) or both. Axes of the layout: vreg (row-major over slices), sublane, lane and
 * sub, the part of a word. */
#ifndef TILESIM_LAYOUT_NOTATION_VPAD_H
#define TILESIM_LAYOUT_NOTATION_VPAD_H

#include "isa/vreg.h"
#include "layout/layout.h"

#define TS_VPAD_REPLICATED INT64_C(-1) /* an offset "*" */

typedef enum {
    TS_VPAD_ALL,
    TS_VPAD_MINOR,
    TS_VPAD_SECOND,
    TS_VPAD_BOTH
} ts_vpad_implicit; /* , -1, -2, -2,-1 */

typedef struct {
    int bits;
    int64_t offsets[2], tile[2];
    ts_vpad_implicit implicit;
} ts_vpad;

/* One at the cursor, which is left behind it. Only layouts that Mosaic holds valid. */
bool ts_vpad_read(ts_error *err, ts_cursor *cursor, ts_vpad *out);

static inline int64_t ts_vpad_packing(const ts_vpad *vpad) { return TS_WORD_BITS / vpad->bits; }
/* Tiles in a vreg. */
static inline int64_t ts_vpad_tiles(const ts_vpad *vpad) {
    return ts_vpad_packing(vpad) * TS_SUBLANES * TS_LANES / (vpad->tile[0] * vpad->tile[1]);
}

/* Whether all positions along a logical dim, counted from the last, hold the same. */
bool ts_vpad_is_replicated(const ts_vpad *vpad, int dim);

const ts_layout *ts_vpad_layout(ts_error *err, ts_arena *arena, const ts_vpad *vpad, int rank,
                                const int64_t *dims);

#endif
