/* How undefined bits go through an instruction with a vreg or vmask as its result, by its row's shadow
 * rule. */
#ifndef TILESIM_CHECK_SHADOW_H
#define TILESIM_CHECK_SHADOW_H

#include "isa/isa.h"

enum { TS_SHADOW_SOURCES = 3 };

/* A shadow word has a set bit for each undefined bit of its word. */
typedef struct {
    ts_shadow_rule rule;
    ts_vector_function *function; /* that of the instruction, for the rules that move bits as it does */
    const uint32_t *values[TS_SHADOW_SOURCES], *shadows[TS_SHADOW_SOURCES]; /* shadows: none is NULL */
    int32_t number;                                                         /* the scalar source */
} ts_shadow_sources;

/* Of the result, TS_VREG_WORDS words, which are none of the sources. */
void ts_shadow_apply(const ts_shadow_sources *sources, uint32_t *result);

#endif
