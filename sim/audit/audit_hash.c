/* The hashes of names and other texts. */
#include <string.h>

#include "audit_private.h"

uint64_t audit_hash(const char *text, size_t length) {
    uint64_t hash = UINT64_C(0x9e3779b97f4a7c15) ^ length, word;
    for (; length >= 8; text += 8, length -= 8) {
        memcpy(&word, text, 8);
        hash = (hash ^ word) * UINT64_C(0xff51afd7ed558ccd);
        hash ^= hash >> 32;
    }
    word = 0;
    if (length > 0) memcpy(&word, text, length);
    hash = (hash ^ word) * UINT64_C(0xc4ceb9fe1a85ec53);
    hash ^= hash >> 29;
    hash *= UINT64_C(0xff51afd7ed558ccd);
    return hash ^ (hash >> 32);
}

uint64_t audit_hash_name(ts_span name) { return audit_hash(name.text, name.length); }

ts_span audit_bare_name(ts_span name) {
    if (name.length > 0 && (*name.text == '%' || *name.text == '@')) name.text++, name.length--;
    return name;
}
