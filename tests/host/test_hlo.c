/* HLO text: what the reader makes of each kind of line, and that no way of feeding it, cut or torn, changes
 * or harms that. */
#include <string.h>

#include "base/text.h"
#include "host/hlo.h"
#include "host/hlo_opcode.h"
#include "tests/support/test.h"

/* ---- Events as text, one a line ---- */

static void add(ts_text *out, const char *label, ts_span span) {
    if (span.length > 0) ts_text_add(out, " %s<%.*s>", label, (int)span.length, span.text);
}

static void on_module(void *self, int64_t line, ts_span name, ts_span attributes) {
    ts_text_add(self, "%d module", (int)line);
    add(self, "", name);
    add(self, "", attributes);
    ts_text_add(self, "\n");
}

static void on_computation(void *self, int64_t line, ts_span name, bool entry) {
    ts_text_add(self, "%d %s", (int)line, entry ? "entry" : "computation");
    add(self, "", name);
    ts_text_add(self, "\n");
}

static void on_end(void *self) { ts_text_add(self, "end\n"); }

static void on_instruction(void *self, const ts_hlo_instruction *i) {
    ts_text_add(self, "%d%s%s", (int)i->line, i->root ? " root" : "", i->cut ? " cut" : "");
    add(self, "", i->name);
    add(self, "", i->shape);
    add(self, "", i->opcode);
    add(self, "", i->operands);
    add(self, "+", i->attributes);
    ts_text_add(self, "\n");
}

static void on_message(void *self, int64_t line, ts_span text) {
    ts_text_add(self, "%d message <%.*s>\n", (int)line, (int)text.length, text.text);
}

static void on_part(void *self, int64_t line, ts_hlo_part part, ts_span values) {
    static const char *const names[] = {"loop",   "carried", "condition", "body",
                                        "branch", "gives",   "region end"};
    ts_text_add(self, "%d %s", (int)line, names[part]);
    add(self, "", values);
    ts_text_add(self, "\n");
}

static const char *events_of(ts_arena *arena, const char *text, size_t length, size_t piece) {
    ts_text *out = TS_NEW(arena, ts_text);
    ts_hlo_events events = {out,        on_module, on_computation, on_end, on_instruction,
                            on_message, NULL,      NULL,           on_part};
    *out = ts_text_begin(arena);
    ts_hlo_reader *reader = ts_hlo_new(arena, &events);
    for (size_t at = 0; at < length; at += piece)
        ts_hlo_feed(reader, text + at, piece < length - at ? piece : length - at);
    ts_hlo_finish(reader);
    return out->bytes ? out->bytes : "";
}

typedef struct {
    const char *text, *events;
} row;

