/* Structs of counts by a table of their members, so that adding them up needs no list of its own. */
#ifndef TILESIM_BASE_MEMBERS_H
#define TILESIM_BASE_MEMBERS_H

#include <stddef.h>
#include <stdint.h>

/* An int64, or an array of them; a table ends with a row of count 0. */
typedef struct {
    size_t offset;
    int count;
} ts_member;

#define TS_MEMBER(type, name)                                                                                \
    { offsetof(type, name), (int)(sizeof(((type *)0)->name) / sizeof(int64_t)) }

static inline int64_t *ts_member_of(void *counts, const ts_member *member, int i) {
    return (int64_t *)(void *)((char *)counts + member->offset) + i;
}

/* sum += part * times / of, each member rounded to the nearest: the counts of a sample, scaled up. */
void ts_members_add(void *sum, const void *part, const ts_member *members, int64_t times, int64_t of);

#endif
