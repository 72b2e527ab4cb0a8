/* Inputs: from files, or as the program says. */
#include <string.h>

#include "host/fill.h"
#include "host/format.h"
#include "layout/convert.h"
#include "layout/shape.h"

#include "run_parts.h"

int find_run_tensor(ts_error *err, const ts_program *program, const char *option, const char *name) {
    const ts_code *code = &program->code;
    for (int i = 0; i < code->tensor_count; i++)
        if (strcmp(code->tensors[i].name, name) == 0) return i;
    ts_error_set(err, TS_ERROR_USAGE, "%s %s: the program has no such tensor", option, name);
    if (code->tensor_count > 0) {
        size_t count = (size_t)code->tensor_count;
        ts_error_hint(err, ts_text_nearest(name, &code->tensors[0].name, count, sizeof(ts_tensor)));
    }
    return -1;
}

/* Bits of an integer without its sign; of a float's significand with its first 1. */
static int magnitude_bits(ts_dtype dtype) {
    const ts_dtype_info *info = ts_dtype_get(dtype);
    if (info->class == TS_CLASS_FLOAT)
        return info->format != NULL ? info->format->mantissa_bits + 1 : dtype == TS_DTYPE_F32 ? 24 : 53;
    return info->value_bits - (info->class == TS_CLASS_SIGNED);
}

/* Does every value of `from` have the same value in `to`? Says no where that takes thought. */
static bool is_exact(ts_dtype from, ts_dtype to) {
    const ts_dtype_info *a = ts_dtype_get(from), *b = ts_dtype_get(to);
    if (from == to || a->class == TS_CLASS_BOOL) return true;
    if (a->class == TS_CLASS_FLOAT)
        return (to == TS_DTYPE_F32 && a->format != NULL) || (to == TS_DTYPE_F64 && from != TS_DTYPE_F64);
    bool wide = magnitude_bits(from) <= magnitude_bits(to);
    return b->class == TS_CLASS_FLOAT ? wide && b->value_bits >= 16
                                      : b->class != TS_CLASS_BOOL && wide &&
                                            (a->class == TS_CLASS_UNSIGNED || b->class == TS_CLASS_SIGNED);
}

/* In the caller's words: arrays are the library's, files the command line's. */
static const char *input_word(const ts_run_request *request) { return request->arrays ? "input" : "-i"; }

static bool convert(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_tensor *tensor,
                    const ts_define *file, ts_run_tensor *bound) {
    const char *quote = file->value ? "'" : "", *what = file->value ? file->value : "the array";
    ts_host_array read = bound->before;
    ts_dtype from = read.dtype, to = tensor->shape->dtype;
    if (from == to) return true;
    bool possible = ts_convert_possible(from, to);
    if (!possible || (!request->convert && !is_exact(from, to))) {
        return ts_error_set(err, TS_ERROR_INPUT, "%s %s: %s%s%s holds %s, the tensor is %s%s%s%s",
                            input_word(request), file->name, quote, what, quote, ts_dtype_get(from)->name,
                            ts_dtype_get(to)->name, possible ? "; " : "",
                            possible && !request->arrays ? "--" : "",
                            possible ? "convert rounds the values" : "");
    }
    bound->converted = true;
    return ts_host_array_convert(err, arena, &read, to, &bound->before);
}

static ts_host_expect expected(const ts_tensor *tensor) {
    return (ts_host_expect){.has_dtype = true,
                            .dtype = tensor->shape->dtype,
                            .has_dims = true,
                            .rank = tensor->shape->layout->rank,
                            .dims = tensor->shape->layout->dims};
}

static bool load(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_tensor *tensor,
                 const ts_define *file, ts_run_tensor *bound) {
    ts_host_expect expect = expected(tensor);
    bound->origin = file->value;
    return ts_host_load(err, arena, file->value, &expect, &bound->before) &&
           convert(err, arena, request, tensor, file, bound);
}

/* The tensor of a name, an input that has no values yet; -1: an error. */
static int find_input(ts_error *err, const ts_run_request *request, const ts_program *program,
                      const char *name, const ts_run_tensor *tensors) {
    const char *word = input_word(request);
    int i = find_run_tensor(err, program, word, name);
    if (i < 0) return -1;
    ts_tensor_role role = program->uses[i].role;
    if (role != TS_ROLE_IN && role != TS_ROLE_INOUT)
        ts_error_set(err, TS_ERROR_USAGE, "%s %s: the tensor is not an input", word, name);
    else if (tensors[i].origin != NULL)
        ts_error_set(err, TS_ERROR_USAGE, "%s %s is given twice", word, name);
    else
        return i;
    return -1;
}

