/* Files of arrays when the system fails: each call in turn returns an error. The error says so, no output
 * file is left half written or replaced, and no temporary file stays. */
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "host/format.h"
#include "tests/support/test.h"
#include "tests/support/temporary.h"

/* The system's calls, which the linker takes from here: the one that `countdown` reaches fails with
 * `failure`. */
static int countdown, failure;
static bool ended;

static bool fails(void) {
    if (--countdown != 0) return false;
    errno = failure;
    return true;
}

ssize_t read(int fd, void *bytes, size_t length) {
    if (!ended && !fails()) return syscall(SYS_read, fd, bytes, length);
    ended = failure == 0; /* without an error: the end of the file, for good */
    return ended ? 0 : -1;
}

ssize_t write(int fd, const void *bytes, size_t length) {
    if (!fails()) return syscall(SYS_write, fd, bytes, length);
    if (failure != EINTR) syscall(SYS_write, fd, bytes, length / 2); /* some of it may get through */
    return -1;
}

/* Not of a folder: by then the file has its name, and the sync of its folder is best effort. */
int close(int fd) {
    struct stat status;
    bool failed = !(fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) && fails();
    return (int)syscall(SYS_close, fd) != 0 || failed ? -1 : 0;
}

int rename(const char *from, const char *to) {
    return fails() ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

off_t lseek(int fd, off_t offset, int whence) {
    return fails() ? -1 : (off_t)syscall(SYS_lseek, fd, offset, whence);
}

static char folder[TEMPORARY_PATH];

static const char *in_folder(const char *name) {
    static char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static int files_in_folder(void) {
    int count = 0;
    DIR *open = opendir(folder);
    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));) count += entry->d_name[0] != '.';
    closedir(open);
    return count;
}

static int make_folder(void **state) { return mkdtemp(temporary_path(folder, "faults-XXXXXX")) ? 0 : -1; }

static int remove_folder(void **state) { return rmdir(folder); }

static const struct {
    const char *name, *file;
} paths[] = {{"x.npy", "x.npy"},
             {"x.safetensors", "x.safetensors"},
             {"x.safetensors:a", "x.safetensors"},
             {"x.npz:a", "x.npz"},
             {"x.bin", "x.bin"}};
enum { NAMES = sizeof paths / sizeof *paths, ELEMENTS = 40000 }; /* 160 kB: more than a buffer */

static ts_host_array make_array(ts_arena *arena, uint8_t first) {
    ts_host_array array;
    assert_true(ts_host_array_init(NULL, arena, TS_DTYPE_F32, 1, (const int64_t[]){ELEMENTS}, &array));
    array.bytes[0] = first;
    return array;
}

static void arm(int n, int error) {
    countdown = n;
    failure = error;
    ended = false;
}

static const ts_host_expect floats = {.has_dtype = true, .dtype = TS_DTYPE_F32};

/* Saves over a file that is there, each call failing in turn until none does. */
TEST(each_call_of_a_save_fails) {
    for (int i = 0; i < NAMES; i++) {
        ts_arena *arena = ts_arena_new();
        ts_host_array old = make_array(arena, 1), new = make_array(arena, 2), found;
        assert_true(ts_host_save(NULL, arena, in_folder(paths[i].name), &old));
        bool saved = false;
        for (int n = 1; !saved; n++) {
            ts_error err = {0};
            arm(n, ENOSPC);
            saved = ts_host_save(&err, arena, in_folder(paths[i].name), &new);
            bool reached = countdown <= 0;
            arm(0, 0);
            assert_true(saved == !reached && n < 20);
            assert_int_equal(err.kind, saved ? TS_ERROR_NONE : TS_ERROR_IO);
            if (!saved)
                assert_non_null(strstr(err.message, "x.") ? strstr(err.message, "No space left on device")
                                                          : NULL);
            assert_int_equal(files_in_folder(), 1);
            assert_true(ts_host_load(NULL, arena, in_folder(paths[i].name), &floats, &found));
            assert_int_equal(found.bytes[0], saved ? 2 : 1);
            if (saved) assert_true(n > 3); /* a write, a close and a rename at least have failed */
        }
        assert_int_equal(remove(in_folder(paths[i].file)), 0);
        ts_arena_free(arena);
    }
}

