/* Kernels on the devices of a mesh: what becomes of their transfers and signals, and of which arrays they have parts. */
#include <string.h>

#include "mosaic/mosaic.h"
#include "run/run.h"
#include "tests/support/group.h"

#define ARRAY   "memref<8x128xf32, #tpu.memory_space<any>>"
#define DONE    "memref<!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>"
#define COUNT   "memref<!tpu.semaphore, #tpu.memory_space<semaphore_mem>>"
#define SEVERAL "memref<3x!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>"
#define SEND(operands, sizes, types)                                                                         \
    "\"tpu.enqueue_dma\"(" operands ") <{operandSegmentSizes = array<i32: " sizes                            \
    ">, priority = 0 : i32, strict_ordering = false}> : (" types ") -> ()\n"
#define REMOTE                                                                                               \
    SEND("%x, %s, %y, %r, %right", "1, 1, 1, 1, 1, 0", ARRAY ", " DONE ", " ARRAY ", " DONE ", i32")
#define WAIT(semaphore, from, to)                                                                            \
    "\"tpu.wait_dma2\"(" semaphore ", " from ", " to ") <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 0>, " \
    "strict_ordering = false}> : (" DONE ", " ARRAY ", " ARRAY ") -> ()\n"
#define WAITS WAIT("%s", "%y", "%x") WAIT("%r", "%x", "%y")
#define PARTS                                                                                                \
    "tilesim.mesh = \"x=3\", tilesim.arrays = [\"[24,128] P('x', None)\", \"[24,128] P('x', None)\"]"

static ts_error err;
static const ts_machine *machine;

static int set_up(void **state) {
    begin_group(state);
    err = (ts_error){0};
    machine = ts_machine_load(&err, arena, "tpu-v5e");
    return machine ? 0 : -1;
}

static const ts_mesh *mesh_of(const char *axes) {
    ts_mesh *mesh = TS_NEW(arena, ts_mesh);
    ts_mesh_request request = {.machine = machine, .axes = {"mesh", axes, strlen(axes)}};
    assert_true(ts_mesh_read(&err, arena, &request, mesh));
    return mesh;
}

/* A kernel of x and y; %s, %r: semaphores of transfers, %c: one to signal, %m: three of transfers; %me and %right: this
 * device and the next of three. */
static const ts_program *read_kernel(const ts_mesh *mesh, const char *body, const char *attributes) {
    ts_text t;
    ts_target target;
    ts_source *source = TS_NEW(arena, ts_source);
    t = ts_text_begin(arena);
    ts_text_add(
        &t,
        "\"builtin.module\"() ({\n\"func.func\"() <{sym_name = \"main\"}> ({\n^bb0(%%x: " ARRAY
        ", %%y: " ARRAY ", %%s: " DONE ", %%r: " DONE ", %%c: " COUNT ", %%m: " SEVERAL "):\n"
        "%%one = \"arith.constant\"() <{value = 1 : i32}> : () -> i32\n"
        "%%three = \"arith.constant\"() <{value = 3 : i32}> : () -> i32\n"
        "%%me = \"tpu.device_id\"() : () -> i32\n"
        "%%next = \"arith.addi\"(%%me, %%one) : (i32, i32) -> i32\n"
        "%%right = \"arith.remui\"(%%next, %%three) : (i32, i32) -> i32\n%s"
        "\"func.return\"() : () -> ()\n}) {scratch_operands = 4 : i64} : () -> ()\n}) {tilesim.operands = "
        "[tensor<8x128xf32>, tensor<8x128xf32>], tilesim.results = 1 : i64, tilesim.fills = [\"iota\"], %s} "
        ": "
        "() -> ()\n",
        body, attributes);
    *source = (ts_source){"k.mlir", t.bytes, t.length};
    ts_run_target(machine, &target);
    target.mesh = mesh;
    return ts_mosaic_parse(&err, arena, source, &target);
}

static const ts_run_result *run(const char *body, const char *attributes) {
    ts_run_result *result = TS_NEW(arena, ts_run_result);
    const ts_mesh *mesh = mesh_of("3");
    const ts_program *program = read_kernel(mesh, body, attributes);
    if (!program) print_error("%d:%d: %s\n", err.line, err.column, err.message);
    assert_non_null(program);
    ts_run_request request = {.program = "k.mlir",
                              .built = program,
                              .machine = machine,
                              .mesh = mesh,
                              .keep_outputs = true,
                              .check = true,
                              .max_cycles = 1000000};
    if (ts_run(&err, arena, &request, result)) return result;
    return NULL;
}

