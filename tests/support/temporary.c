/* Where tests write files. */
#include "tests/support/temporary.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

char *temporary_path(char *path, const char *name) {
    const char *folder = getenv("TMPDIR");
    int length = snprintf(path, TEMPORARY_PATH, "%s/%s", folder ? folder : "/tmp", name);
    assert(length > 0 && length < TEMPORARY_PATH);
    return path;
}
