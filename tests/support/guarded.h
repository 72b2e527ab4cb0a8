/* Bytes before a page that may be neither read nor written. */
#ifndef TESTS_SUPPORT_GUARDED_H
#define TESTS_SUPPORT_GUARDED_H

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct {
    uint8_t *map, *bytes;
    size_t length;
} guarded;

static inline guarded guard(int64_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), length = ((size_t)bytes + page - 1) / page * page + page;
    uint8_t *map = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert(map != MAP_FAILED);
    int failed = mprotect(map + length - page, page, PROT_NONE);
    assert(failed == 0);
    return (guarded){map, map + length - page - bytes, length};
}

static inline void guarded_free(guarded g) { munmap(g.map, g.length); }

#endif
