/* Hashes of bytes and of sequences of words. */
#ifndef TILESIM_BASE_HASH_H
#define TILESIM_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

static const uint64_t TS_HASH_BEGIN = UINT64_C(0xcbf29ce484222325);

/* FNV-1a, 64 bits: of the bytes behind those that `hash` is of; TS_HASH_BEGIN: of none. */
static inline uint64_t ts_hash_bytes(uint64_t hash, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) hash = (hash ^ ((const uint8_t *)bytes)[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* Other words have other hashes. */
static inline uint64_t ts_hash_word(uint64_t word) {
    word *= UINT64_C(0x9e3779b97f4a7c15); /* 2^64 over the golden ratio */
    return word ^ word >> 32;
}

/* Two hashes of a sequence of words, together so wide that where they are equal the sequences are. */
static inline void ts_hash_add(uint64_t hash[2], uint64_t word) {
    hash[0] = (hash[0] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    hash[0] ^= hash[0] >> 29;
    hash[1] = (hash[1] + word) * UINT64_C(0xbf58476d1ce4e5b9);
    hash[1] ^= hash[1] >> 32;
}

#endif
