/* A program: the text assembly `.tsim` made into code that a core runs, and what the text says about its
 * tensors. docs/program.md has the language. */
#ifndef TILESIM_PROGRAM_PROGRAM_H
#define TILESIM_PROGRAM_PROGRAM_H

#include "tilesim/program.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "isa/isa.h"
#include "machine/core_config.h"
#include "mesh/sharding.h"

typedef enum { TS_ROLE_SCRATCH, TS_ROLE_IN, TS_ROLE_OUT, TS_ROLE_INOUT } ts_tensor_role;
const char *ts_tensor_role_text(ts_tensor_role role); /* "inout" */

/* What an input holds when the user brings no file. */
typedef enum {
    TS_FILL_FILE, /* the use's file, or one that the user must bring; scratch and outputs begin undefined */
    TS_FILL_ZEROS,
    TS_FILL_IOTA,   /* element i of the row-major order is i */
    TS_FILL_RANDOM, /* uniform in low .. high (host/fill.h says how) */
} ts_fill_kind;

typedef struct {
    ts_tensor_role role;
    ts_fill_kind fill;
    int64_t seed;
    double low, high;
    const char *file;        /* beside the program; NULL: none */
    const char *file_text;   /* the same as the program says it */
    const ts_source *source; /* whose line declares it; NULL: it was made in C */
    int line;
    /* On a mesh: which elements of the whole array each device holds. The tensor is the part of one device.
     * NULL: a single device, or scratch. */
    const ts_sharding *sharding;
} ts_tensor_use;

typedef struct {
    const char *name;
    bool is_float;
    int64_t integer;
    double number;
    bool included; /* defined in another file than the program's own, and not by the user */
} ts_param;

/* A .check: the bytes [begin, end) of the source behind the word. host/reference.h reads them; names are
 * tensors and parameters. */
typedef struct {
    const ts_source *source;
    size_t begin, end;
    int line;
} ts_program_check;

/* A .report: a number of that name, computed after the run from an expression as in checks. */
typedef struct {
    const char *name;
    ts_program_check text;
} ts_program_report;

/* A .loop of which iterations overlap, under .pack pipeline: after unrolling, one begins every so many
 * cycles. */
typedef struct {
    const ts_source *source;
    int line;
    int iterations, stages; /* unrolled into one; how many of those are under way at once */
    int64_t cycles, slot_cycles,
        path_cycles; /* between them; of one, least by slots and units, and by latencies */
} ts_program_pipeline;

/* A .reg, known from that bundle on; the same name can be given again elsewhere. */
typedef struct {
    const char *name;
    ts_operand_kind kind;
    int reg, bundle;
} ts_program_alias;

/* A .macro and the lines of its body, end_line excluded. */
typedef struct {
    const char *name;
    const ts_source *source;
    int first_line, end_line;
} ts_program_macro;

/* A .region: the bundles of it, and of those within it, follow each other. */
typedef struct {
    const char *name;
    int parent; /* the one around it, -1: none */
} ts_program_region;

/* Where instructions come from, beyond their line: calls of macros, included files and .loops, one in
 * another. What a line stands for several times (.for) is one frame; so a frame is a location in the text,
 * and how one comes there. */
typedef enum { TS_FRAME_MACRO, TS_FRAME_FILE, TS_FRAME_LOOP } ts_frame_kind;
typedef struct {
    ts_frame_kind kind;
    int parent;              /* the one around it, which comes before it; -1: the program's own text */
    const char *name;        /* of the macro or the file; "" of a loop */
    const ts_source *source; /* of the call, the .include or the .loop */
    int line;
    const ts_source *body; /* whose lines first .. end - 1 are in it, without those of inner frames */
    int first_line, end_line;
} ts_program_frame;

/* Where an instruction stands: a line of its frame's body, or (frame -1) of the program's own text. Errors
 * speak of another location where the word for what is done is an argument of a macro. */
typedef struct {
    int frame, line;
} ts_program_location;

