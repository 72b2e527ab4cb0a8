/* Where tests write files: in TMPDIR, which tests/run.py makes for each, or /tmp. */
#ifndef TESTS_SUPPORT_TEMPORARY_H
#define TESTS_SUPPORT_TEMPORARY_H

#include <stddef.h>

enum { TEMPORARY_PATH = 256 };
/* Writes the path of that name into `path`, of TEMPORARY_PATH bytes, and returns it. */
char *temporary_path(char *path, const char *name);

#endif
