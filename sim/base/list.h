/* A list that grows in an arena and begins empty. */
#ifndef TILESIM_BASE_LIST_H
#define TILESIM_BASE_LIST_H

#include "base/arena.h"

#define LIST_OF(type)                                                                                        \
    struct {                                                                                                 \
        type *items;                                                                                         \
        int count;                                                                                           \
    }
/* The address of a new zeroed item at the end. */
#define PUSH(arena, list) TS_APPEND(arena, (list)->items, (list)->count)

#endif
