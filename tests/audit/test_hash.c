/* The hashes of texts and names. */
#include <string.h>

#include "audit/audit_private.h"
#include "tests/support/group.h"

/* By every byte and the length, wherever the text lies. */
TEST(texts_have_hashes_of_their_own) {
    static const char text[] = "abcdefghijklmnopqrstuvwxyz";
    uint64_t seen[27];
    for (size_t length = 0; length <= 26; length++) {
        char moved[32] = "??";
        memcpy(moved + 1, text, length);
        seen[length] = audit_hash(text, length);
        assert_true(audit_hash(moved + 1, length) == seen[length]);
        for (size_t k = 0; k < length; k++) {
            assert_true(seen[k] != seen[length]);
            moved[k + 1] ^= 1;
            assert_true(audit_hash(moved + 1, length) != seen[length]);
            moved[k + 1] ^= 1;
        }
    }
    const char zeros[9] = {0};
    for (size_t length = 1; length <= 9; length++)
        assert_true(audit_hash(zeros, length) != audit_hash(zeros, length - 1));
}

TEST(names_are_bare_without_their_sign) {
    static const struct {
        const char *name, *bare;
    } rows[] = {{"%add.1", "add.1"}, {"@main", "main"}, {"add", "add"}, {"%", ""}, {"", ""}, {"%%x", "%x"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_span bare = audit_bare_name((ts_span){rows[i].name, strlen(rows[i].name)});
        assert_int_equal(bare.length, strlen(rows[i].bare));
        assert_memory_equal(bare.text, rows[i].bare, bare.length);
        assert_int_equal(audit_bare_name((ts_span){rows[i].name, 0}).length, 0);
        assert_true(audit_hash_name(bare) == audit_hash(rows[i].bare, strlen(rows[i].bare)));
    }
}

int main(void) { return run_all_tests(begin_group, end_group); }
