/* Runs a program on a machine with a user's files: binds inputs, simulates, checks, keeps what comes out. */
#ifndef TILESIM_RUN_RUN_H
#define TILESIM_RUN_RUN_H

#include "chip/chip.h"
#include "host/reference.h"
#include "mesh/mesh.h"
#include "probe/counter.h"
#include "program/program.h"
#include "run/profile.h"
#include "chip/energy.h"
#include "run/roofline.h"
#include "run/timeline.h"

typedef struct {
    const char *name; /* of a tensor */
    const ts_host_array *array;
} ts_run_array;

typedef struct {
    const char *program;     /* the path of the text */
    const ts_program *built; /* made in C, for this machine; `program` is then its name. NULL: none */
    const ts_machine *machine;
    const ts_define *defines;
    const ts_define *inputs, *outputs; /* of tensors, to files */
    int define_count, input_count, output_count;
    const ts_run_array *arrays; /* inputs that a caller holds, in place of files */
    int array_count;
    bool keep_outputs; /* the values of all outputs are part of the result */
    bool convert;   /* let inputs of another type be rounded to the tensor's; else only exact conversions */
    bool time_only; /* only scalars have values: no inputs but what SMEM needs, no outputs, no checks */
    bool check;     /* look for undefined values, races and what is left over: see check/findings.h */
    bool exact;     /* see ts_chip_config */
    bool profile;   /* cycles by line are part of the result */
    int channel_share;                        /* see ts_chip_config */
    int64_t max_cycles;                       /* a program that still runs then has failed */
    int64_t patience;                         /* see ts_core_setup */
    int64_t max_memory_bytes;                 /* of the host, for the tensors' values; 0: no limit */
    ts_timeline *timeline;                    /* NULL: none */
    const ts_chip_observer *observer;         /* told of every event, if there is no timeline; NULL: none */
    const ts_chip_observer *const *observers; /* the same of each device of a mesh */
    const ts_mesh *mesh;                      /* whose devices all run the program; NULL: one device */
    int threads;                              /* for a mesh; 0 and 1: the caller alone */
    ts_interrupt *interrupt;                  /* NULL: none */
} ts_run_request;

/* Where nobody says: some 3 s of the host between two transfers, and 10 s of the machine. */
enum { TS_RUN_PATIENCE = 1 << 27 };
#define TS_RUN_MOST_CYCLES INT64_C(10000000000)

/* A tensor of the program and its values. */
typedef struct {
    const char *origin;   /* where an input came from: "random", a file's name ...; NULL: it is no input */
    bool converted;       /* the file held another type */
    ts_host_array before; /* of inputs; without bytes where they are made when they are needed */
    ts_host_reader made;
    ts_host_array after;    /* of what is saved; of what is only checked, without bytes */
    ts_host_reader fetched; /* of what is saved or checked, as long as there is a chip */
} ts_run_tensor;

/* A link of a mesh after a run. */
typedef struct {
    int64_t bytes, busy_ps;
} ts_run_link;
typedef struct {
    const ts_mesh *mesh;
    int64_t slowest;               /* device */
    const ts_chip_counters *chips; /* [mesh->device_count] */
    const ts_run_link *links;      /* [ts_mesh_link_count(mesh)] */
} ts_run_mesh;

typedef struct {
    const ts_program *program;
    ts_chip_counters chip;   /* on a mesh: of the device that halted last */
    const ts_run_mesh *mesh; /* NULL: one device */
    ts_counters counters;
    ts_roofline roofline;
    ts_energy energy;
    const ts_profile *profile;     /* NULL: nobody asked */
    const ts_run_tensor *tensors;  /* [program->code.tensor_count] */
    const ts_check *rules;         /* the program's checks, then its reports, read */
    const ts_check_result *checks; /* the same number: what came out; NULL: time only */
    const double *reports;         /* [program->report_count] NULL: time only */
    const ts_findings *findings;   /* without request.check only what the program left at its end */
    bool passed;                   /* all checks, and with request.check nothing was found */
} ts_run_result;

/* Everything but saving: a result whose checks failed is a result. Errors are bad input, faults of the
 * program and what is not modelled. */
bool ts_run(ts_error *err, ts_arena *arena, const ts_run_request *request, ts_run_result *result);
/* Writes the outputs that the request names. */
bool ts_run_save(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_run_result *result);

/* What the assembler must know of a machine. */
void ts_run_target(const ts_machine *machine, ts_target *target);

#endif
