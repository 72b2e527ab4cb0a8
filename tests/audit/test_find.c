/* What an audit says of moves and of padding: what, what helps, and what that saves. */
#include "audit/audit_private.h"

#include <inttypes.h>
#include <string.h>

#include "tests/support/audited.h"
#include "tests/support/group.h"

/* In their order; "." where no time is saved. */
static const char *found(const char *module) {
    ts_text text = ts_text_begin(arena), out = ts_text_begin(arena);
    ts_text_add(&text, "HloModule m, is_scheduled=true\n\n%s}\n", module);
    ts_audit_result r;
    ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
    for (int i = 0; i < r.finding_count; i++) {
        const ts_audit_finding *f = &r.findings[i];
        ts_text_add(&out, "%s: %s; %" PRId64 "%s%s%s%s\n", f->what, f->fix, f->bytes_saved,
                    f->at_most ? " at most" : "", f->microseconds_saved > 0 ? "" : ".",
                    f->layout ? " as " : "", f->layout ? f->layout : "");
    }
    ts_audit_free(audit);
    return out.bytes ? out.bytes : "";
}

#define A         "f32[64,1024]{1,0:T(8,128)}" /* of 256 KiB */
#define ENTRY     "ENTRY %main {\n"
#define PARAMETER "  %a = " A " parameter(0)\n"
#define FUSED     "%fused {\n  %p = " A " parameter(0)\n  ROOT %t = f32[64,1024]{0,1:T(8,128)} copy(%p)\n}\n\n"
#define MADE      "  %p = " A " parameter(0)\n  %a = " A " negate(%p)\n"

