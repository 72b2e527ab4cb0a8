/* Estimates of memory: the host's, and whether parts fit into it. */
#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/number.h"

static int64_t least(int64_t a, int64_t b) { return b > 0 && b < a ? b : a; }

/* The number that a file of the system holds; 0 where it has none, such as "max". */
static int64_t number_in(const char *path) {
    char text[32] = "";
    FILE *file = fopen(path, "r");
    if (!file) return 0;
    bool read = fgets(text, sizeof text, file) != NULL;
    fclose(file);
    return read ? (int64_t)strtoll(text, NULL, 10) : 0;
}

/* Of the group at `path` below `mount`/`folder` and of those around it, each of which limits it. */
static int64_t group_limit(const char *mount, const char *folder, const char *path, const char *file) {
    enum { PATH_BYTES = 1024, NAME_BYTES = 64 };
    char name[PATH_BYTES];
    int length = snprintf(name, sizeof name - NAME_BYTES, "%s%s%s", mount, folder, path);
    int64_t bytes = INT64_MAX;
    if (length < 0 || length >= PATH_BYTES - NAME_BYTES) return bytes;
    for (size_t top = strlen(mount) + strlen(folder);;) {
        size_t end = strlen(name);
        snprintf(name + end, NAME_BYTES, "/%s", file);
        bytes = least(bytes, number_in(name));
        while (end > top && name[end - 1] != '/') end--;
        if (end <= top) return bytes;
        name[end - 1] = '\0';
    }
}

/* Is "memory" one of "cpu,memory"? */
static bool has_memory(const char *controllers) {
    for (const char *at = controllers; (at = strstr(at, "memory")) != NULL; at++) {
        char before = at > controllers ? at[-1] : ',', behind = at[sizeof "memory" - 1];
        if (before == ',' && (behind == ',' || behind == '\0')) return true;
    }
    return false;
}

/* Lines are NUMBER:CONTROLLERS:PATH; v2 has no controllers. */
int64_t ts_memory_group(const char *groups, const char *mount) {
    char line[2048];
    int64_t bytes = INT64_MAX;
    FILE *file = fopen(groups, "r");
    bytes = least(bytes, group_limit(mount, "", "", "memory.max"));
    bytes = least(bytes, group_limit(mount, "/memory", "", "memory.limit_in_bytes"));
    while (file && fgets(line, sizeof line, file)) {
        char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        if (controllers[1] == '\0') bytes = least(bytes, group_limit(mount, "", path, "memory.max"));
        if (has_memory(controllers + 1))
            bytes = least(bytes, group_limit(mount, "/memory", path, "memory.limit_in_bytes"));
    }
    if (file) fclose(file);
    return bytes;
}

int64_t ts_memory_host(void) {
    int64_t bytes = PTRDIFF_MAX, pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    struct rlimit limit;
    if (pages > 0 && page > 0 && ts_mul(pages, page, &pages)) bytes = least(bytes, pages);
    bytes = least(bytes, ts_memory_group("/proc/self/cgroup", "/sys/fs/cgroup"));
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && (int64_t)limit.rlim_cur >= 0)
        bytes = least(bytes, (int64_t)limit.rlim_cur);
    return bytes / 5 * 4;
}

/* The first number of /proc/self/statm is in pages. */
bool ts_memory_addresses(int64_t *bytes) {
    int64_t pages = number_in("/proc/self/statm"), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 && ts_mul(pages, page, bytes);
}

static const struct {
    const char *name;
    int shift;
} units[] = {{"TiB", 40}, {"GiB", 30}, {"MiB", 20}, {"KiB", 10}, {"B", 0}, {"", 0}};
enum { UNITS = sizeof units / sizeof units[0], SHOWN = 3 };

/* "1.5 GiB" */
static const char *show(char out[32], int64_t bytes) {
    int unit = 0;
    while (units[unit].shift > 0 && bytes >> units[unit].shift == 0) unit++;
    double amount = (double)bytes / (double)(INT64_C(1) << units[unit].shift);
    snprintf(out, 32, units[unit].shift > 0 ? "%.1f %s" : "%.0f %s", amount, units[unit].name);
    return out;
}

bool ts_memory_check(ts_error *err, const ts_memory_part *parts, int count, int64_t most) {
    int64_t total = 0;
    char shown[32], limit[32], names[TS_ERROR_TEXT_BYTES / 2];
    for (int i = 0; i < count; i++)
        if (!ts_add(total, parts[i].bytes, &total)) total = INT64_MAX;
    if (total <= most) return true;
    size_t length = 0;
    for (int i = 0, at = -1; i < SHOWN; i++) {
        at = ts_next_largest(&parts[0].bytes, sizeof *parts, count, at);
        if (at < 0 || parts[at].bytes == 0) break;
        int added = snprintf(names + length, sizeof names - length, "%s%.60s %s", i > 0 ? ", " : "",
                             parts[at].name, show(shown, parts[at].bytes));
        length += (size_t)added;
    }
    return ts_error_set(err, TS_ERROR_INPUT,
                        "this needs about %s of memory, more than --max-memory, which is %s: %s",
                        show(shown, total), show(limit, most), names);
}

bool ts_memory_parse(ts_error *err, const char *what, const char *text, int64_t *bytes) {
    size_t digits = strspn(text, "0123456789"), unit = digits + strspn(text + digits, " ");
    int row = 0;
    while (row < UNITS && strcmp(units[row].name, text + unit) != 0) row++;
    bool good = digits > 0 && digits < 19 && row < UNITS && text[0] != '0';
    good = good && ts_mul(strtoll(text, NULL, 10), INT64_C(1) << units[row].shift, bytes);
    return good || ts_error_set(err, TS_ERROR_USAGE, "%s is '%.40s', expected a size such as 4GiB or 512MiB",
                                what, text);
}
