/* The library in a program whose locale has a decimal comma and other letters. */
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/cmocka.h"
#include "tests/support/temporary.h"
#include "tilesim.h"

/* LC_NUMERIC of glibc's locale archive with nothing in it but ",", "." and "UTF-8". */
static const unsigned char comma[] = {0x14, 0x11, 3,    0x20, 6,   0, 0,    0,   0x20, 0,   0,    0, 0x22, 0,
                                      0,    0,    0x24, 0,    0,   0, 0x28, 0,   0,    0,   0x2c, 0, 0,    0,
                                      0x30, 0,    0,    0,    ',', 0, '.',  0,   3,    3,   0,    0, ',',  0,
                                      0,    0,    '.',  0,    0,   0, 'U',  'T', 'F',  '-', '8',  0};

/* False: this system has no such files. */
static bool set_comma(void) {
    char folder[TEMPORARY_PATH], path[TEMPORARY_PATH + 32];
    temporary_path(folder, "locales");
    mkdir(folder, 0700);
    setenv("LOCPATH", folder, 1);
    snprintf(path, sizeof path, "%s/comma", folder);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/comma/LC_NUMERIC", folder);
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(comma, 1, sizeof comma, file) == sizeof comma);
    fclose(file);
    return setlocale(LC_NUMERIC, "comma") != NULL;
}

static const char program[] = ".tensor x hbm f32[8,128]{1,0:T(8,128)} in random(seed=1, lo=-0.5, hi=1.5)\n"
                              ".tensor y hbm f32[8,128]{1,0:T(8,128)} out\n"
                              ".tensor xb vmem f32[8,128]{1,0:T(8,128)}\n"
                              ".sem s\n"
                              ".check y ~= x * 2.5 ulp=1\n"
                              "dma xb <- x, s\nwait s\n"
                              "vld v0, xb[0, 0]\nvmul.f32 v0, v0, 2.5\nvst xb[0, 0], v0\n"
                              "dma y <- xb, s\nwait s\nhalt\n";

enum { TEXTS = 7 };

/* What a user of each part sees. */
static void ask(ts_arena *arena, const char *texts[TEXTS]) {
    ts_error *err = ts_error_new();
    const char *change = "hbm.bandwidth_scale=1.5";
    const ts_machine *machine = ts_machine_change(err, arena, "tpu-v5e", &change, 1);
    if (!machine) fail_msg("%s", ts_error_message(err));
    const ts_program_request source = {.struct_bytes = sizeof source, .source = program, .machine = machine};
    const ts_program *read = ts_program_assemble(err, arena, &source);
    if (!read) fail_msg("%s", ts_error_message(err));
    const ts_run_options run = {.struct_bytes = sizeof run, .program = read, .machine = machine, .page = 1};
    const ts_simulation *done = ts_simulate(err, arena, &run);
    if (!done) fail_msg("%s", ts_error_message(err));
    assert_true(ts_simulation_passed(done));
    const ts_price_request transfer = {.struct_bytes = sizeof transfer,
                                       .machine = machine,
                                       .source = "f32[500,700]",
                                       .destination = "bf16[500,700]{1,0:T(8,128)(2,1)}"};
    const ts_price *price = ts_price_transfer(err, arena, &transfer);
    assert_non_null(price);
    texts[0] = ts_simulation_text(arena, done);
    texts[1] = ts_simulation_json(arena, done);
    texts[2] = ts_simulation_html(arena, done);
    texts[3] = ts_price_text(arena, price);
    texts[4] = ts_price_json(arena, price);
    texts[5] = ts_machine_json(arena, machine);
    texts[6] = ts_program_text(arena, read);
    ts_error_free(err);
}

TEST(a_comma_changes_nothing) {
    ts_arena *arena = ts_arena_new();
    const char *usual[TEXTS], *with_comma[TEXTS];
    char number[8];
    ask(arena, usual);
    if (!set_comma()) {
        ts_arena_free(arena);
        skip();
    }
    ask(arena, with_comma);
    for (int i = 0; i < TEXTS; i++) assert_string_equal(with_comma[i], usual[i]);
    snprintf(number, sizeof number, "%.1f", 0.5);
    assert_string_equal(number, "0,5"); /* the host's is as it was */
    ts_arena_free(arena);
}