static const row rows[] = {
    {"", ""},
    {"\n  \n// a comment\n====\n", "4 message <====>\n"},
    {"\xef\xbb\xbf"
     "ENTRY e {\n\xef\xbb\xbf"
     "====\n",
     "1 entry <e>\n2 message <\xef\xbb\xbf"
     "====>\nend\n"},
    {"{\n====\n", "1 message <{>\n2 message <====>\n"},
    {"HloModule jit_f, is_scheduled=true, num_partitions=4\n",
     "1 module <jit_f> < is_scheduled=true, num_partitions=4>\n"},
    {"%c (p: f32[8], q: (f32[2], s32[])) -> f32[8] {\n  ROOT %a.1 = f32[8]{0:T(128)} add(%p, %q)\n}\n",
     "1 computation <c>\n2 root <a.1> <f32[8]{0:T(128)}> <add> <%p, %q>\nend\n"},
    {"%c\t(p: f32[8])\t->\tf32[8]\t{\n\tROOT\t%a.1\t=\tf32[8]\tnegate(%p)\n}\n",
     "1 computation <c>\n2 root <a.1> <f32[8]> <negate> <%p>\nend\n"},
    /* Each line behind the stamp of a log, and what only looks like one. */
    {"I0320 03:59:34.720000     855 hlo.cc:12] %c (p: f32[8]) -> f32[8] {\n"
     "W20250320 03:59:34.7 855 a-b/hlo.cc:7]   ROOT %a = f32[8]\n"
     "E0000 00:00:1742212345.1 855 hlo.cc:7] negate(%p)\nF0320 03:59:34.7 1 h:1]}\n",
     "1 computation <c>\n2 root <a> <f32[8]> <negate> <%p>\nend\n"},
    {"I0320 03:59:34.7 1 h:1] %a = f32[8] all-reduce(%b), replica_groups=mesh['x'=2]\n"
     "I0320 03:59:34.7 1 h:1]   {'x'}\nFileNames\n%c = f32[] negate(%d)\nE   , y=1\n",
     "1 <a> <f32[8]> <all-reduce> <%b> +<, replica_groups=mesh['x'=2] {'x'}>\n"
     "4 <c> <f32[]> <negate> <%d> +< , y=1>\n"},
    {"E   ENTRY %e {\nE     %a = f32[8] copy(%p)\nE   }\nE   Total:\nE\nE \nE  \nE x\n",
     "1 entry <e>\n2 <a> <f32[8]> <copy> <%p>\nend\n4 message <Total:>\n8 message <E x>\n"},
    /* StableHLO broken over lines, and what is no part of it. */
    {"module @m {\nfunc.func public @f(%a: tensor<8xf32>,\n  %b: tensor<8xf32>)\n  -> tensor<8xf32> {\n"
     "%0 =\n  stablehlo.add %a,\n  %b\n  : tensor<8xf32>\n%1 = stablehlo.add\n  %0, %a : tensor<8xf32>\n"
     "%2:2 = stablehlo.while(%c = %0, %d =\n %1) : tensor<8xf32>, tensor<8xf32>\n"
     "%3 = stablehlo.add %0, (\n%4 = stablehlo.negate %0 :\n (tensor<8xf32>)\n -> tensor<8xf32>\nnote\n"
     "%5 = stablehlo.add %0, ...\nnote\nreturn\n  %4 : tensor<8xf32>\n}\n}\n",
     "2 entry <f>\n"
     "2 <a> <f32[8]> <parameter>\n"
     "2 <b> <f32[8]> <parameter>\n"
     "5 <0> <f32[8]> <add> <f32[8] %a, f32[8] %b>\n"
     "9 <1> <f32[8]> <add> <f32[8] %0, f32[8] %a>\n"
     "11 loop <%0, %1>\n"
     "11 carried <%c, %d>\n"
     "11 <2> <(f32[8], f32[8])> <while> < %0,  %1>\n"
     "13 cut <3> <add>\n"
     "14 <4> <f32[8]> <negate> <f32[8] %0>\n"
     "17 message <note>\n"
     "18 cut <5> <add>\n"
     "19 message <note>\n"
     "end\n"},
    /* An operation has its types, whatever its next line begins with; what begins an own line has not. */
    {"module {\nsdy.mesh @m = <[\"x\"=2]>\n  {a = 1}\nfunc.func @f(%a: tensor<2x8xf32>) {\n"
     "%0:2 = \"stablehlo.sort\"(%a, %a)\n  <{b = 1}>\n  ({\n^bb0(%x: tensor<f32>, %y: tensor<f32>):\n"
     "%1 = stablehlo.add %x, %y : tensor<f32>\n}) : (tensor<2x8xf32>, tensor<2x8xf32>) -> "
     "(tensor<2x8xf32>, tensor<2x8xf32>)\n"
     "%2 = stablehlo.dot_general %a, %a, contracting_dims = [0]\n  x [0] : (tensor<2x8xf32>, tensor<2x8xf32>)"
     " -> tensor<8x8xf32>\n  loc(#l)\n"
     "%3 = stablehlo.reduce(%a init: %c) applies\n  stablehlo.add across dimensions = [0]\n"
     "  : (tensor<2x8xf32>, tensor<f32>) -> tensor<8xf32>\nlater\n"
     "%4 = arith.constant true\n\"stablehlo.send\"(%4)\n%5 = arith.constant true\nstablehlo.send %5\n"
     "%6 = arith.constant true\ncond {\n}\n%7 = arith.constant true\n}\n",
     "4 entry <f>\n4 <a> <f32[2,8]> <parameter>\n"
     "5 <0> <(f32[2,8], f32[2,8])> <sort> <f32[2,8] %a, f32[2,8] %a>\n"
     "11 <2> <f32[8,8]> <dot> <f32[2,8] %a, f32[2,8] %a> +<, lhs_contracting_dims={0}, "
     "rhs_contracting_dims={0}>\n"
     "14 <3> <f32[8]> <reduce> <f32[2,8] %a, f32[] %c> +<, dimensions={0}>\n17 message <later>\n"
     "18 cut <4> <constant>\n20 cut <5> <constant>\n22 cut <6> <constant>\n23 condition\n24 region end\n"
     "25 cut <7> <constant>\nend\n"},
    /* What follows a block's head is no part of it. */
    {"\"func.func\"() <{sym_name = \"f\"}> ({\n^bb0(%a: tensor<8xf32>):\n// b\nnote\n}) : () -> ()\n",
     "1 entry <f>\n2 <a> <f32[8]> <parameter>\n4 message <note>\nend\n"},
    /* Attributes in lines of their own, ">" that is no mark of a mail, or behind one, and comments between. */
    {"func.func @f(%a: tensor<2x8xf32>) {\n"
     "%0 = \"stablehlo.transpose\"(%a) <{\n"
     "  permutation = array<i64:\n"
     "    1, 0\n"
     "  >\n"
     "}> :\n"
     "// (of\n"
     "(tensor<2x8xf32>) -> tensor<8x2xf32>\n"
     "%1 = stablehlo.custom_call @g(%0) {\n"
     "  a = 1\n"
     "} : (tensor<8x2xf32>) -> tensor<8xf32>\n"
     "%2 = stablehlo.add %1, %1\n"
     "// b\n"
     "  : tensor<8xf32>\n"
     "}\n",
     "1 entry <f>\n"
     "1 <a> <f32[2,8]> <parameter>\n"
     "2 <0> <f32[8,2]> <transpose> <f32[2,8] %a> +<, dimensions={1,0}>\n"
     "9 <1> <f32[8]> <custom-call> <f32[8,2] %0>\n"
     "12 <2> <f32[8]> <add> <f32[8] %1, f32[8] %1>\nend\n"},
    {"> func.func @f(%a: tensor<2x8xf32>) {\n"
     "> %0 = \"stablehlo.transpose\"(%a) <{\n"
     ">   permutation = array<i64:\n"
     ">     1, 0\n"
     ">   >\n"
     "> }> :\n"
     "> // (of\n"
     "> (tensor<2x8xf32>) -> tensor<8x2xf32>\n"
     "> %1 = stablehlo.custom_call @g(%0) {\n"
     ">   a = 1\n"
     "> } : (tensor<8x2xf32>) -> tensor<8xf32>\n"
     "> %2 = stablehlo.add %1, %1\n"
     "> // b\n"
     ">   : tensor<8xf32>\n"
     "> }\n",
     "1 entry <f>\n"
     "1 <a> <f32[2,8]> <parameter>\n"
     "2 <0> <f32[8,2]> <transpose> <f32[2,8] %a> +<, dimensions={1,0}>\n"
     "9 <1> <f32[8]> <custom-call> <f32[8,2] %0>\n"
     "12 <2> <f32[8]> <add> <f32[8] %1, f32[8] %1>\nend\n"},
    {"> > func.func @f(%a: tensor<2x8xf32>) {\n"
     "> > %0 = \"stablehlo.transpose\"(%a) <{\n"
     "> >   permutation = array<i64:\n"
     "> >     1, 0\n"
     "> >   >\n"
     "> > }> :\n"
     "> > // (of\n"
     "> > (tensor<2x8xf32>) -> tensor<8x2xf32>\n"
     "> > %1 = stablehlo.custom_call @g(%0) {\n"
     "> >   a = 1\n"
     "> > } : (tensor<8x2xf32>) -> tensor<8xf32>\n"
     "> > %2 = stablehlo.add %1, %1\n"
     "> > // b\n"
     "> >   : tensor<8xf32>\n"
     "> > }\n",
     "1 entry <f>\n"
     "1 <a> <f32[2,8]> <parameter>\n"
     "2 <0> <f32[8,2]> <transpose> <f32[2,8] %a> +<, dimensions={1,0}>\n"
     "9 <1> <f32[8]> <custom-call> <f32[8,2] %0>\n"
     "12 <2> <f32[8]> <add> <f32[8] %1, f32[8] %1>\nend\n"},
    /* Of mail; a wrapped attribute behind its comma, and what is no quote. */
    {"> ENTRY %e {\n>   %a = f32[8] copy(%p)\n>     , metadata={}\n>\n> }\n>> > E   Total:\n>=1\n",
     "1 entry <e>\n2 <a> <f32[8]> <copy> <%p> +< , metadata={}>\nend\n6 message <Total:>\n7 message <>=1>\n"},
    /* A stamp at the end of its line, lines that a shorter one is before, colours and no-break spaces. */
    {"[rank0]: %c (p: f32[8]) -> f32[8] {\n[rank0]:\xc2\xa0 %a = f32[8]\n[rank0]:\n"
     "\x1b[36m(f pid=1)\x1b[0m %b = f32[8]\n2020-05-04T09:05:40Z copy(%a)\n[0]:}\n",
     "1 computation <c>\n2 cut <a> <f32[8]>\n4 <b> <f32[8]> <copy> <%a>\nend\n"},
    {"module {\n\xc2\xa0 func.func @f(%a: tensor<8xf32>) {\n\xc2\xa0\xc2\xa0 %0 = stablehlo.add %a, %a : "
     "tensor<8xf32>\n}\n",
     "2 entry <f>\n2 <a> <f32[8]> <parameter>\n3 <0> <f32[8]> <add> <f32[8] %a, f32[8] %a>\nend\n"},
    /* Lines of a string of JSON or Python are lines, those of a quote in one are not. */
    {"note\n{\"severity\": \"ERROR\", \"message\": \"HloModule m, a={b=\\\"\\\\n\\\"}\\n\\nENTRY %e (p: "
     "f32[8]) -\\u003e "
     "f32[8] {\\n  %a = f32[8]\\n copy(%p)\\n}\\n\"}\n%b = f32[2] copy(%a)\n",
     "1 message <note>\n2 module <m> < a={b=\"\\n\"}>\n4 entry <e>\n5 <a> <f32[8]> <copy> <%p>\nend\n"
     "9 <b> <f32[2]> <copy> <%a>\n"},
    {"XlaRuntimeError('Used 1.0K\\n%a = f32[2] copy(%b), metadata={op_name=\"c\\\\nd\"}\\nend')\n",
     "1 message <XlaRuntimeError('Used 1.0K>\n2 <a> <f32[2]> <copy> <%b> +<, metadata={op_name=\"c\\nd\"}>\n"
     "3 message <end')>\n"},
    {"Operator: op_name=\"f[\\n  a=(1)\\n]\"\n", "1 message <Operator: op_name=\"f[\\n  a=(1)\\n]\">\n"},
    {"%a = f32[2] copy(%b), metadata={op_name=\"c\\nd\"}\\n\n",
     "1 <a> <f32[2]> <copy> <%b> +<, metadata={op_name=\"c\\nd\"}\\n>\n"},
    {"ENTRY main {\n  x = f32[] parameter(0), sharding={replicated}\n} // main\n",
     "1 entry <main>\n2 <x> <f32[]> <parameter> <0> +<, sharding={replicated}>\nend\n"},
    /* With the types of operands, column-aligned, a comment in a tuple, nested tuples. */
    {"%copy-start.3   = (f32[8]{0:T(128)S(1)}, f32[8]{0}, /*index=5*/u32[]{:S(2)}) copy-start(f32[8]{0} "
     "%x.2)\n",
     "1 <copy-start.3> <(f32[8]{0:T(128)S(1)}, f32[8]{0}, /*index=5*/u32[]{:S(2)})> <copy-start> <f32[8]{0} "
     "%x.2>\n"},
    {"%s = ((s32[256]{0:T(256)}), s32[256]{0:T(256)}, u32[]{:S(8)}) async-start(%a), calls=%async.1\n",
     "1 <s> <((s32[256]{0:T(256)}), s32[256]{0:T(256)}, u32[]{:S(8)})> <async-start> <%a> +<, "
     "calls=%async.1>\n"},
    /* P() nests a shape in the braces; a quote holds brackets. */
    {"a = f32[8]{0:P(f32[8]{0})} copy(b), metadata={op_name=\"state[\\'x\\']}) (\"}, "
     "backend_config={\"n\":\"4\"}\n",
     "1 <a> <f32[8]{0:P(f32[8]{0})}> <copy> <b> +<, metadata={op_name=\"state[\\'x\\']}) (\"}, "
     "backend_config={\"n\":\"4\"}>\n"},
    {"%d = f32[<=4194304]{0:T(1024)} add(%a, %b)\n", "1 <d> <f32[<=4194304]{0:T(1024)}> <add> <%a, %b>\n"},
    {"%b = b(f32[8]{0}) custom-call(%x)\n", "1 <b> <b(f32[8]{0})> <custom-call> <%x>\n"},
    /* Blanks behind the type. */
    {"%e (p: s32 [8]) -> s32 [8] {\n%p = s32 [8]{0} copy(s32 [8] {0} %q)\n}\n"
     "a = f [8] copy(b)\n",
     "1 computation <e>\n2 <p> <s32 [8]{0}> <copy> <s32 [8] {0} %q>\nend\n"
     "4 message <a = f [8] copy(b)>\n"},
    /* Cut in the operands, the shape or the opcode; "..." says that the line is all there is. */
    {"%a = f32[2] ...\n%b = f32[2] ?...\n%c = f32[2] copy...\n%d = f32[2] copy.e\n",
     "1 cut <a> <f32[2]>\n2 message <%b = f32[2] ?...>\n3 cut <c> <f32[2]> <copy>\n4 message <%d = f32[2] "
     "copy.e>\n"},
    {"%a = f32[8]{0} add(%p, ...", "1 cut <a> <f32[8]{0}> <add> <%p, ...>\n"},
    {"%a = f32[8]{0} add(%p, %", "1 cut <a> <f32[8]{0}> <add> <%p, %>\n"},
    {"%a = (f32[8]{0}, f3", "1 cut <a> <(f32[8]{0}, f3>\n"},
    {"%a = f32[8]{0:T(", "1 cut <a> <f32[8]{0:T(>\n"},
    {"%a = f32[8]{0} ad", "1 cut <a> <f32[8]{0}>\n"},
    {"%f = (f32[2]{0}, f32[3]{0}, ...(+6)) fusion(%a)\n",
     "1 <f> <(f32[2]{0}, f32[3]{0}, ...(+6))> <fusion> <%a>\n"},
    /* A computation's header over several lines, in any place between words. */
    {"%f.1 (p.1: f32[8]{0:T(128)}, q: (f32[2],\n  s32[])) ->\n f32[8]{0}\n{\n  %a = f32[8]{0} "
     "negate(%p.1)\n}\n",
     "1 computation <f.1>\n5 <a> <f32[8]{0}> <negate> <%p.1>\nend\n"},
    {"ENTRY %main.2\n (\n  p: f32[8],\n  /*index=1*/q: f32[])\n  -> (f32[8],\n  f32[]) {\n}\n",
     "1 entry <main.2>\nend\n"},
    {"ENTRY %m\n{\n}\nENTRY\n%m {\n}\n", "1 entry <m>\nend\n4 entry <m>\nend\n"},
    {"f ()\n-> f32[] {\n}\n%f ()\n-> f32[] {\n}\n%f (\n) -> f32[] {\n}\n",
     "1 message <f ()>\n2 message <-> f32[] {>\n4 computation <f>\nend\n7 computation <f>\nend\n"},
    {"g (p: f32[8],\n  q: f32[8]) -> f32[8] {\n}\ng (p: (f32[8],\n  f32[8])) -> f32[8] {\n}\n",
     "1 computation <g>\nend\n4 computation <g>\nend\n"},
    /* What is none, or is not all there. */
    {"the line (p: 8,\n  q) -> r {\n%e (size, of\n all) -> {\n",
     "1 message <the line (p: 8,>\n2 message <q) -> r {>\n3 message <%e (size, of>\n4 message <all) -> {>\n"},
    {"%g (p: f32[8],\n%a = f32[8] copy(%b)\n", "1 message <%g (p: f32[8],>\n2 <a> <f32[8]> <copy> <%b>\n"},
    {"%g (p: f32[8],\n  q: f32[8]\n\n) -> f32[8] {\n",
     "1 message <%g (p: f32[8],>\n2 message <q: f32[8]>\n4 message <) -> f32[8] {>\n"},
    {"%g (p: f32[8],\n  q: f32[8]", ""},
    {"%g (p: f32[8])\n", "1 message <%g (p: f32[8])>\n"},
    {"%g (p: f32[8])\nby %h\n%i\n", "1 message <%g (p: f32[8])>\n2 message <by %h>\n3 message <%i>\n"},
    {"%g (p: f32[8]) -> f32[8]\n}\n%g (p: f32[8]) -> f32[8]\nor\n",
     "1 message <%g (p: f32[8]) -> f32[8]>\n3 message <%g (p: f32[8]) -> f32[8]>\n4 message <or>\n"},
    {"%e (size, of\n(all) -> {\n", "1 message <%e (size, of>\n2 message <(all) -> {>\n"},
    {"%e (size f32[8],\n) -> r {\n", "1 message <%e (size f32[8],>\n2 message <) -> r {>\n"},
    {"line (p: 8,\n  q) -> r {\n", "1 message <line (p: 8,>\n2 message <q) -> r {>\n"},
    {"%g (p: f32[8]) x\n-> f32[8] {\n", "1 message <%g (p: f32[8]) x>\n2 message <-> f32[8] {>\n"},
    {"%g (p: f32[8])\nby\n-> f32[8] {\n",
     "1 message <%g (p: f32[8])>\n2 message <by>\n3 message <-> f32[8] {>\n"},
    /* No blanks, no name, and what follows the whole of it. */
    {"%g (p:f32[8],\nq:f32[8]) -> f32[8] {\n}\nENTRY (p: f32[8],\n  q: f32[8]) -> f32[8] {\n}\n",
     "1 computation <g>\nend\n4 entry\nend\n"},
    {"%g (p: f32[8])\n  -> f32[8] {\nwords\n", "1 computation <g>\n3 message <words>\nend\n"},
    /* Wrapped. */
    {"%a = (f32[8]{0},\n      f32[9]{0})\n   tuple(%b,\n %c)\n%d = f32[] negate(%a)\n",
     "1 <a> <(f32[8]{0}, f32[9]{0})> <tuple> <%b, %c>\n5 <d> <f32[]> <negate> <%a>\n"},
    {"%a = f32[8]{0} add(%b,\n%d = f32[] negate(%a)\n",
     "1 cut <a> <f32[8]{0}> <add> <%b,>\n2 <d> <f32[]> <negate> <%a>\n"},
    /* A constant over lines. */
    {"%c = f32[2,2] constant({\n  { 1, 2 },\n  { 3, 4 }\n})\n%d = f32[] negate(%a)\n",
     "1 <c> <f32[2,2]> <constant> <{>\n5 <d> <f32[]> <negate> <%a>\n"},
    /* Out of a log, and of an out-of-memory report. */
    {"2024-01-01 12:00:00 I hlo.cc:12] %a = f32[8]{0} add(%b, %c)\n", "1 <a> <f32[8]{0}> <add> <%b, %c>\n"},
    {"     XLA label: copy.remat = copy(Arg_0.1)\n", "1 <copy.remat> <copy> <Arg_0.1>\n"},
    {"  Shape: f32[16,4]{0,1:T(4,128)}\n", "1 message <Shape: f32[16,4]{0,1:T(4,128)}>\n"},
    {"x = open(file)\n", "1 message <x = open(file)>\n"},
    {"  size = 0x1000, [shape = 'f32[8]{0}']\n", "1 message <size = 0x1000, [shape = 'f32[8]{0}']>\n"},
    /* The tables of recent dumps, and attributes on a line of their own. */
    {"FileNames\n1 \"/a/b.py\"\n\nStackFrames\n1 {file_location_id=1 parent_frame_id=1}\n\n%a = f32[] "
     "negate(%b)\n",
     "7 <a> <f32[]> <negate> <%b>\n"},
    {"FileNames\n\n1 \"a\"\n\nFileLocations\n\n1 {file_name_id=1\n\n  line=2}\nline=3 4\nStackFrames\n1\n1 "
     "x\n",
     "10 message <line=3 4>\n12 message <1>\n13 message <1 x>\n"},
    {"%a = f32[] negate(%b),\n  metadata={op_name=\"x\"}\n",
     "1 <a> <f32[]> <negate> <%b> +<, metadata={op_name=\"x\"}>\n"},
    /* Broken between words of an attribute, and in its quote; one that is cut off there goes on with nothing. */
    {"%a = f32[] negate(%b), metadata={op_name=\"x\"\n  stack_frame_id=2}, y={z\n  q=1}\n"
     "%c = f32[] negate(%a), metadata={op_name=\"x (\n  y\" line=2\n}\n",
     "1 <a> <f32[]> <negate> <%b> +<, metadata={op_name=\"x\" stack_frame_id=2}, y={z q=1}>\n"
     "4 <c> <f32[]> <negate> <%a> +<, metadata={op_name=\"x ( y\" line=2 }>\n"},
    {"%e {\n%a = f32[] negate(%b), metadata={op_name=\"x\n}\n%f {\n%c = f32[] negate(%a), "
     "metadata={op_name=\"\\\"x\nwords\n",
     "1 computation <e>\n2 <a> <f32[]> <negate> <%b> +<, metadata={op_name=\"x>\nend\n4 computation <f>\n"
     "5 <c> <f32[]> <negate> <%a> +<, metadata={op_name=\"\\\"x>\n6 message <words>\nend\n"},
    {"%a = f32[] negate(%b), metadata={op_name=\"x\" line\nUsed 20.00G of 15.48G hbm.\n"
     "%c = f32[] negate(%a), sharding={\nmaximal\ndevice=0}\n",
     "1 <a> <f32[]> <negate> <%b> +<, metadata={op_name=\"x\" line>\n2 message <Used 20.00G of 15.48G hbm.>\n"
     "3 <c> <f32[]> <negate> <%a> +<, sharding={ maximal device=0}>\n"},
    {"%a = f32[] negate(%b), metadata={op_name=\"x...\nwords\n",
     "1 <a> <f32[]> <negate> <%b> +<, metadata={op_name=\"x...>\n2 message <words>\n"},
    {"%a = f32[4] all-reduce(%b), replica_groups=mesh['x'=2]\n  {'x'}, x=y\n"
     "%c = f32[4] all-reduce(%a),\n  replica_groups=mesh['x'=2]\n  {'x'}\n",
     "1 <a> <f32[4]> <all-reduce> <%b> +<, replica_groups=mesh['x'=2] {'x'}, x=y>\n"
     "3 <c> <f32[4]> <all-reduce> <%a> +<, replica_groups=mesh['x'=2] {'x'}>\n"},
    /* The attributes of a constant. */
    {"%e {\nROOT %a = s32[] constant(1),\n  metadata={op_name=\"x\"}\n}\n%f {\n%a = s32[2] "
     "constant({1,\n2}), metadata={op_name=\"x\"\nline=2}\n}\n",
     "1 computation <e>\n2 root <a> <s32[]> <constant> <1> +<, metadata={op_name=\"x\"}>\nend\n"
     "5 computation <f>\n6 <a> <s32[2]> <constant> <{1,>\nend\n"},
    {"%a = f32[4] call(%b, %c),\n    to_apply=%d, x={\n  {0}: (0, {1})\n  }, y=1\n}\n",
     "1 <a> <f32[4]> <call> <%b, %c> +<, to_apply=%d, x={ {0}: (0, {1}) }, y=1>\n"},
    {"%a = f32[4] call(%b), to_apply=%d, backend_config={\n    \"k\":{\n      n:1\n    }\n}\n}\n}\n",
     "1 <a> <f32[4]> <call> <%b> +<, to_apply=%d, backend_config={ \"k\":{ n:1 } }>\n"},
    {"%a {\n%b = f32[4] call(%c, {\n}\n%d = f32[] negate(%b)\n",
     "1 computation <a>\n2 cut <b> <f32[4]> <call> <%c, {>\nend\n4 <d> <f32[]> <negate> <%b>\n"},
    {"%e {\n%a = f32[4] call(%b),\n}\n%f {\n%a = f32[4] call(%b, {\n}, %c)\n}\n",
     "1 computation <e>\n2 <a> <f32[4]> <call> <%b> +<,>\nend\n4 computation <f>\n"
     "5 <a> <f32[4]> <call> <%b, { }, %c>\nend\n"},
    {"%a = f32[4] call(%b),\n%c = f32[4] negate(%a),\n",
     "1 <a> <f32[4]> <call> <%b> +<,>\n2 <c> <f32[4]> <negate> <%a> +<,>\n"},
    /* What goes on without a comma: only a loop that lacks its computations. */
    {"%a = f32[4] negate(%b)\nx=y\n%c = f32[4] negate(%a)\n\r\n, x=y\n%d = f32[] negate(%c)\n\r, x=y\n",
     "1 <a> <f32[4]> <negate> <%b>\n2 message <x=y>\n3 <c> <f32[4]> <negate> <%a>\n5 message <, x=y>\n"
     "6 <d> <f32[]> <negate> <%c> +< , x=y>\n"},
    {"%w = f32[4] while(%b, ...\n", "1 cut <w> <f32[4]> <while> <%b, ...>\n"},
    {"%w = f32[4] while(%b)\ncondition=%c\n, body=%d\nx=y\n",
     "1 <w> <f32[4]> <while> <%b> +< condition=%c , body=%d>\n4 message <x=y>\n"},
    /* A computation that does not end before the next begins, or the text does. */
    {"%a {\n%b {\n x = f32[] negate(y)\n",
     "1 computation <a>\nend\n2 computation <b>\n3 <x> <f32[]> <negate> <y>\nend\n"},
    /* Comments behind a line, but for slashes in quotes or words. */
    {"%a = f32[8]{0} transpose(%b),\n  dimensions={0} // not }\n/* a \" comment */\n%d = (f32[2], // of "
     "0\n// 1\n"
     "  f32[3]) tuple(%a, %b), metadata={op_name=\"f // g\"}\nsee https://x.y/ // or not\n",
     "1 <a> <f32[8]{0}> <transpose> <%b> +<, dimensions={0}>\n4 <d> <(f32[2], f32[3])> <tuple> <%a, %b> "
     "+<, metadata={op_name=\"f // g\"}>\n7 message <see https://x.y/>\n"},
    /* Comments of several lines: they end only where their marks say, and stars of paths begin none. */
    {"/* %a = f32[1] add(%b)\n\n  // %a = f32[2] add(%b) **/ %a = f32[3] add(%b, /*\n  \"x) */ %c), x=y /** "
     "d\n*/"
     "/**/\n%e = f32[4] copy(%a /* f // g */) // h\n%i = f32[5] copy(%e), n=\" /* \"\nls j/* k\nls "
     "/*.py\n(/* l\n*/)",
     "3 <a> <f32[3]> <add> <%b, %c> +<, x=y>\n6 <e> <f32[4]> <copy> <%a /* f // g */>\n"
     "7 <i> <f32[5]> <copy> <%e> +<, n=\" /* \">\n8 message <ls j/* k>\n9 message <ls /*.py>\n10 message "
     "<(>\n"
     "11 message <)>\n"},
    {"/* a\n%a = f32[1] copy(%b)\n", ""},
    /* A name alone goes on within a computation. */
    {"c {\n  ROOT a =\n    f32[2] negate(b)\n}\na =\n",
     "1 computation <c>\n2 root <a> <f32[2]> <negate> <b>\nend\n5 message <a =>\n"},
    {"c {\n  ROOT\n  %a\n  =\n  f32[2] negate(b)\n%d\n= f32[2] negate(b)\n}\n",
     "1 computation <c>\n2 root <a> <f32[2]> <negate> <b>\n6 <d> <f32[2]> <negate> <b>\nend\n"},
    {"c {\na\n= f32[2] negate(b)\n%d\n(p: f32[8]) -> f32[8] {\n}\n",
     "1 computation <c>\n2 <a> <f32[2]> <negate> <b>\nend\n4 computation <d>\nend\n"},
    {"c {\nROOT\n}\nd {\n%a\n%b = f32[2] negate(c)\nw\n%a =\nwords\nROOT\n\n%d\n",
     "1 computation <c>\n2 message <ROOT>\nend\n4 computation <d>\n5 message <%a>\n6 <b> <f32[2]> <negate> "
     "<c>\n"
     "7 message <w>\n8 message <%a = words>\n10 message <ROOT>\n12 message <%d>\nend\n"},
    /* Of a diff the new side, of lines with numbers what is behind these: also of those that go on. */
    {"@@ -1,6 +1,6 @@\n HloModule m\n \n c {\n-  a = f32[8]\n+  a = f32[2]\n-  copy(b)\n+    negate(b)\n }\n"
     "@@ -9,2 +9,2 @@\n-  x = f32[8] copy(y),\n-  z=1\n+  d = f32[2]\n+   copy(b)\n====\n",
     "2 module <m>\n4 computation <c>\n6 <a> <f32[2]> <negate> <b>\nend\n13 <d> <f32[2]> <copy> <b>\n15 "
     "message <====>\n"},
    {"12,13c12,13\n<   a = f32[8] copy(b),\n<    x=1\n---\n>   a = f32[2] copy(b),\n>    x={\n20d20\n< }\n",
     "5 <a> <f32[2]> <copy> <b> +<, x={>\n"},
    {"\n     1\tHloModule m\n     2\n     3\tc {\n     4\t  a =\n     5\t  f32[2] negate(b)\n     6\t  d = "
     "f32[2]\n     7\t"
     "    copy(a)\n      , x=1\n     8\t}\n",
     "2 module <m>\n4 computation <c>\n5 <a> <f32[2]> <negate> <b>\n7 <d> <f32[2]> <copy> <a> +< , "
     "x=1>\nend\n"},
    /* Tables of a header, with a module in quotes that is none of the text's. */
    {"HloModule m, is_scheduled=true, origin_recovery_table={\n  {\"a\"} : {\"b\"},\n  \"\n    HloModule "
     "r\n\n    "
     "ENTRY %e {\n      ROOT %p = f32[2] parameter(0), origin={{\\\"}\\\"}}\n    }\n  \"\n}\n,\n"
     "debug_attributes={\n  {\"a\"}:({op_id=1})\n}\n\nENTRY %f {\n  ROOT %q = f32[2] parameter(0)\n}\n",
     "1 module <m> < is_scheduled=true, origin_recovery_table={ {\"a\"} : {\"b\"}, } , debug_attributes={ "
     "{\"a\"}:({op_id=1}) }>\n16 entry <f>\n17 root <q> <f32[2]> "
     "<parameter> <0>\nend\n"},
    {"HloModule m, entry_computation_layout={(\n  f32[2]{0},\n  (s32[])\n)->f32[2]{0}},\n  "
     "is_scheduled=true\n\nf32[3]\n",
     "1 module <m> < entry_computation_layout={( f32[2]{0}, (s32[]) )->f32[2]{0}}, is_scheduled=true>\n7 "
     "message <f32[3]>\n"},
    {"HloModule m, x={(f32[2]{0},\n  s32[])}, y={z={\n  mesh = #sdy.mesh<[\"x\"=2]>, b = #b<>}}\nENTRY %f "
     "{\n}\n",
     "1 module <m> < x={(f32[2]{0}, s32[])}, y={z={ mesh = #sdy.mesh<[\"x\"=2]>, b = #b<>}}>\n4 entry "
     "<f>\nend\n"},
    /* Its brackets are closed: what follows is of a message. */
    {"HloModule m, x={(\n  f32[2]{0}\n)}\nwords of it\n",
     "1 module <m> < x={( f32[2]{0} )}>\n4 message <words of it>\n"},
    /* What is no attribute behind it. */
    {"HloModule a\nx\nHloModule b\n, x\nHloModule c\n=x\nHloModule d\nx=\nHloModule e\nx= y\nHloModule f\nxy "
     "z\nHloModule g\nx=y\n",
     "1 module <a>\n2 message <x>\n3 module <b>\n4 message <, x>\n5 module <c>\n6 message <=x>\n"
     "7 module <d>\n8 message <x=>\n9 module <e>\n10 message <x= y>\n11 module <f>\n12 message <xy "
     "z>\n13 module <g> < x=y>\n"},
    /* A header that is cut. */
    {"HloModule m, x={\n\ny\n", "1 module <m> < x={>\n3 message <y>\n"},
    {"HloModule m, x={(f32[2]{0}, f3\nthen f32[3] = x\n",
     "1 module <m> < x={(f32[2]{0}, f3>\n2 message <then f32[3] = x>\n"},
    {"HloModule m, x={\nENTRY %f {\n  ROOT %q = f32[2] parameter(0)\n}\n",
     "1 module <m> < x={>\n2 entry <f>\n3 root <q> <f32[2]> <parameter> <0>\nend\n"},
    /* StableHLO. */
    {"module @jit_f attributes {mhlo.num_partitions = 1 : i32} {\n"
     "  func.func public @main(%arg0: tensor<8x16xf32> {x = \"y\"}, %arg1: tensor<i1>) -> "
     "(tensor<16x8xbf16>) {\n"
     "    %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<8x16xf32>) -> tensor<16x8xf32>\n"
     "    %1 = stablehlo.add %0, %0 : tensor<16x8xf32>\n"
     "    %2 = stablehlo.convert %1 : (tensor<16x8xf32>) -> tensor<16x8xbf16> loc(#loc3)\n"
     "    return %2 : tensor<16x8xbf16>\n  }\n}\n",
     "2 entry <main>\n2 <arg0> <f32[8,16]> <parameter>\n2 <arg1> <pred[]> <parameter>\n"
     "3 <0> <f32[16,8]> <transpose> <f32[8,16] %arg0> +<, dimensions={1,0}>\n"
     "4 <1> <f32[16,8]> <add> <f32[16,8] %0, f32[16,8] %0>\n"
     "5 <2> <bf16[16,8]> <convert> <f32[16,8] %1>\nend\n"},
    {"%0 = \"mhlo.transpose\"(%a) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<2x?xf8E4M3FN>) -> "
     "tensor<?x2xf8E4M3FN>\n",
     "1 <0> <f8e4m3fn[?,2]> <transpose> <f8e4m3fn[2,?] %a> +<, dimensions={1,0}>\n"},
    {"%3:2 = stablehlo.while(%i = %c, %x = %y) : tensor<i64>, tensor<4xcomplex<f32>>\n",
     "1 loop <%c, %y>\n1 carried <%i, %x>\n1 <3> <(s64[], c64[4])> <while> < %c,  %y>\n"},
    /* A loop in a loop, and a reduction in it, whose values are none of theirs. */
    {"%3 = stablehlo.while(%i = %c) : tensor<i32> attributes {a = \"}\"}\n cond {\n"
     "%4 = stablehlo.compare NE, %i, %5, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "stablehlo.return %4 : tensor<i1>\n} do {\n%4 = stablehlo.while(%j = %i) : tensor<i32>\ncond {\n} do {\n"
     "%0 = \"stablehlo.reduce\"(%a, %b) ({\n^bb0(%x: tensor<f32>):\nstablehlo.return %x : tensor<f32>\n}) : "
     "(tensor<8xf32>, tensor<f32>) -> tensor<f32>\nstablehlo.return %j : tensor<i32>\n} loc(#loc)\n"
     "stablehlo.return %i, %3#1 : tensor<i32>, tensor<i32>\n}\n"
     "%9 = stablehlo.constant dense<-7> : tensor<i32>\n",
     "1 loop <%c>\n1 carried <%i>\n1 <3> <s32[]> <while> <s32[] %c>\n2 condition\n"
     "3 <4> <pred[]> <compare> <s32[] %i, s32[] %5> +<, direction=NE>\n4 gives <%4>\n5 region end\n5 body\n"
     "6 loop <%i>\n6 carried <%j>\n6 <4> <s32[]> <while> <s32[] %i>\n7 condition\n8 region end\n8 "
     "body\n"
     "9 <0> <f32[]> <reduce> <f32[8] %a, f32[] %b>\n13 gives <%j>\n14 region end\n15 gives <%i, %3#1>\n16 "
     "region end\n"
     "17 <9> <s32[]> <constant> <-7>\n"},
    /* The generic forms: of a loop, of branches, of a function. */
    {"\"builtin.module\"() <{sym_name = \"m\"}> ({\n"
     "\"func.func\"() <{function_type = (tensor<i32>) -> tensor<i32>, sym_name = \"f\", sym_visibility = "
     "\"private\"}> ({\n^bb0(%arg1: tensor<i32> loc(\"x\"), %arg2: tensor<2xf32>):\n"
     "%5:2 = \"stablehlo.while\"(%arg1, %arg2) ({\n^bb0(%a: tensor<i32>, %b: tensor<2xf32>):\n"
     "%6 = \"stablehlo.compare\"(%a, %4) <{comparison_direction = #stablehlo<comparison_direction GE>}> : "
     "(tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "\"stablehlo.return\"(%6) : (tensor<i1>) -> ()\n}, {\n^bb0(%d: tensor<i32>, %e: tensor<2xf32>):\n"
     "%7 = \"stablehlo.case\"(%d) ({\n\"stablehlo.return\"(%e) : (tensor<2xf32>) -> ()\n}, {\n"
     "\"stablehlo.return\"(%b) : (tensor<2xf32>) -> ()\n}) : (tensor<i32>) -> tensor<2xf32>\n"
     "\"stablehlo.return\"(%d, %7) : (tensor<i32>, tensor<2xf32>) -> ()\n"
     "}) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)\n"
     "\"func.return\"(%5#1) : (tensor<2xf32>) -> ()\n}) : () -> ()\n}) {x = 1 : i32} : () -> ()\n",
     "2 computation <f>\n3 <arg1> <s32[]> <parameter>\n3 <arg2> <f32[2]> <parameter>\n4 loop <%arg1, %arg2>\n"
     "4 condition\n5 carried <%a, %b>\n6 <6> <pred[]> <compare> <s32[] %a, s32[] %4> +<, direction=GE>\n"
     "7 gives <%6>\n8 region end\n8 body\n9 carried <%d, %e>\n10 branch\n11 gives <%e>\n12 region end\n12 "
     "branch\n"
     "13 gives <%b>\n14 region end\n10 <7> <f32[2]> <conditional> <s32[] %d>\n15 gives <%d, %7>\n16 region "
     "end\n"
     "4 <5> <(s32[], f32[2])> <while> <s32[] %arg1, f32[2] %arg2>\nend\n"},
    /* A function that begins before the last one ends. */
    {"func.func @f() {\n\"stablehlo.if\"(%p) ({\n%1 = \"stablehlo.if\"(%p) ({\nfunc.func private @g() {\n}\n",
     "1 entry <f>\n3 branch\n4 region end\n4 computation <g>\nend\n"},
    {"%0 = \"stablehlo.reduce\"(%a, %b) ({\n^bb0(%x: tensor<f32>):\n  %9 = stablehlo.add %x, %x : "
     "tensor<f32>\n"
     "  stablehlo.return %9 : tensor<f32>\n}) {dimensions = dense<0> : tensor<1xi64>} : (tensor<8xf32>, "
     "tensor<f32>) -> "
     "tensor<f32>\n",
     "1 <0> <f32[]> <reduce> <f32[8] %a, f32[] %b> +<, dimensions={0}>\n"},
    /* Attributes of the generic form. */
    {"%1 = \"stablehlo.dot_general\"(%a, %b) <{dot_dimension_numbers = "
     "#stablehlo.dot<lhs_batching_dimensions = "
     "[0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2, 3], rhs_contracting_dimensions = "
     "[0, "
     "2]>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>\n"
     "%2 = \"stablehlo.broadcast_in_dim\"(%a) <{broadcast_dimensions = array<i64: 1, 0>}> : "
     "(tensor<3x2xf32>) "
     "-> tensor<2x3xf32>\n"
     "%3 = \"stablehlo.broadcast_in_dim\"(%a) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> "
     "tensor<3xf32>\n"
     "%4 = \"stablehlo.convolution\"(%a, %b) <{batch_group_count = 1 : i64, dimension_numbers = "
     "#stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>}> : (tensor<1x2x3xf32>, tensor<1x3x4xf32>) -> "
     "tensor<1x2x4xf32>\n"
     "%5:2 = \"stablehlo.reduce\"(%a, %b, %c, %c) <{dimensions = array<i64: 0, 2>}> ({\n"
     "^bb0(%x: tensor<f32>, %y: tensor<f32>):\n  %6 = \"stablehlo.transpose\"(%x) <{permutation = array<i64: "
     "1, 0>}> : (tensor<f32>) -> tensor<f32>\n  \"stablehlo.return\"(%x, %y) : (tensor<f32>, tensor<f32>) -> "
     "()\n}) : (tensor<2x3x4xf32>, tensor<2x3x4xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, "
     "tensor<3xf32>)\n",
     "1 <1> <f32[3]> <dot> <f32[2,3] %a, f32[2,3] %b> +<, lhs_batch_dims={0}, rhs_batch_dims={1}, "
     "lhs_contracting_dims={2,3}, rhs_contracting_dims={0,2}>\n"
     "2 <2> <f32[2,3]> <broadcast> <f32[3,2] %a> +<, dimensions={1,0}>\n"
     "3 <3> <f32[3]> <broadcast> <f32[] %a>\n"
     "4 <4> <f32[1,2,4]> <convolution> <f32[1,2,3] %a, f32[1,3,4] %b> +<, dim_labels=b0f_0io->b0f>\n"
     "5 <5> <(f32[3], f32[3])> <reduce> <f32[2,3,4] %a, f32[2,3,4] %b, f32[] %c, f32[] %c> +<, "
     "dimensions={0,2}>\n"},
    {"%1 = stablehlo.slice %0 [0:2, 4:8:2] : (tensor<4x8xui8>) -> tensor<2x2xui8>\n",
     "1 <1> <u8[2,2]> <slice> <u8[4,8] %0> +<, slice={[0:2], [4:8:2]}>\n"},
    {"%1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0, 2] : "
     "(tensor<2x3x4xf32>, tensor<f32>) -> tensor<3xf32>\n",
     "1 <1> <f32[3]> <reduce> <f32[2,3,4] %0, f32[] %c> +<, dimensions={0,2}>\n"},
    {"%1 = stablehlo.dot_general %a, %b, batching_dims = [0] x [1], contracting_dims = [2, 3] x [0, 2] : "
     "(tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<3xf32>\n",
     "1 <1> <f32[3]> <dot> <f32[2,3] %a, f32[2,3] %b> +<, lhs_batch_dims={0}, rhs_batch_dims={1}, "
     "lhs_contracting_dims={2,3}, rhs_contracting_dims={0,2}>\n"},
    {"%1 = stablehlo.broadcast_in_dim %a, dims = [1] : (tensor<3xf32>) -> tensor<2x3xf32>\n",
     "1 <1> <f32[2,3]> <broadcast> <f32[3] %a> +<, dimensions={1}>\n"},
    {"%1 = \"stablehlo.gather\"(%a, %b) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, "
     "3>}> "
     ": (tensor<2x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>\n",
     "1 <1> <f32[4,3]> <gather> <f32[2,3] %a, s32[4,1] %b> +<, offset_dims={1}, collapsed_slice_dims={0}>\n"},
    {"%0 = \"stablehlo.cross-replica-sum\"(%a) : (tensor<2xf32>) -> tensor<2xf32>\n"
     "%1 = chlo.is_inf %0 : tensor<2xf32> -> tensor<2xi1>\n"
     "%2, %x = chlo.top_k(%0, k = 1) : tensor<2xf32> -> (tensor<1xf32>, tensor<1xi32>)\n",
     "1 <0> <f32[2]> <cross-replica-sum> <f32[2] %a>\n2 <1> <pred[2]> <is-inf> <f32[2] %0>\n"
     "3 <2> <(f32[1], s32[1])> <topk> <f32[2] %0>\n"},
    {"%0 = stablehlo.uniform_quantize %a : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8<-128:127>:f32:0, "
     "{0.1, "
     "0.5}>>\n%1 = stablehlo.add %0, %0 : tensor<2x!quant.uniform<u8:f32, 34.0:16>>\n",
     "1 <0> <s8[2]> <uniform-quantize> <f32[2] %a>\n2 <1> <u8[2]> <add> <u8[2] %0, u8[2] %0>\n"},
    /* Groups of collectives, before a body or behind it; what is no list is no list in HLO either. */
    {"%1 = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]> "
     ": "
     "tensor<2x2xi64>}> : (tensor<2xf32>) -> tensor<4xf32>\n"
     "%2 = \"stablehlo.collective_permute\"(%a) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> "
     ": "
     "(tensor<2xf32>) -> tensor<2xf32>\n"
     "%3 = \"stablehlo.all_to_all\"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @m, "
     "axes "
     "= [#stablehlo.axis_ref<name = \"x\">]>}> : (tensor<2xf32>) -> tensor<2xf32>\n"
     "%4 = \"stablehlo.all_gather\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2xf32>) -> "
     "tensor<2xf32>\n"
     "%5 = \"stablehlo.all_gather\"(%a) <{replica_groups = dense<> : tensor<0x0xi64>}> : (tensor<2xf32>) -> "
     "tensor<2xf32>\n",
     "1 <1> <f32[4]> <all-gather> <f32[2] %a> +<, replica_groups={{0,1},{2,3}}>\n"
     "2 <2> <f32[2]> <collective-permute> <f32[2] %a> +<, source_target_pairs={{0,1}}>\n"
     "3 <3> <f32[2]> <all-to-all> <f32[2] %a> +<, replica_groups=mesh@m>\n"
     "4 <4> <f32[2]> <all-gather> <f32[2] %a> +<, replica_groups={{0}}>\n"
     "5 <5> <f32[2]> <all-gather> <f32[2] %a> +<, replica_groups={}>\n"},
    {"%1 = \"stablehlo.all_reduce\"(%a) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({\n"
     "^bb0(%b: tensor<f32>):\n  stablehlo.return %b : tensor<f32>\n}) : (tensor<2xf32>) -> tensor<2xf32>\n"
     "%2 = \"stablehlo.reduce_scatter\"(%a) ({\n^bb0(%b: tensor<f32>):\n  stablehlo.return %b : tensor<f32>\n"
     "}) {replica_groups = dense<[[2, 3]]> : tensor<1x2xi64>} : (tensor<2xf32>) -> tensor<1xf32>\n"
     "%3 = \"stablehlo.reduce\"(%a) ({\n}) : (tensor<2xf32>) -> tensor<f32>\n",
     "1 <1> <f32[2]> <all-reduce> <f32[2] %a> +<, replica_groups={{0,1}}>\n5 <2> <f32[1]> <reduce-scatter> "
     "<f32[2] %a> +<, replica_groups={{2,3}}>\n9 <3> <f32[]> <reduce> <f32[2] %a>\n"},
    /* Long lists are bytes; axes are of a mesh that is named, the last of its name, or is there itself. */
    {"module @p {\n  sdy.mesh @m = <[\"x\"=1]>\n  sdy.mesh @mm = <[\"x\"=3]>\n  sdy.mesh @m = <[\"x\"=2, "
     "\"y\"=4], "
     "device_ids=[1, 0, 2, "
     "3, 4, 5, 6, 7]>\n\"sdy.mesh\"() <{mesh = #sdy.mesh<[\"z\"=8]>, sym_name = \"g\"}> : () -> ()\n"
     "%1 = \"stablehlo.all_gather\"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @m, "
     "axes = "
     "[#stablehlo.axis_ref<name = \"x\">, #stablehlo.axis_ref<name = \"y\", sub_axis_info = (1)2>]>}> : "
     "(tensor<2xf32>) -> tensor<8xf32>\n"
     "%2 = \"stablehlo.all_gather\"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @g, "
     "axes = "
     "[#stablehlo.axis_ref<name = \"z\">]>}> : (tensor<2xf32>) -> tensor<8xf32>\n"
     "%3 = \"stablehlo.all_gather\"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<mesh = "
     "#stablehlo.mesh<axes = [#stablehlo.mesh_axis<name = \"x\", size = 2>], device_ids = dense<[1, 0]> : "
     "tensor<2xi64>>, axes = [#stablehlo.axis_ref<name = \"x\">]>}> : (tensor<2xf32>) -> tensor<8xf32>\n"
     "%4 = \"stablehlo.all_gather\"(%a) <{replica_groups = "
     "dense<\"0x0000000000000000FF0100000000000002100000000000000a00000000000000\"> : tensor<2x2xi64>}> : "
     "(tensor<2xf32>) -> tensor<8xf32>\n"
     "%5 = \"stablehlo.all_gather\"(%a) <{replica_groups = dense<\"0x00000000000000000000000000000080\"> : "
     "tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<8xf32>\n"
     "%6 = \"stablehlo.all_gather\"(%a) <{replica_groups = dense<\"0xG0000000000000000000000000000000\"> : "
     "tensor<1x2xi64>}> : (tensor<2xf32>) -> tensor<8xf32>\n"
     "%8 = \"stablehlo.all_gather\"(%a) <{replica_groups = dense<\"0x\"> : "
     "tensor<4294967296x4294967296xi64>}> "
     ": (tensor<2xf32>) -> tensor<8xf32>\n"
     "%9 = \"stablehlo.all_gather\"(%a) <{replica_groups = #stablehlo.replica_group_mesh_axes<axes = "
     "[#stablehlo.axis_ref<name = \"x\">]>}> : (tensor<2xf32>) -> tensor<8xf32>\n"
     "%7 = \"stablehlo.custom_call\"(%a) <{replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2xf32>) "
     "-> "
     "tensor<8xf32>\n",
     "6 <1> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups=mesh['x'=2,'y'=4], "
     "device_ids=(1,0,2,3,4,5,6,7) "
     "{'x','y':(1)2}>\n"
     "7 <2> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups=mesh['z'=8] {'z'}>\n"
     "8 <3> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups=mesh['x'=2], device_ids=(1,0) {'x'}>\n"
     "9 <4> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups={{0,511},{4098,10}}>\n"
     "10 <5> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups=dense>\n"
     "11 <6> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups=dense>\n"
     "12 <8> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups=dense>\n"
     "13 <9> <f32[8]> <all-gather> <f32[2] %a> +<, replica_groups=#stablehlo.replica_group_mesh_axes>\n"
     "14 <7> <f32[8]> <custom-call> <f32[2] %a>\n"},
    /* What runs on every device: the body is the caller's. */
    {"func.func @f() {\n%0 = sdy.manual_computation(%a) in_shardings=[<@m, [{\"x\"}]>] out_shardings=[<@m, "
     "[{\"x\"}]>] manual_axes={\"x\"} (%b: tensor<2xf32>) {\n%1 = stablehlo.add %b, %b : tensor<2xf32>\n"
     "sdy.return %1 : tensor<2xf32>\n} : (tensor<4xf32>) -> tensor<4xf32>\nreturn %0 : tensor<4xf32>\n}\n",
     "1 entry <f>\n2 <0> <call>\n3 <1> <f32[2]> <add> <f32[2] %b, f32[2] %b>\nend\n"},
    {"%0 = stablehlo.add %a, %a : tensor<2xf32>\n%1 = call @_take(%a) : (tensor<2xf32>) -> tensor<2xf32>\n",
     "1 <0> <f32[2]> <add> <f32[2] %a, f32[2] %a>\n2 <1> <f32[2]> <call> <f32[2] %a> +<, callee=_take>\n"},
};

TEST(each_line) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        ts_arena *arena = ts_arena_new();
        assert_string_equal(events_of(arena, rows[i].text, strlen(rows[i].text), SIZE_MAX / 2),
                            rows[i].events);
        ts_arena_free(arena);
    }
}

