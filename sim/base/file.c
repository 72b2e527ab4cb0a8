/* Files: read whole; write to a temporary name, sync and rename. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

enum { BUFFER_BYTES = 64 << 10 };

static bool io_error(ts_error *err, const char *verb, const char *path, const char *why) {
    return ts_error_set(err, TS_ERROR_IO, "cannot %s '%s': %s", verb, path, why);
}

static bool too_long(ts_error *err, const char *path, size_t limit_bytes) {
    return ts_error_set(err, TS_ERROR_IO, "cannot read '%s': it has more than %zu bytes", path, limit_bytes);
}

/* The system's words, but ours for what is no file. */
static const char *why_not(int cause) { return cause == EISDIR ? "it is a directory" : strerror(cause); }

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

typedef struct {
    const char *path;
    int fd;
    size_t limit_bytes; /* refused beyond */
} open_file;

/* The bytes of an open file. A pipe has no size, so the buffer grows; a file fits from the start. */
static bool read_open(ts_error *err, ts_arena *arena, const open_file *file, char **bytes, size_t *length) {
    const char *path = file->path;
    int fd = file->fd;
    size_t limit_bytes = file->limit_bytes;
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
    bool ok = read_open(err, arena, &(open_file){path, fd, limit_bytes}, bytes, length);
    close(fd);
    return ok;
}

bool ts_file_read_source(ts_error *err, ts_arena *arena, const char *path, size_t limit_bytes,
                         ts_source *source) {
    char *bytes;
    size_t length;
    if (!ts_file_read(err, arena, path, limit_bytes, &bytes, &length)) return false;
    size_t skipped = ts_text_mark(bytes, length);
    *source = (ts_source){path, bytes + skipped, length - skipped};
    return true;
}

bool ts_file_size(ts_error *err, const char *path, uint64_t *bytes) {
    struct stat status;
    if (stat(path, &status) != 0) return io_error(err, "open", path, strerror(errno));
    if (!S_ISREG(status.st_mode)) return io_error(err, "read", path, "it is not a regular file");
    *bytes = (uint64_t)status.st_size;
    return true;
}

bool ts_file_is_stream(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
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
        if (got < 0) return io_error(err, "read", reader->path, why_not(errno));
        if (got == 0) break;
        *length += (size_t)got;
    }
    return true;
}

void ts_file_finish(ts_file_reader *reader) {
    if (reader && reader->fd >= 0 && reader->fd != STDIN_FILENO) close(reader->fd);
    if (reader) reader->fd = -1;
}

/* ---- Where a name leads ---- */

/* The descriptor that a name such as /dev/fd/3 stands for; -1: none. */
static int named_descriptor(const char *path) {
    static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};
    if (strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0) return STDOUT_FILENO;
    if (strcmp(path, "/dev/stderr") == 0) return STDERR_FILENO;
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        size_t length = strlen(folders[i]);
        if (strncmp(path, folders[i], length) != 0) continue;
        size_t digits = strspn(path + length, "0123456789");
        if (digits > 0 && digits < 9 && path[length + digits] == '\0') return atoi(path + length);
    }
    return -1;
}

static bool same_inode(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* The same, and standard output where `path` is the file that it goes to. */
static int open_descriptor(const char *path) {
    struct stat file, output;
    int fd = named_descriptor(path);
    if (fd >= 0) return fd;
    bool both = stat(path, &file) == 0 && S_ISREG(file.st_mode) && fstat(STDOUT_FILENO, &output) == 0;
    return both && same_inode(&file, &output) ? STDOUT_FILENO : -1;
}

bool ts_file_is_standard_output(const char *path) { return open_descriptor(path) == STDOUT_FILENO; }

/* The folder of a path, with its last '/'; "" when it names none. */
static char *folder_of(ts_arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return ts_arena_copy_text(arena, path, slash ? (size_t)(slash - path) + 1 : 0);
}

static char *join(ts_arena *arena, const char *folder, const char *name) {
    size_t length = strlen(folder);
    char *path = ts_arena_alloc(arena, length + strlen(name) + 1, 1);
    memcpy(path, folder, length);
    memcpy(path + length, name, strlen(name) + 1);
    return path;
}

/* What the links of the last component lead to, there or not; NULL and errno when they go in a circle. */
static const char *follow(ts_arena *arena, const char *path) {
    enum { MOST_LINKS = 40 }; /* as Linux */
    char link[PATH_MAX];
    for (int i = 0; i <= MOST_LINKS; i++) {
        ssize_t length = readlink(path, link, sizeof link - 1);
        if (length < 0) return path;
        link[length] = '\0';
        path = join(arena, link[0] == '/' ? "" : folder_of(arena, path), link);
    }
    errno = ELOOP;
    return NULL;
}

bool ts_file_same(ts_arena *arena, const char *one, const char *other) {
    struct stat a, b;
    if (named_descriptor(one) >= 0 || named_descriptor(other) >= 0) return false;
    bool first = stat(one, &a) == 0, second = stat(other, &b) == 0;
    if (first && second) return !S_ISCHR(a.st_mode) && same_inode(&a, &b);
    if (first || second || !(one = follow(arena, one)) || !(other = follow(arena, other))) return false;
    const char *folders[] = {folder_of(arena, one), folder_of(arena, other)};
    if (strcmp(one + strlen(folders[0]), other + strlen(folders[1])) != 0) return false;
    return stat(join(arena, folders[0], "."), &a) == 0 && stat(join(arena, folders[1], "."), &b) == 0 &&
           same_inode(&a, &b);
}

/* ---- Writing ---- */

struct ts_file_writer {
    const char *path;   /* as it was given */
    const char *target; /* where its links lead */
    char *temporary;    /* NULL when the bytes go straight to `path` (standard output, a device, a pipe) */
    char *buffer;
    size_t used;
    int fd;      /* -1 after a failure and after close */
    bool shared; /* the descriptor was open before and stays so */
};

__attribute__((weak)) void ts_file_temporary(const char *path, ts_temporary_event event) {
    (void)path, (void)event;
}

/* No signal comes between the file and the word of it. */
static int create_told(const char *name, mode_t mode) {
    sigset_t all, old;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &old);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode), cause = errno;
    if (fd >= 0) ts_file_temporary(name, TS_TEMPORARY_MADE);
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = cause;
    return fd;
}

