/* Files: read whole, write to a temporary name and rename, so that nothing is ever half written. */
#ifndef TILESIM_BASE_FILE_H
#define TILESIM_BASE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"

/* The whole file, with a NUL behind it that `length` does not count. Directories, and files over
 * `limit_bytes`, are errors. */
bool ts_file_read(ts_error *err, ts_arena *arena, const char *path, size_t limit_bytes, char **bytes,
                  size_t *length);

/* The same of a text, without the byte order mark that editors may put before it; its name is the path. */
bool ts_file_read_source(ts_error *err, ts_arena *arena, const char *path, size_t limit_bytes,
                         ts_source *source);

/* The bytes that a regular file has, and exactly `length` of them from `offset`; fewer is an error. */
bool ts_file_size(ts_error *err, const char *path, uint64_t *bytes);
bool ts_file_read_part(ts_error *err, const char *path, uint64_t offset, size_t length, void *bytes);
/* Is it a pipe, or anything else that is no regular file and may give its bytes only once? */
bool ts_file_is_stream(const char *path);

/* A file being read piece by piece; "-" is standard input. */
typedef struct ts_file_reader ts_file_reader;
ts_file_reader *ts_file_open(ts_error *err, ts_arena *arena, const char *path);
/* The next bytes: `capacity` of them, or what is left. */
bool ts_file_read_next(ts_error *err, ts_file_reader *reader, void *bytes, size_t capacity, size_t *length);
void ts_file_finish(ts_file_reader *reader); /* NULL is fine */

/* A file being written: bytes go to "PATH.tmp-XXXXXX" in the same folder; close syncs it and renames it to
 * PATH, after every write was checked; abandon removes it. Symbolic links are followed: what they lead to is
 * replaced, the new file has the mode of the old one. What is no regular file (a device, a pipe), and "-",
 * /dev/stdout, /dev/fd/N and the file that standard output goes to, are written as the bytes come. */
typedef struct ts_file_writer ts_file_writer;
ts_file_writer *ts_file_create(ts_error *err, ts_arena *arena, const char *path);
bool ts_file_write(ts_error *err, ts_file_writer *writer, const void *bytes, size_t length);
bool ts_file_close(ts_error *err, ts_file_writer *writer);
void ts_file_abandon(ts_file_writer *writer);
bool ts_file_save(ts_error *err, ts_arena *arena, const char *path, const void *bytes, size_t length);
/* Can a file of that name be written? To be known before long work. */
bool ts_file_check(ts_error *err, ts_arena *arena, const char *path);
bool ts_file_is_standard_output(const char *path);
/* Do two names lead to one file, there already or still to be made? Never of devices and of "-". */
bool ts_file_same(ts_arena *arena, const char *one, const char *other);

/* Called for each temporary file that is made or gone, so that a program can remove those that it
 * leaves when a signal ends it. The library's own does nothing; a program has another by defining a function
 * of this name: the linker takes that one. */
typedef enum { TS_TEMPORARY_GONE, TS_TEMPORARY_MADE } ts_temporary_event;
void ts_file_temporary(const char *path, ts_temporary_event event);

#endif
