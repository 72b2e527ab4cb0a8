/* Files: reading with its limits, writing whole or not at all. The system calls are replaced by ones that can
 * be told to fail, be interrupted or do half of what was asked. */
#include "tests/support/test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "tests/support/temporary.h"

/* Which call fails next time, with which errno (0: none); how many bytes a read or write does at most. */
static struct {
    int read, write, close, rename, fsync;
    int syncs;      /* how many were asked for */
    int interrupts; /* reads and writes that a signal interrupts first */
    size_t most;
} fault;

/* True when the call is to fail now; errno is set. */
static bool fails(int *code) {
    if (*code == 0) return false;
    errno = *code;
    *code = 0;
    return true;
}

static bool interrupted(void) {
    if (fault.interrupts == 0) return false;
    fault.interrupts--;
    errno = EINTR;
    return true;
}

static size_t most(size_t length) { return fault.most && length > fault.most ? fault.most : length; }

ssize_t read(int fd, void *bytes, size_t length) {
    if (interrupted() || fails(&fault.read)) return -1;
    return syscall(SYS_read, fd, bytes, most(length));
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (interrupted() || fails(&fault.write)) return -1;
    return syscall(SYS_write, fd, bytes, most(length));
}

int close(int fd) {
    int status = (int)syscall(SYS_close, fd);
    return fails(&fault.close) ? -1 : status;
}

int rename(const char *from, const char *to) {
    return fails(&fault.rename) ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fsync(int fd) {
    fault.syncs++;
    return fails(&fault.fsync) ? -1 : (int)syscall(SYS_fsync, fd);
}

/* ---- */
static ts_arena *arena;
static char folder[TEMPORARY_PATH], path[TEMPORARY_PATH + 8];

static int set_up(void **state) {
    memset(&fault, 0, sizeof fault);
    arena = ts_arena_new();
    snprintf(path, sizeof path, "%s/out", mkdtemp(temporary_path(folder, "tilesim-XXXXXX")));
    return 0;
}

/* Files in the folder; temporary ones that stay behind are counted too. */
static int file_count(void) {
    int count = 0;
    DIR *list = opendir(folder);
    for (const struct dirent *entry; (entry = readdir(list));) count += entry->d_name[0] != '.';
    closedir(list);
    return count;
}

static int tear_down(void **state) {
    memset(&fault, 0, sizeof fault);
    ts_arena_free(arena);
    unlink(path);
    rmdir(path);
    return rmdir(folder);
}

static void put(const char *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    fclose(file);
}

static void assert_content(const char *expected, size_t length) {
    char *bytes;
    size_t got;
    ts_error err = {0};
    assert_true(ts_file_read(&err, arena, path, 1 << 30, &bytes, &got));
    assert_int_equal(got, length);
    assert_memory_equal(bytes, expected, length);
    assert_int_equal(bytes[got], 0);
}

/* The error says that `verb` failed on the path, and why. */
static void assert_io_error(const ts_error *err, const char *verb, const char *why) {
    char expected[600];
    snprintf(expected, sizeof expected, "error: cannot %s '%s': %s\n", verb, path, why);
    assert_error(err, TS_ERROR_IO, expected);
}

static char *pattern(size_t length) {
    char *bytes = ts_arena_alloc(arena, length + 1, 1);
    for (size_t i = 0; i < length; i++) bytes[i] = (char)(i * 31 + i / 257);
    return bytes;
}

static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 300000};
enum { LENGTHS = sizeof lengths / sizeof lengths[0] };

TEST_WITH(write_then_read, set_up, tear_down) {
    for (size_t i = 0; i < LENGTHS; i++) {
        char *bytes = pattern(lengths[i]);
        ts_error err = {0};
        assert_true(ts_file_save(&err, arena, path, bytes, lengths[i]));
        assert_content(bytes, lengths[i]);
        assert_int_equal(file_count(), 1);
    }
}

