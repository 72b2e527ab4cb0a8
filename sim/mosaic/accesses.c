/* Accesses of one tensor whose addresses have the same terms are a group, and lie in it by pages of words. */
#include "accesses.h"

#include "base/hash.h"
#include "base/number.h"
#include "base/table.h"

enum { NONE = -1, PAGE_WORDS = 1 << 10, WIDE_PAGES = 64 };

typedef struct {
    int at, next; /* next: an earlier entry of the list; NONE: no more */
} entry;

typedef struct {
    const graph_node *like; /* space, tensor and terms */
    int all, wide;          /* lists of entries: of the group; of those that touch more than WIDE_PAGES */
    int next;               /* group of the tensor, NONE: the last */
} group;

struct accesses {
    ts_arena *arena;
    const graph_node *nodes;
    ts_table tensors, pages; /* to the list of a tensor's groups; of the entries on a group's page */
    LIST_OF(group) groups;
    LIST_OF(entry) entries;
    LIST_OF(int) found;
};

accesses *accesses_new(ts_arena *arena, const graph_node *nodes) {
    accesses *a = TS_NEW(arena, accesses);
    *a = (accesses){.arena = arena,
                    .nodes = nodes,
                    .tensors = ts_table_begin(arena, INT64_MAX),
                    .pages = ts_table_begin(arena, INT64_MAX)};
    return a;
}

/* Of a page of group `g`; pages 2^32 apart are one. */
static uint64_t page_key(int g, int64_t page) { return ts_hash_word((uint64_t)g << 32 | (uint32_t)page); }

/* Puts a list's new first; what it was. */
static int push(ts_table *t, uint64_t key, int first) {
    int before = ts_table_get(t, key);
    ts_table_put(t, key, first);
    return before;
}

/* ---- Groups ---- */

/* Far from each other, addresses may meet only where their terms differ. */
static bool same_terms(const ts_address *a, const ts_address *b) {
    ts_address near = *a, far = *b;
    near.word = 0;
    far.word = PAGE_WORDS;
    near.stride = far.stride = 0;
    return !ts_address_may_meet(&near, &far, TS_SPACE_VMEM);
}

static uint64_t tensor_key(const graph_node *n) {
    return ts_hash_word((uint64_t)n->address->tensor * TS_SPACE_COUNT + n->space);
}

static int first_group(const accesses *a, const graph_node *n) {
    return ts_table_get(&a->tensors, tensor_key(n));
}

static int find_group(const accesses *a, const graph_node *n) {
    int g = first_group(a, n);
    while (g != NONE && !same_terms(a->groups.items[g].like->address, n->address))
        g = a->groups.items[g].next;
    return g;
}

static int make_group(accesses *a, const graph_node *n) {
    int g = a->groups.count;
    group *new = PUSH(a->arena, &a->groups);
    *new = (group){.like = n, .all = NONE, .wide = NONE};
    new->next = push(&a->tensors, tensor_key(n), g);
    return g;
}

/* ---- Accesses ---- */

static void find_pages(const graph_node *n, int64_t *first, int64_t *last) {
    int64_t low, high;
    ts_address_reach(n->address, n->space, &low, &high);
    *first = ts_floor_div(n->address->word + low, PAGE_WORDS);
    *last = ts_floor_div(n->address->word + high - 1, PAGE_WORDS);
}

static bool is_wide(int64_t first, int64_t last) { return last - first >= WIDE_PAGES; }

static int new_entry(accesses *a, int at, int next) {
    *PUSH(a->arena, &a->entries) = (entry){at, next};
    return a->entries.count - 1;
}

void accesses_add(accesses *a, int at) {
    const graph_node *n = &a->nodes[at];
    int64_t first, last;
    int g = find_group(a, n);
    if (g == NONE) g = make_group(a, n);
    group *to = &a->groups.items[g];
    find_pages(n, &first, &last);
    to->all = new_entry(a, at, to->all);
    if (is_wide(first, last)) {
        to->wide = new_entry(a, at, to->wide);
        return;
    }
    for (int64_t page = first; page <= last; page++) {
        int e = new_entry(a, at, NONE);
        a->entries.items[e].next = push(&a->pages, page_key(g, page), e);
    }
}

/* Accesses of a list that overlap this one; of a page's list, if it is the first page that both touch. */
static void find_in(accesses *a, int list, int at, int since, int64_t page) {
    const graph_node *n = &a->nodes[at];
    for (int e = list; e != NONE && a->entries.items[e].at >= since; e = a->entries.items[e].next) {
        int other = a->entries.items[e].at;
        int64_t mine, theirs, last;
        if (!ts_address_may_meet(a->nodes[other].address, n->address, n->space)) continue;
        find_pages(n, &mine, &last);
        find_pages(&a->nodes[other], &theirs, &last);
        if (page == INT64_MIN || page == ts_max(mine, theirs)) *PUSH(a->arena, &a->found) = other;
    }
}

const int *accesses_meeting(accesses *a, int at, int since, int *count) {
    const graph_node *n = &a->nodes[at];
    int64_t first, last;
    find_pages(n, &first, &last);
    a->found.count = 0;
    for (int g = first_group(a, n), own = find_group(a, n); g != NONE; g = a->groups.items[g].next) {
        const group *from = &a->groups.items[g];
        bool all = g != own || is_wide(first, last);
        find_in(a, all ? from->all : from->wide, at, since, INT64_MIN);
        for (int64_t page = first; page <= last && !all; page++)
            find_in(a, ts_table_get(&a->pages, page_key(g, page)), at, since, page);
    }
    *count = a->found.count;
    return a->found.items;
}
