/* Zip archives: the directory at the end says where entries lie; zlib unpacks and sums. */
#include "host/zip.h"

#include <limits.h>
#include <string.h>
#define ZLIB_CONST /* it reads what it may not write */
#include <zlib.h>

#include "base/file.h"

/* Lengths of the records without what varies, and their first bytes, little endian. */
enum { LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22, LOCATOR_BYTES = 20, END64_BYTES = 56 };
static const uint32_t local_magic = 0x04034b50, entry_magic = 0x02014b50, end_magic = 0x06054b50,
                      locator_magic = 0x07064b50, end64_magic = 0x06064b50;
enum { STORED = 0, DEFLATED = 8, ENCRYPTED = 1, ZIP64 = 1, UTF8 = 0x800, VERSION_64 = 45 };
enum { COMMENT_LIMIT = 65535, DIRECTORY_LIMIT = 16 << 20 };
enum { EXPANSION = 1032 }; /* that deflate can reach (zlib.net/zlib_tech.html) */

static bool broken(ts_error *err, const char *path, const char *what) {
    return ts_error_set(err, TS_ERROR_INPUT, "%s: not a whole .npz file: %s", path, what);
}

static uint64_t number(const uint8_t *bytes, int count) {
    uint64_t value = 0;
    for (int i = count - 1; i >= 0; i--) value = value << 8 | bytes[i];
    return value;
}

typedef struct {
    const char *path;
    uint64_t file_bytes;
    uint64_t at, bytes; /* of the directory */
} archive;

/* Behind an archive without a place for 64 bits is only this record; else one before it says where that
 * is. */
static bool find_end64(ts_error *err, archive *in, uint64_t end_at) {
    uint8_t locator[LOCATOR_BYTES], end[END64_BYTES];
    if (end_at < LOCATOR_BYTES) return true;
    if (!ts_file_read_part(err, in->path, end_at - LOCATOR_BYTES, LOCATOR_BYTES, locator)) return false;
    if (number(locator, 4) != locator_magic) return true;
    uint64_t at = number(locator + 8, 8);
    if (in->file_bytes < END64_BYTES || at > in->file_bytes - END64_BYTES)
        return broken(err, in->path, "its directory lies outside");
    if (!ts_file_read_part(err, in->path, at, END64_BYTES, end)) return false;
    if (number(end, 4) != end64_magic) return broken(err, in->path, "its directory has no end");
    in->bytes = number(end + 40, 8);
    in->at = number(end + 48, 8);
    return true;
}

static bool find_directory(ts_error *err, ts_arena *arena, archive *in) {
    if (!ts_file_size(err, in->path, &in->file_bytes)) return false;
    uint64_t most = END_BYTES + COMMENT_LIMIT;
    size_t length = (size_t)(in->file_bytes < most ? in->file_bytes : most);
    uint8_t *tail = ts_arena_alloc(arena, length, 1);
    if (!ts_file_read_part(err, in->path, in->file_bytes - length, length, tail)) return false;
    size_t back = END_BYTES; /* a comment may follow */
    while (back <= length && number(tail + length - back, 4) != end_magic) back++;
    if (back > length) return broken(err, in->path, "it does not end with a directory");
    const uint8_t *end = tail + length - back;
    in->bytes = number(end + 12, 4);
    in->at = number(end + 16, 4);
    if (!find_end64(err, in, in->file_bytes - back)) return false;
    if (in->bytes > in->file_bytes || in->at > in->file_bytes - in->bytes)
        return broken(err, in->path, "its directory lies outside");
    return in->bytes <= DIRECTORY_LIMIT || broken(err, in->path, "its directory has more than 16 MiB");
}

/* Numbers that do not fit 32 bits are in this field, in this order. */
static bool read_extra(const uint8_t *extra, size_t length, ts_zip_entry *entry) {
    uint64_t *const wide[] = {&entry->bytes, &entry->stored_bytes, &entry->at};
    for (size_t size; length >= 4; extra += size, length -= size) {
        size = 4 + (size_t)number(extra + 2, 2);
        if (size > length) return false;
        if (number(extra, 2) != ZIP64) continue;
        const uint8_t *next = extra + 4;
        for (int i = 0; i < 3; i++) {
            if (*wide[i] != UINT32_MAX) continue;
            if (next + 8 > extra + size) return false;
            *wide[i] = number(next, 8);
            next += 8;
        }
    }
    return true;
}