TEST_WITH(many_small_writes_through_slow_calls, set_up, tear_down) {
    const size_t length = 200000;
    char *bytes = pattern(length);
    ts_error err = {0};
    fault.most = 1000;
    fault.interrupts = 5;
    ts_file_writer *writer = ts_file_create(&err, arena, path);
    for (size_t at = 0, step = 1; at < length; at += step, step = step % 97 + 1) {
        if (step > length - at) step = length - at;
        assert_true(ts_file_write(&err, writer, bytes + at, step));
    }
    assert_true(ts_file_close(&err, writer));
    fault.interrupts = 5;
    assert_content(bytes, length);
}

TEST_WITH(new_file_has_the_usual_mode, set_up, tear_down) {
    ts_error err = {0};
    struct stat status;
    mode_t old = umask(027);
    assert_true(ts_file_save(&err, arena, path, "x", 1));
    umask(old);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0640);
}

TEST_WITH(read_limits, set_up, tear_down) {
    char *bytes;
    size_t length;
    ts_error err = {0};
    put("12345", 5);
    assert_true(ts_file_read(&err, arena, path, 5, &bytes, &length));
    assert_false(ts_file_read(&err, arena, path, 4, &bytes, &length));
    assert_io_error(&err, "read", "it has more than 4 bytes");
    ts_error_clear(&err);
    assert_false(ts_file_read(&err, arena, "/dev/zero", 200000, &bytes, &length)); /* no size beforehand */
    assert_error(&err, TS_ERROR_IO, "error: cannot read '/dev/zero': it has more than 200000 bytes\n");
}

TEST_WITH(read_a_pipe, set_up, tear_down) {
    int ends[2];
    char name[32], *bytes;
    size_t length;
    ts_error err = {0};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "piped", 5), 5);
    close(ends[1]);
    snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_true(ts_file_read(&err, arena, name, 100, &bytes, &length));
    assert_string_equal(bytes, "piped");
    close(ends[0]);
}

TEST_WITH(read_errors, set_up, tear_down) {
    char *bytes;
    size_t length;
    ts_error err = {0};
    assert_false(ts_file_read(&err, arena, path, 100, &bytes, &length));
    assert_io_error(&err, "open", "No such file or directory");
    ts_error_clear(&err);
    mkdir(path, 0777);
    assert_false(ts_file_read(&err, arena, path, 100, &bytes, &length));
    assert_io_error(&err, "read", "it is a directory");
    ts_error_clear(&err);
    rmdir(path);
    put("12345", 5);
    fault.read = EIO;
    assert_false(ts_file_read(&err, arena, path, 100, &bytes, &length));
    assert_io_error(&err, "read", "Input/output error");
}

TEST_WITH(byte_order_marks, set_up, tear_down) {
    static const struct {
        const char *file, *text;
    } rows[] = {
        {"\xef\xbb\xbf"
         "ab",
         "ab"},
        {"\xef\xbb\xbf", ""},
        {"\xef\xbb"
         "a",
         "\xef\xbb"
         "a"},
        {"", ""},
        {"a\xef\xbb\xbf", "a\xef\xbb\xbf"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_error err = {0};
        ts_source source;
        put(rows[i].file, strlen(rows[i].file));
        assert_true(ts_file_read_source(&err, arena, path, 5, &source));
        assert_string_equal(source.name, path);
        assert_string_equal(source.text, rows[i].text);
        assert_int_equal(source.length, strlen(rows[i].text));
        if (source.length != 5) continue;
        assert_false(ts_file_read_source(&err, arena, path, 4, &source));
        assert_io_error(&err, "read", "it has more than 4 bytes");
    }
}

/* A part of a file, and what is not there. */
TEST_WITH(read_parts, set_up, tear_down) {
    static const struct {
        uint64_t offset;
        size_t length;
        const char *why; /* NULL: it is there */
    } rows[] = {
        {0, 9, NULL},
        {3, 4, NULL},
        {8, 1, NULL},
        {9, 0, NULL},
        {0, 10, "it ends too early"},
        {9, 1, "it ends too early"},
        {UINT64_MAX, 1, "Invalid argument"},
    };
    put("123456789", 9);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char part[16] = "";
        ts_error err = {0};
        bool good = ts_file_read_part(&err, path, rows[i].offset, rows[i].length, part);
        assert_int_equal(good, rows[i].why == NULL);
        if (good) assert_memory_equal(part, "123456789" + rows[i].offset, rows[i].length);
        if (!good) assert_io_error(&err, "read", rows[i].why);
    }
}

