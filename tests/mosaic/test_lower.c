/* Operations of a kernel, one or a few at a time: what they make of numbers, worked out by hand, and what is refused. */
#include <string.h>

#include "mosaic/mosaic.h"
#include "run/run.h"
#include "tests/support/group.h"

#define V             "vector<8x128xi32>"
#define M             "vector<8x128xi1>"
#define H             "vector<8x128x2xi16>"
#define B             "vector<8x128x4xi8>"
#define F             "vector<8x128xf32>"
#define M2            "vector<8x128x2xi1>"
#define M4            "vector<8x128x4xi1>"
#define MEMORY(space) "memref<8x128xi32, #tpu.memory_space<" space ">>"
#define WHOLE                                                                                                \
    "sublane_mask = array<i1: true, true, true, true, true, true, true, true>, sublane_stride = 1 : i32"
#define ONE(r, name, a, from, to) "%" r " = \"" name "\"(%" a ") : (" from ") -> " to "\n"
#define TWO(r, name, a, b, from, to)                                                                         \
    "%" r " = \"" name "\"(%" a ", %" b ") : (" from ", " from ") -> " to "\n"
#define IS(r, name, predicate, a, b, from, to)                                                               \
    "%" r " = \"" name "\"(%" a ", %" b ") <{predicate = " predicate " : i64}> : (" from ", " from           \
    ") -> " to "\n"
#define SELECT(r, c, a, b, of, from)                                                                         \
    "%" r " = \"arith.select\"(%" c ", %" a ", %" b ") : (" of ", " from ", " from ") -> " from "\n"
#define NUMBER(r, number, type)                                                                              \
    "%" r " = \"arith.constant\"() <{value = " number " : " type "}> : () -> " type "\n"
#define ALL(r, number, type) NUMBER(r, "dense<" number ">", type)
#define SPREAD(a)            ONE("r", "vector.broadcast", a, "i32", V)
#define AS_WORDS(a, from)    ONE("r", "tpu.bitcast_vreg", a, from, V)
#define OF_MASK(a)           ONE("r", "arith.extui", a, M, V)

#define N  "vector<8x128x8xi4>"
#define H2 "vector<8x128x2xbf16>"
#define TILED(dims, strides)                                                                                 \
    "memref<" dims "xi32, #tpu.tiled<(8,128),[" strides "]>, #tpu.memory_space<vmem>>"
#define BIG    TILED("4x16x256", "4,2,1")
#define PART   TILED("1x8x128", "4,2,1")
#define ROWS16 TILED("1x16x256", "4,2,1")
#define FLAT   TILED("16x256", "2,1")
#define TALL   "memref<16x128xi32, #tpu.memory_space<vmem>>"
#define LOAD2(m, type, a, b)                                                                                 \
    "%r = \"tpu.load\"(%" m ", %" a ", %" b ") <{" WHOLE "}> : (" type ", index, index) -> " V "\n"
#define LOAD3(m, type, a, b, c)                                                                              \
    "%r = \"tpu.load\"(%" m ", %" a ", %" b ", %" c ") <{" WHOLE "}> : (" type                               \
    ", index, index, index) -> " V "\n"
#define STORE2(from, m, type, a, b)                                                                          \
    "\"tpu.store\"(%" from ", %" m ", %" a ", %" b                                                           \
    ") <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, " WHOLE "}> : (" V ", " type                          \
    ", index, index) -> ()\n"
#define SLICE3(r, m, from, to, a, b, c)                                                                      \
    "%" r " = \"tpu.memref_slice\"(%" m ", %" a ", %" b ", %" c ") : (" from ", i32, i32, i32) -> " to "\n"
#define PACK(masks, types, to) "%c = \"tpu.pack_vmsk\"(%" masks ") : (" types ") -> " to "\n"
#define IOTA(r, dims, type)    "%" r " = \"tpu.iota\"() <{dimensions = array<i32: " dims ">}> : () -> " type "\n"
#define MASK(row, lane, row_end, lane_end)                                                                   \
    "%c = \"tpu.create_mask\"(%" row ", %" lane ", %" row_end ", %" lane_end                                 \
    ") : (index, index, index, index) -> " M "\n" OF_MASK("c")
/* -1 in the rows that the mask has. */
#define ROWS(first, end, mask, type)                                                                         \
    "%c = \"tpu.create_subelement_mask\"() <{from = " first " : i32, to = " end " : i32}> : () -> " mask     \
    "\n" ALL("all", "-1", type) ALL("none", "0", type) SELECT("z", "c", "all", "none", mask, type)           \
        ONE("r", "tpu.bitcast_vreg", "z", type, V)
#define REDUCE_TO(r, kind, dim, a, from, to)                                                                 \
    "%" r " = \"tpu.all_reduce\"(%" a ") <{dim = " dim " : i64, kind = #tpu.reduction_kind<" kind            \
    ">}> : (" from ") -> " to "\n"
#define REDUCE(r, kind, dim, a, type) REDUCE_TO(r, kind, dim, a, type, type)
/* A bit for each predicate that holds. */
#define PREDICATE(p, before, after, a, b, type)                                                              \
    IS("c" p, "arith.cmpi", p, a, b, type, "i1")                                                             \
    ONE("e" p, "arith.extui", "c" p, "i1", "i32")                                                            \
    NUMBER("k" p, p, "i32")                                                                                  \
    TWO("s" p, "arith.shli", "e" p, "k" p, "i32", "i32")                                                     \
    TWO("t" after, "arith.ori", "t" before, "s" p, "i32", "i32")
#define PREDICATES(a, b, type)                                                                               \
    NUMBER("t0", "0", "i32")                                                                                 \
    PREDICATE("0", "0", "1", a, b, type)                                                                     \
    PREDICATE("1", "1", "2", a, b, type)                                                                     \
    PREDICATE("2", "2", "3", a, b, type)                                                                     \
    PREDICATE("3", "3", "4", a, b, type)                                                                     \
    PREDICATE("4", "4", "5", a, b, type)                                                                     \
    PREDICATE("5", "5", "6", a, b, type)                                                                     \
    PREDICATE("6", "6", "7", a, b, type)                                                                     \
    PREDICATE("7", "7", "8", a, b, type)                                                                     \
    PREDICATE("8", "8", "9", a, b, type) PREDICATE("9", "9", "10", a, b, type) SPREAD("t10")

/* %a: 120, %b: -16, both of 8 bits. */
#define BYTE                                                                                                 \
    NUMBER("u", "40", "i32")                                                                                 \
    TWO("w", "arith.muli", "n", "u", "i32", "i32")                                                           \
    ONE("a", "arith.trunci", "w", "i32", "i8") TWO("b", "arith.addi", "a", "a", "i8", "i8")
#define OF_BYTE(a) ONE("t", "arith.extsi", a, "i8", "i32") SPREAD("t")
/* %n and a number. */
#define BEHIND(name, number) NUMBER("k", number, "i32") TWO("z", name, "n", "k", "i32", "i32") SPREAD("z")
#define BEFORE(name, number) NUMBER("k", number, "i32") TWO("z", name, "k", "n", "i32", "i32") SPREAD("z")
#define NUMBERS(name, a, b)                                                                                  \
    NUMBER("k", a, "i32") NUMBER("j", b, "i32") TWO("z", name, "k", "j", "i32", "i32") SPREAD("z")
