/* Choices: which layout a tensor should have, every legal one priced. */
#ifndef TILESIM_CHOOSE_H
#define TILESIM_CHOOSE_H

#include <stddef.h>

#include "tilesim/program.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    size_t struct_bytes; /* sizeof(ts_choice_request); what is zero is the default */
    const char *machine; /* its name or path; NULL: tpu-v5e */
    const char *shape;   /* either a shape and its uses ("dma:hbm>vmem,reduce:0"; NULL: dma) .. */
    const char *uses;
    const char *program, *tensor; /* .. or a tensor of the program at a path */
    const ts_define *defines;
    int define_count;
    int combine;                /* also tiles with '*', which no compiler makes yet */
    int exhaustive;             /* price all: nothing is cut by its bound */
    const char *const *changes; /* figures of the machine: "hbm.clock=3.2 GHz" */
    int change_count;
    int exact; /* simulate every access */
    /* Asked some times a second: not 0 ends it with an error. NULL: none. */
    int (*stopped)(void *context);
    void *context;
} ts_choice_request;

typedef struct ts_choice ts_choice;

TS_API const ts_choice *ts_choose_layouts(ts_error *err, ts_arena *arena, const ts_choice_request *request);
/* Candidates, the best first. */
TS_API int ts_choice_count(const ts_choice *choice);
TS_API const char *ts_choice_layout(const ts_choice *choice, int number);
TS_API int64_t ts_choice_cycles(const ts_choice *choice, int number); /* -1: cut, its bound is no better */
TS_API int64_t ts_choice_bytes(const ts_choice *choice, int number);
/* What `tilesim choose` prints, and what it prints with --json. */
TS_API const char *ts_choice_text(ts_arena *arena, const ts_choice *choice);
TS_API const char *ts_choice_json(ts_arena *arena, const ts_choice *choice);

#ifdef __cplusplus
}
#endif

#endif
