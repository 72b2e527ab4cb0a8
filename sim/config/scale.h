/* Figures of a tree moved: for questions of what hangs on them. */
#ifndef TILESIM_CONFIG_SCALE_H
#define TILESIM_CONFIG_SCALE_H

#include "config/field.h"

/* "path=value" with the figure doubled, or halved: exactly, or false; as it is false for what is no number.
 * Whether there can be such a machine is not looked at. */
typedef enum { TS_FIELD_HALVED, TS_FIELD_DOUBLED, TS_FIELD_SCALINGS } ts_field_scaling;
bool ts_field_scaled(const ts_field_leaf *leaf, ts_field_scaling scaling, ts_text *out);

#endif