/* %f: 3, %e: 5. */
#define REALS   ONE("f", "arith.sitofp", "n", "i32", "f32") ONE("e", "arith.sitofp", "o", "i32", "f32")
#define LESS(c) IS(c, "arith.cmpi", "2", "n", "o", "i32", "i1")
#define MORE(c) IS(c, "arith.cmpi", "4", "n", "o", "i32", "i1")
#define UP_TO_2 IS("m", "arith.cmpi", "3", "v", "two", V, M)
/* %q: 0x01020304 times each word of %v; %b: its bytes, %k: 4 in each. */
#define PARTS ALL("p", "16909060", V) TWO("q", "arith.muli", "v", "p", V, V)
#define BYTES PARTS ONE("b", "tpu.bitcast_vreg", "q", V, B) ALL("k", "4", B)
/* %k: -64, %a: 0 to 3. */
#define SHIFTS ALL("t", "3", V) ALL("k", "-64", V) TWO("a", "arith.andi", "v", "t", V, V)
/* %p: two vregs. */
#define ROLLED "%p = \"tpu.roll_vectors\"(%v, %two) : (" V ", " V ") -> " V "\n"
#define BOX(row, lane, row_end, lane_end)                                                                    \
    NUMBER("b0", row, "index")                                                                               \
    NUMBER("b1", lane, "index")                                                                              \
    NUMBER("e0", row_end, "index") NUMBER("e1", lane_end, "index") MASK("b0", "b1", "e0", "e1")

/* %a: words under 700, %b: under 900. */
#define TWO_MASKS                                                                                            \
    ALL("i", "700", V)                                                                                       \
    ALL("j", "900", V) IS("a", "arith.cmpi", "2", "v", "i", V, M) IS("b", "arith.cmpi", "2", "v", "j", V, M)
#define PACKED_AT(positions)                                                                                 \
    "%c = \"tpu.pack_vmsk\"(%a, %b) <{positions = array<i32: " positions ">}> : (" M ", " M ") -> " M2 "\n"
/* -1 in the halves that %c has. */
#define OF_HALVES                                                                                            \
    ALL("all", "-1", H) ALL("none", "0", H) SELECT("z", "c", "all", "none", M2, H) AS_WORDS("z", H)

enum { SAMPLES = 6 };
static const int samples[SAMPLES] = {0, 1, 2, 3, 130, 1023};

#define GIVES(body, ...)                                                                                     \
    { body, {__VA_ARGS__}, NULL }
#define EACH(body, word)                                                                                     \
    { body, {word, word, word, word, word, word}, NULL }
#define LETTERS_60 "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefgh"
#define FAILS(body, text)                                                                                    \
    { body, {0}, text }