static const struct {
    const char *text, *findings;
} rows[] = {
    {ENTRY PARAMETER "  ROOT %c = f32[64,1024]{0,1:T(8,128)} copy(%a)\n",
     "copy changes order of dims, more padding: f32[64,1024]{1,0:T(8,128)} to f32[64,1024]{0,1:T(8,128)}: "
     "give the argument the layout {0,1:T(8,128)} where it is made (jax.experimental.layout), once; 524288 "
     "as {0,1:T(8,128)}\n"
     "f32[64,1024]{0,1:T(8,128)} takes 512.0K for 256.0K of data: another order of dims: "
     "f32[64,1024]{1,0:T(8,128)} takes 256.0K; 262144 as {1,0:T(8,128)}\n"},
    {ENTRY MADE "  ROOT %c = f32[64,1024]{0,1:T(8,128)} copy(%a)\n",
     "copy changes order of dims, more padding: f32[64,1024]{1,0:T(8,128)} to f32[64,1024]{0,1:T(8,128)}: "
     "produce the source as {0,1:T(8,128)}, or let the user read {1,0:T(8,128)}; 0 as {0,1:T(8,128)}\n"
     "f32[64,1024]{0,1:T(8,128)} takes 512.0K for 256.0K of data: another order of dims: "
     "f32[64,1024]{1,0:T(8,128)} takes 256.0K; 262144 as {1,0:T(8,128)}\n"},
    {ENTRY "  %a = " A
           " custom-call(), custom_call_target=\"k\"\n  ROOT %c = f32[64,1024]{0,1:T(8,128)} copy(%a)\n",
     "copy changes order of dims, more padding: f32[64,1024]{1,0:T(8,128)} to f32[64,1024]{0,1:T(8,128)}: a "
     "kernel pins the source's layout: let it write {0,1:T(8,128)}; 0 as {0,1:T(8,128)}\n"
     "f32[64,1024]{0,1:T(8,128)} takes 512.0K for 256.0K of data: another order of dims: "
     "f32[64,1024]{1,0:T(8,128)} takes 256.0K; 262144 as {1,0:T(8,128)}\n"},
    {FUSED ENTRY PARAMETER "  ROOT %c = f32[64,1024]{0,1:T(8,128)} fusion(%a), kind=kLoop, calls=%fused\n",
     "copy changes order of dims, more padding: f32[64,1024]{1,0:T(8,128)} to f32[64,1024]{0,1:T(8,128)}: "
     "produce the operand as {0,1:T(8,128)}: the fusion then needs no reordering; 0 at most as "
     "{0,1:T(8,128)}\n"
     "f32[64,1024]{0,1:T(8,128)} takes 512.0K for 256.0K of data: another order of dims: "
     "f32[64,1024]{1,0:T(8,128)} takes 256.0K; 262144 as {1,0:T(8,128)}\n"},
    {ENTRY PARAMETER "  ROOT %c = f32[64,1024]{1,0:T(4,128)} copy(%a)\n",
     "copy changes tile: f32[64,1024]{1,0:T(8,128)} to f32[64,1024]{1,0:T(4,128)}: give the argument the "
     "layout {1,0:T(4,128)} where it is made (jax.experimental.layout), once; 262144 as {1,0:T(4,128)}\n"},
    {ENTRY PARAMETER "  ROOT %c = f32[64,1024]{1,0:T(8,128)} copy(%a)\n",
     "copy changes nothing: f32[64,1024]{1,0:T(8,128)} to f32[64,1024]{1,0:T(8,128)}: donate the argument "
     "(jax.jit donate_argnums): the copy keeps it unchanged; 262144\n"},
    {ENTRY MADE "  ROOT %c = f32[64,1024]{1,0:T(8,128)} copy(%a)\n",
     "copy changes nothing: f32[64,1024]{1,0:T(8,128)} to f32[64,1024]{1,0:T(8,128)}: layouts are equal: the "
     "copy keeps a buffer that is written later; donate it, or write to another; 262144\n"},
    /* What the program says is not advised against. */
    {ENTRY PARAMETER "  ROOT %c = f32[64,1024]{1,0:T(8,128)} reverse(%a), dimensions={0}\n", ""},
    {ENTRY PARAMETER "  ROOT %c = f32[64,1024]{0,1:T(8,128)} reverse(%a), dimensions={0}\n",
     "f32[64,1024]{0,1:T(8,128)} takes 512.0K for 256.0K of data: another order of dims: "
     "f32[64,1024]{1,0:T(8,128)} takes 256.0K; 262144 as {1,0:T(8,128)}\n"},
    {ENTRY PARAMETER "  ROOT %c = f32[64,1024]{1,0:T(8,128)S(1)} copy(%a)\n", ""},
    /* An argument is in no VMEM: the copy to there stays, and so does its buffer. */
    {ENTRY "  %a = f32[256,1024]{1,0:T(8,128)} parameter(0)\n"
           "  ROOT %c = f32[256,1024]{0,1:T(8,128)S(1)} copy(%a)\n",
     "copy changes order of dims, memory space: f32[256,1024]{1,0:T(8,128)} to "
     "f32[256,1024]{0,1:T(8,128)S(1)}: "
     "give the argument the layout {0,1:T(8,128)} where it is made (jax.experimental.layout), once; 0 as "
     "{0,1:T(8,128)}\n"},
    {ENTRY "  %b = f32[8,128]{1,0:T(8,128)} parameter(1)\n  %a = f32[256,1024]{1,0} parameter(0)\n  ROOT %c "
           "= f32[256,1024]{0,1:S(1)} copy(%a)\n",
     "copy changes order of dims, memory space: f32[256,1024]{1,0} to f32[256,1024]{0,1:S(1)}: "
     "give the argument the layout {0,1} where it is made (jax.experimental.layout), once; 0 as {0,1}\n"},
    {ENTRY PARAMETER "  ROOT %c = f32[16,1024]{1,0:T(8,128)} slice(%a), slice={[0:16],[0:1024]}\n", ""},
    /* Transposes: the layout is said of the source's dims. */
    {ENTRY PARAMETER "  ROOT %c = f32[1024,64]{1,0:T(8,128)} transpose(%a), dimensions={1,0}\n",
     "transpose changes order of dims, more padding: f32[64,1024]{1,0:T(8,128)} to "
     "f32[1024,64]{1,0:T(8,128)}: give the argument the layout {0,1:T(8,128)} where it is made "
     "(jax.experimental.layout), once; 524288 as {0,1:T(8,128)}\n"
     "f32[1024,64]{1,0:T(8,128)} takes 512.0K for 256.0K of data: another order of dims: "
     "f32[1024,64]{0,1:T(8,128)} takes 256.0K; 262144 as {0,1:T(8,128)}\n"},
    {ENTRY "  %a = f32[8,256,128]{2,1,0:T(8,128)} parameter(0)\n"
           "  ROOT %c = f32[128,8,256]{2,1,0:T(8,128)} transpose(%a), dimensions={2,0,1}\n",
     "transpose changes order of dims: f32[8,256,128]{2,1,0:T(8,128)} to f32[128,8,256]{2,1,0:T(8,128)}: "
     "give the argument the layout {1,0,2:T(8,128)} where it is made (jax.experimental.layout), once; "
     "1048576 as {1,0,2:T(8,128)}\n"},
    {ENTRY "  %a = f32[8,256,128]{2,1,0:T(8,128)} parameter(0)\n"
           "  ROOT %c = f32[8,128,256]{2,1,0:T(8,128)} transpose(%a), dimensions={0,2,1}\n",
     "transpose changes order of dims: f32[8,256,128]{2,1,0:T(8,128)} to f32[8,128,256]{2,1,0:T(8,128)}: "
     "give the "
     "argument the layout {1,2,0:T(8,128)} where it is made (jax.experimental.layout), once; 1048576 as "
     "{1,2,0:T(8,128)}\n"},
    {ENTRY "  %a = f32[100]{0:T(128)} parameter(0)\n"
           "  ROOT %c = f32[100]{0:T(1024)} transpose(%a), dimensions={0}\n",
     "transpose changes tile, more padding: f32[100]{0:T(128)} to f32[100]{0:T(1024)}: the padding is the "
     "target's: 4.0K for it; give it the layout {0:T(128)}, which has the source's bytes; 3584. as "
     "{0:T(1024)}\n"
     "f32[100]{0:T(1024)} takes 4.0K for 400B of data: another tile: f32[100]{0:T(128)} takes 512B; 3584. as "
     "{0:T(128)}\n"},
    /* Reshapes: the shape is. */
    {ENTRY PARAMETER "  ROOT %c = f32[128,512]{1,0:T(8,128)} reshape(%a)\n", ""}, /* which is what it says */
    {ENTRY PARAMETER "  ROOT %c = f32[65536]{0:T(1024)} reshape(%a)\n",
     "reshape changes dims, tile: f32[64,1024]{1,0:T(8,128)} to f32[65536]{0:T(1024)}: give the argument the "
     "shape f32[65536]{0:T(1024)} where it is made, once; 262144\n"},
    {ENTRY MADE "  ROOT %c = f32[65536]{0:T(1024)} reshape(%a)\n",
     "reshape changes dims, tile: f32[64,1024]{1,0:T(8,128)} to f32[65536]{0:T(1024)}: produce the source as "
     "f32[65536]{0:T(1024)}, or let the user read {1,0:T(8,128)}; 0\n"},
    /* Most of the target is padding, or half of it. */
    {ENTRY "  %a = f32[8,4096]{1,0:T(8,128)} parameter(0)\n  ROOT %c = f32[8,4096]{0,1:T(8,128)} copy(%a)\n",
     "copy changes order of dims, more padding: f32[8,4096]{1,0:T(8,128)} to f32[8,4096]{0,1:T(8,128)}: the "
     "padding is the target's: 2.00M for it; keep the source's layout {1,0:T(8,128)}; 1966080 as "
     "{0,1:T(8,128)}\n"
     "f32[8,4096]{0,1:T(8,128)} takes 2.00M for 128.0K of data: another order of dims: "
     "f32[8,4096]{1,0:T(8,128)} takes 128.0K; 1966080 as {1,0:T(8,128)}\n"},
    /* Of what is not the source's dims, in the target's. */
    {ENTRY "  %a = f32[4,8,1024]{2,1,0:T(8,128)} parameter(0)\n"
           "  ROOT %c = f32[1024,4,8]{2,1,0:T(8,128)} transpose(%a), dimensions={2,0,1}\n",
     "transpose changes order of dims, more padding: f32[4,8,1024]{2,1,0:T(8,128)} to "
     "f32[1024,4,8]{2,1,0:T(8,128)}: the padding is the target's: 4.00M for it; give it the layout "
     "{0,2,1:T(8,128)}, which has the source's bytes; 4063232 as {1,0,2:T(8,128)}\n"
     "f32[1024,4,8]{2,1,0:T(8,128)} takes 4.00M for 128.0K of data: another order of dims: "
     "f32[1024,4,8]{0,2,1:T(8,128)} takes 128.0K; 4063232 as {0,2,1:T(8,128)}\n"},
    {ENTRY "  %a = f32[4096]{0:T(1024)} parameter(0)\n  ROOT %c = f32[1024,4]{1,0:T(8,128)} reshape(%a)\n",
     "f32[1024,4]{1,0:T(8,128)} takes 512.0K for 16.0K of data: another order of dims: "
     "f32[1024,4]{0,1:T(4,128)} takes 16.0K; 507904 as {0,1:T(4,128)}\n"
     "reshape changes dims, tile, more padding: f32[4096]{0:T(1024)} to f32[1024,4]{1,0:T(8,128)}: the "
     "padding is the target's: 512.0K for it; keep the source's shape f32[4096]{0:T(1024)}; 507904\n"},
    {ENTRY
     "  %a = f32[64,4096]{1,0:T(8,128)} parameter(0)\n  ROOT %c = f32[64,4096]{0,1:T(8,128)} copy(%a)\n",
     "copy changes order of dims, more padding: f32[64,4096]{1,0:T(8,128)} to f32[64,4096]{0,1:T(8,128)}: "
     "give the argument the layout {0,1:T(8,128)} where it is made (jax.experimental.layout), once; 2097152 "
     "as {0,1:T(8,128)}\n"
     "f32[64,4096]{0,1:T(8,128)} takes 2.00M for 1.00M of data: another order of dims: "
     "f32[64,4096]{1,0:T(8,128)} takes 1.00M; 1048576 as {1,0:T(8,128)}\n"},
    {ENTRY
     "  %a = f32[63,4096]{1,0:T(8,128)} parameter(0)\n  ROOT %c = f32[63,4096]{0,1:T(8,128)} copy(%a)\n",
     "copy changes order of dims, more padding: f32[63,4096]{1,0:T(8,128)} to f32[63,4096]{0,1:T(8,128)}: "
     "the padding is the target's: 2.00M for it; keep the source's layout {1,0:T(8,128)}; 1048576 as "
     "{0,1:T(8,128)}\n"
     "f32[63,4096]{0,1:T(8,128)} takes 2.00M for 1008.0K of data: fold dims that are neighbours in memory: "
     "f32[258048]{0:T(1024)} takes 1008.0K; 1064960\n"
     "f32[63,4096]{1,0:T(8,128)} takes 1.00M for 1008.0K of data: fold dims that are neighbours in memory: "
     "f32[258048]{0:T(1024)} takes 1008.0K; 16384\n"},
    /* One column of tiles lies the same with those of 4 rows. */
    {ENTRY "  %a = f32[1000,3]{1,0:T(8,128)} parameter(0)\n  ROOT %c = f32[1000,3]{1,0:T(4,128)} copy(%a)\n",
     "copy changes nothing: f32[1000,3]{1,0:T(8,128)} to f32[1000,3]{1,0:T(4,128)}: donate the argument "
     "(jax.jit donate_argnums): the copy keeps it unchanged; 512000\n"
     "f32[1000,3]{1,0:T(8,128)} takes 500.0K for 11.7K of data: fold dims that are neighbours in memory: "
     "f32[3000]{0:T(1024)} takes 12.0K; 499712\n"
     "f32[1000,3]{1,0:T(4,128)} takes 500.0K for 11.7K of data: fold dims that are neighbours in memory: "
     "f32[3000]{0:T(1024)} takes 12.0K; 499712\n"},
    /* Where source and target are padded alike, the padding is not the target's. */
    {ENTRY "  %a = f32[9,130]{1,0:T(8,128)} parameter(0)\n  ROOT %c = f32[9,130]{1,0:T(16,128)} copy(%a)\n",
     "copy changes tile: f32[9,130]{1,0:T(8,128)} to f32[9,130]{1,0:T(16,128)}: give the argument the layout "
     "{1,0:T(16,128)} where it is made (jax.experimental.layout), once; 16384 as {1,0:T(16,128)}\n"
     "f32[9,130]{1,0:T(8,128)} takes 16.0K for 4.6K of data: fold dims that are neighbours in memory: "
     "f32[1170]{0:T(1024)} takes 8.0K; 8192\n"
     "f32[9,130]{1,0:T(16,128)} takes 16.0K for 4.6K of data: fold dims that are neighbours in memory: "
     "f32[1170]{0:T(1024)} takes 8.0K; 8192\n"},
    /* Padding of buffers: their width, another tile, another order, a fold. */
    {ENTRY "  ROOT %a = pred[64,512]{1,0:T(8,128)E(32)} parameter(0)\n",
     "pred[64,512]{1,0:T(8,128)E(32)} takes 128.0K for 32.0K of data: store it at its own width: E() makes "
     "elements 4 times as wide; 98304\n"},
    /* as much for width as for rows */
    {ENTRY "  ROOT %a = pred[64,512]{1,0:T(96,128)E(16)} parameter(0)\n",
     "pred[64,512]{1,0:T(96,128)E(16)} takes 96.0K for 32.0K of data: another tile: "
     "pred[64,512]{1,0:T(32,128)(4,1)} takes 32.0K; 65536 as {1,0:T(32,128)(4,1)}\n"},
    {ENTRY "  ROOT %a = pred[60,512]{1,0:T(8,128)E(32)} parameter(0)\n",
     "pred[60,512]{1,0:T(8,128)E(32)} takes 128.0K for 30.0K of data: store it at its own width: E() makes "
     "elements 4 times as wide; 92160\n"},
    {ENTRY "  ROOT %a = pred[64,512]{1,0:T(8,128)E(16)} parameter(0)\n",
     "pred[64,512]{1,0:T(8,128)E(16)} takes 64.0K for 32.0K of data: store it at its own width: E() makes "
     "elements 2 times as wide; 32768\n"},
    {ENTRY "  ROOT %a = pred[4,512]{1,0:T(8,128)E(8)} parameter(0)\n",
     "pred[4,512]{1,0:T(8,128)E(8)} takes 4.0K for 2.0K of data: another tile: "
     "pred[4,512]{1,0:T(4,128)(4,1)} takes 2.0K; 2048. as {1,0:T(4,128)(4,1)}\n"},
    {ENTRY "  ROOT %a = f32[5,3,700]{2,1,0:T(8,128)} parameter(0)\n",
     "f32[5,3,700]{2,1,0:T(8,128)} takes 120.0K for 41.0K of data: fold dims that are neighbours in memory: "
     "f32[15,700]{1,0:T(8,128)} takes 48.0K; 73728\n"},
    {ENTRY
     "  %a = f32[8,1000]{0,1:T(8,128)} parameter(0)\n  ROOT %b = f32[8,1000]{0,1:T(8,128)} negate(%a)\n",
     "f32[8,1000]{0,1:T(8,128)} takes 500.0K for 31.2K of data: another order of dims: "
     "f32[8,1000]{1,0:T(8,128)} takes 32.0K; 958464 as {1,0:T(8,128)}\n"},
    {ENTRY "  ROOT %a = f32[7,128]{1,0:T(8,128)} parameter(0)\n", ""},
    {ENTRY "  ROOT %a = f32[1000,3]{1,0:T(8,128)} parameter(0)\n",
     "f32[1000,3]{1,0:T(8,128)} takes 500.0K for 11.7K of data: fold dims that are neighbours in memory: "
     "f32[3000]{0:T(1024)} takes 12.0K; 499712\n"},
    {ENTRY "  ROOT %a = f32[1000,3]{1,0:T(8,128)S(1)} parameter(0)\n",
     "f32[1000,3]{1,0:T(8,128)S(1)} takes 500.0K for 11.7K of data: fold dims that are neighbours in memory: "
     "f32[3000]{0:T(1024)S(1)} takes 12.0K; 499712\n"},
    {ENTRY "  ROOT %a = pred[60,129]{1,0:T(8,128)E(16)} parameter(0)\n",
     "pred[60,129]{1,0:T(8,128)E(16)} takes 32.0K for 7.6K of data: fold dims that are neighbours in memory: "
     "pred[7740]{0:T(1024)(128)(4,1)} takes 8.0K; 24576\n"},
    /* Of those that save as much time, the one that saves more bytes is first. */
    {ENTRY "  %a = pred[4,384]{1,0:T(8,128)E(8)} parameter(0)\n"
           "  %b = pred[4,512]{1,0:T(8,128)E(8)} parameter(1)\n",
     "pred[4,512]{1,0:T(8,128)E(8)} takes 4.0K for 2.0K of data: another tile: "
     "pred[4,512]{1,0:T(4,128)(4,1)} takes 2.0K; 2048. as {1,0:T(4,128)(4,1)}\n"
     "pred[4,384]{1,0:T(8,128)E(8)} takes 3.0K for 1.5K of data: another tile: "
     "pred[4,384]{1,0:T(4,128)(4,1)} takes 1.5K; 1536. as {1,0:T(4,128)(4,1)}\n"},
    /* Be it no move: these save no time, and two buffers more bytes than the move. */
    {ENTRY "  %a = f32[100]{0:T(128)} parameter(0)\n  %b = f32[100]{0:T(1024)} parameter(1)\n"
           "  ROOT %c = f32[100]{0:T(1024)} transpose(%a), dimensions={0}\n",
     "f32[100]{0:T(1024)} takes 4.0K for 400B of data: another tile: f32[100]{0:T(128)} takes 512B; 7168. as "
     "{0:T(128)}\n"
     "transpose changes tile, more padding: f32[100]{0:T(128)} to f32[100]{0:T(1024)}: the padding is the "
     "target's: 4.0K for it; give it the layout {0:T(128)}, which has the source's bytes; 3584. as "
     "{0:T(1024)}\n"},
    /* Of those that save as much, the one that wastes more is first. */
    {ENTRY
     "  %a = f32[1000,3]{1,0:T(8,128)} parameter(0)\n  ROOT %b = f32[999,3]{1,0:T(8,128)} parameter(1)\n",
     "f32[999,3]{1,0:T(8,128)} takes 500.0K for 11.7K of data: fold dims that are neighbours in memory: "
     "f32[2997]{0:T(1024)} takes 12.0K; 499712\n"
     "f32[1000,3]{1,0:T(8,128)} takes 500.0K for 11.7K of data: fold dims that are neighbours in memory: "
     "f32[3000]{0:T(1024)} takes 12.0K; 499712\n"},
};

