/* Mesh files: a slice of a machine, with what its links have that those of other slices have not. */
#ifndef TILESIM_MESH_MESH_FILE_H
#define TILESIM_MESH_MESH_FILE_H

#include "config/field.h"
#include "machine/machine.h"

/* Whether a dim's ends are joined: by the machine's rule, or as the file says. */
typedef enum { TS_MESH_WRAP_RULE, TS_MESH_WRAP_RING, TS_MESH_WRAP_LINE } ts_mesh_wrap;

typedef struct {
    const char *name;
    int64_t chips;
    int32_t wrap; /* ts_mesh_wrap */
} ts_mesh_file_dim;

typedef struct {
    const char *name;
    int64_t devices;
} ts_mesh_file_axis;

typedef struct {
    const char *title, *machine; /* whose links they are, where no other is named */
    const ts_mesh_file_dim *dims;
    int32_t dim_count;
    const ts_mesh_file_axis *axes; /* none: the dims, and of chips of several devices `core` */
    int32_t axis_count;
    const char *order; /* of the chips: "row_major", or "0,2,1,3": the chip at each position of the mesh */
    ts_machine_ici ici;
    const ts_field_leaf *leaves; /* every figure, with its line and source */
    int32_t leaf_count;
} ts_mesh_file;

/* Whether that is the name of a mesh, or a path, and not axes. */
bool ts_mesh_file_is(const char *text, size_t length);
/* What a file says, on top of its base. */
const ts_tree *ts_mesh_file_tree(ts_error *err, ts_arena *arena, const char *name);
/* The machine that a file names. */
const char *ts_mesh_file_machine(ts_error *err, ts_arena *arena, const char *name);
/* The same, loaded with changes as by ts_machine_load_with. That there is none of that name is an error in the
 * file. */
typedef struct {
    const char *source; /* what errors call the changes: "--set" */
    const char *const *list;
    int count;
} ts_mesh_file_changes;
const ts_machine *ts_mesh_file_load_machine(ts_error *err, ts_arena *arena, const char *name,
                                            const ts_mesh_file_changes *changes);
/* With `machine` NULL that of the file is loaded, which *machine then is. */
const ts_mesh_file *ts_mesh_file_load(ts_error *err, ts_arena *arena, const char *name,
                                      const ts_machine **machine);
/* The same of a tree. */
const ts_mesh_file *ts_mesh_file_read(ts_error *err, ts_arena *arena, const ts_tree *tree,
                                      const ts_machine **machine);
/* The node of a figure, for errors: "dims.x.chips"; of the first dim where there is none. */
const ts_tree *ts_mesh_file_node(const ts_mesh_file *file, const char *path);
/* The chip at each position; NULL: in row-major order. */
bool ts_mesh_file_order(ts_error *err, ts_arena *arena, const ts_mesh_file *file, int64_t chips,
                        const int32_t **order);

#endif