TEST_WITH(read_parts_that_fail, set_up, tear_down) {
    ts_error err = {0};
    char byte;
    put("123456789", 9);
    fault.read = EIO;
    assert_false(ts_file_read_part(&err, path, 0, 1, &byte));
    assert_io_error(&err, "read", "Input/output error");
    fault.read = 0;
    ts_error_clear(&err);
    unlink(path);
    assert_false(ts_file_read_part(&err, path, 0, 1, &byte));
    assert_io_error(&err, "open", "No such file or directory");
}

TEST_WITH(sizes, set_up, tear_down) {
    ts_error err = {0};
    uint64_t bytes = 0;
    put("123456789", 9);
    assert_true(ts_file_size(NULL, path, &bytes));
    assert_int_equal(bytes, 9);
    unlink(path);
    assert_false(ts_file_size(&err, path, &bytes));
    assert_io_error(&err, "open", "No such file or directory");
    mkdir(path, 0777);
    ts_error_clear(&err);
    assert_false(ts_file_size(&err, path, &bytes));
    assert_io_error(&err, "read", "it is not a regular file");
    rmdir(path);
}

/* Whatever fails, the old file is as it was and nothing else is left. */
TEST_WITH(read_piece_by_piece, set_up, tear_down) {
    char *bytes = pattern(300000), *got = ts_arena_alloc(arena, 300000, 1);
    size_t length, at = 0;
    ts_error err = {0};
    put(bytes, 300000);
    fault.most = 777;
    fault.interrupts = 3;
    ts_file_reader *reader = ts_file_open(&err, arena, path);
    assert_non_null(reader);
    do {
        assert_true(ts_file_read_next(&err, reader, got + at, 70000, &length));
        at += length;
        assert_true(length == 70000 || at == 300000);
    } while (length == 70000);
    assert_memory_equal(got, bytes, 300000);
    assert_true(ts_file_read_next(&err, reader, got, 70000, &length));
    assert_int_equal(length, 0);
    fault.read = EIO;
    assert_false(ts_file_read_next(&err, reader, got, 70000, &length));
    assert_io_error(&err, "read", "Input/output error");
    ts_file_finish(reader);
    ts_error_clear(&err);
    assert_false(ts_file_read_next(&err, reader, got, 70000, &length));
    assert_io_error(&err, "read", "Bad file descriptor");
    ts_file_finish(NULL);
    unlink(path);
    ts_error_clear(&err);
    assert_null(ts_file_open(&err, arena, path));
    assert_io_error(&err, "open", "No such file or directory");
}

TEST_WITH(write_errors, set_up, tear_down) {
    static const struct {
        int *call;
        int code;
        const char *verb, *why;
    } rows[] = {
        {&fault.write, ENOSPC, "write", "No space left on device"},
        {&fault.close, EIO, "write", "Input/output error"},
        {&fault.rename, EACCES, "rename to", "Permission denied"},
        {&fault.fsync, EIO, "write", "Input/output error"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t n = 0; n < LENGTHS; n++) {
            if (lengths[n] == 0 && rows[i].call == &fault.write) continue;
            ts_error err = {0};
            char *bytes = pattern(lengths[n]);
            put("old", 3);
            *rows[i].call = rows[i].code;
            assert_false(ts_file_save(&err, arena, path, bytes, lengths[n]));
            assert_io_error(&err, rows[i].verb, rows[i].why);
            assert_content("old", 3);
            assert_int_equal(file_count(), 1);
        }
    }
}

TEST_WITH(writing_after_a_failure, set_up, tear_down) {
    char *bytes = pattern(100000);
    ts_error err = {0};
    ts_file_writer *writer = ts_file_create(&err, arena, path);
    fault.write = EIO;
    assert_false(ts_file_write(&err, writer, bytes, 100000));
    ts_error_clear(&err);
    assert_false(ts_file_write(&err, writer, bytes, 1));
    assert_io_error(&err, "write", "an earlier write failed");
    ts_error_clear(&err);
    assert_false(ts_file_close(&err, writer));
    assert_io_error(&err, "write", "an earlier write failed");
    ts_file_abandon(writer); /* once more is fine */
    assert_int_equal(file_count(), 0);
}