TEST(findings_say_what_helps) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *got = found(rows[i].text);
        if (strcmp(got, rows[i].findings) != 0) fail_msg("%s%s", rows[i].text, got);
    }
}

/* A copy to padding saves as much for each time that it runs. */
TEST(runs_multiply_what_is_saved) {
    double saved[2] = {0};
    for (int k = 0; k < 2; k++) {
        ts_text text = ts_text_begin(arena);
        ts_text_add(
            &text,
            "HloModule m, is_scheduled=true\n\n%%cond {\n  %%q = f32[8,4096]{1,0:T(8,128)} parameter(0)\n"
            "  ROOT %%t = pred[] custom-call(%%q)\n}\n\n%%body {\n"
            "  %%p = f32[8,4096]{1,0:T(8,128)} parameter(0)\n"
            "  ROOT %%c = f32[8,4096]{0,1:T(8,128)} copy(%%p)\n}\n\n"
            "ENTRY %%main {\n  %%a = f32[8,4096]{1,0:T(8,128)} parameter(0)\n"
            "  ROOT %%w = f32[8,4096]{1,0:T(8,128)} while(%%a), condition=%%cond, body=%%body, "
            "backend_config={\"known_trip_count\":{\"n\":\"%d\"}}\n}\n",
            k ? 5 : 1);
        ts_audit_result r;
        ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
        for (int i = 0; i < r.finding_count; i++)
            if (r.findings[i].is_move) saved[k] = r.findings[i].microseconds_saved;
        ts_audit_free(audit);
    }
    assert_true(saved[0] > 0);
    assert_true(saved[1] > 4.999 * saved[0] && saved[1] < 5.001 * saved[0]);
}