/* %v: each word of a vreg is its number; %n: 3, %o: 5, which the text does not show; %two: 2s; %below: words under 2. */
static const struct {
    const char *body;
    int64_t words[SAMPLES]; /* of %r, at those samples */
    const char *error;      /* or: it is refused */
} rows[] = {
    /* One instruction a word; a number that does not commute stays in front. */
    GIVES(TWO("r", "arith.addi", "two", "v", V, V), 2, 3, 4, 5, 132, 1025),
    GIVES(TWO("r", "arith.subi", "two", "v", V, V), 2, 1, 0, 0xffffffff, 0xffffff80, 0xfffffc03),
    GIVES(TWO("r", "arith.subi", "v", "two", V, V), 0xfffffffe, 0xffffffff, 0, 1, 128, 1021),
    GIVES(ALL("t", "3", V) TWO("a", "arith.andi", "v", "t", V, V) TWO("r", "arith.shli", "two", "a", V, V), 2,
          4, 8, 16, 8, 16),
    GIVES(SHIFTS TWO("r", "arith.shrsi", "k", "a", V, V), 0xffffffc0, 0xffffffe0, 0xfffffff0, 0xfffffff8,
          0xfffffff0, 0xfffffff8),
    GIVES(SHIFTS TWO("r", "arith.shrui", "k", "a", V, V), 0xffffffc0, 0x7fffffe0, 0x3ffffff0, 0x1ffffff8,
          0x3ffffff0, 0x1ffffff8),
    GIVES(ONE("f", "arith.sitofp", "v", V, F) ALL("h", "2.0", F) TWO("g", "arith.subf", "h", "f", F, F)
              ONE("r", "arith.fptosi", "g", F, V),
          2, 1, 0, 0xffffffff, 0xffffff80, 0xfffffc03),
    GIVES(ONE("r", "math.ctpop", "v", V, V), 0, 1, 1, 2, 2, 10),
    FAILS(ONE("r", "math.exp", "v", V, V), "of such vectors"),
    FAILS(ONE("r", "arith.addi", "v", V, V), "two operands"),
    FAILS(TWO("r", "math.absi", "v", "v", V, V), "one operand"),
    FAILS("%r = \"arith.addi\"(%v, %n) : (" V ", i32) -> " V "\n", "of these operands"),
    FAILS(ONE("r", "math.absi", "x", MEMORY("vmem"), V), "of these operands"),
    FAILS(ONE("r", LETTERS_60 "c", "v", V, V), "'" LETTERS_60 "' is not modelled"),
    FAILS(ONE("r", LETTERS_60, "v", V, V), "'" LETTERS_60 "' is not modelled"),
    /* Masks. */
    GIVES(UP_TO_2 IS("e", "arith.cmpi", "0", "below", "m", M, M) OF_MASK("e"), 1, 1, 0, 1, 1, 1),
    GIVES(UP_TO_2 IS("e", "arith.cmpi", "1", "below", "m", M, M) OF_MASK("e"), 0, 0, 1, 0, 0, 0),
    FAILS(UP_TO_2 IS("e", "arith.cmpi", "2", "below", "m", M, M) OF_MASK("e"), "of masks"),
    FAILS(UP_TO_2 TWO("e", "arith.addi", "below", "m", M, M) OF_MASK("e"), "of masks"),
    GIVES(UP_TO_2 TWO("e", "arith.xori", "below", "m", M, M) OF_MASK("e"), 0, 0, 1, 0, 0, 0),
    GIVES(ONE("r", "arith.extsi", "below", M, V), 0xffffffff, 0xffffffff, 0, 0, 0, 0),
    GIVES(ONE("a", "arith.trunci", "v", V, M) OF_MASK("a"), 0, 1, 0, 1, 0, 1),
    FAILS(ONE("r", "arith.trunci", "v", V, H) AS_WORDS("r", H), "of such vectors"),
    GIVES(ONE("a", "tpu.mask_cast", "below", M, M2) ONE("b", "arith.extui", "a", M2, H) AS_WORDS("b", H),
          0x10001, 0x10001, 0, 0, 0, 0),
    GIVES(ONE("a", "tpu.mask_cast", "below", M, M4) ONE("b", "arith.extsi", "a", M4, B) AS_WORDS("b", B),
          0xffffffff, 0xffffffff, 0, 0, 0, 0),
    FAILS(ONE("r", "arith.extui", "x", MEMORY("vmem"), V), "a scalar or a vreg"),
    /* Choices. */
    GIVES(SELECT("r", "below", "v", "two", M, V), 0, 1, 2, 2, 2, 2),
    GIVES(LESS("c") SELECT("r", "c", "v", "two", "i1", V), 0, 1, 2, 3, 130, 1023),
    EACH(MORE("c") SELECT("r", "c", "v", "two", "i1", V), 2),
    EACH(LESS("c") SELECT("t", "c", "n", "o", "i1", "i32") SPREAD("t"), 3),
    EACH(MORE("c") SELECT("t", "c", "n", "o", "i1", "i32") SPREAD("t"), 5),
    EACH(NUMBER("c", "true", "i1") SELECT("t", "c", "n", "o", "i1", "i32") SPREAD("t"), 3),
    EACH(NUMBER("c", "false", "i1") SELECT("r", "c", "v", "two", "i1", V), 2),
    GIVES(UP_TO_2 ALL("i", "1", V) ALL("j", "3", V) IS("a", "arith.cmpi", "1", "v", "i", V, M)
              IS("b", "arith.cmpi", "0", "v", "j", V, M) SELECT("d", "m", "a", "b", M, M) OF_MASK("d"),
          1, 0, 1, 1, 0, 0),
    FAILS(LESS("c") "%r = \"arith.select\"(%c, %v, %n) : (i1, " V ", i32) -> " V "\n", "of these operands"),
    /* Scalars; what is narrower than a word wraps around, and keeps its sign. */
    EACH(TWO("d", "arith.subi", "n", "o", "i32", "i32") PREDICATES("d", "n", "i32"), 782),
    EACH(TWO("d", "arith.subi", "n", "o", "i32", "i32") PREDICATES("n", "d", "i32"), 242),
    EACH(PREDICATES("n", "n", "i32"), 681),
    EACH(LESS("c") MORE("g") PREDICATES("c", "g", "i1"), 782),
    EACH(LESS("c") MORE("g") PREDICATES("g", "c", "i1"), 242),
    EACH(LESS("c") MORE("g") PREDICATES("c", "c", "i1"), 681),
    EACH(TWO("d", "arith.subi", "n", "o", "i32", "i32") NUMBER("u", "1", "i32")
             TWO("t", "arith.shrui", "d", "u", "i32", "i32") SPREAD("t"),
         0x7fffffff),
    EACH(REALS IS("c", "arith.cmpf", "4", "f", "e", "f32", "i1") ONE("t", "arith.extui", "c", "i1", "i32")
             SPREAD("t"),
         1),
    EACH(REALS IS("c", "arith.cmpf", "2", "f", "e", "f32", "i1") ONE("t", "arith.extui", "c", "i1", "i32")
             SPREAD("t"),
         0),
    EACH(BEHIND("arith.addi", "0"), 3),
    EACH(BEHIND("arith.addi", "1"), 4),
    EACH(BEFORE("arith.addi", "0"), 3),
    EACH(BEFORE("arith.addi", "1"), 4),
    EACH(BEHIND("arith.subi", "0"), 3),
    EACH(BEHIND("arith.subi", "1"), 2),
    EACH(BEFORE("arith.subi", "0"), -3),
    EACH(BEHIND("arith.ori", "0"), 3),
    EACH(BEHIND("arith.ori", "4"), 7),
    EACH(BEHIND("arith.xori", "0"), 3),
    EACH(BEHIND("arith.xori", "1"), 2),
    EACH(BEHIND("arith.muli", "0"), 0),
    EACH(BEHIND("arith.muli", "1"), 3),
    EACH(BEHIND("arith.muli", "2"), 6),
    EACH(BEHIND("arith.divsi", "1"), 3),
    EACH(BEHIND("arith.divsi", "2"), 1),
    EACH(NUMBERS("arith.divsi", "-7", "2"), -3),
    EACH(NUMBERS("arith.remsi", "-7", "2"), -1),
    EACH(BYTE OF_BYTE("b"), 0xfffffff0),
    EACH(BYTE ONE("t", "arith.extui", "b", "i8", "i32") SPREAD("t"), 240),
    EACH(BYTE NUMBER("k", "1", "i8") TWO("z", "arith.shrui", "b", "k", "i8", "i8") OF_BYTE("z"), 120),
    EACH(BYTE NUMBER("k", "1", "i8") TWO("z", "arith.shrsi", "b", "k", "i8", "i8") OF_BYTE("z"), 0xfffffff8),
    EACH(BYTE NUMBER("k", "1", "i8") TWO("z", "arith.shli", "b", "k", "i8", "i8") OF_BYTE("z"), 0xffffffe0),
    EACH(BYTE NUMBER("k", "1", "i8") TWO("z", "arith.muli", "b", "k", "i8", "i8") OF_BYTE("z"), 0xfffffff0),
    EACH(BYTE NUMBER("k", "1", "i8") TWO("z", "arith.subi", "b", "k", "i8", "i8") OF_BYTE("z"), 0xffffffef),
    EACH(BYTE TWO("z", "arith.maxsi", "a", "b", "i8", "i8") OF_BYTE("z"), 120),
    EACH(BYTE TWO("z", "arith.minsi", "a", "b", "i8", "i8") OF_BYTE("z"), 0xfffffff0),
    EACH(BYTE TWO("z", "arith.andi", "a", "b", "i8", "i8") OF_BYTE("z"), 112),
    EACH(BYTE TWO("z", "arith.ori", "a", "b", "i8", "i8") OF_BYTE("z"), 0xfffffff8),
    EACH(BYTE TWO("z", "arith.xori", "a", "b", "i8", "i8") OF_BYTE("z"), 0xffffff88),
    EACH(BYTE TWO("z", "arith.addi", "a", "b", "i8", "i8") OF_BYTE("z"), 104),
    EACH(BYTE TWO("z", "arith.maxui", "a", "b", "i8", "i8") OF_BYTE("z"), 0xfffffff0),
    EACH(BYTE TWO("z", "arith.minui", "a", "b", "i8", "i8") OF_BYTE("z"), 120),
    EACH(BYTE ONE("z", "math.absi", "b", "i8", "i8") OF_BYTE("z"), 16),
    EACH(BYTE ONE("z", "math.ctpop", "b", "i8", "i8") OF_BYTE("z"), 4),
    EACH(BYTE ONE("z", "math.ctlz", "b", "i8", "i8") OF_BYTE("z"), 0),
    EACH(TWO("d", "arith.subi", "n", "o", "i32", "i32") ONE("t", "math.absi", "d", "i32", "i32") SPREAD("t"),
         2),
    EACH(TWO("d", "arith.subi", "n", "o", "i32", "i32") ONE("t", "math.ctpop", "d", "i32", "i32") SPREAD("t"),
         31),
    EACH(TWO("d", "arith.subi", "n", "o", "i32", "i32") ONE("t", "math.ctlz", "d", "i32", "i32") SPREAD("t"),
         0),
    EACH(LESS("c") TWO("z", "arith.addi", "c", "c", "i1", "i1") ONE("t", "arith.extui", "z", "i1", "i32")
             SPREAD("t"),
         0),
    EACH(LESS("c") MORE("g") TWO("z", "arith.subi", "g", "c", "i1", "i1")
             ONE("t", "arith.extui", "z", "i1", "i32") SPREAD("t"),
         1),
    EACH(LESS("c") ONE("t", "arith.extsi", "c", "i1", "i32") SPREAD("t"), 0xffffffff),
    EACH(ONE("c", "arith.trunci", "o", "i32", "i1") ONE("t", "arith.extui", "c", "i1", "i32") SPREAD("t"), 1),
    EACH(TWO("z", "arith.addi", "n", "o", "i32", "i32") ONE("c", "arith.trunci", "z", "i32", "i1")
             ONE("t", "arith.extui", "c", "i1", "i32") SPREAD("t"),
         0),
    EACH(TWO("z", "arith.addi", "n", "n", "i32", "i32") ONE("c", "arith.trunci", "z", "i32", "i1")
             ONE("t", "arith.extui", "c", "i1", "i32") SPREAD("t"),
         0),
    FAILS(ONE("t", "arith.extsi", "n", "i32", "i64") ONE("r", "vector.broadcast", "t", "i64", V),
          "of 64 bits"),
    FAILS(NUMBER("a", "5", "i64") ONE("t", "math.absi", "a", "i64", "i64")
              ONE("r", "vector.broadcast", "t", "i64", V),
          "of such scalars"),
    FAILS(NUMBER("a", "5", "i64") IS("t", "arith.cmpi", "0", "a", "a", "i64", "i1")
              ONE("r", "vector.broadcast", "t", "i1", V),
          "of these operands"),
    FAILS("%t = \"arith.cmpi\"(%n, %o) <{predicate = 10 : i64}> : (i32, i32) -> i1\n" ONE(
              "r", "vector.broadcast", "t", "i1", V),
          "a predicate"),
    FAILS("%t = \"arith.cmpi\"(%n, %o) : (i32, i32) -> i1\n" ONE("r", "vector.broadcast", "t", "i1", V),
          "a predicate"),
    EACH(ONE("f", "arith.sitofp", "n", "i32", "f32") TWO("g", "arith.mulf", "f", "f", "f32", "f32")
             ONE("t", "arith.fptosi", "g", "f32", "i32") SPREAD("t"),
         9),
    FAILS(ONE("f", "arith.sitofp", "v", V, F) "%c = \"arith.cmpf\"(%f, %f) <{predicate = 16 : i64}> : (" F
                                              ", " F ") -> " M "\n" OF_MASK("c"),
          "a predicate"),
    FAILS(ONE("f", "arith.sitofp", "v", V, F) "%c = \"arith.cmpf\"(%f, %f) <{predicate = -1 : i64}> : (" F
                                              ", " F ") -> " M "\n" OF_MASK("c"),
          "a predicate"),
    FAILS(ROLLED TWO("r", "arith.addi", "p", "v", V, V), "of these operands"),
    FAILS(ROLLED IS("c", "arith.cmpi", "0", "p", "v", V, M) OF_MASK("c"), "of these operands"),
    FAILS(ROLLED IS("c", "arith.cmpi", "0", "v", "p", V, M) OF_MASK("c"), "of these operands"),
    FAILS(ROLLED SELECT("r", "below", "p", "v", M, V), "of these operands"),
    FAILS(ROLLED SELECT("r", "below", "v", "p", M, V), "of these operands"),
    FAILS(ROLLED ONE("r", "vector.broadcast", "p", V, V), "of this operand"),
    FAILS(ROLLED REDUCE("r", "sum", "1", "p", V), "of this type"),
    /* Each part of a word by itself. */
    GIVES(BYTES TWO("z", "arith.addi", "b", "k", B, B) AS_WORDS("z", B), 0x4040404, 0x5060708, 0x6080a0c,
          0x70a0d10, 0x87098c0c, 0xb0e1000),
    GIVES(BYTES TWO("z", "arith.maxsi", "b", "k", B, B) AS_WORDS("z", B), 0x4040404, 0x4040404, 0x4040608,
          0x406090c, 0x4050408, 0x70a0c04),
    GIVES(BYTES TWO("z", "arith.maxui", "b", "k", B, B) AS_WORDS("z", B), 0x4040404, 0x4040404, 0x4040608,
          0x406090c, 0x83058808, 0x70a0cfc),
    GIVES(BYTES TWO("z", "arith.minui", "b", "k", B, B) AS_WORDS("z", B), 0, 0x1020304, 0x2040404, 0x3040404,
          0x4040404, 0x4040404),
    GIVES(BYTES TWO("z", "arith.shrui", "b", "k", B, B) AS_WORDS("z", B), 0, 0, 0, 0, 0x8000800, 15),
    GIVES(BYTES TWO("z", "arith.shrsi", "b", "k", B, B) AS_WORDS("z", B), 0, 0, 0, 0, 0xf800f800, 255),
    GIVES(BYTES TWO("z", "arith.subi", "b", "k", B, B) AS_WORDS("z", B), 0xfcfcfcfc, 0xfdfeff00, 0xfe000204,
          0xff020508, 0x7f018404, 0x30608f8),
    GIVES(BYTES TWO("z", "arith.xori", "b", "k", B, B) AS_WORDS("z", B), 0x4040404, 0x5060700, 0x600020c,
          0x7020d08, 0x87018c0c, 0x30e08f8),
    GIVES(BYTES ONE("z", "math.ctpop", "b", B, B) AS_WORDS("z", B), 0, 0x1010201, 0x1010201, 0x2020202,
          0x3020201, 0x3020206),
    GIVES(BYTES IS("c", "arith.cmpi", "2", "b", "k", B, M4) SELECT("z", "c", "b", "k", M4, B)
              AS_WORDS("z", B),
          0, 0x1020304, 0x2040404, 0x3040404, 0x83048804, 0x40404fc),
    GIVES(BYTES IS("c", "arith.cmpi", "6", "b", "k", B, M4) SELECT("z", "c", "b", "k", M4, B)
              AS_WORDS("z", B),
          0, 0x1020304, 0x2040404, 0x3040404, 0x4040404, 0x4040404),
    GIVES(PARTS ONE("h", "tpu.bitcast_vreg", "q", V, H) ALL("k", "772", H)
              TWO("z", "arith.muli", "h", "k", H, H) AS_WORDS("z", H),
          0, 0xa081810, 0x14103020, 0x1e184830, 0x1b143820, 0x3a2827f0),
    GIVES(PARTS ONE("h", "tpu.bitcast_vreg", "q", V, H) ALL("k", "772", H)
              IS("c", "arith.cmpi", "4", "h", "k", H, M2) SELECT("z", "c", "h", "k", M2, H) AS_WORDS("z", H),
          0x3040304, 0x3040304, 0x3040608, 0x306090c, 0x3040304, 0x70a0cfc),
    GIVES(PARTS ONE("b", "tpu.bitcast_vreg", "q", V, N) ALL("k", "3", N)
              TWO("z", "arith.addi", "b", "k", N, N) AS_WORDS("z", N),
          0x33333333, 0x34353637, 0x3537393b, 0x36393c3f, 0xb638bb3b, 0x3a3d3f2f),
    FAILS(BYTES ONE("r", "arith.sitofp", "b", B, F), "of such vectors"),
    /* Constants, and what is spread. */
    EACH(ALL("b", "5", B) AS_WORDS("b", B), 0x5050505),
    EACH(ALL("b", "-2", B) AS_WORDS("b", B), 0xfefefefe),
    EACH(ALL("b", "-2", H) AS_WORDS("b", H), 0xfffefffe),
    EACH(ALL("b", "1.0", "vector<8x128x2xbf16>") AS_WORDS("b", "vector<8x128x2xbf16>"), 0x3f803f80),
    EACH(ALL("b", "1.5", F) AS_WORDS("b", F), 0x3fc00000),
    EACH(ALL("b", "true", M) OF_MASK("b"), 1),
    EACH(ALL("b", "false", M) OF_MASK("b"), 0),
    EACH(NUMBER("b", "-1", "i8") OF_BYTE("b"), 0xffffffff),
    EACH(NUMBER("b", "true", "i1") ONE("t", "arith.extui", "b", "i1", "i32") SPREAD("t"), 1),
    EACH(NUMBER("b", "-2.0", "f32") ONE("t", "arith.bitcast", "b", "f32", "i32") SPREAD("t"), 0xc0000000),
    FAILS(NUMBER("r", "dense<[1, 2]>", V), "of different values"),
    FAILS("%r = \"arith.constant\"() : () -> " V "\n", "value"),
    FAILS(ALL("r", "x", V), "an integer of at most 32 bits"),
    FAILS(ALL("r", "x", F), "a number"),
    EACH(NUMBER("b", "4294967295", "i32") SPREAD("b"), 0xffffffff),
    EACH(NUMBER("b", "-2147483648", "i32") SPREAD("b"), 0x80000000),
    FAILS(NUMBER("b", "4294967296", "i32") SPREAD("b"), "of more than 32 bits"),
    FAILS(NUMBER("b", "-2147483649", "i32") SPREAD("b"), "of more than 32 bits"),
    EACH(NUMBER("i", "2147483647", "index") ONE("b", "arith.index_cast", "i", "index", "i32") SPREAD("b"),
         0x7fffffff),
    FAILS(NUMBER("i", "2147483648", "index") ONE("b", "arith.index_cast", "i", "index", "i32") SPREAD("b"),
          "of more than 32 bits"),
    GIVES(ONE("r", "vector.broadcast", "v", V, V), 0, 1, 2, 3, 130, 1023),
    EACH(BYTE ONE("z", "vector.broadcast", "b", "i8", B) AS_WORDS("z", B), 0xf0f0f0f0),
    EACH(NUMBER("b", "-3", "i8") ONE("z", "vector.broadcast", "b", "i8", B) AS_WORDS("z", B), 0xfdfdfdfd),
    EACH(TWO("z", "arith.subi", "n", "o", "i32", "i32") ONE("b", "arith.trunci", "z", "i32", "i16")
             ONE("e", "vector.broadcast", "b", "i16", H) AS_WORDS("e", H),
         0xfffefffe),
    EACH(LESS("c") ONE("z", "vector.broadcast", "c", "i1", M) OF_MASK("z"), 1),
    EACH(MORE("c") ONE("z", "vector.broadcast", "c", "i1", M) OF_MASK("z"), 0),
    EACH(NUMBER("c", "true", "i1") ONE("z", "vector.broadcast", "c", "i1", M) OF_MASK("z"), 1),
    FAILS(ONE("r", "vector.broadcast", "x", MEMORY("vmem"), V), "of this operand"),
    /* Indices of elements. */
    GIVES(IOTA("r", "0", V), 0, 0, 0, 0, 1, 7),
    GIVES(IOTA("r", "1", V), 0, 1, 2, 3, 2, 127),
    GIVES(IOTA("r", "0, 1", V), 0, 1, 2, 3, 130, 1023),
    GIVES(IOTA("r", "1, 0", V), 0, 8, 16, 24, 17, 1023),
    GIVES(IOTA("h", "0, 2", H) AS_WORDS("h", H), 0x10000, 0x10000, 0x10000, 0x10000, 0x30002, 0xf000e),
    EACH(IOTA("h", "2", H) AS_WORDS("h", H), 0x10000),
    GIVES(IOTA("h", "0, 1, 2", H) AS_WORDS("h", H), 0x10000, 0x30002, 0x50004, 0x70006, 0x1050104, 0x7ff07fe),
    GIVES(IOTA("h", "2, 1", H) AS_WORDS("h", H), 0x800000, 0x810001, 0x820002, 0x830003, 0x820002, 0xff007f),
    GIVES(IOTA("h", "0, 2", B) AS_WORDS("h", B), 0x3020100, 0x3020100, 0x3020100, 0x3020100, 0x7060504,
          0x1f1e1d1c),
    GIVES("%r = \"tpu.iota\"() <{dimension = 1 : i32}> : () -> " V "\n", 0, 1, 2, 3, 2, 127),
    FAILS(IOTA("r", "2", V), "dims of a vreg"),
    FAILS(IOTA("r", "3", H), "dims of a vreg"),
    FAILS(IOTA("r", "-1", V), "dims of a vreg"),
    FAILS(IOTA("r", "0", F), "of these dims"),
    FAILS(IOTA("r", "0", "vector<8x128xi16>"), "of these dims"),
    FAILS("%r = \"tpu.iota\"() : () -> " V "\n", "of these dims"),
    /* Masks of rows and lanes. */
    EACH(BOX("0", "0", "8", "128"), 1),
    GIVES(BOX("0", "1", "8", "3"), 0, 1, 1, 0, 1, 0),
    GIVES(BOX("0", "1", "8", "128"), 0, 1, 1, 1, 1, 1),
    GIVES(BOX("0", "0", "1", "128"), 1, 1, 1, 1, 0, 0),
    GIVES(BOX("1", "0", "8", "128"), 0, 0, 0, 0, 1, 1),
    GIVES(BOX("0", "0", "8", "3"), 1, 1, 1, 0, 1, 0),
    GIVES(BOX("1", "2", "2", "3"), 0, 0, 0, 0, 1, 0),
    GIVES(BOX("0", "3", "1", "128"), 0, 0, 0, 1, 0, 0),
    GIVES(ONE("a", "arith.index_cast", "n", "i32", "index") NUMBER("e0", "8", "index")
              NUMBER("e1", "128", "index") MASK("i0", "a", "e0", "e1"),
          0, 0, 0, 1, 0, 1),
    GIVES(ONE("a", "arith.index_cast", "n", "i32", "index") NUMBER("e0", "8", "index")
              MASK("i0", "i0", "e0", "a"),
          1, 1, 1, 0, 1, 0),
    EACH(ROWS("0", "8", M, V), 0xffffffff),
    GIVES(ROWS("1", "8", M, V), 0, 0, 0, 0, 0xffffffff, 0xffffffff),
    GIVES(ROWS("0", "1", M, V), 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0, 0),
    GIVES(ROWS("1", "2", M, V), 0, 0, 0, 0, 0xffffffff, 0),
    GIVES(ROWS("7", "8", M, V), 0, 0, 0, 0, 0, 0xffffffff),
    EACH(ROWS("0", "16", M2, H) AS_WORDS("z", H), 0xffffffff),
    GIVES(ROWS("2", "16", M2, H) AS_WORDS("z", H), 0, 0, 0, 0, 0xffffffff, 0xffffffff),
    GIVES(ROWS("1", "3", M2, H) AS_WORDS("z", H), 0xffff0000, 0xffff0000, 0xffff0000, 0xffff0000, 0xffff, 0),
    GIVES(ROWS("0", "1", M2, H) AS_WORDS("z", H), 0xffff, 0xffff, 0xffff, 0xffff, 0, 0),
    GIVES(ROWS("3", "15", M2, H) AS_WORDS("z", H), 0, 0, 0, 0, 0xffff0000, 0xffff),
    GIVES(ROWS("15", "16", M2, H) AS_WORDS("z", H), 0, 0, 0, 0, 0, 0xffff0000),
    EACH(ROWS("0", "32", M4, B) AS_WORDS("z", B), 0xffffffff),
    GIVES(ROWS("4", "32", M4, B) AS_WORDS("z", B), 0, 0, 0, 0, 0xffffffff, 0xffffffff),
    GIVES(ROWS("1", "6", M4, B) AS_WORDS("z", B), 0xffffff00, 0xffffff00, 0xffffff00, 0xffffff00, 0xffff, 0),
    GIVES(ROWS("0", "3", M4, B) AS_WORDS("z", B), 0xffffff, 0xffffff, 0xffffff, 0xffffff, 0, 0),
    GIVES(ROWS("29", "31", M4, B) AS_WORDS("z", B), 0, 0, 0, 0, 0, 0xffff00),
    FAILS(ROWS("-1", "3", M, V), "rows of a vreg"),
    FAILS(ROWS("0", "9", M, V), "rows of a vreg"),
    FAILS(ROWS("0", "17", M2, H), "rows of a vreg"),
    FAILS("%c = \"tpu.create_subelement_mask\"() <{from = 0 : i32}> : () -> " M "\n" OF_MASK("c"), "to"),
    /* Sums, the largest and the first of the largest, along sublanes (0) and lanes (1). */
    GIVES(REDUCE("r", "sum", "1", "v", V), 8128, 8128, 8128, 8128, 0x5fc0, 0x1dfc0),
    GIVES(REDUCE("r", "sum", "0", "v", V), 3584, 3592, 3600, 3608, 3600, 4600),
    GIVES(REDUCE("r", "max", "1", "v", V), 127, 127, 127, 127, 255, 1023),
    GIVES(REDUCE("r", "max", "0", "v", V), 896, 897, 898, 899, 898, 1023),
    GIVES(REDUCE("r", "min", "1", "v", V), 0, 0, 0, 0, 128, 896),
    GIVES(REDUCE("r", "min", "0", "v", V), 0, 1, 2, 3, 2, 127),
    GIVES(ONE("f", "arith.sitofp", "v", V, F) REDUCE("g", "max", "1", "f", F)
              ONE("r", "arith.fptosi", "g", F, V),
          127, 127, 127, 127, 255, 1023),
    GIVES(ONE("f", "arith.sitofp", "v", V, F) REDUCE("g", "min", "0", "f", F)
              ONE("r", "arith.fptosi", "g", F, V),
          0, 1, 2, 3, 2, 127),
    GIVES(ONE("f", "arith.sitofp", "v", V, F) REDUCE("g", "sum", "0", "f", F)
              ONE("r", "arith.fptosi", "g", F, V),
          3584, 3592, 3600, 3608, 3600, 4600),
    EACH(ONE("f", "arith.sitofp", "v", V, F) REDUCE_TO("r", "arg_max", "1", "f", F, V), 127),
    EACH(ONE("f", "arith.sitofp", "v", V, F) REDUCE_TO("r", "arg_min", "1", "f", F, V), 0),
    EACH(ONE("f", "arith.sitofp", "v", V, F) REDUCE_TO("r", "arg_max", "0", "f", F, V), 7),
    EACH(ALL("t", "3", V) TWO("a", "arith.andi", "v", "t", V, V) ONE("f", "arith.sitofp", "a", V, F)
             REDUCE_TO("r", "arg_max", "1", "f", F, V),
         3),
    EACH(ALL("f", "0x7FC00000", F) REDUCE_TO("r", "arg_min", "1", "f", F, V), 0),
    FAILS(REDUCE_TO("r", "arg_max", "1", "v", V, V), "of this kind"),
    FAILS(REDUCE("r", "sum", "2", "v", V), "of this type"),
    FAILS(REDUCE("r", "sum", "-1", "v", V), "of this type"),
    FAILS(REDUCE("r", "product", "1", "v", V), "of this kind"),
    FAILS(BYTES REDUCE("r", "sum", "1", "b", B), "of this type"),
    /* Masks of packed rows from masks of words. */
    GIVES(TWO_MASKS PACK("a, %b", M ", " M, M2) OF_HALVES, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
          0xffffffff, 0xffff),
    GIVES(ALL("i", "700", V) ALL("j", "900", V) IS("a", "arith.cmpi", "2", "v", "i", V, M) IS(
              "b", "arith.cmpi", "2", "v", "j", V, M) PACK("a, %b, %a, %b", M ", " M ", " M ", " M, M4)
              ALL("all", "-1", B) ALL("none", "0", B) SELECT("z", "c", "all", "none", M4, B) AS_WORDS("z", B),
          0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffff, 0xffffff),
    GIVES(TWO_MASKS PACKED_AT("0, 1") OF_HALVES, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
          0xffff),
    FAILS(TWO_MASKS PACKED_AT("1, 0") OF_HALVES, "of these shapes"),
    FAILS(TWO_MASKS PACKED_AT("0") OF_HALVES, "of these shapes"),
    FAILS(TWO_MASKS PACKED_AT("0, 1, 2") OF_HALVES, "of these shapes"),
    FAILS(TWO_MASKS PACK("a, %b, %a", M ", " M ", " M, M2) ALL("all", "-1", H) ALL("none", "0", H)
              SELECT("z", "c", "all", "none", M2, H) AS_WORDS("z", H),
          "of these shapes"),
    FAILS(TWO_MASKS PACK("a, %b", M ", " M, M4) ALL("all", "-1", B) ALL("none", "0", B)
              SELECT("z", "c", "all", "none", M4, B) AS_WORDS("z", B),
          "of these shapes"),
    /* Several vregs as one vector. */
    GIVES("%p = \"tpu.roll_vectors\"(%v, %two) : (" V ", " V
          ") -> vector<16x128xi32>\n%q:2 = \"tpu.unroll_vectors\"(%p) : (vector<16x128xi32>) -> (" V ", " V
          ")\n" TWO("r", "arith.subi", "q#1", "q#0", V, V),
          2, 1, 0, 0xffffffff, 0xffffff80, 0xfffffc03),
    FAILS("%r = \"tpu.roll_vectors\"(%n) : (i32) -> " V "\n", "vregs"),
    FAILS("%q:2 = \"tpu.unroll_vectors\"(%n) : (i32) -> (" V ", " V
          ")\n" TWO("r", "arith.subi", "q#1", "q#0", V, V),
          "a vector of as many vregs"),
    /* Halves are summed for themselves, along lanes. */
    EACH(ALL("b", "1.0", H2) REDUCE("g", "sum", "1", "b", H2) AS_WORDS("g", H2), 0x43004300),
    FAILS(ALL("b", "1.0", H2) REDUCE("r", "sum", "0", "b", H2), "of this type"),
    FAILS(ALL("b", "1.0", H2) REDUCE("r", "arg_max", "1", "b", H2), "of this kind"),
    /* Places in memory: of 4 x 16 rows of 256, in tiles, each word is its number. */
    GIVES(LOAD3("w", BIG, "i0", "i0", "i0"), 0, 1, 2, 3, 258, 1919),
    GIVES(NUMBER("i1", "1", "index") NUMBER("i2", "2", "index") NUMBER("i8", "8", "index")
              NUMBER("i128", "128", "index") LOAD3("w", BIG, "i2", "i8", "i128"),
          0x2880, 0x2881, 0x2882, 0x2883, 0x2982, 0x2fff),
    GIVES(NUMBER("i1", "1", "index") NUMBER("i2", "2", "index") NUMBER("i8", "8", "index")
              NUMBER("i128", "128", "index") ONE("a", "arith.index_cast", "n", "i32", "index")
                  LOAD3("w", BIG, "a", "i0", "i128"),
          0x3080, 0x3081, 0x3082, 0x3083, 0x3182, 0x37ff),
    GIVES(NUMBER("i1", "1", "index") NUMBER("i2", "2", "index") NUMBER("i8", "8", "index") NUMBER(
              "i128", "128", "index") NUMBER("c5", "5", "i32") TWO("u", "arith.addi", "n", "c5", "i32", "i32")
              ONE("b", "arith.index_cast", "u", "i32", "index") LOAD3("w", BIG, "i1", "b", "i128"),
          6272, 6273, 6274, 6275, 6530, 8191),
    GIVES(NUMBER("z", "0", "i32") NUMBER("o1", "1", "i32") NUMBER("e", "8", "i32") NUMBER("m8", "-8", "i32")
              NUMBER("l", "128", "i32") SLICE3("s1", "w", BIG, PART, "n", "e", "z") NUMBER("i1", "1", "index")
                  NUMBER("i2", "2", "index") NUMBER("i8", "8", "index") NUMBER("i128", "128", "index")
                      LOAD3("s1", PART, "i0", "i0", "i128"),
          0x3880, 0x3881, 0x3882, 0x3883, 0x3982, 0x3fff),
    GIVES(NUMBER("z", "0", "i32") NUMBER("o1", "1", "i32") NUMBER("e", "8", "i32") NUMBER("m8", "-8", "i32")
              NUMBER("l", "128", "i32") NUMBER("c5", "5", "i32")
                  TWO("u", "arith.addi", "n", "c5", "i32", "i32") SLICE3("s1", "w", BIG, PART, "o1", "u", "l")
                      LOAD3("s1", PART, "i0", "i0", "i0"),
          6272, 6273, 6274, 6275, 6530, 8191),
    GIVES(NUMBER("z", "0", "i32") NUMBER("o1", "1", "i32") NUMBER("e", "8", "i32") NUMBER("m8", "-8", "i32")
              NUMBER("l", "128", "i32") NUMBER("c5", "5", "i32")
                  TWO("u", "arith.addi", "n", "c5", "i32", "i32") SLICE3("s1", "w", BIG, PART, "n", "u", "z")
                      SLICE3("s2", "s1", PART, PART, "z", "m8", "l") LOAD3("s2", PART, "i0", "i0", "i0"),
          0x3080, 0x3081, 0x3082, 0x3083, 0x3182, 0x37ff),
    GIVES(NUMBER("z", "0", "i32") NUMBER("o1", "1", "i32") NUMBER("e", "8", "i32") NUMBER("m8", "-8", "i32")
              NUMBER("l", "128", "i32") NUMBER("one", "1", "i32") TWO("g", "arith.subi", "n", "one", "i32",
                                                                      "i32")
                  TWO("h", "arith.subi", "g", "one", "i32", "i32") SLICE3("s1", "w", BIG, BIG, "h", "z", "z")
                      SLICE3("s2", "s1", BIG, BIG, "h", "z", "z") SLICE3("s3", "s2", BIG, BIG, "h", "z", "z")
                          LOAD3("s3", BIG, "i0", "i0", "i0"),
          0x3000, 0x3001, 0x3002, 0x3003, 0x3102, 0x377f),
    GIVES(
        NUMBER("z", "0", "i32") NUMBER("o1", "1", "i32") NUMBER("e", "8", "i32") NUMBER("m8", "-8", "i32")
            NUMBER("l", "128", "i32") NUMBER("c5", "5", "i32") TWO("u", "arith.addi", "n", "c5", "i32", "i32")
                TWO("k", "arith.subi", "u", "n", "i32", "i32") TWO("j", "arith.addi", "k", "n", "i32", "i32")
                    NUMBER("six", "-4", "i32") TWO("yy", "arith.addi", "k", "six", "i32", "i32") SLICE3(
                        "s1", "w", BIG, BIG, "yy", "u", "z") SLICE3("s2", "s1", BIG, BIG, "yy", "m8", "z")
                        SLICE3("s3", "s2", BIG, BIG, "yy", "u", "z") NUMBER("i1", "1", "index")
                            NUMBER("i2", "2", "index") NUMBER("i8", "8", "index")
                                NUMBER("i128", "128", "index") LOAD3("s3", BIG, "i0", "i0", "i128"),
        0x3880, 0x3881, 0x3882, 0x3883, 0x3982, 0x3fff),
    GIVES(NUMBER("z", "0", "i32") NUMBER("o1", "1", "i32") NUMBER("e", "8", "i32") NUMBER("m8", "-8", "i32")
              NUMBER("l", "128", "i32") NUMBER("i1", "1", "index") NUMBER("i2", "2", "index")
                  NUMBER("i8", "8", "index") NUMBER("i128", "128", "index") SLICE3(
                      "s1", "w", BIG, ROWS16, "n", "z", "z") "%q = \"tpu.memref_squeeze\"(%s1) : (" ROWS16
                                                             ") -> " FLAT "\n" LOAD2("q", FLAT, "i8", "i128"),
          0x3880, 0x3881, 0x3882, 0x3883, 0x3982, 0x3fff),
    FAILS(NUMBER("i1", "1", "index") NUMBER("i2", "2", "index") NUMBER("i8", "8", "index")
              NUMBER("i128", "128", "index") LOAD3("w", BIG, "i0", "i0", "i1"),
          "at an index inside a word or a row of lanes"),
    FAILS(NUMBER("yy", "4611686018427387904", "index") LOAD3("w", BIG, "yy", "i0", "i0"),
          "of more than 32 bits"),
    FAILS("%q = \"tpu.memref_squeeze\"(%w) : (" BIG ") -> " FLAT "\n" LOAD2("q", FLAT, "i0", "i0"),
          "as many dims of 1 as go"),
    FAILS("%q = \"tpu.memref_squeeze\"(%v) : (" V ") -> " FLAT "\n" LOAD2("q", FLAT, "i0", "i0"), "a memref"),
    FAILS("%q = \"tpu.memref_slice\"(%w, %n, %n) : (" BIG ", i32, i32) -> " BIG
          "\n" LOAD3("q", BIG, "i0", "i0", "i0"),
          "an index of each dim"),
    FAILS("%q = \"tpu.memref_slice\"(%w, %n, %n, %v) : (" BIG ", i32, i32, " V ") -> " BIG
          "\n" LOAD3("q", BIG, "i0", "i0", "i0"),
          "indices that are scalars"),
    FAILS("%q = \"tpu.memref_slice\"(%w, %n, %n, %n, %n) : (" BIG ", i32, i32, i32, i32) -> " BIG
          "\n" LOAD3("q", BIG, "i0", "i0", "i0"),
          "a size of each '?'"),
    EACH("%q = \"memref.alloca\"() : () -> " MEMORY("vmem") "\n" STORE2(
             "two", "q", MEMORY("vmem"), "i0", "i0") LOAD2("q", MEMORY("vmem"), "i0", "i0"),
         2),
    FAILS("%q = \"memref.alloca\"() : () -> " MEMORY("any") "\n" LOAD2("q", MEMORY("any"), "i0", "i0"),
          "of this memory"),
    FAILS(
        "%q = \"tpu.internal_scratch\"() : () -> " MEMORY("smem") "\n" LOAD2("q", MEMORY("smem"), "i0", "i0"),
        "of this memory"),
    GIVES("%q = \"tpu.internal_scratch\"() : () -> " MEMORY(
              "vmem") "\n%k = \"tpu.internal_scratch\"() : () -> " TALL "\n" NUMBER("i1", "1", "index")
              NUMBER("i2", "2", "index") NUMBER("i8", "8", "index") NUMBER("i128", "128", "index")
                  STORE2("v", "q", MEMORY("vmem"), "i0", "i0") STORE2("two", "k", TALL, "i8", "i0")
                      LOAD2("k", TALL, "i0", "i0"),
          0, 1, 2, 3, 130, 1023),
    GIVES("%q = \"tpu.internal_scratch\"() : () -> " MEMORY(
              "vmem") "\n%k = \"tpu.internal_scratch\"() : () -> " TALL "\n" NUMBER("i1", "1", "index")
              NUMBER("i2", "2", "index") NUMBER("i8", "8", "index") NUMBER("i128", "128", "index")
                  STORE2("v", "k", TALL, "i8", "i0") STORE2("two", "q", MEMORY("vmem"), "i0", "i0")
                      LOAD2("k", TALL, "i8", "i0"),
          0, 1, 2, 3, 130, 1023),
};

