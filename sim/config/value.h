/* One figure: its text, and the integer that is stored. */
#ifndef TILESIM_CONFIG_VALUE_H
#define TILESIM_CONFIG_VALUE_H

#include "config/field.h"

/* Reads a figure of the field's kind. clock_khz: for times, which are stored in cycles of that clock.
 * False when the node's text is no such figure, or out of range. */
bool ts_value_parse(const ts_field *field, const ts_tree *node, int64_t clock_khz, int64_t *value);

#endif