/* Fed a byte, or a few, at a time. */
TEST(torn) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t piece = 1; piece < 60; piece += 29) {
            ts_arena *arena = ts_arena_new();
            assert_string_equal(events_of(arena, rows[i].text, strlen(rows[i].text), piece), rows[i].events);
            ts_arena_free(arena);
        }
    }
}

/* Cut at every byte: what came whole before stays the same. */
TEST(cut_anywhere) {
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t length = 0; length <= strlen(rows[i].text); length++) {
            ts_arena *arena = ts_arena_new();
            char *text = ts_arena_copy_text(arena, rows[i].text, length);
            events_of(arena, text, length, 7);
            ts_arena_free(arena);
        }
    }
}

/* Behind a constant's values is its type. */
/* ---- Text that was filled: several instructions in a line, broken anywhere between words ---- */

static const char *const words_of_body[] = {"%p",
                                            "=",
                                            "f32[8,128]{1,0:T(8,128)}",
                                            "parameter(0),",
                                            "metadata={op_name=\"x",
                                            "=",
                                            "y\"}",
                                            "%zero",
                                            "=",
                                            "f32[]",
                                            "constant(0)",
                                            "%r",
                                            "=",
                                            "f32[8]{0:T(128)}",
                                            "reduce(%p,",
                                            "%zero),",
                                            "dimensions={1},",
                                            "to_apply=%add,",
                                            "metadata={op_name=\"a",
                                            "b\"",
                                            "source_line=3}",
                                            "plain.2",
                                            "=",
                                            "s32[]",
                                            "constant(7)",
                                            "%n.3",
                                            "=",
                                            "s32[]",
                                            "negate(plain.2)",
                                            "ROOT",
                                            "%t",
                                            "=",
                                            "(f32[8]{0:T(128)},",
                                            "s32[])",
                                            "tuple(%r,",
                                            "/*index=1*/%n.3)"};