/* As the user sees it: on a mesh the array of all devices. */
static ts_tensor whole(const ts_program *program, int i) {
    ts_tensor tensor = program->code.tensors[i];
    tensor.shape = ts_program_shape(program, i);
    return tensor;
}

static bool bind_file(ts_error *err, ts_arena *arena, const ts_run_request *request,
                      const ts_program *program, const ts_define *file, ts_run_tensor *tensors) {
    int i = find_input(err, request, program, file->name, tensors);
    if (i < 0) return false;
    ts_tensor tensor = whole(program, i);
    return load(err, arena, request, &tensor, file, &tensors[i]);
}

static bool bind_array(ts_error *err, ts_arena *arena, const ts_run_request *request,
                       const ts_program *program, const ts_run_array *given, ts_run_tensor *tensors) {
    int i = find_input(err, request, program, given->name, tensors);
    if (i < 0) return false;
    const ts_tensor tensor = whole(program, i);
    ts_host_expect expect = expected(&tensor);
    tensors[i].origin = "the caller's array";
    tensors[i].before = *given->array;
    return ts_host_array_check(err, given->name, given->array, &expect) &&
           convert(err, arena, request, &tensor, &(ts_define){given->name, NULL}, &tensors[i]);
}

/* A program of the binary says that the values are in a file beside it. */
static bool not_carried(ts_error *err, const ts_run_request *request, const ts_tensor *tensor,
                        const ts_tensor_use *use) {
    return ts_error_set(
        err, TS_ERROR_USAGE,
        "the binary does not carry '%s', the values of '%s': expected %s %s%s, or the program as "
        "a file beside it",
        use->file_text, tensor->name, input_word(request), tensor->name, request->arrays ? "" : "=FILE");
}

static bool fill(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_tensor *tensor,
                 const ts_tensor_use *use, ts_run_tensor *bound) {
    static const char *const origins[] = {NULL, "zeros", "iota", "random"};
    if (use->file != NULL && ts_program_is_carried(use->file)) return not_carried(err, request, tensor, use);
    if (use->file != NULL)
        return load(err, arena, request, tensor, &(ts_define){tensor->name, use->file}, bound);
    if (use->fill == TS_FILL_FILE) {
        return ts_error_set(err, TS_ERROR_USAGE, "the tensor '%s' has no values, expected %s %s%s",
                            tensor->name, input_word(request), tensor->name, request->arrays ? "" : "=FILE");
    }
    bound->origin = origins[use->fill];
    const ts_layout *layout = tensor->shape->layout;
    ts_fill *made = TS_NEW(arena, ts_fill);
    bound->made = (ts_host_reader){ts_fill_read, made, false};
    return ts_fill_make(err, use, tensor->shape->dtype, made) &&
           ts_host_array_describe(err, made->dtype, layout->rank, layout->dims, &bound->before);
}

/* Does a transfer bring the tensor into SMEM, whose words are computed at any rate? */
static bool reaches_smem(const ts_code *code, int tensor) {
    for (int i = 0; i < code->transfer_count; i++) {
        const ts_transfer *transfer = &code->transfers[i];
        if (transfer->source.tensor == tensor &&
            code->tensors[transfer->destination.tensor].space == TS_SPACE_SMEM)
            return true;
    }
    return code->tensors[tensor].space == TS_SPACE_SMEM;
}

bool bind_inputs(ts_error *err, ts_arena *arena, const ts_run_request *request, const ts_program *program,
                 ts_run_tensor *tensors) {
    for (int i = 0; i < request->input_count; i++)
        if (!bind_file(err, arena, request, program, &request->inputs[i], tensors)) return false;
    for (int i = 0; i < request->array_count; i++)
        if (!bind_array(err, arena, request, program, &request->arrays[i], tensors)) return false;
    for (int i = 0; i < program->code.tensor_count; i++) {
        const ts_tensor_use *use = &program->uses[i];
        bool input = use->role == TS_ROLE_IN || use->role == TS_ROLE_INOUT;
        input = input && (!request->time_only || reaches_smem(&program->code, i));
        const ts_tensor tensor = whole(program, i);
        if (input && tensors[i].origin == NULL && !fill(err, arena, request, &tensor, use, &tensors[i]))
            return false;
    }
    return true;
}
