/* Files: read whole; write to a temporary name and rename. */
#include "tilesim/base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BUFFER_BYTES = 64 << 10 };

static bool io_error(ts_error *err, const char *verb, const char *path, const char *why) {
    return ts_error_set(err, TS_ERROR_IO, "cannot %s '%s': %s", verb, path, why);
}

static bool too_long(ts_error *err, const char *path, size_t limit_bytes) {
    return ts_error_set(err, TS_ERROR_IO, "cannot read '%s': it has more than %zu bytes", path, limit_bytes);
}

/* read(), again when a signal cut it short. */
static ssize_t read_some(int fd, char *bytes, size_t length) {
    ssize_t got;
    do got = read(fd, bytes, length);
    while (got < 0 && errno == EINTR);
    return got;
}

static bool write_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t put = write(fd, bytes, length);
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) return false;
        bytes += put;
        length -= (size_t)put;
    }
    return true;
}

/* The bytes of an open file. A pipe has no size, so the buffer grows; a file fits from the start. */
static bool read_open(ts_error *err, ts_arena *arena, const char *path, int fd, size_t limit_bytes,
                      char **bytes, size_t *length) {
    struct stat status;
    if (fstat(fd, &status) != 0) return io_error(err, "read", path, strerror(errno));
    if (S_ISDIR(status.st_mode)) return io_error(err, "read", path, "it is a directory");
    if ((uint64_t)status.st_size > limit_bytes) return too_long(err, path, limit_bytes);
    size_t capacity = S_ISREG(status.st_mode) ? (size_t)status.st_size + 1 : BUFFER_BYTES, used = 0;
    char *buffer = ts_arena_alloc(arena, capacity + 1, 1);
    for (;;) {
        ssize_t got = read_some(fd, buffer + used, capacity - used);
        if (got < 0) return io_error(err, "read", path, strerror(errno));
        if (got == 0) break;
        used += (size_t)got;
        if (used > limit_bytes) return too_long(err, path, limit_bytes);
        if (used < capacity) continue;
        buffer = ts_arena_grow(arena, buffer, used, capacity * 2 + 1, 1);
        capacity *= 2;
    }
    buffer[used] = '\0';
    *bytes = buffer;
    *length = used;
    return true;
}

bool ts_file_read(ts_error *err, ts_arena *arena, const char *path, size_t limit_bytes, char **bytes,
                  size_t *length) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(err, "open", path, strerror(errno));
    bool ok = read_open(err, arena, path, fd, limit_bytes, bytes, length);
    close(fd);
    return ok;
}

bool ts_file_size(ts_error *err, const char *path, uint64_t *bytes) {
    struct stat status;
    if (stat(path, &status) != 0) return io_error(err, "open", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) return io_error(err, "read", path, "it is not a regular file");
    *bytes = (uint64_t)status.st_size;
    return true;
}

bool ts_file_read_part(ts_error *err, const char *path, uint64_t offset, size_t length, void *bytes) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return io_error(err, "open", path, strerror(errno));
    const char *why = lseek(fd, (off_t)offset, SEEK_SET) < 0 ? strerror(errno) : NULL;
    for (size_t done = 0; !why && done < length;) {
        ssize_t got = read_some(fd, (char *)bytes + done, length - done);
        if (got < 0)
            why = strerror(errno);
        else if (got == 0)
            why = "it ends too early";
        else
            done += (size_t)got;
    }
    close(fd);
    return !why || io_error(err, "read", path, why);
}

struct ts_file_reader {
    const char *path;
    int fd;
};

ts_file_reader *ts_file_open(ts_error *err, ts_arena *arena, const char *path) {
    ts_file_reader *reader = TS_NEW(arena, ts_file_reader);
    bool is_input = strcmp(path, "-") == 0;
    reader->path = is_input ? "standard input" : ts_arena_copy_text(arena, path, strlen(path));
    reader->fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (reader->fd >= 0) return reader;
    io_error(err, "open", path, strerror(errno));
    return NULL;
}

bool ts_file_read_next(ts_error *err, ts_file_reader *reader, void *bytes, size_t capacity, size_t *length) {
    for (*length = 0; *length < capacity;) {
        ssize_t got = read_some(reader->fd, (char *)bytes + *length, capacity - *length);
        if (got < 0) return io_error(err, "read", reader->path, strerror(errno));
        if (got == 0) break;
        *length += (size_t)got;
    }
    return true;
}

