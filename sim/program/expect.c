/* What all statements are read with. */
#include "assembler.h"

bool expect_mark(assembler *as, const token **at, int mark, const char *what) {
    return token_take(at, mark) || token_unexpected(as->err, *at, what);
}

bool expect_name(assembler *as, const token **at, const char *what, const token **name) {
    *name = *at;
    if ((*at)->kind != TOKEN_NAME) return token_unexpected(as->err, *at, what);
    ++*at;
    return true;
}

bool expect_line_end(assembler *as, const token *at, const char *what) {
    return token_ends_line(at) || token_unexpected(as->err, at, what);
}

bool count_work(assembler *as, const token *location, int amount) {
    as->work += amount;
    if (as->work <= WORK_MAX) return true;
    TOKEN_ERROR(as->err, location, "the program expands to over %d statements", WORK_MAX);
    return give_up(as);
}

item *add_item(assembler *as, const token *location, ts_opcode opcode, item_bundle bundle) {
    if (as->items.count >= INSTRUCTIONS_MAX) {
        TOKEN_ERROR(as->err, location, "the program has over %d instructions", INSTRUCTIONS_MAX);
        give_up(as);
        return NULL;
    }
    item *added = PUSH(as->scratch, &as->items);
    *added = (item){.first = bundle == NEW_BUNDLE,
                    .location = location,
                    .label_operand = -1,
                    .names = as->names,
                    .named_region = as->named_region,
                    .at = {as->frame, location->line}};
    added->code = (ts_instruction){.opcode = opcode,
                                   .mask = -1,
                                   .source = location->source,
                                   .line = location->line,
                                   .column = location->column};
    return added;
}