/* Buffers that are alike save as much each. */
TEST(buffers_multiply_what_is_saved) {
    static const char one[] = "HloModule m, is_scheduled=true\n\nENTRY %main {\n"
                              "  %a = f32[1000,3]{1,0:T(8,128)} parameter(0)\n}\n",
                      three[] = "HloModule m, is_scheduled=true\n\nENTRY %main {\n"
                                "  %a = f32[1000,3]{1,0:T(8,128)} parameter(0)\n"
                                "  %b = f32[1000,3]{1,0:T(8,128)} parameter(1)\n"
                                "  %c = f32[1000,3]{1,0:T(8,128)} parameter(2)\n}\n";
    double saved[2];
    for (int k = 0; k < 2; k++) {
        ts_audit_result r;
        ts_audit *audit = audited(
            arena, &v6e_audit,
            k == 0 ? (audited_text){one, sizeof one - 1, 0} : (audited_text){three, sizeof three - 1, 0}, &r);
        assert_int_equal(r.finding_count, 1);
        assert_int_equal(r.findings[0].bytes_saved, (k == 0 ? 1 : 3) * 499712);
        saved[k] = r.findings[0].microseconds_saved;
        ts_audit_free(audit);
    }
    assert_true(saved[0] > 0);
    assert_true(saved[1] > 2.999 * saved[0] && saved[1] < 3.001 * saved[0]);
}

/* Those of 256 moves and of 256 shapes: those that take and waste most. */
TEST(the_most_are_looked_at) {
    enum { ROWS = 300, MOST = 256 };
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "HloModule m, is_scheduled=true\n\n" ENTRY);
    for (int i = 1; i <= ROWS; i++) {
        ts_text_add(&text, "  %%a%d = f32[%d,129]{1,0:T(8,128)} parameter(%d)\n", i, 8 * i, i);
        ts_text_add(&text, "  %%c%d = f32[%d,129]{1,0:T(8,128)} copy(%%a%d)\n", i, 8 * i, i);
    }
    ts_text_add(&text, "}\n");
    ts_audit_result r;
    ts_audit *audit = audited(arena, &v6e_audit, (audited_text){text.bytes, text.length, 0}, &r);
    int moves = 0;
    assert_true(r.group_count == ROWS && r.class_count == ROWS && r.finding_count == 2 * MOST);
    for (int i = 0; i < r.finding_count; i++) {
        moves += r.findings[i].is_move;
        assert_in_range(r.findings[i].index, 0, MOST - 1);
    }
    assert_int_equal(moves, MOST);
    ts_audit_free(audit);
}

int main(void) { return run_all_tests(begin_audits, end_group); }
