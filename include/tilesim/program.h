/* Programs: kernels in .tsim assembly, or made by builder.h. */
#ifndef TILESIM_PROGRAM_H
#define TILESIM_PROGRAM_H

#include <stddef.h>

#include "tilesim/machine.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ts_program ts_program;

typedef struct {
    const char *name, *value; /* of a parameter: what is given for it, as text */
} ts_define;

typedef struct {
    size_t struct_bytes; /* sizeof(ts_program_request); what is zero is the default */
    const ts_machine *machine;
    const char *source; /* a path, or a text */
    const ts_define *defines;
    int define_count;
    const char *mesh;     /* "4x4" or "data=2,model=8": its devices all run the program; NULL: one device */
    const char *topology; /* how their chips lie, "4x4"; NULL: as the mesh */
} ts_program_request;

/* The file at a path, or one that the library carries, "tilesim:/softmax.tsim". */
TS_API const ts_program *ts_program_read(ts_error *err, ts_arena *arena, const ts_program_request *request);
/* The same of a text. */
TS_API const ts_program *ts_program_assemble(ts_error *err, ts_arena *arena,
                                             const ts_program_request *request);
/* As text that assembles to the same program: macros and loops are gone. */
TS_API const char *ts_program_text(ts_arena *arena, const ts_program *program);

#ifdef __cplusplus
}
#endif

#endif