enum { WORDS_OF_BODY = sizeof words_of_body / sizeof words_of_body[0] };

/* Of a whole module. */
static const char *const words_of_module[] = {"HloModule",
                                              "m,",
                                              "is_scheduled=true,",
                                              "entry_computation_layout={(f32[8]{0})->f32[8]{0}}",
                                              "%add",
                                              "(x:",
                                              "f32[],",
                                              "y:",
                                              "f32[])",
                                              "->",
                                              "f32[]",
                                              "{",
                                              "%x",
                                              "=",
                                              "f32[]",
                                              "parameter(0)",
                                              "ROOT",
                                              "%sum",
                                              "=",
                                              "f32[]",
                                              "add(%x,",
                                              "%x),",
                                              "backend_config={",
                                              "\"a\"",
                                              "}",
                                              "}",
                                              "region_1.32",
                                              "{",
                                              "ROOT",
                                              "values",
                                              "=",
                                              "s32[3]",
                                              "constant({",
                                              "1,",
                                              "2,",
                                              "3",
                                              "}),",
                                              "metadata={op_name=\"c\"}",
                                              "}",
                                              "ENTRY",
                                              "%e",
                                              "(p:",
                                              "f32[8]{0},",
                                              "/*index=1*/q:",
                                              "(s32[],",
                                              "pred[]))",
                                              "->",
                                              "f32[8]{0}",
                                              "{",
                                              "%p",
                                              "=",
                                              "f32[8]{0}",
                                              "parameter(0)",
                                              "ROOT",
                                              "%r",
                                              "=",
                                              "f32[8]{0}",
                                              "copy(%p)",
                                              "}",
                                              "HloModule",
                                              "n",
                                              "ENTRY",
                                              "main",
                                              "{",
                                              "ROOT",
                                              "c",
                                              "=",
                                              "pred[]",
                                              "constant(true)",
                                              "}"};

