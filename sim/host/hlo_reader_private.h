/* What the reader of HLO text is made of: lines, what is held of them, and who is told. */
#ifndef TILESIM_HOST_HLO_READER_PRIVATE_H
#define TILESIM_HOST_HLO_READER_PRIVATE_H

#include "hlo_private.h"

/* ---- What is around text in logs, terminals and web pages (hlo_stamp.c) ---- */

/* Behind what logs write before each line, "I0320 03:59:34.7 855 compiler.cc:2163] " or "E   ". */
const char *hlo_skip_stamp(const char *line, const char *end);
/* Quickly, as most lines begin none. */
bool hlo_may_begin_stamp(const char *at, const char *end);
/* Has the text tabs, no-break spaces, or what sets the colours of a terminal? */
bool hlo_has_marks(const char *at, size_t length);
/* The text with blanks in place of these, and without colours. */
void hlo_add_plain(ts_text *out, const char *at, const char *end);
/* Are lines written as one, with "\n" between them, as in strings of JSON and Python? Not what is quoted. */
bool hlo_has_escapes(const char *at, const char *end);
/* These lines. */
void hlo_add_unescaped(ts_text *out, const char *at, const char *end);

/* ---- A line (hlo_line.c) ---- */

typedef struct {
    const char *at, *end;
    char next;      /* what the next line begins with, behind blanks and what is around text; '\n': nothing */
    bool shortened; /* it was longer, and what it leaves open is not known */
    int marks;      /* of a mail that quotes it */
    int64_t dropped; /* lines before it that are none of the text's */
} hlo_line;

/* What the line begins with behind blanks, marks of mail and a log's stamp; '\n': nothing. */
char hlo_first_byte(const char *at, const char *end);
/* The line alone: behind its marks, at most so many, and stamps, and up to a comment. *open: its begin is in a
 * comment, in marks of C, of lines before; afterwards, its end is. */
void hlo_line_strip(hlo_line *line, int most_marks, bool *open);
/* One that begins with two slashes, or is a comment in marks of C. */
bool hlo_line_is_comment(const hlo_line *line);
/* The line ends where something else begins, but for blanks. Returns that. */
const char *hlo_line_cut(hlo_line *line, const char *behind);
/* Nothing, or only marks such as "====". */
bool hlo_line_is_blank(const hlo_line *line);

/* ---- Numbers of lines, and marks of diffs (hlo_margin.c) ---- */

typedef struct {
    size_t width;   /* of what is before the last line that was asked of */
    bool active;    /* lines have numbers, or are of a diff */
    int64_t number; /* of the next line; 0: lines have none */
    enum { HLO_DIFF_NONE, HLO_DIFF_HUNK, HLO_DIFF_CHANGE, HLO_DIFF_OLD_SIDE, HLO_DIFF_NEW_SIDE } diff;
    bool fenced;                /* in a block of Markdown that is a diff */
    int64_t old_left, new_left; /* lines of a hunk, or of a change, of each side */
} hlo_margin;

typedef enum {
    HLO_MARGIN_SKIP,  /* the line is behind it */
    HLO_MARGIN_BLANK, /* there is nothing behind it: what is held does not go on */
    HLO_MARGIN_DROP,  /* the line is none of the text's: what is held goes on with the next */
} hlo_margin_kind;

/* May a line that begins so, behind blanks, have one? Quickly, as most have none. */
static inline bool hlo_margin_may_be(const hlo_margin *m, char first) {
    return m->active || ts_is_digit(first) || first == '@' || first == '`' || first == '*';
}
/* Of the next line, which begins so. */
hlo_margin_kind hlo_margin_take(hlo_margin *m, const char *at, const char *end);

/* ---- Pieces of a text as lines (hlo_lines.c) ---- */

enum { HLO_TAIL_BYTES = 1 << 12 };

typedef struct {
    void *self;
    void (*take)(void *self, hlo_line *line); /* which may be changed */
    ts_text held;                             /* of a line that has come in part; TS_HLO_LINE_BYTES at most */
    size_t more;                              /* bytes of it that are not there */
    char tail[HLO_TAIL_BYTES];     /* the last of these, where their number says, modulo its size */
    bool waits;                    /* all of it has come: for the beginning of the next line .. */
    ts_text ahead;                 /* .. of which so much has */
    bool begun;                    /* the first line has */
    bool drops;                    /* what comes is of no line, up to its newline */
    hlo_margin margin;             /* before lines */
    size_t width, next_width;      /* of the line that comes and of the next; SIZE_MAX: that is all of it */
    int64_t dropped, next_dropped; /* lines before them */
    bool has_marks;                /* any line of this piece, or of what is held */
    ts_text plain;                 /* such a line without them */
} hlo_lines;

void hlo_lines_begin(hlo_lines *lines, ts_arena *arena, void *self, void (*take)(void *self, hlo_line *line));
void hlo_lines_feed(hlo_lines *lines, const char *bytes, size_t length);
void hlo_lines_finish(hlo_lines *lines);

/* ---- Who is told what the text says (hlo_teller.c) ---- */

typedef struct {
    const ts_hlo_events *events;
    ts_hlo_counts counts;
    int64_t line; /* where what is looked at begins */
    bool in_computation;
} hlo_teller;

void hlo_tell_kind(hlo_teller *teller, ts_hlo_line_kind kind); /* of a line */
void hlo_tell_instruction(hlo_teller *teller, ts_hlo_instruction *i);
void hlo_tell_computation(hlo_teller *teller, ts_span name, bool entry);
void hlo_tell_end(hlo_teller *teller); /* of a computation, if there is one */
void hlo_tell_message(hlo_teller *teller, const char *at, const char *end);
/* What is nothing of HLO: a message, or a row of attributes. */
void hlo_tell_other(hlo_teller *teller, const char *at, const char *end);