static const char
    head[] = "\"builtin.module\"() ({\n\"func.func\"() <{sym_name = \"main\"}> ({\n^bb0(%x: " MEMORY(
        "vmem") ", %s: " MEMORY("smem") ", %w: " BIG ", %y: " MEMORY("vmem") "):\n" NUMBER("i0", "0", "index")
        NUMBER("i3", "3", "index") NUMBER("i5", "5", "index")
            ALL("two", "2", V) "%v = \"tpu.load\"(%x, %i0, %i0) <{" WHOLE "}> : (" MEMORY(
                "vmem") ", index, index) -> " V "\n"
                        "%n = \"memref.load\"(%s, %i0, %i3) : (" MEMORY(
                            "smem") ", index, index) -> i32\n"
                                    "%o = \"memref.load\"(%s, %i0, %i5) : (" MEMORY(
                                        "smem") ", index, index) -> i32\n" IS("below", "arith.cmpi", "2", "v",
                                                                              "two", V, M),
    tail[] =
        "\"tpu.store\"(%r, %y, %i0, %i0) <{operandSegmentSizes = array<i32: 1, 1, 2, 0>, " WHOLE "}> : (" V
        ", " MEMORY("vmem") ", index, index) -> ()\n"
                            "\"func.return\"() : () -> ()\n}) {} : () -> ()\n}) "
                            "{tilesim.operands = [tensor<8x128xi32>, "
                            "tensor<8x128xi32>, tensor<4x16x256xi32>, tensor<8x128xi32>], tilesim.results "
                            "= 1 : i64, tilesim.fills = [\"iota\", \"iota\", \"iota\"]} : () -> ()\n";

