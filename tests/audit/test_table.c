/* The tables of hashes: what is put is got, until it is cleared, and a full one says so. */
#include <string.h>

#include "audit/audit_private.h"
#include "tests/support/group.h"

/* Hashes that collide: their low bits are equal. */
static uint64_t hash_of(int i) { return (uint64_t)i * UINT64_C(0x100000000) + (uint64_t)(i % 3); }

enum { MANY = 5000 };

TEST(what_is_put_is_got) {
    audit_table table;
    audit_table_init(&table, arena, MANY);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(audit_table_get(&table, hash_of(i)), -1);
        assert_true(audit_table_put(&table, hash_of(i), i));
    }
    for (int i = 0; i < MANY; i++) assert_int_equal(audit_table_get(&table, hash_of(i)), i);
}

TEST(a_later_value_takes_the_place) {
    audit_table table;
    audit_table_init(&table, arena, 3);
    for (int i = 0; i < 10; i++) assert_true(audit_table_put(&table, 77, i));
    assert_int_equal(audit_table_get(&table, 77), 9);
    assert_true(audit_table_put(&table, 0, 1)); /* a hash as others */
    assert_int_equal(audit_table_get(&table, 0), 1);
    assert_int_equal(audit_table_get(&table, 77), 9);
}

TEST(a_full_one_takes_no_more) {
    audit_table table;
    audit_table_init(&table, arena, 4);
    for (int i = 0; i < 4; i++) assert_true(audit_table_put(&table, hash_of(i), i));
    assert_false(audit_table_put(&table, hash_of(4), 4));
    assert_int_equal(audit_table_get(&table, hash_of(4)), -1);
    assert_int_equal(audit_table_get(&table, hash_of(3)), 3);
}

TEST(a_cleared_one_is_empty) {
    audit_table table;
    audit_table_init(&table, arena, MANY);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < 2000; i++) assert_true(audit_table_put(&table, hash_of(i), i + round));
        assert_int_equal(audit_table_get(&table, hash_of(1999)), 1999 + round);
        audit_table_clear(&table);
        for (int i = 0; i < 2000; i++) assert_int_equal(audit_table_get(&table, hash_of(i)), -1);
    }
    table.epoch = UINT32_MAX; /* the count of clears comes round */
    assert_true(audit_table_put(&table, 5, 5));
    audit_table_clear(&table);
    assert_int_equal(audit_table_get(&table, 5), -1);
    assert_true(audit_table_put(&table, 6, 6));
    assert_int_equal(audit_table_get(&table, 6), 6);
}

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