/* With lines of so many bytes, where words are no longer. */
static void fill(ts_text *text, const char *const words[], size_t count, size_t width) {
    size_t line = text->length;
    for (size_t i = 0; i < count; i++) {
        bool fits = text->length - line + 1 + strlen(words[i]) <= width;
        if (text->length > line) ts_text_add_char(text, fits ? ' ' : '\n');
        if (!fits) line = text->length;
        ts_text_add(text, "%s", words[i]);
    }
    ts_text_add(text, "\n");
}

static const char *filled(ts_arena *arena, size_t width) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "HloModule m\n\nENTRY %%e {\n");
    fill(&text, words_of_body, WORDS_OF_BODY, width);
    ts_text_add(&text, "}\n");
    return text.bytes;
}

/* Events without the numbers of their lines. */
static const char *unnumbered(ts_arena *arena, const char *events) {
    ts_text text = ts_text_begin(arena);
    for (const char *end; *events; events = end) {
        events += strspn(events, "0123456789");
        end = strchr(events, '\n') + 1;
        ts_text_add(&text, "%.*s", (int)(end - events), events);
    }
    return text.bytes;
}

TEST(filled_text_has_the_same_instructions) {
    static const char expected[] =
        " module <m>\n entry <e>\n"
        " <p> <f32[8,128]{1,0:T(8,128)}> <parameter> <0> +<, metadata={op_name=\"x = y\"}>\n"
        " <zero> <f32[]> <constant> <0>\n"
        " <r> <f32[8]{0:T(128)}> <reduce> <%p, %zero> +<, dimensions={1}, to_apply=%add, "
        "metadata={op_name=\"a b\" "
        "source_line=3}>\n"
        " <plain.2> <s32[]> <constant> <7>\n"
        " <n.3> <s32[]> <negate> <plain.2>\n"
        " root <t> <(f32[8]{0:T(128)}, s32[])> <tuple> <%r, /*index=1*/%n.3>\nend\n";
    for (size_t width = 8; width < 500; width++) {
        ts_arena *arena = ts_arena_new();
        const char *text = filled(arena, width);
        const size_t pieces[] = {1, 7, strlen(text)};
        for (size_t i = 0; i < 3; i++) {
            const char *found = unnumbered(arena, events_of(arena, text, strlen(text), pieces[i]));
            if (strcmp(found, expected) != 0) fail_msg("width %zu: %s", width, found);
        }
        ts_arena_free(arena);
    }
}