TEST_WITH(abandoned, set_up, tear_down) {
    ts_error err = {0};
    put("old", 3);
    ts_file_writer *writer = ts_file_create(&err, arena, path);
    assert_true(ts_file_write(&err, writer, "new", 3));
    assert_int_equal(file_count(), 2);
    ts_file_abandon(writer);
    assert_content("old", 3);
    assert_int_equal(file_count(), 1);
}

TEST_WITH(two_writers_of_one_path, set_up, tear_down) {
    ts_error err = {0};
    ts_file_writer *one = ts_file_create(&err, arena, path), *two = ts_file_create(&err, arena, path);
    assert_true(ts_file_write(&err, two, "two", 3));
    assert_true(ts_file_write(&err, one, "one", 3));
    assert_true(ts_file_close(&err, one));
    assert_content("one", 3);
    assert_true(ts_file_close(&err, two));
    assert_content("two", 3);
    assert_int_equal(file_count(), 1);
}

TEST_WITH(places_that_cannot_be_written, set_up, tear_down) {
    ts_error err = {0};
    assert_null(ts_file_create(&err, arena, "/no-such-folder/x"));
    assert_error(&err, TS_ERROR_IO, "error: cannot create '/no-such-folder/x': No such file or directory\n");
    ts_error_clear(&err);
    mkdir(path, 0777);
    assert_false(ts_file_save(&err, arena, path, "x", 1));
    assert_io_error(&err, "create", "it is a directory");
    assert_int_equal(file_count(), 1);
    ts_error_clear(&err);
    assert_null(ts_file_create(&err, arena, ""));
    assert_error(&err, TS_ERROR_IO, "error: cannot create '': it has no name\n");
}

TEST_WITH(checks_leave_nothing, set_up, tear_down) {
    ts_error err = {0};
    assert_true(ts_file_check(&err, arena, path) && ts_file_check(&err, arena, "-") &&
                ts_file_check(&err, arena, "/dev/full"));
    assert_int_equal(file_count(), 0);
    mkdir(path, 0777);
    assert_false(ts_file_check(&err, arena, path));
    assert_io_error(&err, "create", "it is a directory");
    assert_int_equal(file_count(), 1);
}

/* A device is written to, never replaced. Through links, so that a mistake here replaces only the link. */
TEST_WITH(devices, set_up, tear_down) {
    ts_error err = {0};
    struct stat status;
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_true(ts_file_save(&err, arena, path, "x", 1));
    assert_int_equal(lstat(path, &status), 0);
    assert_true(S_ISLNK(status.st_mode));
    unlink(path);
    assert_int_equal(symlink("/dev/full", path), 0);
    assert_false(ts_file_save(&err, arena, path, "x", 1));
    assert_io_error(&err, "write", "No space left on device");
}

TEST_WITH(standard_output, set_up, tear_down) {
    ts_error err = {0};
    int saved = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    bool ok = ts_file_save(&err, arena, "-", "to the terminal", 15);
    bool open_still = fcntl(STDOUT_FILENO, F_GETFD) >= 0;
    fault.write = EPIPE;
    bool refused = !ts_file_save(&err, arena, "-", "x", 1);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    assert_true(ok);
    assert_true(open_still);
    assert_true(refused);
    assert_error(&err, TS_ERROR_IO, "error: cannot write 'standard output': Broken pipe\n");
    assert_content("to the terminal", 15);
}

/* ---- Links, modes, names ---- */

static char *beside(const char *name) {
    char *other = ts_arena_alloc(arena, 400, 1);
    snprintf(other, 400, "%s/%s", folder, name);
    return other;
}

static mode_t mode_of(const char *name) {
    struct stat status;
    return lstat(name, &status) == 0 ? status.st_mode : 0;
}

