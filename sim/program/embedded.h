/* The programs (programs/) that the binary carries, so that studies run them from anywhere. Private. */
#ifndef TILESIM_PROGRAM_EMBEDDED_H
#define TILESIM_PROGRAM_EMBEDDED_H

#include "machine/embedded.h"

/* By their places below programs/: "include/rows.tsim". */
extern const ts_embedded_file ts_embedded_programs[];
extern const size_t ts_embedded_program_count;

#endif
