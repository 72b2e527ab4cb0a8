/* Sizes as compilers print them. */
#include <stdio.h>
#include <string.h>

#include "audit_private.h"

void ts_audit_print_bytes(char out[16], int64_t bytes) {
    static const char units[] = "KMGTPE";
    int unit = 0;
    if (bytes < 1024) {
        snprintf(out, 16, "%dB", (int)bytes);
        return;
    }
    for (; bytes >= 1 << 20; unit++) bytes /= 1024;
    snprintf(out, 16, unit == 0 ? "%.1f%c" : "%.2f%c", (double)bytes / 1024.0, units[unit]);
}

/* Is it a number of bytes, "4096" or "4096B", and no rounded size? */
static bool is_exact(const char *reported) {
    size_t digits = strspn(reported, "0123456789");
    return digits > 0 && (!reported[digits] || strcmp(reported + digits, "B") == 0);
}

void audit_print_as(const char *reported, int64_t bytes, char out[16]) {
    if (is_exact(reported))
        snprintf(out, 16, "%lld%s", (long long)bytes, strchr(reported, 'B') ? "B" : "");
    else
        ts_audit_print_bytes(out, bytes);
}

bool audit_says(const char *reported, int64_t bytes) {
    char printed[16];
    audit_print_as(reported, bytes, printed);
    return strcmp(reported, printed) == 0;
}
