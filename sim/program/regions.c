/* Named parts of a program: .region NAME .. .endregion. */
#include "assembler.h"

/* It begins even where its name is wrong: its end is there. */
bool assemble_region(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    const token *name = NULL;
    ts_program_region *new = PUSH(as->arena, &as->regions);
    *PUSH(as->arena, &as->region_words) = word;
    pack_region(as);
    *new = (ts_program_region){.name = "", .parent = as->named_region};
    as->named_region = as->regions.count - 1;
    if (!expect_name(as, at, "a name", &name)) return false;
    new->name = ts_arena_copy_text(as->arena, name->text, name->length);
    return expect_line_end(as, *at, "the end of the line");
}

bool assemble_endregion(assembler *as, const token *word, const token **at, const token *stop) {
    (void)stop;
    if (as->named_region == as->outer_region)
        return TOKEN_ERROR(as->err, word, ".endregion without a .region in the same block");
    pack_region(as);
    as->named_region = as->regions.items[as->named_region].parent;
    return expect_line_end(as, *at, "the end of the line");
}

void close_regions(assembler *as) {
    while (as->named_region != as->outer_region) {
        int last = as->named_region;
        as->named_region = as->regions.items[last].parent;
        if (!as->stopped) {
            TOKEN_ERROR(as->err, as->region_words.items[last], ".region has no .endregion in the same block");
            keep_error(as);
        }
    }
}

const int *find_regions(const assembler *as, const int *bundle_of, int bundle_count) {
    if (as->regions.count == 0) return NULL;
    int *regions = TS_NEW_ARRAY(as->arena, int, bundle_count + 1);
    for (int i = 0; i < as->items.count; i++) regions[bundle_of[i]] = as->items.items[i].named_region;
    return regions;
}