/* Opens a file beside the target that nobody else has; `old` is the target when there is one: a file that
 * only its owner may read stays so all the time. */
static int open_temporary(ts_arena *arena, ts_file_writer *writer, const struct stat *old) {
    size_t bytes = strlen(writer->target) + sizeof ".tmp-XXXXXX";
    writer->temporary = ts_arena_alloc(arena, bytes, 1);
    for (unsigned attempt = 0; attempt < 1000; attempt++) {
        unsigned number = ((unsigned)getpid() * 1000 + attempt) & 0xffffff;
        snprintf(writer->temporary, bytes, "%s.tmp-%06x", writer->target, number);
        int fd = create_told(writer->temporary, old ? 0600 : 0666);
        if (fd < 0 && errno == EEXIST) continue;
        if (fd >= 0 && old) (void)!fchmod(fd, old->st_mode & 0777); /* some file systems have no modes */
        return fd;
    }
    return -1;
}

/* One that was open before, if bytes may be written to it. */
static int share(ts_file_writer *writer, int fd) {
    int flags = fcntl(fd, F_GETFL);
    writer->shared = true;
    if (fd == STDOUT_FILENO) writer->path = "standard output";
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY) return fd;
    errno = EBADF;
    return -1;
}

static int open_output(ts_arena *arena, ts_file_writer *writer) {
    struct stat status;
    int fd = open_descriptor(writer->path);
    if (fd >= 0) return share(writer, fd);
    bool exists = stat(writer->path, &status) == 0;
    if (exists && S_ISDIR(status.st_mode)) return errno = EISDIR, -1;
    if (exists && !S_ISREG(status.st_mode)) return open(writer->path, O_WRONLY | O_CLOEXEC);
    if (exists && access(writer->path, W_OK) != 0) return -1;
    writer->target = follow(arena, writer->path);
    return writer->target ? open_temporary(arena, writer, exists ? &status : NULL) : -1;
}

ts_file_writer *ts_file_create(ts_error *err, ts_arena *arena, const char *path) {
    ts_file_writer *writer = TS_NEW(arena, ts_file_writer);
    if (*path == '\0') return io_error(err, "create", path, "it has no name"), NULL;
    writer->path = ts_arena_copy_text(arena, path, strlen(path));
    writer->buffer = TS_NEW_ARRAY(arena, char, BUFFER_BYTES);
    writer->fd = open_output(arena, writer);
    if (writer->fd >= 0) return writer;
    io_error(err, "create", writer->path, why_not(errno));
    return NULL;
}

static bool close_file(ts_file_writer *writer) {
    int fd = writer->fd;
    writer->fd = -1;
    return fd < 0 || writer->shared || close(fd) == 0;
}

void ts_file_abandon(ts_file_writer *writer) {
    close_file(writer);
    if (!writer->temporary) return;
    unlink(writer->temporary);
    ts_file_temporary(writer->temporary, TS_TEMPORARY_GONE);
    writer->temporary = NULL;
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

/* Are the bytes on the disk, where the file system can tell? */
static bool sync_file(int fd) { return fsync(fd) == 0 || errno == EINVAL || errno == ENOTSUP; }

/* The new name too, where folders can be synced. */
static void sync_folder(const char *path) {
    const char *slash = strrchr(path, '/');
    char folder[PATH_MAX] = ".";
    if (slash) snprintf(folder, sizeof folder, "%.*s", (int)(slash - path) + 1, path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return;
    (void)!fsync(fd);
    close(fd);
}

bool ts_file_close(ts_error *err, ts_file_writer *writer) {
    if (writer->fd < 0) return io_error(err, "write", writer->path, "an earlier write failed");
    if (!flush(err, writer)) return false;
    if (writer->temporary && !sync_file(writer->fd)) return fail(err, writer, "write");
    if (!close_file(writer)) return fail(err, writer, "write");
    if (!writer->temporary) return true;
    if (rename(writer->temporary, writer->target) != 0) return fail(err, writer, "rename to");
    ts_file_temporary(writer->temporary, TS_TEMPORARY_GONE);
    writer->temporary = NULL;
    sync_folder(writer->target);
    return true;
}

bool ts_file_save(ts_error *err, ts_arena *arena, const char *path, const void *bytes, size_t length) {
    ts_file_writer *writer = ts_file_create(err, arena, path);
    return writer && ts_file_write(err, writer, bytes, length) && ts_file_close(err, writer);
}

/* To open a pipe would wait for its reader. */
static bool is_special(const char *path) {
    struct stat status;
    return open_descriptor(path) < 0 && stat(path, &status) == 0 && !S_ISREG(status.st_mode) &&
           !S_ISDIR(status.st_mode);
}

bool ts_file_check(ts_error *err, ts_arena *arena, const char *path) {
    if (is_special(path)) return true;
    ts_file_writer *writer = ts_file_create(err, arena, path);
    if (writer) ts_file_abandon(writer);
    return writer != NULL;
}