static float result_at(const ts_run_result *result, int64_t element) {
    float value;
    memcpy(&value, (const char *)result->tensors[1].after.bytes + element * 4, sizeof value);
    return value;
}

/* Parts go to the next device, those of the last to the first. */
TEST_WITH(parts_go_to_the_next_device, set_up, end_group) {
    const ts_run_result *result = run(REMOTE WAITS, PARTS);
    assert_non_null(result);
    assert_true(result->passed);
    assert_int_equal(result->tensors[1].after.dims[0], 24);
    for (int i = 0; i < 24 * 128; i++)
        assert_true(result_at(result, i) == (float)((i + 2 * 8 * 128) % (24 * 128)));
}

#define PICK                                                                                                 \
    "%at = \"tpu.memref_slice\"(%m, %me) : (" SEVERAL ", i32) -> memref<1x!tpu.dma_semaphore, "              \
    "#tpu.memory_space<semaphore_mem>>\n%one_of = \"tpu.memref_squeeze\"(%at) : "                            \
    "(memref<1x!tpu.dma_semaphore, "                                                                         \
    "#tpu.memory_space<semaphore_mem>>) -> " DONE "\n%left = \"arith.addi\"(%right, %one) : (i32, i32) -> "  \
    "i32\n%before = \"arith.remui\"(%left, %three) : (i32, i32) -> i32\n%from = "                            \
    "\"tpu.memref_slice\"(%m, %before) : (" SEVERAL ", i32) -> memref<1x!tpu.dma_semaphore, "                \
    "#tpu.memory_space<semaphore_mem>>\n%came = \"tpu.memref_squeeze\"(%from) : "                            \
    "(memref<1x!tpu.dma_semaphore, "                                                                         \
    "#tpu.memory_space<semaphore_mem>>) -> " DONE "\n"

/* The semaphore of the destination is chosen by a register, and so is the device. */
TEST_WITH(registers_choose_device_and_semaphore, set_up, end_group) {
    const ts_run_result *result = run(PICK SEND("%x, %s, %y, %one_of, %right", "1, 1, 1, 1, 1, 0",
                                                ARRAY ", " DONE ", " ARRAY ", " DONE ", i32")
                                          WAIT("%s", "%y", "%x") WAIT("%came", "%x", "%y"),
                                      PARTS);
    assert_non_null(result);
    assert_true(result->passed);
    assert_true(result_at(result, 0) == 16 * 128);
}

#define ROWS "memref<4x128xf32, #tpu.memory_space<any>>"
#define HALF(name, of, row)                                                                                  \
    name " = \"tpu.memref_slice\"(" of ", " row ", %none) : (" ARRAY ", i32, i32) -> " ROWS "\n"
#define HALVES                                                                                               \
    "%none = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n%four = \"arith.constant\"() <{value = "  \
    "4 : "                                                                                                   \
    "i32}> : () -> i32\n" HALF("%x0", "%x", "%none") HALF("%x1", "%x", "%four") HALF("%y0", "%y", "%none")   \
        HALF("%y1", "%y", "%four")
#define SEND_HALF(from, to)                                                                                  \
    SEND(from ", %s, " to ", %r, %right", "1, 1, 1, 1, 1, 0", ROWS ", " DONE ", " ROWS ", " DONE ", i32")
#define WAIT_HALF(semaphore, from, to)                                                                       \
    "\"tpu.wait_dma2\"(" semaphore ", " from ", " to ") : (" DONE ", " ROWS ", " ROWS ") -> ()\n"

/* One wait for two halves, two for what came at once. */
TEST_WITH(semaphores_of_transfers_count_bytes, set_up, end_group) {
    static const char *const bodies[] = {
        HALVES SEND_HALF("%x0", "%y0") SEND_HALF("%x1", "%y1") WAITS,
        HALVES REMOTE WAIT_HALF("%s", "%y0", "%x0") WAIT_HALF("%s", "%y1", "%x1")
            WAIT_HALF("%r", "%x0", "%y0") WAIT_HALF("%r", "%x1", "%y1"),
    };
    for (int b = 0; b < 2; b++) {
        const ts_run_result *result = run(bodies[b], PARTS);
        assert_non_null(result);
        assert_true(result->passed);
        for (int i = 0; i < 24 * 128; i++)
            assert_true(result_at(result, i) == (float)((i + 2 * 8 * 128) % (24 * 128)));
    }
    const ts_run_result *left =
        run(HALVES REMOTE WAIT("%s", "%y", "%x") WAIT_HALF("%r", "%x0", "%y0"), PARTS);
    assert_false(left && left->passed);
}