TEST_WITH(links_are_written_through, set_up, tear_down) {
    ts_error err = {0};
    char *one = beside("one"), *two = beside("two"), *far = beside("far"), *sub = beside("sub");
    assert_int_equal(mkdir(sub, 0777), 0);
    assert_int_equal(symlink("sub/../two", one) + symlink(path, two), 0);
    assert_int_equal(symlink("sub/new", far), 0);
    assert_true(ts_file_check(&err, arena, one)); /* a link to what is not there yet */
    assert_true(ts_file_save(&err, arena, one, "new", 3));
    assert_content("new", 3);
    assert_true(ts_file_save(&err, arena, one, "newer", 5));
    assert_content("newer", 5);
    assert_true(S_ISLNK(mode_of(one)) && S_ISLNK(mode_of(two)) && S_ISREG(mode_of(path)));
    assert_true(ts_file_save(&err, arena, far, "x", 1));
    assert_true(S_ISLNK(mode_of(far)) && S_ISREG(mode_of(beside("sub/new"))));
    unlink(beside("sub/new"));
    unlink(two);
    assert_int_equal(symlink(one, two), 0);
    assert_false(ts_file_save(&err, arena, one, "x", 1));
    assert_non_null(strstr(err.message, "Too many levels of symbolic links"));
    unlink(one), unlink(two), unlink(far), rmdir(sub);
    assert_int_equal(file_count(), 1);
}

TEST_WITH(modes_are_kept, set_up, tear_down) {
    static const mode_t modes[] = {0600, 0644, 0640, 0777, 0200};
    ts_error err = {0};
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        put("old", 3);
        chmod(path, modes[i]);
        assert_true(ts_file_save(&err, arena, path, "new", 3));
        assert_int_equal(mode_of(path) & 07777, modes[i]);
    }
    chmod(path, 0444);
    if (geteuid() == 0) return; /* who may write everything */
    assert_false(ts_file_check(&err, arena, path));
    assert_io_error(&err, "create", "Permission denied");
}

TEST_WITH(what_may_be_read_once, set_up, tear_down) {
    char *fifo = beside("fifo");
    assert_int_equal(mkfifo(fifo, 0666), 0);
    put("x", 1);
    assert_true(ts_file_is_stream(fifo) && ts_file_is_stream("/dev/null"));
    assert_false(ts_file_is_stream(path) || ts_file_is_stream(beside("other")));
    unlink(fifo);
}

TEST_WITH(one_file_by_two_names, set_up, tear_down) {
    char *link = beside("link"), *hard = beside("hard"), *dotted = beside("./out"), *fifo = beside("fifo");
    char *other = beside("other");
    assert_int_equal(symlink("out", link) + mkfifo(fifo, 0666), 0);
    for (int there = 0; there < 2; there++) {
        if (there) put("x", 1);
        assert_true(ts_file_same(arena, path, path) && ts_file_same(arena, path, dotted));
        assert_true(ts_file_same(arena, link, path) && ts_file_same(arena, dotted, link));
        assert_false(ts_file_same(arena, path, other) || ts_file_same(arena, other, link));
    }
    assert_int_equal(symlink(path, hard), 0); /* the name `hard`, and then a hard link */
    assert_true(ts_file_same(arena, hard, link));
    unlink(hard);
    assert_int_equal(linkat(AT_FDCWD, path, AT_FDCWD, hard, 0), 0);
    assert_true(ts_file_same(arena, hard, path) && ts_file_same(arena, fifo, fifo));
    assert_false(ts_file_same(arena, "/dev/null", "/dev/null") || ts_file_same(arena, "-", "-"));
    assert_false(ts_file_same(arena, "/dev/stdout", "/dev/stdout") ||
                 ts_file_same(arena, "/dev/fd/1", "/dev/fd/1"));
    assert_false(ts_file_same(arena, beside("a/x"), beside("b/x")) || ts_file_same(arena, fifo, path));
    unlink(link), unlink(hard), unlink(fifo);
}

