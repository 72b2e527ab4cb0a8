/* The tables of measurements (tests/data/) that the binary carries. Private. */
#ifndef TILESIM_VALIDATE_EMBEDDED_H
#define TILESIM_VALIDATE_EMBEDDED_H

#include "machine/embedded.h"

extern const ts_embedded_file ts_embedded_tables[];
extern const size_t ts_embedded_table_count;

#endif
