/* The instruction set for people: every row of the tables, with the words that go around them. */
#include "isa/print.h"

#include <string.h>

/* ---- Operands ---- */

/* What a class is called among the operands: d, then a, b, c for sources, or the word for what it is. */
static const char *operand_word(const ts_operand_class *class, int *sources) {
    static const char *const letters[] = {"a", "b", "c", "e"};
    static const struct {
        ts_operand_kind kind;
        const char *word;
    } words[] = {{TS_OPERAND_LABEL, "label"},
                 {TS_OPERAND_ADDRESS, "address"},
                 {TS_OPERAND_SEMAPHORE, "semaphore"},
                 {TS_OPERAND_TRANSFER, "transfer"}};
    if (class->written) return "d";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (class->accepts & 1u << words[i].kind) return words[i].word;
    return letters[(*sources)++];
}

void ts_opcode_print_operands(ts_text *out, const ts_opcode_info *info) {
    int least, most, sources = 0;
    ts_opcode_arity(info, &least, &most);
    for (int i = 0; i < most; i++) {
        const char *word = operand_word(ts_opcode_operand(info, i), &sources);
        ts_text_add(out, i < least ? "%s%s" : " [%s%s]", i > 0 ? ", " : "", word);
    }
}

/* "d, a vreg; b vreg, sreg or f32 number": operands that accept the same things stand together. */
static void add_kinds(ts_text *out, const ts_opcode_info *info) {
    int least, most, sources = 0;
    const char *before = NULL;
    ts_opcode_arity(info, &least, &most);
    for (int i = 0; i < most; i++) {
        const ts_operand_class *class = ts_opcode_operand(info, i);
        const char *word = operand_word(class, &sources);
        if (before && before != class->text) ts_text_add(out, ": %s; ", before);
        if (before && before == class->text) ts_text_add(out, ", ");
        ts_text_add(out, "%s", word);
        before = class->text;
    }
    if (before) ts_text_add(out, ": %s", before);
}

/* ---- Rows ---- */

static void add_markdown(ts_text *out, const ts_opcode_info *info) {
    ts_text_add(out, "| `%s", info->mnemonic);
    ts_text_add(out, ts_opcode_operand(info, 0) ? " " : "");
    ts_opcode_print_operands(out, info);
    ts_text_add(out, "` | ");
    add_kinds(out, info);
    ts_text_add(out, " | %s | %s | ", ts_slot_get(info->slot)->text, ts_latency_get(info->latency)->text);
    if (info->flops > 0)
        ts_text_add(out, "%d%s", info->flops, info->latency == TS_LATENCY_MXU_PUSH ? " x edge" : "");
    ts_text_add(out, " | %s |\n", info->meaning);
}

enum { WIDTH = 98 };

/* Indented lines of at most WIDTH columns. */
static void add_wrapped(ts_text *out, const char *text, int indent) {
    size_t room = (size_t)(WIDTH - indent);
    while (*text) {
        size_t length = strlen(text);
        if (length > room) {
            length = room;
            while (text[length] != ' ') length--;
        }
        ts_text_add(out, "%*s%.*s\n", indent, "", (int)length, text);
        text += length;
        while (*text == ' ') text++;
    }
}

static void add_plain(ts_text *out, const ts_opcode_info *info) {
    size_t start = out->length;
    ts_text_add(out, "  %-18s ", info->mnemonic);
    ts_opcode_print_operands(out, info);
    ts_text_add(out, "%*s %-7s %s\n", (int)(out->length - start < 40 ? 40 - (out->length - start) : 0), "",
                ts_slot_get(info->slot)->text, ts_latency_get(info->latency)->text);
    add_wrapped(out, info->meaning, 6);
}

typedef enum { PLAIN, MARKDOWN } print_form;

static void add_family(ts_text *out, ts_family family, print_form form) {
    bool markdown = form == MARKDOWN;
    const ts_named *named = ts_family_get(family);
    ts_text_add(out, markdown ? "\n## %s\n\n" : "\n%s\n", named->text);
    if (*named->meaning) {
        add_wrapped(out, named->meaning, markdown ? 0 : 2);
        ts_text_add(out, markdown ? "\n" : "");
    }
    if (markdown) {
        ts_text_add(out, "| instruction | operands | slot | latency key | FLOPs | meaning |\n"
                         "|---|---|---|---|---|---|\n");
    }
    for (int op = 0; op < TS_OP_COUNT; op++) {
        const ts_opcode_info *info = ts_opcode_get((ts_opcode)op);
        if (info->family != family) continue;
        if (markdown)
            add_markdown(out, info);
        else
            add_plain(out, info);
    }
}

static void add_named(ts_text *out, const char *title, const char *intro, int count, print_form form,
                      const ts_named *(*get)(int)) {
    bool markdown = form == MARKDOWN;
    ts_text_add(out, markdown ? "\n## %s\n\n%s\n\n| key | meaning |\n|---|---|\n" : "\n%s. %s\n", title,
                intro);
    for (int i = 0; i < count; i++)
        ts_text_add(out, markdown ? "| `%s` | %s |\n" : "  %-18s %s\n", get(i)->text, get(i)->meaning);
}

static const ts_named *slot_at(int i) { return ts_slot_get((ts_slot)i); }
static const ts_named *latency_at(int i) { return ts_latency_get((ts_latency)i); }

static const char rules[] =
    "A vreg is 8 sublanes of 128 lanes of 32-bit words; a scalar register (sreg) has 32 bits; a vmask\n"
    "has a bit for each bit of a vreg. The instructions of a bundle issue together: all read before\n"
    "any writes. f32 is IEEE binary32, rounded to nearest even, with subnormals, nothing fused; an\n"
    "f32 result that is NaN is always 0x7fc00000. Moves, selects, negation and absolute value do not\n"
    "look at the value, so NaN bits pass. i32 arithmetic wraps. Every instruction that writes a vreg,\n"
    "and vst, takes a write mask: bits where it is false keep their old value. `d` is the\n"
    "destination, `a`, `b`, `c` are the sources; where a vreg source may be a scalar or a number,\n"
    "that goes to every word.\n";

static const char warning[] = "<!-- Written by `tilesim show isa --markdown`. Do not edit. -->\n";

static void print(ts_text *out, print_form form) {
    ts_text_add(out, form == MARKDOWN ? "%s# The instruction set\n\n%s" : "%s%s",
                form == MARKDOWN ? warning : "", rules);
    for (int family = 0; family < TS_FAMILY_COUNT; family++) add_family(out, (ts_family)family, form);
    add_named(out, "Slots", "How many of each a bundle has is in the machine's file.", TS_SLOT_COUNT, form,
              slot_at);
    add_named(out, "Latency keys",
              "A machine gives each the cycles until the result is there, and until the unit is free.",
              TS_LATENCY_COUNT, form, latency_at);
}

void ts_isa_print(ts_text *out) { print(out, PLAIN); }
void ts_isa_print_markdown(ts_text *out) { print(out, MARKDOWN); }
