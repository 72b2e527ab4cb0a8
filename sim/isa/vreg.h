/* The shape of a vreg: sublanes of lanes of words; word index = sublane * TS_LANES + lane. */
#ifndef TILESIM_ISA_VREG_H
#define TILESIM_ISA_VREG_H

enum {
    TS_LANES = 128,
    TS_SUBLANES = 8,
    TS_WORD_BITS = 32,
    TS_VREG_WORDS = TS_SUBLANES * TS_LANES,
    TS_VREG_BYTES = TS_VREG_WORDS * TS_WORD_BITS / 8
};

#endif
