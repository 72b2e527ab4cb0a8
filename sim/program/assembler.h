/* The state of one assembly, and the parts that share it. */
#ifndef TILESIM_PROGRAM_ASSEMBLER_H
#define TILESIM_PROGRAM_ASSEMBLER_H

#include "base/list.h"
#include "program/program.h"

#include "expr.h"

enum { INSTRUCTIONS_MAX = 1 << 20, EXPANSION_MAX = 32, BLOCKS_MAX = 512, WORK_MAX = 1 << 22 };

/* One instruction. */
typedef struct {
    ts_instruction code;
    bool first;            /* of its bundle */
    bool made;             /* by the packer, in vregs of its own */
    const token *location; /* its mnemonic */
    int label_operand;     /* an operand that is a label, -1: none; filled in when all labels are known */
    const token *label;    /* its name; NULL: the item `target` */
    const scope *names;    /* where to look for it */
    int target;
    int named_region; /* the innermost .region, -1: none */
    ts_program_location at;
} item;

/* A file that was included, and where first. */
typedef struct {
    const char *name, *by;
    int line;
} included;

enum { USES_NOTED = 2 };

typedef struct assembler {
    ts_error *err; /* of the statement: &now; a builder's: its caller's */
    ts_arena *arena;
    ts_arena *scratch; /* of what the program does not keep: tokens and items; a builder's is its arena */
    const ts_target *target;
    const ts_define *defines;
    int define_count;
    bool *define_used;
    scope *global, *names;  /* tensors and semaphores are global; other new names go to `names` */
    int blocks;             /* that are open */
    int expansions;         /* macros and includes that are open */
    int work;               /* statements and macro tokens so far */
    bool packing;           /* .pack auto is on */
    bool pipelining;        /* .pack pipeline is: iterations of loops overlap */
    int own_vregs;          /* vregs from this one on are the packer's; 0: none */
    bool packs_for_results; /* and what takes results of a matrix unit is not put before they come */
    int cores;              /* of .cores; 0: none was given */
    int region;             /* first item that may still be packed */
    int frame;              /* the innermost that is open, -1: none */
    LIST_OF(ts_program_frame) frames;
    int *frame_slots;          /* frames.c */
    uint64_t frame_slot_count; /* a power of two, or 0 */
    int named_region;          /* the innermost .region that is open, -1: none */
    int outer_region;          /* the one that was open where the block began */

    LIST_OF(item) items;
    LIST_OF(ts_tensor) tensors;
    LIST_OF(ts_tensor_use) uses;
    LIST_OF(ts_transfer) transfers;
    LIST_OF(const char *) semaphores;
    LIST_OF(bool) semaphore_bytes; /* whether each counts these */
    LIST_OF(ts_param) params;
    LIST_OF(ts_program_check) checks;
    LIST_OF(ts_program_report) reports;
    LIST_OF(ts_program_pipeline) pipelines;
    LIST_OF(ts_program_alias) aliases; /* `bundle` is an item until all are known */
    LIST_OF(ts_program_macro) macros;
    LIST_OF(ts_program_region) regions;
    LIST_OF(const token *) region_words; /* their words */
    int64_t used_bytes[TS_SPACE_COUNT];

    /* Statements in [at, stop). Directives, which are statements, have some inside. */
    bool (*assemble_block)(struct assembler *as, const token *at, const token *stop);

    /* errors.c */
    const char *name; /* of the program's own text */
    const ts_source *source;
    ts_error now;
    LIST_OF(ts_error) errors;
    LIST_OF(included) includes;
    struct {
        const token *location;
        const char *kind;
    } uses_open[USES_NOTED]; /* the outermost macros and files that are open */
    int failures;            /* statements that failed */
    int strays;              /* unknown directives, each of which may have an .end */
    bool fatal;              /* what is behind this error cannot be read */
    bool stopped;            /* nothing more is read */
    bool only_parameters;    /* are wanted: it stops at the first instruction */
    bool more;               /* there may be more errors than are kept */
    bool blind;              /* a file is missing, and what it defines */
} assembler;

/* errors.c: the errors of a text. Marks the error to come as the last; false. */
bool give_up(assembler *as);
/* Keeps the current error, if there is one, for give_errors. */
void keep_error(assembler *as);
void note_include(assembler *as, const token *location, const char *name);
/* The errors that were kept, in the order of the text. */
void give_errors(assembler *as, ts_error *err);

/* recover.c. Behind a statement that failed: its error is kept unless it follows from another, and *at is
 * where to go on; its first word behind labels, or NULL: nowhere. */
const token *recover(assembler *as, const token *begin, const token **at, const token *stop);
/* The same of an instruction within braces; false: nowhere. */
bool recover_instruction(assembler *as, const token *begin, const token **at);
/* directives.c: what a directive that failed would have defined is known as bad; the body of a block whose
 * first line failed, if `word` begins one. */
void spoil_directive(assembler *as, const token *word);
bool recover_block(assembler *as, const token *word, const token **at, const token *stop);
/* The '}' of a bundle; where it has none, what cannot be in it: a bundle or directive on a new line, or the
 * end. */
const token *bundle_end(const token *brace);

