/* Command lines: a command states its options in one table, and gets them parsed, helped and complained
 * about. */
#ifndef TILESIM_CLI_OPTIONS_H
#define TILESIM_CLI_OPTIONS_H

#include "output.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"
#include "machine/machine.h"
#include "mesh/mesh.h"
#include "program/program.h"

typedef struct {
    const char *name;     /* without "--" */
    char letter;          /* of the short form; '\0': none */
    const char *argument; /* what it takes, as --help calls it ("FILE"); NULL: nothing */
    const char *meaning;
} cli_option;

typedef struct {
    const char *name;     /* "layout" */
    const char *operands; /* as --help shows them: "SHAPE", "SRC DST"; NULL: none */
    int operands_least, operands_most;
    const char *operand_files; /* a letter an operand: 'r' a file that is read, 'w' written, ' ' none; may be
                                  NULL, or shorter */
    bool holds_files;          /* what the files hold that it reads is in memory at once */
    const char *about;         /* whole lines */
    const char *example;       /* whole lines, each indented by four */
    int option_count;
    const cli_option *options; /* every command also has --help and --version */
} cli_command;
#define CLI_OPTIONS(table) .option_count = sizeof(table) / sizeof *(table), .options = (table)

typedef struct {
    const cli_command *command;
    ts_arena *arena; /* for the whole command */
    int exit_code;   /* when cli_begin returned false */
    int operand_count, given_count;
    const char **operands;
    struct cli_given {
        int option;
        const char *value; /* "" of an option that takes nothing */
    } * given;             /* in the order of the command line */
} cli_line;

/* False when there is nothing more to do: help was asked for and printed, or the line is wrong and that was
 * said. */
bool cli_begin(cli_line *line, const cli_command *command, int argc, char **argv);
/* Frees the arena; returns `exit_code`. */
int cli_end(cli_line *line, int exit_code);
/* All of a command whose work is one text. */
int cli_print_of(const cli_command *command, int argc, char **argv,
                 bool (*work)(ts_error *err, const cli_line *line, ts_text *out));

/* The last value given to the option of that name, or NULL. */
const char *cli_value(const cli_line *line, const char *name);
/* Value number `i` (from 0) given to an option that may be repeated, or NULL. */
const char *cli_value_at(const cli_line *line, const char *name, int i);
/* All of them, `count`, with room for one more behind them. */
const char **cli_values(const cli_line *line, const char *name, int *count);
int cli_count(const cli_line *line, const char *name);
/* In a list that ends with NULL? */
bool cli_is_one_of(const char *name, const char *const *names);
/* The first option given that is not in `own`, a list that ends with NULL; NULL: there is none. */
const char *cli_other(const cli_line *line, const char *const *own);
/* Refuses those of `names`, a list that ends with NULL: "--NAME why". */
bool cli_refuse(ts_error *err, const cli_line *line, const char *const *names, const char *why);
/* "--name", as errors in its value call it. */
const char *cli_option_text(const cli_line *line, const char *name);
/* The number given to an option, `least` to `most` (INT64_MAX: any); *value stays where there is none. */
bool cli_number(ts_error *err, const cli_line *line, const char *name, int64_t least, int64_t most,
                int64_t *value);
bool cli_int(ts_error *err, const cli_line *line, const char *name, int least, int most, int *value);
/* Which of `words`, a list that ends with NULL, is given to an option; *number stays where there is none. */
bool cli_word(ts_error *err, const cli_line *line, const char *name, const char *const *words, int *number);
/* The rows to show: those of --rows, `least` or more, or with --all any number; *rows stays without both. */
bool cli_rows(ts_error *err, const cli_line *line, int least, int *rows);
/* The ratio of at least 1 ("1.5" or "1.5x") of --fail-over; 0: none. */
bool cli_fail_over(ts_error *err, const cli_line *line, double *ratio);
/* Of commands that allocate by the size of their input, a row of their option tables: cli_begin then refuses
 * files that hold more, and lets the process have no more than was given. */
#define CLI_MEMORY_OPTION                                                                                    \
    {                                                                                                        \
        "max-memory", '\0', "SIZE",                                                                          \
            "refuse what would need more memory, such as 4GiB; 80 % of what this host, its control group "   \
            "and the limit of the address space leave when not given"                                        \
    }
/* Its value, for a command that can say what else it will need. */
bool cli_max_memory(ts_error *err, const cli_line *line, int64_t *bytes);
/* Of commands whose threads share their work: the host's, or those of --jobs. */
#define CLI_THREADS_OPTION                                                                                   \
    { "jobs", 'j', "N", "with so many threads; as many as this host runs, but 16 at most, when not given" }
bool cli_threads(ts_error *err, const cli_line *line, int *threads);
/* The operands SRC DST, or both in one, as 'SRC -> DST'. */
bool cli_ends(ts_error *err, const cli_line *line, ts_source ends[2]);
/* The values "NAME=VALUE" of an option that may be repeated. */
bool cli_pairs(ts_error *err, const cli_line *line, const char *name, const ts_define **pairs, int *count);

/* Refuses --topology and --fail-link without --mesh. */
bool cli_mesh_options(ts_error *err, const cli_line *line);
/* The machine of --machine and --set; where it is not given and --mesh is a mesh file, that of the file.
 * Refuses as above. */
const ts_machine *cli_mesh_machine(ts_error *err, const cli_line *line);
/* The mesh of --mesh, --topology and --fail-link, on a machine. */
bool cli_mesh(ts_error *err, const cli_line *line, const ts_machine *machine, ts_mesh *mesh);
#define CLI_MESH_OPTIONS                                                                                     \
    {"mesh", '\0', "AXES|NAME|FILE",                                                                         \
     "the devices: 4x4 (axes x, y, z, w), or data=2,model=8; the last is the fastest; or a mesh file: a "    \
     "name of tilesim list meshes, or a path"},                                                              \
        {"fail-link", '\0', "FROM->TO",                                                                      \
         "a link that has failed, one way, as '(0,0)->(0,1)'; may be repeated"},                             \
    {                                                                                                        \
        "topology", '\0', "CHIPS", "how the chips lie, as 2x2x4; the mesh's extents when not given"          \
    }

#define CLI_MACHINE_OPTION                                                                                   \
    { "machine", 'm', "NAME|FILE", "the machine; " TS_MACHINE_DEFAULT " when not given" }
#define CLI_SET_OPTION                                                                                       \
    { "set", '\0', "FIELD=VALUE", "the machine with this figure changed; may be repeated" }
/* The machine of --machine and --set, or the default one with --set; NULL: an error. */
const ts_machine *cli_machine(ts_error *err, const cli_line *line);
/* The same of another name (NULL: the default), and with one more FIELD=VALUE, if not NULL, behind those of
 * --set. */
const ts_machine *cli_machine_named(ts_error *err, const cli_line *line, const char *name, const char *last);

/* cli_fail, for an error in the command line with where to find help. */
int cli_error(const cli_line *line, const ts_error *err);
/* The same, for an error that is known to be in the command line. */
int cli_usage_error(const cli_line *line, const ts_error *err);
/* Is standard output free for the report: does no option write a file to it, as "--svg -" does? cli_begin
 * refuses lines with more than one such option, of which --json is one. */
bool cli_reports(const cli_line *line);

#endif