static ts_error err;
static const ts_machine *machine;

static int set_up(void **state) {
    begin_group(state);
    machine = ts_machine_load(NULL, arena, "tpu-v5e");
    return machine ? 0 : -1;
}

static const ts_program *read_text(const char *text) {
    ts_target target;
    ts_source *source = TS_NEW(arena, ts_source);
    *source = (ts_source){"k.mlir", text, strlen(text)};
    ts_run_target(machine, &target);
    err = (ts_error){0};
    return ts_mosaic_parse(&err, arena, source, &target);
}

static const ts_program *read_kernel(const char *body) {
    return read_text(ts_text_format(arena, "%s%s%s", head, body, tail));
}

static void check_words(int row, const ts_program *program) {
    ts_run_request request = {.program = "k.mlir",
                              .built = program,
                              .machine = machine,
                              .keep_outputs = true,
                              .max_cycles = 1000000};
    ts_run_result result;
    if (!ts_run(&err, arena, &request, &result)) fail_msg("row %d: %s\n%s", row, err.message, rows[row].body);
    for (int i = 0; i < SAMPLES; i++) {
        int32_t word;
        memcpy(&word, (const char *)result.tensors[3].after.bytes + 4 * samples[i], sizeof word);
        if (word != (int32_t)rows[row].words[i])
            fail_msg("row %d: word %d is %#x, expected %#x\n%s", row, samples[i], (unsigned)word,
                     (unsigned)rows[row].words[i], rows[row].body);
    }
}

