/* The instruction set for people: rows as they are written, and docs/isa.md up to date. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "isa/print.h"
#include "tests/support/test.h"

TEST_WITH_ARENA(operands_are_written_with_the_letters_of_the_meaning) {
    static const struct {
        ts_opcode opcode;
        const char *text;
    } rows[] = {{TS_OP_vadd_f32, "d, a, b"}, {TS_OP_halt, ""},
                {TS_OP_vst, "address, a"},   {TS_OP_br_lt, "a, b, label"},
                {TS_OP_dma, "transfer"},     {TS_OP_wait, "semaphore [, a]"},
                {TS_OP_vsel, "d, a, b, c"},  {TS_OP_sem_read, "d, semaphore"}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        ts_text out = ts_text_begin(arena);
        ts_opcode_print_operands(&out, ts_opcode_get(rows[i].opcode));
        assert_string_equal(out.bytes, rows[i].text);
    }
}

TEST_WITH_ARENA(every_row_is_printed) {
    for (int markdown = 0; markdown < 2; markdown++) {
        ts_text out = ts_text_begin(arena);
        (markdown ? ts_isa_print_markdown : ts_isa_print)(&out);
        for (int op = 0; op < TS_OP_COUNT; op++) {
            assert_non_null(strstr(out.bytes, ts_opcode_get((ts_opcode)op)->mnemonic));
            assert_true(!markdown || strstr(out.bytes, ts_opcode_get((ts_opcode)op)->meaning));
        }
    }
}

TEST_WITH_ARENA(a_row_in_full) {
    ts_text out = ts_text_begin(arena);
    ts_isa_print_markdown(&out);
    assert_non_null(strstr(out.bytes,
                           "\n| `vadd.f32 d, a, b` | d, a: vreg; b: vreg, sreg or f32 number | valu | "
                           "vector_alu | 1024 | d = a + b |\n"));
}

/* The meaning of an instruction stands below it, 6 columns in, in lines of at most 98 columns, each as long as it can be. */
TEST_WITH_ARENA(meanings_fill_their_lines) {
    ts_text out = ts_text_begin(arena);
    ts_isa_print(&out);
    for (int op = 0; op < TS_OP_COUNT; op++) {
        const ts_opcode_info *info = ts_opcode_get((ts_opcode)op);
        char name[64];
        snprintf(name, sizeof name, "\n  %s ", info->mnemonic);
        const char *line = strstr(out.bytes, name), *meaning = info->meaning;
        assert_non_null(line);
        line = strchr(line + 1, '\n') + 1;
        while (*meaning) {
            size_t length = strcspn(line, "\n") - 6;
            assert_memory_equal(line, "      ", 6);
            assert_memory_equal(line + 6, meaning, length);
            const char *rest = meaning + length;
            size_t word = strcspn(rest + strspn(rest, " "), " ");
            assert_true(6 + length <= 98 && (!*rest || (*rest == ' ' && 6 + length + 1 + word > 98)));
            meaning = rest + strspn(rest, " ");
            line += 6 + length + 1;
        }
    }
}

TEST_WITH_ARENA(the_document_is_up_to_date) {
    ts_error err = {.kind = TS_ERROR_NONE};
    ts_text out;
    char *bytes;
    size_t length;
    out = ts_text_begin(arena);
    ts_isa_print_markdown(&out);
    assert_true(ts_file_read(&err, arena, "docs/isa.md", 1 << 20, &bytes, &length));
    if (strcmp(bytes, out.bytes) != 0) fail_msg("stale: run tilesim show isa --markdown > docs/isa.md");
}