#define SIGNAL(semaphore, type, device)                                                                      \
    "\"tpu.sem_signal\"(" semaphore ", %one, " device                                                        \
    ") <{operandSegmentSizes = array<i32: 1, 1, 1, 0>}> : (" type ", i32, i32) -> ()\n"
#define AWAIT(semaphore, type, amount) "\"tpu.sem_wait\"(" semaphore ", " amount ") : (" type ", i32) -> ()\n"
#define BARRIER(name)                  name " = \"tpu.sem_barrier\"() : () -> " COUNT "\n"

#define ROW "memref<1x128xf32, #tpu.memory_space<any>>"

/* Row 2 * me of x, by two slices that begin at me, to row 7 of y at home; the semaphore is the kernel's own. */
TEST_WITH(slices_of_slices_begin_at_the_sum, set_up, end_group) {
    const ts_run_result *result = run(
        HALVES HALF("%a", "%x",
                    "%me") "%b = \"tpu.memref_slice\"(%a, %me, %none) : (" ROWS ", i32, i32) -> " ROW
                           "\n%to = \"tpu.memref_slice\"(%y1, %three, %none) : (" ROWS ", i32, i32) -> " ROW
                           "\n%own = \"tpu.sem_alloc\"() : () -> " DONE "\n" REMOTE WAITS SEND(
                               "%b, %to, %own", "1, 0, 1, 1, 0, 0",
                               ROW ", " ROW ", " DONE) "\"tpu.wait_dma2\"(%own, %b, %to) : (" DONE ", " ROW
                                                       ", " ROW ") -> ()\n",
        PARTS);
    assert_non_null(result);
    assert_true(result->passed);
    for (int d = 0; d < 3; d++)
        assert_true(result_at(result, (8 * d + 7) * 128) == (float)((8 * d + 2 * d) * 128));
}

/* More registers than a box has terms: of x the row 3 * me + 2 * right, which is 2, 7 or 6. */
TEST_WITH(registers_of_slices_are_added, set_up, end_group) {
#define NEXT(name, of, at)                                                                                   \
    name " = \"tpu.memref_slice\"(" of ", " at ", %none) : (" ROWS ", i32, i32) -> " ROWS "\n"
    const ts_run_result *result =
        run(HALVES HALF("%a", "%x", "%me") NEXT("%b", "%a", "%right") NEXT("%d", "%b", "%me")
                NEXT("%e", "%d",
                     "%me") "%f = \"tpu.memref_slice\"(%e, %right, %none) : (" ROWS ", i32, i32) -> " ROW
                            "\n%to = \"tpu.memref_slice\"(%y1, %three, %none) : (" ROWS ", i32, i32) -> " ROW
                            "\n%own = \"tpu.sem_alloc\"() : () -> " DONE "\n" REMOTE WAITS SEND(
                                "%f, %to, %own", "1, 0, 1, 1, 0, 0",
                                ROW ", " ROW ", " DONE) "\"tpu.wait_dma2\"(%own, %f, %to) : (" DONE ", " ROW
                                                        ", " ROW ") -> ()\n",
            PARTS);
    static const int rows[] = {2, 7, 6};
    assert_non_null(result);
    assert_true(result->passed);
    for (int d = 0; d < 3; d++)
        assert_true(result_at(result, (8 * d + 7) * 128) == (float)((8 * d + rows[d]) * 128));
}

/* Two names of the barrier are one semaphore; a signal of the device itself needs no number. */
TEST_WITH(devices_signal_each_other, set_up, end_group) {
    const ts_run_result *result =
        run(BARRIER("%a") BARRIER("%b")
                SIGNAL("%a", COUNT, "%right") "\"tpu.sem_signal\"(%b, %one) : (" COUNT
                                              ", i32) -> ()\n\"tpu.sem_signal\"(%a, %one) "
                                              "<{operandSegmentSizes = array<i32: 1, 1, 0, 0>}> : (" COUNT
                                              ", i32) -> ()\n" AWAIT("%b", COUNT, "%three") REMOTE WAITS,
            PARTS);
    assert_non_null(result);
    assert_true(result->passed);
    int barriers = 0;
    for (int i = 0; i < result->program->code.semaphore_count; i++)
        barriers += strncmp(result->program->code.semaphore_names[i], "barrier", 7) == 0;
    assert_int_equal(barriers, 1);
}

