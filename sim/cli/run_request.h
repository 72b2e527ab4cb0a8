/* What the commands that run a program share: their options, and the debugger's prompt. */
#ifndef TILESIM_CLI_RUN_REQUEST_H
#define TILESIM_CLI_RUN_REQUEST_H

#include "options.h"
#include "run/run.h"

/* Rows of an option table, first in both. */
#define CLI_RUN_OPTIONS                                                                                      \
    CLI_MACHINE_OPTION, CLI_SET_OPTION, {"define", 'D', "NAME=VALUE", "sets a .param of the program"},       \
        {"input", 'i', "TENSOR=FILE", "the values of an input: .npy, .npz:NAME, .safetensors:NAME, .bin"},   \
        {"convert", '\0', NULL, "let inputs of another type be rounded to the tensor's"}, CLI_MEMORY_OPTION, \
    {                                                                                                        \
        "max-cycles", '\0', "N",                                                                             \
            "a program that runs longer has failed; default 10,000,000,000, and fewer in a loop without "    \
            "a DMA"                                                                                          \
    }

bool cli_run_request(ts_error *err, const cli_line *line, ts_run_request *request);
/* Behind it: the options of a mesh, if there are any. */
bool cli_run_mesh(ts_error *err, const cli_line *line, ts_run_request *request);

/* Commands from standard input until it ends; with `breaks`, after going to the first of those lines. Returns
 * the exit code. */
int cli_debug(const cli_line *line, const ts_run_request *request, const char *const *breaks,
              int break_count);

#endif