struct ts_program {
    ts_code code;
    const ts_mesh *mesh;     /* the mesh of its shardings; NULL: for one device, or for any */
    const ts_source *source; /* its own text; NULL: made in C */
    int frame_count;
    const ts_program_frame *frames;
    const ts_program_location *locations; /* of each instruction, counted from the first of bundle 0 */
    const ts_tensor_use *uses;            /* [code.tensor_count] */
    int param_count, check_count, report_count;
    const ts_param *params;
    const ts_program_check *checks;
    const ts_program_report *reports;
    int pipeline_count; /* in the order of the text */
    const ts_program_pipeline *pipelines;
    int alias_count, macro_count; /* in the order of the text */
    const ts_program_alias *aliases;
    const ts_program_macro *macros;
    int region_count; /* in the order of the text; one in a macro is there once for each use */
    const ts_program_region *regions;
    const int *region_of; /* [code.bundle_count] the innermost, -1: none; NULL: there are no regions */
    int64_t used_bytes[TS_SPACE_COUNT]; /* of each space, by its tensors */
    bool includes;                      /* other files: a line alone says too little */
};

/* What an assembler must know of a machine. */
typedef struct {
    const char *machine; /* its name, for messages */
    ts_core_config core;
    int cores;                           /* of a chip; 0: one */
    int64_t core_khz;                    /* their clock; 0: not known */
    int64_t space_bytes[TS_SPACE_COUNT]; /* 0: the machine has no such space */
    const ts_mesh *mesh;                 /* of devices that all run the program; NULL: one device */
} ts_target;

/* Assembles for a target. *err is the first error of the text, and `next` leads to the others, in the order
 * of the text and in `arena`: up to this many, and none that only follows from another. */
enum { TS_PROGRAM_ERRORS_MAX = 20 };
const ts_program *ts_program_parse(ts_error *err, ts_arena *arena, const ts_source *source,
                                   const ts_target *target, const ts_define *defines, int define_count);
/* The same, of a file; `.include` is relative to the file that says it. "tilesim:/softmax.tsim" is the file
 * of programs/ that the binary carries. */
const ts_program *ts_program_load(ts_error *err, ts_arena *arena, const char *path, const ts_target *target,
                                  const ts_define *defines, int define_count);
/* Is it the path of what the binary carries? */
bool ts_program_is_carried(const char *path);
/* The same, read up to its first instruction only: it has the parameters that are there, and no code. */
const ts_program *ts_program_load_parameters(ts_error *err, ts_arena *arena, const char *path,
                                             const ts_target *target, const ts_define *defines,
                                             int define_count);
/* A file that a text names: its own, one that it includes, or values of an input. */
typedef struct {
    const char *path;
    const ts_source *text; /* NULL: values, or a file that cannot be read */
} ts_program_file;
/* The files that a program may depend on, by its text alone: each once, its own first, then what is in double
 * quotes in it and in those that it includes. Not in the order of use; conditions are not looked at. */
const ts_program_file *ts_program_files(ts_arena *arena, const char *path, int *count);

/* The program as text that assembles, on the same machine, to the same program: parameters, macros and loops
 * are gone, and addresses are in words. */
void ts_program_print(const ts_program *program, ts_text *out);
/* The text that a bundle came from (NULL: none) and the line of it, 1 first. */
const ts_source *ts_program_source(const ts_program *program, int bundle);
int ts_program_line(const ts_program *program, int bundle);
ts_program_location ts_program_location_of(const ts_program *program, const ts_instruction *instruction);
/* The text that the lines of a frame (-1: none) are of; NULL: the program was made in C. */
const ts_source *ts_program_frame_text(const ts_program *program, int frame);
int ts_program_region_of(const ts_program *program, int bundle); /* the innermost, -1: none */
/* Is `region` the other one, or around it? -1 is around all. */
bool ts_program_region_holds(const ts_program *program, int region, int other);
/* "line 12", or of a program that includes others "include/rows.tsim:12": from the program's folder on. */
void ts_program_print_location(const ts_program *program, const ts_source *source, int line, ts_text *out);
/* The whole array that a tensor is, or of which it is a device's part. */
const ts_shape *ts_program_shape(const ts_program *program, int tensor);
/* A bundle, or a transfer, as it is written there: without an end of line. */
void ts_program_print_bundle(const ts_program *program, int bundle, ts_text *out);
void ts_program_print_transfer(const ts_program *program, int transfer, ts_text *out);

#endif
