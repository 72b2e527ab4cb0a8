/* Accesses of one tensor whose addresses have the same terms are a group, and lie in it by pages of words. */
#include "accesses.h"

#include "base/number.h"

enum { NONE = -1, PAGE_WORDS = 1 << 10, WIDE_PAGES = 64 };

typedef struct {
    int at, next; /* next: an earlier entry of the list; NONE: no more */
} entry;

typedef struct {
    const graph_node *like; /* space, tensor and terms */
    int all, wide;          /* lists of entries: of the group; of those that touch more than WIDE_PAGES */
    int next;               /* group of the tensor, NONE: the last */
} group;

/* A slot of a hash table: a tensor, whose list is of groups, or a page of a group, whose list is of
 * entries. */
typedef struct {
    int64_t number, page;
    int list; /* NONE: the slot is free */
} slot;

typedef struct {
    slot *slots;
    int size, used; /* size: a power of 2 */
} table;

struct accesses {
    ts_arena *arena;
    const graph_node *nodes;
    table tensors, pages;
    LIST_OF(group) groups;
    LIST_OF(entry) entries;
    LIST_OF(int) found;
};

accesses *accesses_new(ts_arena *arena, const graph_node *nodes) {
    accesses *a = TS_NEW(arena, accesses);
    *a = (accesses){.arena = arena, .nodes = nodes};
    return a;
}

/* ---- The table ---- */

static slot *probe(const table *t, int64_t number, int64_t page) {
    uint64_t hash = (uint64_t)number * 0x9e3779b97f4a7c15u + (uint64_t)page * 0xc2b2ae3d27d4eb4fu;
    int i = (int)(hash >> 33) & (t->size - 1);
    while (t->slots[i].list != NONE && (t->slots[i].number != number || t->slots[i].page != page))
        i = (i + 1) & (t->size - 1);
    return &t->slots[i];
}

static void grow(ts_arena *arena, table *t) {
    table larger = {.size = t->size > 0 ? 2 * t->size : 64, .used = t->used};
    larger.slots = TS_NEW_ARRAY(arena, slot, larger.size);
    for (int i = 0; i < larger.size; i++) larger.slots[i].list = NONE;
    for (int i = 0; i < t->size; i++)
        if (t->slots[i].list != NONE) *probe(&larger, t->slots[i].number, t->slots[i].page) = t->slots[i];
    *t = larger;
}

static int lookup(const table *t, int64_t number, int64_t page) {
    return t->size > 0 ? probe(t, number, page)->list : NONE;
}

/* The list's new first, and what it was. */
static int push(ts_arena *arena, table *t, int64_t number, int64_t page, int first) {
    if (2 * t->used >= t->size) grow(arena, t);
    slot *s = probe(t, number, page);
    int before = s->list;
    t->used += before == NONE;
    *s = (slot){number, page, first};
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

static int64_t tensor_key(const graph_node *n) {
    return (int64_t)n->address->tensor * TS_SPACE_COUNT + n->space;
}

static int first_group(const accesses *a, const graph_node *n) {
    return lookup(&a->tensors, tensor_key(n), 0);
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
    new->next = push(a->arena, &a->tensors, tensor_key(n), 0, g);
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
        a->entries.items[e].next = push(a->arena, &a->pages, g, page, e);
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
            find_in(a, lookup(&a->pages, g, page), at, since, page);
    }
    *count = a->found.count;
    return a->found.items;
}
