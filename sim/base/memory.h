/* What work will need of the host's memory, checked before it begins. */
#ifndef TILESIM_BASE_MEMORY_H
#define TILESIM_BASE_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef struct {
    const char *name; /* "tensor 'x'", as errors call it */
    int64_t bytes;    /* at least 0 */
} ts_memory_part;

/* 80 % of the least of: the physical memory, the limits of the control groups, the limit of the address
 * space. */
int64_t ts_memory_host(void);

/* The least limit of the control groups, v2 and v1, that the file `groups` (/proc/self/cgroup) names below
 * the folder `mount` (/sys/fs/cgroup), and of those around them; INT64_MAX: there is none. */
int64_t ts_memory_group(const char *groups, const char *mount);

/* Bytes of addresses that the process has taken; false where the system does not say. */
bool ts_memory_addresses(int64_t *bytes);

/* Do the parts fit into `most` bytes? An error names the largest three. */
bool ts_memory_check(ts_error *err, const ts_memory_part *parts, int count, int64_t most);

/* "4 GiB", "512MiB", "1000000": bytes, at least 1. `what` begins the message. */
bool ts_memory_parse(ts_error *err, const char *what, const char *text, int64_t *bytes);

#endif