TEST(operations) {
    for (int i = 0; i < (int)(sizeof rows / sizeof rows[0]); i++) {
        const ts_program *program = read_kernel(rows[i].body);
        if (!program && !rows[i].error) fail_msg("row %d: %s\n%s", i, err.message, rows[i].body);
        if (program && rows[i].error) fail_msg("row %d is not refused\n%s", i, rows[i].body);
        if (program)
            check_words(i, program);
        else if (!strstr(err.message, rows[i].error))
            fail_msg("row %d: %s", i, err.message);
    }
}

/* What changes nothing, and what is known, costs no instruction. */
TEST(numbers_are_folded) {
    static const struct {
        const char *body, *mnemonic;
    } folded[] = {{BEHIND("arith.addi", "0"), " sadd "},        {BEFORE("arith.addi", "0"), " sadd "},
                  {BEHIND("arith.subi", "0"), " ssub "},        {BEHIND("arith.ori", "0"), " sor "},
                  {BEHIND("arith.xori", "0"), " sxor "},        {BEHIND("arith.muli", "1"), " smul "},
                  {NUMBERS("arith.divsi", "7", "2"), " sdiv "}, {NUMBERS("arith.remsi", "7", "2"), " sdiv "}};
    for (size_t i = 0; i < sizeof folded / sizeof folded[0]; i++) {
        ts_text text = ts_text_begin(arena);
        ts_program_print(read_kernel(folded[i].body), &text);
        if (strstr(text.bytes, folded[i].mnemonic)) fail_msg("row %d: %s", (int)i, text.bytes);
    }
}