/* What was signalled, 3, is the number of a row, and all that there is to wait for. */
TEST_WITH(semaphores_are_read, set_up, end_group) {
    const ts_run_result *result = run(
        HALVES "\"tpu.sem_signal\"(%c, %three) : (" COUNT
               ", i32) -> ()\n%count = \"tpu.sem_read\"(%c) : (" COUNT ") -> i32\n" AWAIT(
                   "%c", COUNT,
                   "%count") "%from = \"tpu.memref_slice\"(%x, %count, %none) : (" ARRAY ", i32, i32) -> " ROW
                             "\n%to = \"tpu.memref_slice\"(%y1, %three, %none) : (" ROWS ", i32, i32) -> " ROW
                             "\n%own = \"tpu.sem_alloc\"() : () -> " DONE "\n" REMOTE WAITS SEND(
                                 "%from, %to, %own", "1, 0, 1, 1, 0, 0",
                                 ROW ", " ROW ", " DONE) "\"tpu.wait_dma2\"(%own, %from, %to) : (" DONE
                                                         ", " ROW ", " ROW ") -> ()\n",
        PARTS);
    assert_non_null(result);
    assert_true(result->passed);
    for (int d = 0; d < 3; d++)
        assert_true(result_at(result, (8 * d + 7) * 128) == (float)((8 * d + 3) * 128));
}

TEST_WITH(waits_in_a_circle_are_told, set_up, end_group) {
    assert_null(run(AWAIT("%c", COUNT, "%one") SIGNAL("%c", COUNT, "%right"), PARTS));
    assert_int_equal(err.kind, TS_ERROR_FAULT);
    assert_non_null(strstr(err.message, "device 0"));
}

#define TABLE "memref<2x3x!tpu.semaphore, #tpu.memory_space<semaphore_mem>>"
#define ENTRY "memref<1x1x!tpu.semaphore, #tpu.memory_space<semaphore_mem>>"
#define PICK_ENTRY(name, row, column)                                                                        \
    name "s = \"tpu.memref_slice\"(%t, " row ", " column ") : (" TABLE ", i32, i32) -> " ENTRY "\n" name     \
         " = \"tpu.memref_squeeze\"(" name "s) : (" ENTRY ") -> " COUNT "\n"