/* What only words are left of: nothing but blanks is where lines began. */
TEST(a_module_without_its_lines) {
    static const char expected[] =
        " module <m> < is_scheduled=true, entry_computation_layout={(f32[8]{0})->f32[8]{0}}>\n"
        " computation <add>\n <x> <f32[]> <parameter> <0>\n"
        " root <sum> <f32[]> <add> <%x, %x> +<, backend_config={ \"a\" }>\nend\n"
        " computation <region_1.32>\n root <values> <s32[3]> <constant>\nend\n"
        " entry <e>\n <p> <f32[8]{0}> <parameter> <0>\n root <r> <f32[8]{0}> <copy> <%p>\nend\n"
        " module <n>\n entry <main>\n root <c> <pred[]> <constant> <true>\nend\n";
    for (size_t width = 8; width < 900; width++) {
        ts_arena *arena = ts_arena_new();
        ts_text text = ts_text_begin(arena);
        fill(&text, words_of_module, sizeof words_of_module / sizeof words_of_module[0], width);
        const size_t pieces[] = {1, 7, text.length};
        for (size_t i = 0; i < 3; i++) {
            char *found = (char *)unnumbered(arena, events_of(arena, text.bytes, text.length, pieces[i]));
            char *values = strstr(found, "<constant> <{"); /* as many as the line has */
            if (values)
                memmove(values + 10, values + 10 + strcspn(values + 10, "\n"),
                        strlen(values + 10 + strcspn(values + 10, "\n")) + 1);
            if (strcmp(found, expected) != 0) fail_msg("width %zu: %s\n%s", width, found, text.bytes);
        }
        ts_arena_free(arena);
    }
}

