/* The list of findings. */

#include "check/findings.h"
#include "tests/support/cmocka.h"

static const ts_source source = {"a.tsim", "", 0}, other_source = {"b.tsim", "", 0};

TEST(equal_places_are_one_finding) {
    ts_findings *f = test_calloc(1, sizeof *f);
    ts_location a = {&source, 3, 5}, b = {&source, 4, 5}, c = {&source, 3, 6}, d = {&other_source, 3, 5},
                none = {0};
    ts_finding *first = ts_findings_add(f, TS_FINDING_CONTROL, a, b, 17);
    assert_ptr_equal(first, &f->list[0]);
    assert_int_equal(first->kind, TS_FINDING_CONTROL);
    assert_int_equal(first->cycle, 17);
    assert_int_equal(first->times, 1);
    assert_int_equal(first->where.line, 3);
    assert_int_equal(first->other.line, 4);
    assert_null(ts_findings_add(f, TS_FINDING_CONTROL, a, b, 20));
    assert_int_equal(first->times, 2);
    assert_int_equal(first->cycle, 17);
    /* each differs in one thing */
    assert_ptr_equal(ts_findings_add(f, TS_FINDING_OUTPUT, a, b, 1), &f->list[1]);
    assert_ptr_equal(ts_findings_add(f, TS_FINDING_CONTROL, b, b, 1), &f->list[2]);
    assert_ptr_equal(ts_findings_add(f, TS_FINDING_CONTROL, c, b, 1), &f->list[3]);
    assert_ptr_equal(ts_findings_add(f, TS_FINDING_CONTROL, d, b, 1), &f->list[4]);
    assert_ptr_equal(ts_findings_add(f, TS_FINDING_CONTROL, a, none, 1), &f->list[5]);
    assert_null(ts_findings_add(f, TS_FINDING_CONTROL, a, none, 1));
    assert_int_equal(f->count, 6);
    assert_int_equal(f->list[5].times, 2);
    ts_finding_describe(first, "%s of %d", "some", 7);
    assert_string_equal(first->text, "some of 7");
    test_free(f);
}

TEST(the_list_has_an_end) {
    ts_findings *f = test_calloc(1, sizeof *f);
    for (int i = 0; i < TS_FINDINGS_MOST; i++)
        assert_non_null(
            ts_findings_add(f, TS_FINDING_CONTROL, (ts_location){&source, i, 1}, (ts_location){0}, i));
    assert_int_equal(f->dropped, 0);
    assert_null(ts_findings_add(f, TS_FINDING_OUTPUT, (ts_location){&source, 1, 1}, (ts_location){0}, 0));
    assert_null(ts_findings_add(f, TS_FINDING_OUTPUT, (ts_location){&source, 1, 1}, (ts_location){0}, 0));
    assert_int_equal(f->dropped, 2);
    assert_int_equal(f->count, TS_FINDINGS_MOST);
    assert_null(ts_findings_add(f, TS_FINDING_CONTROL, (ts_location){&source, 0, 1}, (ts_location){0}, 0));
    assert_int_equal(f->dropped, 2); /* that one is known */
    test_free(f);
}

TEST(some_kinds_only_warn) {
    ts_findings *f = test_calloc(1, sizeof *f);
    ts_location at = {&source, 1, 1};
    ts_findings_add(f, TS_FINDING_CONTROL, at, at, 0);
    ts_findings_add(f, TS_FINDING_FRESH, at, at, 0);
    ts_findings_add(f, TS_FINDING_WRITE_RACE, at, at, 0);
    assert_int_equal(ts_findings_count(f, TS_FINDING_WARNS), 1);
    assert_int_equal(ts_findings_count(f, TS_FINDING_WRONG), 2);
    assert_false(ts_finding_warns(f, &f->list[0]));
    assert_true(ts_finding_warns(f, &f->list[1]));
    assert_true(ts_findings_have(f, TS_FINDING_WRITE_RACE));
    assert_true(ts_findings_have(f, TS_FINDING_CONTROL));
    assert_false(ts_findings_have(f, TS_FINDING_READ_RACE));
    f->all_warn = true;
    assert_int_equal(ts_findings_count(f, TS_FINDING_WARNS), 3);
    assert_int_equal(ts_findings_count(f, TS_FINDING_WRONG), 0);
    assert_string_equal(ts_finding_get(TS_FINDING_FRESH)->text, "unwritten_register");
    test_free(f);
}

TEST(places) {
    ts_instruction instruction = {.source = &source, .line = 8, .column = 9};
    ts_transfer transfer = {.source_text = &source, .line = 10, .column = 11};
    ts_location place = ts_location_of(&instruction), dma = ts_location_of_transfer(&transfer);
    assert_ptr_equal(place.source, &source);
    assert_true(place.line == 8 && place.column == 9);
    assert_ptr_equal(dma.source, &source);
    assert_true(dma.line == 10 && dma.column == 11);
    assert_int_equal(ts_location_of(NULL).line, 0);
    instruction.source = transfer.source_text = NULL; /* made by code: a line means nothing */
    assert_int_equal(ts_location_of(&instruction).line, 0);
    assert_int_equal(ts_location_of_transfer(&transfer).line, 0);
}