/* ---- Lines that may go on in the next ones (hlo_held.c) ---- */

typedef enum {
    HLO_HOLDS_NOTHING,
    HLO_HOLDS_HEADER,    /* of a module */
    HLO_HOLDS_SIGNATURE, /* of a computation */
    HLO_HOLDS_STATEMENT, /* of StableHLO */
    HLO_HOLDS_INSTRUCTION,
    HLO_HOLDS_LITERAL, /* whose instruction was told: no text */
} hlo_held_kind;

/* What a text leaves open. */
typedef struct {
    int64_t braces, parentheses;
    bool quote;
} hlo_open_ends;

typedef struct {
    hlo_held_kind kind;
    ts_text text;
    int64_t line;       /* its first one */
    int lines;          /* how many */
    int64_t depth;      /* of a header, a signature, a literal: brackets that are open */
    bool quoted;        /* of a header: within a quote of several lines */
    bool opened, arrow; /* of a signature: has it "(", "->"? */
    bool whole, lacks;  /* of an instruction: it may end here, lacks attributes that need no comma */
    bool sure;          /* it is one, whatever its lines are .. */
    hlo_open_ends open; /* .. which leave this open .. */
    int counted;        /* .. of which TS_HLO_JOINED_LINES may be */
    int marks;          /* of a statement, of mail */
} hlo_held;

/* The text may be that of `held` itself. */
void hlo_hold(hlo_held *held, hlo_held_kind kind, int64_t line, const char *at, const char *end);
/* False: that would be too long. */
bool hlo_held_join(hlo_held *held, char mark, const char *at, const char *end);
ts_span hlo_held_text(const hlo_held *held);

/* ---- Instructions over several lines (hlo_wrap.c) ---- */

/* A loop without its computations is not all of it. */
bool hlo_lacks_calls(const ts_hlo_instruction *i);
/* May the next line, which begins so, go on with an instruction that could end here? */
bool hlo_may_go_on(const ts_hlo_instruction *i, char next);
/* Holds it, or what may be the beginning of one. */
void hlo_hold_instruction(hlo_held *held, const hlo_teller *teller, hlo_answer found,
                          const ts_hlo_instruction *i, const hlo_line *first);
/* Does the line, or what it begins with, go on with the instruction? */
bool hlo_instruction_goes_on(const hlo_held *held, const hlo_line *line);
/* Adds the line. HLO_WHOLE: no more may come. */
hlo_answer hlo_instruction_join(hlo_held *held, const hlo_line *line);
/* What is held, as an instruction. */
hlo_answer hlo_instruction_read(const hlo_held *held, ts_hlo_instruction *i);
/* A constant's values may go over many lines, none of which matters; its attributes are as any. */
bool hlo_is_literal(const ts_hlo_instruction *i);
void hlo_hold_literal(hlo_held *held, ts_hlo_instruction *i);
/* Where its values end in the line. */
const char *hlo_literal_end(const hlo_held *held, const hlo_line *line);
/* Does the line go on with its values? HLO_WHOLE: and ends them. */
hlo_answer hlo_literal_goes_on(hlo_held *held, const hlo_line *line);
/* Where another instruction begins in a line, behind one or what goes on with one that is held, which leaves
 * so much open (NULL: none is): text that is filled has several in a line. `end`: there is none. */
const char *hlo_next_instruction(const hlo_open_ends *held, const char *at, const char *end,
                                 bool in_computation);
/* Where the bracket is, behind what goes on, that ends the computation; `end`: none does. */
const char *hlo_closing_bracket(const hlo_open_ends *held, const char *at, const char *end);

/* ---- The header of a module (hlo_header.c) ---- */

bool hlo_is_module(const char *at, const char *end);
/* Cuts the line where a computation begins, and holds it; returns that. */
const char *hlo_hold_header(hlo_held *held, int64_t line, hlo_line *first);
/* The same of a line that may go on with what is held. */
const char *hlo_header_cut(const hlo_held *held, hlo_line *line);
hlo_answer hlo_header_goes_on(hlo_held *held, const hlo_line *line);
void hlo_header_tell(const hlo_held *held, hlo_teller *teller);

/* ---- That of a computation (hlo_signature.c) ---- */

/* Where its body begins, as which only an instruction may be in the line; NULL: the text is none. */
const char *hlo_take_computation(hlo_teller *teller, const hlo_line *line);
/* Does a text begin one, in the middle of a line? `next` is what the next line begins with. */
bool hlo_begins_computation(const char *at, const char *end, char next);
/* Holds a line that is nothing by itself and may begin one. */
bool hlo_hold_signature(hlo_held *held, int64_t number, const hlo_line *line);
/* Cuts a line that may go on with it where the body begins; returns that. */
const char *hlo_signature_cut(const hlo_held *held, hlo_line *line);
/* HLO_WHOLE: with this line it has ended. */
hlo_answer hlo_signature_goes_on(hlo_held *held, const hlo_line *line);
/* It has ended, or was none: then its lines are by themselves. */
void hlo_signature_tell(const hlo_held *held, hlo_teller *teller);

/* ---- Tables of names, locations and stack frames (hlo_table.c) ---- */

typedef struct {
    bool open;
    int64_t depth; /* brackets open in the last row */
} hlo_table;

/* True: the line is a heading, a row, or more of one that is broken over lines. */
bool hlo_table_take(hlo_table *table, hlo_teller *teller, const char *at, const char *end);

#endif