/* Instructions of a file have one source, however often it comes. */
TEST(a_file_is_one_source) {
    static const char *const names[] = {"k.py", "j.py"};
    const ts_program *program =
        read_kernel("%a = \"arith.addi\"(%v, %v) : (" V ", " V ") -> " V " loc(\"k.py\":7:1)\n"
                    "%b = \"arith.muli\"(%a, %v) : (" V ", " V ") -> " V " loc(\"j.py\":2:1)\n"
                    "%r = \"arith.subi\"(%b, %v) : (" V ", " V ") -> " V " loc(\"k.py\":8:1)\n");
    const ts_source *found[2] = {NULL, NULL};
    assert_non_null(program);
    for (int i = 0; i < program->code.bundle_count; i++) {
        const ts_source *source = ts_program_source(program, i);
        for (int k = 0; source && k < 2; k++) {
            if (strcmp(source->name, names[k]) != 0) continue;
            assert_true(found[k] == NULL || found[k] == source);
            found[k] = source;
        }
    }
    assert_true(found[0] && found[1]);
}

#define VMEM      MEMORY("vmem")
#define TENSOR    "tensor<8x128xi32>"
#define ARGUMENTS "^bb0(%x: " VMEM ", %y: " VMEM ", %z: " VMEM "):\n"

/* Each is on its way before one is waited for. */
TEST(results_leave_together) {
    static const char text[] =
        "\"builtin.module\"() ({\n\"func.func\"() <{sym_name = \"main\"}> ({\n" ARGUMENTS NUMBER(
            "i0", "0", "index") LOAD2("x", VMEM, "i0", "i0") STORE2("r", "y", VMEM, "i0", "i0")
            STORE2("r", "z", VMEM, "i0",
                   "i0") "\"func.return\"() : () -> ()\n}) {} : () -> ()\n}) {tilesim.operands = [" TENSOR
                         ", " TENSOR ", " TENSOR
                         "], tilesim.results = 2 : i64, tilesim.fills = [\"iota\"]} : () -> ()\n";
    const ts_program *program = read_text(text);
    if (!program) fail_msg("%s", err.message);
    ts_text out = ts_text_begin(arena);
    ts_program_print(program, &out);
    const char *last = strstr(out.bytes, "dma arg2"), *wait = strstr(out.bytes, "wait moved_1");
    assert_true(strstr(out.bytes, "dma arg1") && last && wait && last < wait);
}

int main(void) { return run_all_tests(set_up, end_group); }