/* The bytes that it takes; 0 where they do not hold an entry. */
static size_t read_entry(ts_arena *arena, const uint8_t *bytes, size_t left, ts_zip_entry *entry) {
    if (left < ENTRY_BYTES || number(bytes, 4) != entry_magic) return 0;
    size_t name = (size_t)number(bytes + 28, 2), extra = (size_t)number(bytes + 30, 2);
    size_t length = ENTRY_BYTES + name + extra + (size_t)number(bytes + 32, 2);
    if (left < length) return 0;
    *entry = (ts_zip_entry){.name = ts_arena_copy_text(arena, (const char *)bytes + ENTRY_BYTES, name),
                            .flags = (unsigned)number(bytes + 8, 2),
                            .method = (unsigned)number(bytes + 10, 2),
                            .crc = (unsigned)number(bytes + 16, 4),
                            .stored_bytes = number(bytes + 20, 4),
                            .bytes = number(bytes + 24, 4),
                            .at = number(bytes + 42, 4)};
    return read_extra(bytes + ENTRY_BYTES + name, extra, entry) ? length : 0;
}

bool ts_zip_open(ts_error *err, ts_arena *arena, const char *path, ts_zip_index *index) {
    archive in = {.path = path};
    if (!find_directory(err, arena, &in)) return false;
    size_t left = (size_t)in.bytes; /* at most DIRECTORY_LIMIT */
    uint8_t *bytes = ts_arena_alloc(arena, left, 1);
    if (!ts_file_read_part(err, path, in.at, left, bytes)) return false;
    *index = (ts_zip_index){TS_NEW_ARRAY(arena, ts_zip_entry, left / ENTRY_BYTES + 1), 0};
    for (size_t length; left > 0; bytes += length, left -= length) {
        length = read_entry(arena, bytes, left, &index->entries[index->count++]);
        if (length == 0) return broken(err, path, "its directory is damaged");
    }
    return true;
}

/* Where its data begins: behind a header whose length the directory does not say. */
static bool find_data(ts_error *err, const char *path, const ts_zip_entry *entry, uint64_t *at) {
    uint8_t local[LOCAL_BYTES];
    uint64_t file_bytes;
    if (!ts_file_size(err, path, &file_bytes)) return false;
    if (file_bytes < LOCAL_BYTES || entry->at > file_bytes - LOCAL_BYTES)
        return broken(err, path, "an entry lies outside");
    if (!ts_file_read_part(err, path, entry->at, LOCAL_BYTES, local)) return false;
    if (number(local, 4) != local_magic) return broken(err, path, "an entry is not where its directory says");
    *at = entry->at + LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
    if (*at <= file_bytes && entry->stored_bytes <= file_bytes - *at) return true;
    return broken(err, path, "an entry lies outside");
}

static void *take(void *arena, unsigned count, unsigned size) { return ts_arena_alloc(arena, count, size); }
static void give_back(void *arena, void *bytes) { (void)arena, (void)bytes; } /* with all of the arena */

/* Exactly `length` bytes. zlib counts in unsigned ints, so in parts. */
static bool unpack(ts_arena *arena, const uint8_t *from, size_t stored, uint8_t *bytes, size_t length) {
    z_stream stream = {
        .next_in = from, .next_out = bytes, .zalloc = take, .zfree = give_back, .opaque = arena};
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false; /* without zlib's own header */
    int state = Z_OK;
    while (state == Z_OK) {
        size_t in = stored - (size_t)(stream.next_in - from),
               out = length - (size_t)(stream.next_out - bytes);
        stream.avail_in = in < UINT_MAX ? (unsigned)in : UINT_MAX;
        stream.avail_out = out < UINT_MAX ? (unsigned)out : UINT_MAX;
        state = inflate(&stream, Z_NO_FLUSH);
    }
    bool whole = state == Z_STREAM_END && stream.next_out == bytes + length;
    inflateEnd(&stream);
    return whole;
}

static bool check_entry(ts_error *err, const char *path, const ts_zip_entry *entry, size_t limit_bytes) {
    if (entry->flags & ENCRYPTED)
        return ts_error_set(err, TS_ERROR_INPUT, "%s: '%s' is encrypted", path, entry->name);
    if (entry->method != STORED && entry->method != DEFLATED)
        return ts_error_set(err, TS_ERROR_INPUT,
                            "%s: '%s' is packed by method %u, expected 0 (stored) or 8 (deflate), as "
                            "np.savez and np.savez_compressed write",
                            path, entry->name, entry->method);
    if (entry->bytes > limit_bytes || entry->stored_bytes > limit_bytes)
        return ts_error_set(err, TS_ERROR_IO, "cannot read '%s': '%s' has more than %zu bytes", path,
                            entry->name, limit_bytes);
    bool possible = entry->method == STORED ? entry->bytes == entry->stored_bytes
                                            : entry->bytes / EXPANSION <= entry->stored_bytes;
    return possible || broken(err, path, "an entry cannot have the bytes that its directory says");
}

