/* Pallas kernels: a Mosaic module as MLIR text at vreg level (after apply-vector-layout) becomes a program.
 * docs/pallas.md has the text that is taken. */
#ifndef TILESIM_MOSAIC_MOSAIC_H
#define TILESIM_MOSAIC_MOSAIC_H

#include "program/program.h"

/* Is the file such a module? By its name: "x.mlir". */
bool ts_mosaic_is_module(const char *path);
const ts_program *ts_mosaic_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                                  const ts_target *target);
/* A program of either kind, with the Python that a module's locations name, if that is there: a module, or a
 * text that ts_program_load takes. */
const ts_program *ts_mosaic_load(ts_error *err, ts_arena *arena, const char *path, const ts_target *target,
                                 const ts_define *defines, int define_count);

/* Every operation of the text that is known, and of what. */
void ts_mosaic_print_ops(ts_text *out);
void ts_mosaic_print_ops_markdown(ts_text *out);

#endif
