/* HLO text: who is told what it says, and the counts of it. */
#include "hlo_reader_private.h"

void hlo_tell_kind(hlo_teller *t, ts_hlo_line_kind kind) { t->counts.kinds[kind]++; }

/* Spans that are missing are empty, not NULL. */
void hlo_tell_instruction(hlo_teller *t, ts_hlo_instruction *i) {
    ts_span *spans[] = {&i->name, &i->shape, &i->opcode, &i->operands, &i->attributes};
    for (int k = 0; k < 5; k++)
        if (!spans[k]->text) spans[k]->text = "";
    t->counts.instructions++;
    t->counts.cut_instructions += i->cut;
    if (t->events->instruction) t->events->instruction(t->events->self, i);
}

void hlo_tell_end(hlo_teller *t) {
    if (t->in_computation && t->events->end) t->events->end(t->events->self);
    t->in_computation = false;
}

void hlo_tell_computation(hlo_teller *t, ts_span name, bool entry) {
    t->counts.unended_computations += t->in_computation;
    hlo_tell_end(t);
    t->in_computation = true;
    t->counts.computations++;
    if (t->events->computation) t->events->computation(t->events->self, t->line, name, entry);
}

void hlo_tell_message(hlo_teller *t, const char *at, const char *end) {
    if (t->events->message) t->events->message(t->events->self, t->line, (ts_span){at, (size_t)(end - at)});
}

/* Of an instruction before: "metadata={...}" on a line of its own. */
static bool is_attribute(const char *at, const char *end) {
    const char *word = hlo_skip(at, end, HLO_WORD);
    return word > at && end - word > 1 && *word == '=' && (word[1] == '{' || word[1] == '"');
}

void hlo_tell_other(hlo_teller *t, const char *at, const char *end) {
    bool row = at < end && (*at == '"' || is_attribute(at, end));
    hlo_tell_kind(t, row ? TS_HLO_LITERAL : TS_HLO_OTHER);
    if (!row) hlo_tell_message(t, at, end);
}