TEST_WITH(descriptors_by_name, set_up, tear_down) {
    char name[40];
    ts_error err = {0};
    int file = open(path, O_RDWR | O_CREAT, 0666), reads = open("/dev/null", O_RDONLY);
    assert_int_equal(write(file, "one ", 4), 4);
    for (int i = 0; i < 2; i++) {
        snprintf(name, sizeof name, "/%s/fd/%d", i == 0 ? "dev" : "proc/self", file);
        assert_true(ts_file_save(&err, arena, name, "more ", 5) && fcntl(file, F_GETFD) >= 0);
    }
    assert_content("one more more ", 14);
    assert_true(ts_file_is_standard_output("-") && ts_file_is_standard_output("/dev/stdout"));
    assert_true(ts_file_is_standard_output("/dev/fd/1") && !ts_file_is_standard_output("/dev/fd/2"));
    assert_false(ts_file_is_standard_output("/dev/fd/1x") || ts_file_is_standard_output("/dev/fd/") ||
                 ts_file_is_standard_output(path) || ts_file_is_standard_output("/dev/stderr"));
    snprintf(name, sizeof name, "/dev/fd/%d", reads);
    assert_false(ts_file_check(&err, arena, name));
    assert_non_null(strstr(err.message, "Bad file descriptor"));
    close(reads);
    close(file);
}

/* The first of all descriptors is one, too. */
TEST_WITH(descriptor_zero, set_up, tear_down) {
    ts_error err = {0};
    int saved = dup(STDIN_FILENO), file = open(path, O_RDWR | O_CREAT, 0666);
    dup2(file, STDIN_FILENO);
    bool written = ts_file_save(&err, arena, "/dev/fd/0", "zero", 4);
    bool open_still = fcntl(STDIN_FILENO, F_GETFD) >= 0;
    dup2(saved, STDIN_FILENO);
    close(saved);
    close(file);
    assert_true(written && open_still);
    assert_content("zero", 4);
}

/* Names without a folder are of the current one: of links, of what is not there yet, and where names are synced. */
TEST_WITH(names_without_a_folder, set_up, tear_down) {
    ts_error err = {0};
    int here = open(".", O_RDONLY | O_DIRECTORY);
    assert_int_equal(chdir(folder) + symlink("out", "link"), 0);
    bool same = ts_file_same(arena, "out", "./out") && ts_file_same(arena, "link", path) &&
                !ts_file_same(arena, "out", "other");
    bool saved = ts_file_save(&err, arena, "link", "new", 3);
    assert_int_equal(unlink("link") + fchdir(here) + close(here), 0);
    assert_true(same && saved);
    assert_content("new", 3);
    assert_int_equal(fault.syncs, 2);
}

TEST_WITH(file_of_standard_output, set_up, tear_down) {
    ts_error err = {0};
    int saved = dup(STDOUT_FILENO), file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    fflush(stdout);
    dup2(file, STDOUT_FILENO);
    bool same = ts_file_is_standard_output(path), ok = ts_file_save(&err, arena, path, "picture", 7);
    ok = ok && write(STDOUT_FILENO, " and report", 11) == 11;
    dup2(saved, STDOUT_FILENO);
    close(saved);
    close(file);
    assert_true(same && ok);
    assert_content("picture and report", 18);
}

static char told[800];

static bool listens;

void ts_file_temporary(const char *temporary, ts_temporary_event event) {
    bool exists = event == TS_TEMPORARY_MADE;
    if (!listens) return;
    strcat(told, exists ? "+" : "-");
    assert_int_equal(exists, mode_of(temporary) != 0);
    assert_memory_equal(temporary, path, strlen(path));
}

TEST_WITH(watched, set_up, tear_down) {
    ts_error err = {0};
    sigset_t blocked;
    told[0] = '\0';
    listens = true;
    assert_true(ts_file_save(&err, arena, path, "x", 1) && ts_file_check(&err, arena, path));
    assert_true(ts_file_save(&err, arena, "/dev/null", "x", 1));
    fault.write = EIO;
    assert_false(ts_file_save(&err, arena, path, "x", 1));
    listens = false;
    assert_string_equal(told, "+-+-+-");
    assert_int_equal(fault.syncs, 2); /* the file and its folder */
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    assert_false(sigismember(&blocked, SIGINT));
}

TEST_WITH(file_systems_that_cannot_sync, set_up, tear_down) {
    ts_error err = {0};
    fault.fsync = EINVAL;
    assert_true(ts_file_save(&err, arena, path, "x", 1));
    assert_content("x", 1);
}
