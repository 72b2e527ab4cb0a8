/* Adding up structs of counts. */
#include "base/members.h"

void ts_members_add(void *sum, const void *part, const ts_member *members, int64_t times, int64_t of) {
    for (; members->count > 0; members++) {
        int64_t *to = ts_member_of(sum, members, 0);
        const int64_t *from = (const int64_t *)(const void *)((const char *)part + members->offset);
        for (int i = 0; i < members->count; i++)
            to[i] += of == 1 ? from[i] * times
                             : (int64_t)(((__int128)from[i] * times + (from[i] < 0 ? -of : of) / 2) / of);
    }
}