TEST_WITH_ARENA(a_long_line_has_its_end) {
    static const char start[] = "%c = stablehlo.constant dense<\"0x", end[] = "\"> : tensor<9xf32>\n";
    for (size_t more = 0; more < 10000; more = 3 * more + 1) {
        size_t length = TS_HLO_LINE_BYTES + more;
        char *text = ts_arena_alloc(arena, length, 1);
        memset(text, 'A', length);
        memcpy(text, start, sizeof start - 1);
        memcpy(text + length - (sizeof end - 1), end, sizeof end - 1);
        for (size_t piece = 999; piece < 4 * length; piece *= 1001)
            assert_string_equal(events_of(arena, text, length, piece), "1 <c> <f32[9]> <constant>\n");
    }
}

TEST_WITH_ARENA(a_long_line) {
    static const char start[] = "%c = f32[9999999]{0} constant({";
    size_t length = (size_t)3 * TS_HLO_LINE_BYTES;
    char *text = ts_arena_alloc(arena, length, 1);
    memset(text, '1', length);
    memcpy(text, start, sizeof start - 1);
    memcpy(text + length - 24, "\n%d = f32[] negate(%c)\n\n", 24);
    for (size_t piece = 1000; piece < 2 * length; piece *= 100) {
        ts_text out;
        ts_hlo_events events = {&out,       on_module, on_computation, on_end, on_instruction,
                                on_message, NULL,      NULL,           on_part};
        out = ts_text_begin(arena);
        ts_hlo_reader *reader = ts_hlo_new(arena, &events);
        for (size_t at = 0; at < length; at += piece)
            ts_hlo_feed(reader, text + at, piece < length - at ? piece : length - at);
        ts_hlo_finish(reader);
        const ts_hlo_counts *counts = ts_hlo_get_counts(reader);
        assert_int_equal(counts->instructions, 2);
        assert_int_equal(counts->long_lines, 1);
        assert_int_equal(counts->bytes, length);
        assert_non_null(strstr(out.bytes, "2 <d> <f32[]> <negate> <%c>\n"));
    }
}

TEST_WITH_ARENA(each_line_is_counted_once) {
    static const char text[] = "%g (p: f32[8],\n  q: f32[8]\n\n%h (p: f32[8],\n  q: f32[8]) -> f32[8] {\n}\n";
    ts_text out = ts_text_begin(arena);
    ts_hlo_events events = {.self = &out};
    ts_hlo_reader *reader = ts_hlo_new(arena, &events);
    ts_hlo_feed(reader, text, sizeof text - 1);
    ts_hlo_finish(reader);
    const ts_hlo_counts *counts = ts_hlo_get_counts(reader);
    assert_int_equal(counts->kinds[TS_HLO_OTHER], 2);
    assert_int_equal(counts->kinds[TS_HLO_LITERAL], 1);
    assert_int_equal(counts->computations, 1);
}