void ts_file_finish(ts_file_reader *reader) {
    if (reader && reader->fd >= 0 && reader->fd != STDIN_FILENO) close(reader->fd);
    if (reader) reader->fd = -1;
}

struct ts_file_writer {
    const char *path;
    char *temporary; /* NULL when the bytes go straight to `path` (standard output, a device, a pipe) */
    char *buffer;
    size_t used;
    int fd; /* -1 after a failure and after close */
};

static bool is_special(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

static bool is_directory(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

/* Opens a file beside `path` that nobody else has. */
static int open_temporary(ts_arena *arena, const char *path, char **name) {
    size_t bytes = strlen(path) + sizeof ".tmp-XXXXXX";
    *name = ts_arena_alloc(arena, bytes, 1);
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        unsigned number = ((unsigned)getpid() * 1000 + attempt) & 0xffffff;
        snprintf(*name, bytes, "%s.tmp-%06x", path, number);
        int fd = open(*name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd >= 0 || errno != EEXIST) return fd;
    }
    return -1;
}

ts_file_writer *ts_file_create(ts_error *err, ts_arena *arena, const char *path) {
    ts_file_writer *writer = TS_NEW(arena, ts_file_writer);
    const char *why = *path == '\0' ? "it has no name" : is_directory(path) ? "it is a directory" : NULL;
    if (why) return io_error(err, "create", path, why), NULL;
    writer->path = ts_arena_copy_text(arena, path, strlen(path));
    writer->buffer = TS_NEW_ARRAY(arena, char, BUFFER_BYTES);
    if (strcmp(path, "-") == 0) {
        writer->path = "standard output";
        writer->fd = STDOUT_FILENO;
    } else if (is_special(path)) {
        writer->fd = open(path, O_WRONLY | O_CLOEXEC);
    } else {
        writer->fd = open_temporary(arena, path, &writer->temporary);
    }
    if (writer->fd >= 0) return writer;
    io_error(err, "create", path, strerror(errno));
    return NULL;
}

/* Closes the file and reports the error that `errno` holds. */
static bool fail(ts_error *err, ts_file_writer *writer, const char *verb) {
    int cause = errno;
    ts_file_abandon(writer);
    return io_error(err, verb, writer->path, strerror(cause));
}

static bool flush(ts_error *err, ts_file_writer *writer) {
    if (!write_all(writer->fd, writer->buffer, writer->used)) return fail(err, writer, "write");
    writer->used = 0;
    return true;
}

bool ts_file_write(ts_error *err, ts_file_writer *writer, const void *bytes, size_t length) {
    if (writer->fd < 0) return io_error(err, "write", writer->path, "an earlier write failed");
    if (length > BUFFER_BYTES - writer->used && !flush(err, writer)) return false;
    if (length > BUFFER_BYTES) return write_all(writer->fd, bytes, length) || fail(err, writer, "write");
    if (length) memcpy(writer->buffer + writer->used, bytes, length);
    writer->used += length;
    return true;
}

bool ts_file_close(ts_error *err, ts_file_writer *writer) {
    if (writer->fd < 0) return io_error(err, "write", writer->path, "an earlier write failed");
    if (!flush(err, writer)) return false;
    int fd = writer->fd;
    writer->fd = -1;
    if (fd != STDOUT_FILENO && close(fd) != 0) return fail(err, writer, "write");
    if (writer->temporary && rename(writer->temporary, writer->path) != 0)
        return fail(err, writer, "rename to");
    writer->temporary = NULL;
    return true;
}

void ts_file_abandon(ts_file_writer *writer) {
    if (writer->fd >= 0 && writer->fd != STDOUT_FILENO) close(writer->fd);
    writer->fd = -1;
    if (writer->temporary) unlink(writer->temporary);
    writer->temporary = NULL;
}

bool ts_file_save(ts_error *err, ts_arena *arena, const char *path, const void *bytes, size_t length) {
    ts_file_writer *writer = ts_file_create(err, arena, path);
    return writer && ts_file_write(err, writer, bytes, length) && ts_file_close(err, writer);
}

bool ts_file_check(ts_error *err, ts_arena *arena, const char *path) {
    if (strcmp(path, "-") == 0 || is_special(path)) return true;
    ts_file_writer *writer = ts_file_create(err, arena, path);
    if (writer) ts_file_abandon(writer);
    return writer != NULL;
}
