/* The table of operations for people: each has its line, with what the instructions are of. */
#include <string.h>

#include "mosaic/mosaic.h"
#include "tests/support/test.h"

#define NAME(name, ...) name,
#define OP              NAME
#define BINARY          NAME
#define UNARY           NAME
#define WORDS           NAME
#define REFUSED         NAME
static const char *const names[] = {
#include "mosaic/ops.def"
};
enum { NAMES = sizeof names / sizeof names[0] };

static int count_lines(const ts_text *text) {
    int count = 0;
    for (const char *at = text->bytes; (at = strchr(at, '\n')); at++) count++;
    return count;
}

/* Of the text a line, which may go on in others that are indented; of Markdown a row, behind two of heads. */
TEST_WITH_ARENA(every_operation_has_a_line) {
    ts_text text = ts_text_begin(arena);
    ts_text rows = ts_text_begin(arena);
    ts_mosaic_print_ops(&text);
    ts_mosaic_print_ops_markdown(&rows);
    for (int i = 0; i < NAMES; i++) {
        const char *line = text.bytes;
        size_t length = strlen(names[i]);
        while (strncmp(line, names[i], length) != 0 || (line[length] != ' ' && line[length] != '\n')) {
            line = strchr(line, '\n');
            assert_non_null(line++);
        }
        assert_non_null(strstr(rows.bytes, ts_text_format(arena, "\n| `%s` | ", names[i])));
    }
    assert_int_equal(count_lines(&rows), NAMES + 2);
    assert_null(strstr(text.bytes, " \n"));
}

/* bf16 by its own instruction, or by way of f32, which all machines have. */
TEST_WITH_ARENA(it_says_of_what_there_are_instructions) {
    static const struct {
        const char *name, *of;
    } rows[] = {{"arith.addf", "f32, bf16"},
                {"arith.addi", "scalars, integers"},
                {"arith.andi", "scalars, integers, masks"},
                {"math.sqrt", "f32, bf16"},
                {"tpu.sem_read", ""}};
    ts_text text = ts_text_begin(arena);
    ts_mosaic_print_ops_markdown(&text);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_non_null(
            strstr(text.bytes, ts_text_format(arena, "| `%s` | %s |\n", rows[i].name, rows[i].of)));
}