/* One directive; *at is left at the end of its line or block. */
bool assemble_directive(assembler *as, const token **at, const token *stop);
/* blocks.c: what repeats or chooses statements. `word` is the directive, *at is behind it. */
bool assemble_call(assembler *as, const token **at, const symbol *called);
bool assemble_macro(assembler *as, const token *word, const token **at, const token *stop);
/* ", STEP" of a .for or a .loop, 1 where there is none. */
bool read_step(assembler *as, const token **at, int64_t *step);
bool assemble_for(assembler *as, const token *word, const token **at, const token *stop);
bool assemble_if(assembler *as, const token *word, const token **at, const token *stop);
bool assemble_include(assembler *as, const token *word, const token **at, const token *stop);
bool opens_block(const token *word);
typedef enum { END_ONLY, END_OR_ELSE } block_end;
/* The .end (or .else) of the block whose directive is `word`; NULL and an error when there is none. */
const token *find_end(assembler *as, const token *word, const token *at, const token *stop, block_end end);
/* An error: the blocks at `at` are nested too deep. Returns false. */
bool refuse_depth(assembler *as, const token *at);
bool run_in_scope(assembler *as, scope *names, const token *at, const token *stop);
/* Counts work that a program's text repeats, so that no text runs forever. */
bool count_work(assembler *as, const token *location, int amount);
/* frames.c: a frame like `what`, but for its parent, is open from here on; returns the one that was. */
int open_frame(assembler *as, ts_program_frame what);

/* loops.c: .loop */
bool assemble_loop(assembler *as, const token *word, const token **at, const token *stop);
/* regions.c: .region and .endregion. */
bool assemble_region(assembler *as, const token *word, const token **at, const token *stop);
bool assemble_endregion(assembler *as, const token *word, const token **at, const token *stop);
/* At the end of a block: all that began in it must have ended. */
void close_regions(assembler *as);
/* The region of each bundle; NULL: the program has none. */
const int *find_regions(const assembler *as, const int *bundle_of, int bundle_count);

/* registers.c. A sum of constants and sregs that the machine has. */
bool assemble_affine(assembler *as, const token **at, ts_affine *out);
bool assemble_sreg(assembler *as, const token **at, ts_operand *out);
/* Reads the register at *at, if there is one that this class of operands takes. */
bool assemble_register(assembler *as, const token **at, const ts_opcode_info *info,
                       const ts_operand_class *class, ts_operand *out, bool *found);
bool check_register(assembler *as, const token *location, ts_operand_kind kind, int number);
bool operand_accepts(const ts_operand_class *class, ts_operand_kind kind);
bool operand_is_unexpected(assembler *as, const token *at, const ts_opcode_info *info,
                           const ts_operand_class *class);

/* operand.c. Those of an instruction, and its mask. */
bool assemble_operands(assembler *as, const token **at, item *new);
/* An operand of the kind that operand `index` of an instruction is. */
bool assemble_operand(assembler *as, const token **at, ts_opcode opcode, int index, ts_operand *out);
typedef enum { SAME_BUNDLE, NEW_BUNDLE } item_bundle; /* as the instruction before it, or the next one */
/* An instruction that the text does not spell out. */
item *add_item(assembler *as, const token *location, ts_opcode opcode, item_bundle bundle);

/* builder.c: the parts behind the parser. */
bool allocate_tensor(assembler *as, const token *name, ts_tensor *tensor);
symbol *add_semaphores(assembler *as, const token *name, int64_t count);
bool derive_address(assembler *as, const token *location, const ts_affine *index, ts_address *out);
bool check_slice(assembler *as, const token *location, const ts_slice *slice);
bool add_transfer(assembler *as, const token *location, ts_transfer *transfer, ts_operand *out);
bool check_semaphore(assembler *as, const token *location, const ts_semaphore_operand *semaphore);
bool check_operand(assembler *as, const token *location, const ts_opcode_info *info, int index,
                   const ts_operand *operand);
bool check_mask(assembler *as, const token *location, const ts_opcode_info *info, int vmask);
const ts_program *finish_program(assembler *as, const char *name);

/* Under .pack auto, bundles the items from `region` on, each of which has no bundle yet. A new region
 * begins. */
void pack_region(assembler *as);
bool expect_line_end(assembler *as, const token *at, const char *what);
bool expect_name(assembler *as, const token **at, const char *what, const token **name);
bool expect_mark(assembler *as, const token **at, int mark, const char *what);

/* tensor.c, slice.c, address.c: what names tensors. */
bool assemble_tensor(assembler *as, const token **at);
/* Of a tensor that is to begin with values. */
bool check_filled(assembler *as, const token *location, const ts_tensor_use *use);
bool assemble_transfer(assembler *as, const token **at, ts_operand *out);
/* Has the machine that memory? */
bool has_space(assembler *as, const token *location, ts_space_kind space);
/* An instruction that takes addresses of a space takes none of a tensor elsewhere. */
bool check_space(assembler *as, const token *location, int tensor, ts_space_kind space);
bool assemble_address(assembler *as, const token **at, ts_space_kind space, ts_operand *out);
bool assemble_semaphore(assembler *as, const token **at, ts_operand *out);
/* The tensor that the first `length` bytes of a token name; an error when they name none. */
bool find_tensor(assembler *as, const token *name, size_t length, int *tensor);

/* "dir/a.tsim" and the name "b.tsim" give "dir/b.tsim". */
const char *path_beside(ts_arena *arena, const char *path, const token *name);
const ts_source *read_source(ts_error *err, ts_arena *arena, const char *path);
/* Of a path that cannot be read: is a file of the binary called so, or nearly so behind its prefix? */
void suggest_embedded(ts_error *err, const char *path);

/* text.c: text for another parser, with expressions of parameters replaced by their values. */
typedef struct {
    ts_source source;     /* what the other parser reads */
    const int *locations; /* [length + 1] the token behind each byte, counted from `begin` */
    const token *begin;
} spliced;
/* Where a shape may have a number (behind one of [ ( { , : <=) it may have an expression of parameters. */
bool splice_shape(assembler *as, const token *begin, const token *end, spliced *out);
/* The other parser's error, moved to its location in the program. */
bool splice_error(assembler *as, const spliced *text, const ts_error *theirs);

#endif
