/* Programs: kernels in .tsim assembly, or made by builder.h. */
#ifndef TILESIM_PROGRAM_H
#define TILESIM_PROGRAM_H

#include "tilesim/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_program ts_program;

typedef struct {
    const char *name, *value; /* -D NAME=VALUE */
} ts_define;

/* The file at a path, or one that the library carries, "tilesim:/softmax.tsim". */
TS_API const ts_program *ts_program_read(ts_error *err, ts_arena *arena, const ts_machine *machine,
                                         const char *path, const ts_define *defines, int define_count);
/* The same of a text. */
TS_API const ts_program *ts_program_assemble(ts_error *err, ts_arena *arena, const ts_machine *machine,
                                             const char *text, const ts_define *defines, int define_count);
/* As text that assembles to the same program: macros and loops are gone. */
TS_API const char *ts_program_text(ts_arena *arena, const ts_program *program);

#ifdef __cplusplus
}
#endif

#endif
