/* Zip archives, as NumPy's .npz files are: entries stored or deflated, with 64-bit sizes (PKWARE's
 * APPNOTE.TXT 6.3.10, sections 4.3 to 4.5). */
#ifndef TILESIM_HOST_ZIP_H
#define TILESIM_HOST_ZIP_H

#include "base/arena.h"
#include "base/error.h"
#include "base/text.h"

typedef struct {
    const char *name;
    unsigned flags, method, crc;
    uint64_t stored_bytes, bytes; /* in the archive, unpacked */
    uint64_t at;                  /* of its local header */
} ts_zip_entry;

typedef struct {
    ts_zip_entry *entries; /* in the order of the archive's directory */
    size_t count;
} ts_zip_index;

/* Reads the directory at the archive's end and no more. */
bool ts_zip_open(ts_error *err, ts_arena *arena, const char *path, ts_zip_index *index);
/* One entry, whose checksum is compared; of more than `limit_bytes` it is an error. */
bool ts_zip_read(ts_error *err, ts_arena *arena, const char *path, const ts_zip_entry *entry,
                 size_t limit_bytes, uint8_t **bytes);
/* An archive of one entry, stored: the bytes of `head`, then those of `body`. */
bool ts_zip_save(ts_error *err, ts_arena *arena, const char *path, const char *name, const ts_source *head,
                 const ts_source *body);

#endif