/* A row has three: what is signalled at one place of a table is waited for there alone. */
TEST_WITH(tables_of_semaphores_have_rows, set_up, end_group) {
    static const char begin[] = "%zero = \"arith.constant\"() <{value = 0 : i32}> : () -> i32\n"
                                "%two = \"arith.constant\"() <{value = 2 : i32}> : () -> i32\n"

                                "%t = \"tpu.sem_alloc\"() : () -> " TABLE "\n";
    static const struct {
        const char *body;
        bool ends;
    } rows[] = {
        {PICK_ENTRY("%p", "%one", "%zero") PICK_ENTRY("%q", "%one", "%zero"), true},
        {PICK_ENTRY("%p", "%one", "%zero") PICK_ENTRY("%q", "%zero", "%one"), false},
        {PICK_ENTRY("%p", "%one", "%zero") PICK_ENTRY("%q", "%zero", "%two"), false},
        {PICK_ENTRY("%p", "%zero", "%me") PICK_ENTRY("%q", "%zero", "%me"), true},
        {PICK_ENTRY("%p", "%zero", "%me") PICK_ENTRY("%q", "%zero", "%right"), false},
        {PICK_ENTRY("%p", "%one", "%me") PICK_ENTRY("%q", "%one", "%me"), true},
        {PICK_ENTRY("%p", "%one", "%me") PICK_ENTRY("%q", "%zero", "%me"), false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_text t;
        t = ts_text_begin(arena);
        ts_text_add(&t, "%s%s%s", begin, rows[i].body,
                    SIGNAL("%p", COUNT, "%me") AWAIT("%q", COUNT, "%one") REMOTE WAITS);
        const ts_run_result *result = run(t.bytes, PARTS);
        if ((result != NULL) != rows[i].ends) fail_msg("row %zu: %s", i, err.message);
        err = (ts_error){0};
    }
}

TEST_WITH(devices_have_numbers, set_up, end_group) {
    assert_null(run(SIGNAL("%c", COUNT, "%three"), PARTS));
    assert_non_null(strstr(err.message, "there is no device 3, expected 0 to 2"));
}

/* Without arrays in the text each device has a copy, which must be the same in the end. */
TEST_WITH(copies_are_compared, set_up, end_group) {
    const ts_run_result *result = run(REMOTE WAITS, "tilesim.mesh = \"x=3\"");
    assert_non_null(result);
    assert_int_equal(result->tensors[1].after.dims[0], 8);
    assert_true(result_at(result, 1023) == 1023);
    assert_null(run(REMOTE WAITS,
                    "tilesim.mesh = \"x=3\", tilesim.arrays = [\"[24,128] P('x', None)\", \"[8,128]\"]"));
    assert_non_null(strstr(err.message, "the copies of '1' on devices 0 and 1 differ"));
}

static const struct {
    const char *body, *attributes;
    ts_error_kind kind;
    const char *message;
} refused[] = {
    {SEND("%x, %s, %y, %r, %one, %one", "1, 1, 1, 1, 1, 1",
          ARRAY ", " DONE ", " ARRAY ", " DONE ", i32, i32"),
     PARTS, TS_ERROR_UNMODELLED, "'tpu.enqueue_dma' is not modelled: to another core"},
    {SEND("%x, %y, %r, %one", "1, 0, 1, 1, 0, 0, 1", ARRAY ", " ARRAY ", " DONE ", i32"), PARTS,
     TS_ERROR_UNMODELLED, "'tpu.enqueue_dma' is not modelled: to another core"},
    {SEND("%x, %s, %y, %r", "1, 1, 1, 1, 0, 0", ARRAY ", " DONE ", " ARRAY ", " DONE), PARTS,
     TS_ERROR_UNMODELLED, "'tpu.enqueue_dma' is not modelled: with a semaphore of the source"},
    {SEND("%x, %y, %r, %one", "1, 0, 1, 1, 1, 0", ARRAY ", " ARRAY ", " DONE ", i32"), PARTS, TS_ERROR_INPUT,
     "'tpu.enqueue_dma': expected a semaphore of the source"},
    {SEND("%x, %s, %y, %r, %x", "1, 1, 1, 1, 1, 0", ARRAY ", " DONE ", " ARRAY ", " DONE ", " ARRAY), PARTS,
     TS_ERROR_INPUT, "'tpu.enqueue_dma': expected the number of a device"},
    {SEND("%x, %x, %y, %r, %one", "1, 1, 1, 1, 1, 0", ARRAY ", " ARRAY ", " ARRAY ", " DONE ", i32"), PARTS,
     TS_ERROR_INPUT, "'tpu.enqueue_dma': expected a semaphore"},
    {SEND("%x, %y, %x", "1, 0, 1, 1", ARRAY ", " ARRAY ", " ARRAY), PARTS, TS_ERROR_INPUT,
     "'tpu.enqueue_dma': expected a semaphore"},
    {SEND("%x, %r, %r", "1, 0, 1, 1", ARRAY ", " DONE ", " DONE), PARTS, TS_ERROR_INPUT,
     "'tpu.enqueue_dma': expected a memref"},
    {"\"tpu.wait_dma2\"(%r, %x, %s) : (" DONE ", " ARRAY ", " DONE ") -> ()\n", PARTS, TS_ERROR_INPUT,
     "'tpu.wait_dma2': expected a memref"},
    {"%q = \"tpu.sem_alloc\"() : () -> memref<4097x!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>\n",
     PARTS, TS_ERROR_UNMODELLED, "'tpu.sem_alloc' is not modelled: of this type"},
    {"%q = \"tpu.sem_alloc\"() : () -> memref<1365x3x2x!tpu.dma_semaphore, "
     "#tpu.memory_space<semaphore_mem>>\n",
     PARTS, TS_ERROR_UNMODELLED, "'tpu.sem_alloc' is not modelled: of this type"},
    {"%q = \"tpu.sem_alloc\"() : () -> memref<0x3x!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>\n",
     PARTS, TS_ERROR_UNMODELLED, "'tpu.sem_alloc' is not modelled: of this type"},
    {"%q = \"tpu.sem_alloc\"() : () -> memref<5000x!tpu.dma_semaphore, #tpu.memory_space<semaphore_mem>>\n",
     PARTS, TS_ERROR_UNMODELLED, "'tpu.sem_alloc' is not modelled: of this type"},
    {SEND("%x, %y, %r", "", ARRAY ", " ARRAY ", " DONE), PARTS, TS_ERROR_INPUT,
     "'tpu.enqueue_dma': expected operandSegmentSizes"},
    {"\"tpu.sem_signal\"(%c, %one, %one, %one) <{operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (" COUNT
     ", i32, i32, i32) -> ()\n",
     PARTS, TS_ERROR_UNMODELLED, "'tpu.sem_signal' is not modelled: of another core"},
    {"\"tpu.sem_signal\"(%c, %one, %one) <{operandSegmentSizes = array<i32: 1, 1, 0, 1>}> : (" COUNT
     ", i32, i32) -> ()\n",
     PARTS, TS_ERROR_UNMODELLED, "'tpu.sem_signal' is not modelled: of another core"},
    {SIGNAL("%c", COUNT, "%x"), PARTS, TS_ERROR_INPUT, "'tpu.sem_signal': expected the number of a device"},
    {"\"tpu.sem_signal\"(%c, %x) : (" COUNT ", " ARRAY ") -> ()\n", PARTS, TS_ERROR_INPUT,
     "'tpu.sem_signal': expected an amount"},
    {AWAIT("%c", COUNT, "%x"), PARTS, TS_ERROR_INPUT, "'tpu.sem_wait': expected an amount"},
    {AWAIT("%x", ARRAY, "%one"), PARTS, TS_ERROR_INPUT, "'tpu.sem_wait': expected a semaphore"},
    {"", "tilesim.mesh = \"x=4\"", TS_ERROR_USAGE,
     "the kernel runs on the devices of a mesh: expected --mesh x=4, not x=3"},
    {"", "tilesim.mesh = \"y=3\"", TS_ERROR_USAGE,
     "the kernel runs on the devices of a mesh: expected --mesh y=3, not x=3"},
    {"", "tilesim.mesh = \"x=3,y=2\"", TS_ERROR_USAGE,
     "the kernel runs on the devices of a mesh: expected --mesh x=3,y=2, not x=3"},
    {"", "tilesim.mesh = \"\"", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.mesh such as \"x=2,y=4\""},
    {"", "tilesim.mesh = 3 : i64", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.mesh such as \"x=2,y=4\""},
    {"", "tilesim.arrays = 3", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays as a list of strings"},
    {"", "tilesim.arrays = [\"24,128\"]", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays such as \"[32,128] P('x', None)\""},
    {"", "tilesim.arrays = [\"[24,128\"]", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays such as \"[32,128] P('x', None)\""},
    {"", "tilesim.arrays = [\"[24,128] P('z', None)\"]", TS_ERROR_INPUT, NULL},
    {"", "tilesim.arrays = [\"[16,128] P('x', None)\"]", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays whose parts are the operands"},
    {"", "tilesim.arrays = [\"[23,128] P('x', None)\"]", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays whose parts are the operands"},
    {"", "tilesim.arrays = [\"[16,128]\"]", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays whose parts are the operands"},
    {"", "tilesim.arrays = [\"[8,384] P(None, 'x')\", \"[24,128] P(None, None)\"]", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays whose parts are the operands"},
    {"", "tilesim.arrays = [\"[8,128] P(None, unreduced={'x'})\"]", TS_ERROR_INPUT,
     "'builtin.module': expected tilesim.arrays whose parts are the operands"},
};

TEST_WITH(what_is_not_modelled_is_refused, set_up, end_group) {
    const ts_mesh *mesh = mesh_of("3");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        err = (ts_error){0};
        assert_null(read_kernel(mesh, refused[i].body, refused[i].attributes));
        if (refused[i].message) assert_string_equal(err.message, refused[i].message);
        assert_int_equal(err.kind, refused[i].kind);
        assert_true(err.line > 0);
    }
}

/* One device alone is device 0 of one; a kernel of several is not run on it. */
TEST_WITH(a_kernel_of_a_mesh_needs_it, set_up, end_group) {
    assert_null(read_kernel(NULL, REMOTE WAITS, PARTS));
    assert_string_equal(err.message, "the kernel runs on the devices of a mesh: expected --mesh x=3");
    assert_int_equal(err.kind, TS_ERROR_USAGE);
    err = (ts_error){0};
    assert_non_null(read_kernel(NULL, REMOTE WAITS, "tilesim.generation = 5 : i64"));
}