/* Lines of a diff's old side, also behind its last new one, and where there is none. */
TEST_WITH_ARENA(old_lines_are_counted) {
    static const struct {
        const char *text;
        int lines, old;
    } texts[] = {{"@@ -1,3 +1 @@\n-a\n b\n-c\n", 4, 2}, {"```diff\n-a\n-b", 3, 2}, {"-a\n-b\n", 2, 0}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        for (size_t piece = 1; piece < 99; piece += 90) {
            ts_hlo_events events = {.self = NULL};
            ts_hlo_reader *reader = ts_hlo_new(arena, &events);
            const size_t length = strlen(texts[i].text);
            for (size_t at = 0; at < length; at += piece)
                ts_hlo_feed(reader, texts[i].text + at, piece < length - at ? piece : length - at);
            ts_hlo_finish(reader);
            assert_int_equal(ts_hlo_get_counts(reader)->lines, texts[i].lines);
            assert_int_equal(ts_hlo_get_counts(reader)->kinds[TS_HLO_OLD], texts[i].old);
        }
}

/* At the end of the text, or where another one begins; also one whose parameters do not end. */
TEST_WITH_ARENA(computations_that_do_not_end_are_counted) {
    static const struct {
        const char *text;
        int unended;
    } texts[] = {{"c {\n  a = f32[2] negate(b)\n}\n", 0},
                 {"c {\n  a = f32[2] negate(b)\n", 1},
                 {"c {\n  a = f32[2] negate(b)\nd {\n}\n", 1},
                 {"c {\n  a = f32[2] negate(b)\nd {\n", 2},
                 {"%h (p: f32[8],\n", 1},
                 {"", 0}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ts_hlo_events events = {.self = NULL};
        ts_hlo_reader *reader = ts_hlo_new(arena, &events);
        ts_hlo_feed(reader, texts[i].text, strlen(texts[i].text));
        ts_hlo_finish(reader);
        assert_int_equal(ts_hlo_get_counts(reader)->unended_computations, texts[i].unended);
    }
}

/* What a loop calls its values: as many as fit a line take no more of the stack than one. */
TEST_WITH_ARENA(many_names) {
    static const char start[] = "%w = stablehlo.while(", name[] = "%i = ", end[] = "%x) : tensor<f32>\n";
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "%s", start);
    while (text.length + sizeof name + sizeof end < TS_HLO_LINE_BYTES) ts_text_add(&text, "%s", name);
    ts_text_add(&text, "%s", end);
    const char *events = events_of(arena, text.bytes, text.length, text.length);
    assert_true(ts_text_ends(events, "1 <w> <f32[]> <while> <f32[] %x>\n"));
}

/* What might begin a comment: what would end one is looked for once, which else takes minutes. */
TEST_WITH_ARENA(many_comments) {
    ts_text text = ts_text_begin(arena);
    ts_text_add(&text, "%%a = f32[8] copy(%%b), x=y");
    while (text.length + 4 < TS_HLO_LINE_BYTES) ts_text_add(&text, " /*z");
    const char *events = events_of(arena, text.bytes, text.length, text.length);
    assert_true(ts_text_starts(events, "1 <a> <f32[8]> <copy> <%b> +<, x=y /*z /*z"));
}

/* Of an instruction of HLO; what a log says may only look like one, and ends earlier. */
TEST_WITH_ARENA(many_lines) {
    static const char *const begins[] = {"%t = f32[] call(", "c {\n  t = f32[] call(", "t = f32[] call("};
    for (size_t k = 0; k < 3; k++) {
        ts_text text = ts_text_begin(arena), expected = ts_text_begin(arena);
        ts_text_add(&text, "%s", begins[k]);
        for (int i = 0; i < 1000; i++) ts_text_add(&text, "a.%d,\n", i);
        ts_text_add(&text, "b), to_apply=c\n");
        ts_text_add(&expected, "<t> <f32[]> <call> <");
        for (int i = 0; i < 1000; i++) ts_text_add(&expected, "a.%d, ", i);
        ts_text_add(&expected, "b> +<, to_apply=c>\n");
        const char *events = events_of(arena, text.bytes, text.length, text.length);
        assert_int_equal(strstr(events, expected.bytes) != NULL, k < 2);
        assert_int_equal(strstr(events, "a.63,>") != NULL, k == 2);
    }
}

TEST(finds_shapes) {
    static const char text[] = "expected f32[8,4]{1,0:T(8,128)} but xs8[3] devices=[1,4]<=[4] got 'pred[]' "
                               "and (bf16[<=2]{0}, y[3]), "
                               "f32 [4]{0} of bf16 [or so] not s8 [] or s4  [<=2]";
    ts_span rest = {text, sizeof text - 1}, shape;
    static const char *const expected[] = {
        "f32[8,4]{1,0:T(8,128)}", "pred[]", "bf16[<=2]{0}", "f32 [4]{0}", "s8 []", "s4  [<=2]"};
    for (int i = 0; i < 6; i++) {
        assert_true(ts_hlo_find_shape(&rest, &shape));
        assert_true(ts_span_is(shape, expected[i]));
    }
    assert_false(ts_hlo_find_shape(&rest, &shape));
}

TEST(lists_and_attributes) {
    static const char text[] = "f32[8,4]{1,0} %a, /*index=1*/ %b , \"x,y\"";
    ts_span rest = {text, sizeof text - 1}, item;
    assert_true(ts_hlo_next(&rest, &item) && ts_span_is(item, "f32[8,4]{1,0} %a"));
    assert_true(ts_hlo_next(&rest, &item) && ts_span_is(item, "%b"));
    assert_true(ts_hlo_next(&rest, &item) && ts_span_is(item, "\"x,y\""));
    assert_false(ts_hlo_next(&rest, &item));
    static const char more[] = ", condition=%c, body=%b.1, backend_config={\"body=\":\"x, y\"}";
    ts_span attributes = {more, sizeof more - 1};
    assert_true(ts_hlo_attribute(attributes, "body", &item) && ts_span_is(item, "%b.1"));
    assert_true(ts_hlo_attribute(attributes, "condition", &item) && ts_span_is(item, "%c"));
    assert_false(ts_hlo_attribute(attributes, "calls", &item));
}

TEST(opcodes) {
    for (ts_hlo_opcode code = 0; code < TS_HLO_OPCODES; code++) {
        const char *name = ts_hlo_opcode_name(code);
        assert_int_equal(ts_hlo_opcode_find((ts_span){name, strlen(name)}), code);
    }
    static const struct {
        const char *name;
        ts_hlo_opcode opcode, started;
    } endings[] = {{"copyx", TS_HLO_OP_UNKNOWN, TS_HLO_OP_UNKNOWN},
                   {"copyx-start", TS_HLO_OP_UNKNOWN, TS_HLO_OP_UNKNOWN},
                   {"-start", TS_HLO_OP_UNKNOWN, TS_HLO_OP_UNKNOWN},
                   {"dot-start", TS_HLO_OP_ASYNC_START, TS_HLO_OP_DOT},
                   {"reduce-window-update", TS_HLO_OP_ASYNC_UPDATE, TS_HLO_OP_UNKNOWN},
                   {"transpose-done", TS_HLO_OP_ASYNC_DONE, TS_HLO_OP_UNKNOWN},
                   {"copy-start", TS_HLO_OP_COPY_START, TS_HLO_OP_COPY}};
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        ts_span name = {endings[i].name, strlen(endings[i].name)};
        assert_int_equal(ts_hlo_opcode_find(name), endings[i].opcode);
        assert_int_equal(ts_hlo_opcode_started(name), endings[i].started);
    }
    assert_int_equal(ts_hlo_opcode_find((ts_span){"cop", 3}), TS_HLO_OP_UNKNOWN);
    assert_int_equal(ts_hlo_opcode_find((ts_span){"", 0}), TS_HLO_OP_UNKNOWN);
}

TEST(numbers_behind_keys) {
    static const struct {
        const char *text;
        int64_t number;
    } keys[] = {{"a=b, backend_config={\"trips\":{\"n\":\"42\"},\"m\":\"7\"}", 42},
                {"\"trips\" : { \"n\" : \"42\" }", 42},
                {"{\\\"trips\\\":{\\\"n\\\":\\\"42\\\"}}", 42},
                {"\"trips\":42", 42},
                {"\"trips\":\"0\"}", 0},
                {"\"trips\":\"-1\"}", -1},
                {"\"trips\":{\"n\":", -1},
                {"\"trips", -1},
                {"trips:4", -1},
                {"", -1}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        assert_int_equal(ts_hlo_stated_number((ts_span){keys[i].text, strlen(keys[i].text)}, "\"trips"),
                         keys[i].number);
}

TEST(numbers_are_digits_alone) {
    static const struct {
        const char *text;
        int64_t number;
    } numbers[] = {{"0", 0},
                   {"10", 10},
                   {"2147483648", INT64_C(1) << 31},
                   {"999999999999999999", INT64_C(999999999999999999)},
                   {"1000000000000000000", -1},
                   {"99999999999999999999", -1},
                   {"", -1},
                   {"1a", -1},
                   {"-1", -1},
                   {" 1", -1}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        assert_int_equal(ts_hlo_number((ts_span){numbers[i].text, strlen(numbers[i].text)}),
                         numbers[i].number);
}
