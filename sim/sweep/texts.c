/* Texts in expressions of a study: a parameter compared with one, machine == "tpu-v5e". */
#include "names.h"

static bool is_equality(const token *at) {
    return token_is(at, MARK2('=', '=')) || token_is(at, MARK2('!', '='));
}

/* A name and a text, either first. */
static bool is_comparison(const token *at) {
    token_kind first = at->kind, other = first == TOKEN_NAME ? TOKEN_STRING : TOKEN_NAME;
    return (first == TOKEN_NAME || first == TOKEN_STRING) && is_equality(at + 1) && at[2].kind == other;
}

/* What binds looser than a comparison, or is around it; other operators would take its name alone. */
static bool may_be_beside(const token *at) {
    return token_ends_line(at) || token_is(at, '(') || token_is(at, ')') || token_is(at, ',') ||
           token_is(at, MARK2('&', '&')) || token_is(at, MARK2('|', '|'));
}

/* Its number, or -1. */
static int parameter_named(const ts_sweep_study *study, const token *name) {
    for (int i = 0; i < study->name_count; i++)
        if (ts_text_is(name->text, name->length, study->names[i])) return i;
    return -1;
}

const char *sweep_wrong_text(const ts_sweep_study *study, const token *list, const token **location) {
    for (const token *at = list; at->kind != TOKEN_END; at++) {
        *location = at;
        if (is_comparison(at)) {
            const token *name = at->kind == TOKEN_NAME ? at : at + 2;
            bool alone = (at == list || may_be_beside(at - 1)) && may_be_beside(at + 3);
            if (parameter_named(study, name) < 0)
                return *location = name, "a text is compared with a parameter";
            if (!alone) return "a comparison of texts beside an operator, expected it in brackets";
            at += 2;
        } else if (at->kind == TOKEN_STRING) {
            return "found a text, expected it beside == or != and a parameter";
        }
    }
    return NULL;
}

static token answer_of(const ts_sweep_point *point, const token *at) {
    const token *name = at->kind == TOKEN_NAME ? at : at + 2, *text = at->kind == TOKEN_NAME ? at + 2 : at;
    const char *value = point->values[parameter_named(point->study, name)];
    token answer = *at; /* whose name is known, as sweep_wrong_text found nothing */
    answer.kind = TOKEN_INTEGER;
    answer.integer = ts_text_is(text->text, text->length, value) == token_is(at + 1, MARK2('=', '='));
    return answer;
}

const token *sweep_compare_texts(ts_arena *arena, const ts_sweep_point *point, const token *list) {
    size_t count = 0, texts = 0;
    for (; list[count].kind != TOKEN_END; count++) texts += list[count].kind == TOKEN_STRING;
    if (texts == 0) return list;
    token *answered = TS_NEW_ARRAY(arena, token, count + 1), *out = answered;
    for (const token *at = list; at <= list + count; at++) {
        bool compared = is_comparison(at);
        *out++ = compared ? answer_of(point, at) : *at;
        if (compared) at += 2;
    }
    return answered;
}