TEST(each_call_of_a_load_fails) {
    for (int i = 0; i < NAMES; i++) {
        ts_arena *arena = ts_arena_new();
        ts_host_array array = make_array(arena, 1), found;
        assert_true(ts_host_save(NULL, arena, in_folder(paths[i].name), &array));
        int failed = 0;
        bool reached = true;
        for (int n = 1; reached; n++) {
            ts_error err = {0};
            arm(n, EIO);
            bool loaded = ts_host_load(&err, arena, in_folder(paths[i].name), &floats, &found);
            reached = countdown <= 0;
            arm(0, 0);
            if (loaded) continue; /* a failed close of a file that was read loses nothing */
            assert_int_equal(err.kind, TS_ERROR_IO);
            assert_non_null(strstr(err.message, "Input/output error"));
            failed++;
        }
        assert_true(failed >= 1);
        assert_int_equal(remove(in_folder(paths[i].file)), 0);
        ts_arena_free(arena);
    }
}

/* A file that ends too early, wherever that is noticed. */
TEST(each_read_meets_the_end) {
    for (int i = 0; i < 3; i++) {
        ts_arena *arena = ts_arena_new();
        ts_host_array array = make_array(arena, 1), found;
        assert_true(ts_host_save(NULL, arena, in_folder(paths[i].name), &array));
        for (int n = 1; n < 20; n++) {
            ts_error err = {0};
            arm(n, 0);
            bool loaded = ts_host_load(&err, arena, in_folder(paths[i].name), NULL, &found);
            bool reached = countdown <= 0;
            arm(0, 0);
            assert_true(loaded || (reached && err.message[0] != '\0'));
            if (loaded) assert_true(found.bytes[0] == 1 && (n > 1 || i > 0));
        }
        assert_int_equal(remove(in_folder(paths[i].file)), 0);
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(interrupted_calls_are_repeated) {
    ts_host_array array = make_array(arena, 3), found;
    arm(1, EINTR); /* the first call is a write */
    assert_true(ts_host_save(NULL, arena, in_folder("x.bin"), &array));
    assert_true(countdown < 0);
    arm(1, EINTR); /* the first call is a read */
    assert_true(ts_host_load(NULL, arena, in_folder("x.bin"), &floats, &found));
    assert_true(countdown < 0);
    assert_int_equal(found.bytes[0], 3);
    assert_int_equal(remove(in_folder("x.bin")), 0);
}

TEST_WITH_ARENA(paths_that_cannot_be_written) {
    ts_host_array array = make_array(arena, 1);
    ts_error err = {0};
    assert_int_equal(mkdir(in_folder("d.npy"), 0777), 0);
    assert_false(ts_host_save(&err, arena, in_folder("d.npy"), &array));
    assert_non_null(strstr(err.message, "it is a directory"));
    assert_int_equal(files_in_folder(), 1);
    err = (ts_error){0};
    assert_false(ts_host_load(&err, arena, in_folder("d.npy"), NULL, &array));
    assert_non_null(strstr(err.message, "it is a directory"));
    assert_int_equal(rmdir(in_folder("d.npy")), 0);
    err = (ts_error){0};
    assert_false(ts_host_save(&err, arena, in_folder("none/x.npy"), &array));
    assert_non_null(strstr(err.message, "No such file or directory"));
    err = (ts_error){0};
    assert_int_equal(symlink("/dev/full", in_folder("full.bin")), 0);
    assert_false(ts_host_save(&err, arena, in_folder("full.bin"), &array));
    assert_non_null(strstr(err.message, "No space left on device"));
    assert_int_equal(unlink(in_folder("full.bin")), 0);
}

int main(void) { return run_all_tests(make_folder, remove_folder); }