bool ts_zip_read(ts_error *err, ts_arena *arena, const char *path, const ts_zip_entry *entry,
                 size_t limit_bytes, uint8_t **bytes) {
    uint64_t at = 0;
    if (!check_entry(err, path, entry, limit_bytes) || !find_data(err, path, entry, &at)) return false;
    size_t length = (size_t)entry->bytes, stored = (size_t)entry->stored_bytes; /* inside the file */
    uint8_t *data = ts_arena_alloc(arena, stored, 1);
    if (!ts_file_read_part(err, path, at, stored, data)) return false;
    *bytes = entry->method == STORED ? data : ts_arena_alloc(arena, length, 1);
    if (entry->method == DEFLATED && !unpack(arena, data, stored, *bytes, length))
        return broken(err, path, "an entry does not unpack");
    return crc32_z(0, *bytes, length) == entry->crc || broken(err, path, "an entry's checksum is another");
}

/* ---- Writing ---- */

static void add_number(ts_text *out, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) ts_text_add_char(out, (char)(value >> 8 * i & 0xff));
}

/* The middle that a local header and a directory's entry share, but for the place, which only the latter has:
 * sizes are in the extra field, of 64 bits. 1980-01-01, the first date there is, so that equal arrays are
 * equal files. */
static void add_middle(ts_text *out, const ts_zip_entry *entry, int wide) {
    enum { FIRST_DATE = 1 << 5 | 1 };
    add_number(out, VERSION_64, 2);
    add_number(out, UTF8, 2);
    add_number(out, STORED, 2);
    add_number(out, (uint64_t)FIRST_DATE << 16, 4);
    add_number(out, entry->crc, 4);
    add_number(out, UINT64_MAX, 8);
    add_number(out, strlen(entry->name), 2);
    add_number(out, (uint64_t)(4 + 8 * wide), 2);
}

static void add_names(ts_text *out, const ts_zip_entry *entry, int wide) {
    const uint64_t numbers[] = {entry->bytes, entry->bytes, entry->at};
    ts_text_add(out, "%s", entry->name);
    add_number(out, ZIP64, 2);
    add_number(out, (uint64_t)(8 * wide), 2);
    for (int i = 0; i < wide; i++) add_number(out, numbers[i], 8);
}

static void add_local(ts_text *out, const ts_zip_entry *entry) {
    add_number(out, local_magic, 4);
    add_middle(out, entry, 2);
    add_names(out, entry, 2);
}

static void add_directory(ts_text *out, const ts_zip_entry *entry) {
    add_number(out, entry_magic, 4);
    add_number(out, VERSION_64, 2);
    add_middle(out, entry, 3);
    add_number(out, 0, 8); /* no comment, disk 0, */
    add_number(out, 0, 2); /* no attributes */
    add_number(out, UINT32_MAX, 4);
    add_names(out, entry, 3);
}

/* Its directory has one entry of `length` bytes from `at`. */
static void add_end(ts_text *out, uint64_t at, uint64_t length) {
    add_number(out, end64_magic, 4);
    add_number(out, END64_BYTES - 12, 8); /* what follows */
    add_number(out, VERSION_64, 2);
    add_number(out, VERSION_64, 2);
    add_number(out, 0, 8); /* of disk 0 */
    add_number(out, 1, 8);
    add_number(out, 1, 8);
    add_number(out, length, 8);
    add_number(out, at, 8);
    add_number(out, locator_magic, 4);
    add_number(out, 0, 4);
    add_number(out, at + length, 8);
    add_number(out, 1, 4);
    add_number(out, end_magic, 4);
    add_number(out, 0, 4);
    add_number(out, UINT64_MAX, 8); /* entries and length: see above */
    add_number(out, UINT64_MAX, 4);
    add_number(out, 0, 2);
}

bool ts_zip_save(ts_error *err, ts_arena *arena, const char *path, const char *name, const ts_source *head,
                 const ts_source *body) {
    if (strlen(name) > UINT16_MAX) return ts_error_set(err, TS_ERROR_INPUT, "%s: the name is too long", path);
    if (!ts_text_is_utf8(name)) return ts_error_set(err, TS_ERROR_INPUT, "%s: the name is not UTF-8", path);
    uLong crc = crc32_z(0, (const uint8_t *)head->text, head->length);
    ts_zip_entry entry = {.name = name, .bytes = (uint64_t)head->length + body->length};
    if (body->length > 0) crc = crc32_z(crc, (const uint8_t *)body->text, body->length); /* NULL is "start" */
    entry.crc = (unsigned)crc;
    ts_text local = ts_text_begin(arena), end = ts_text_begin(arena);
    add_local(&local, &entry);
    add_directory(&end, &entry);
    add_end(&end, local.length + entry.bytes, end.length);
    ts_file_writer *writer = ts_file_create(err, arena, path);
    return writer && ts_file_write(err, writer, local.bytes, local.length) &&
           ts_file_write(err, writer, head->text, head->length) &&
           ts_file_write(err, writer, body->text, body->length) &&
           ts_file_write(err, writer, end.bytes, end.length) &&
           ts_file_close(err, writer); /* a write that fails removes the temporary file */
}
