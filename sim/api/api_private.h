/* What the functions of the library's interface share. */
#ifndef TILESIM_API_API_PRIVATE_H
#define TILESIM_API_API_PRIVATE_H

#include <locale.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif

#include "base/interrupt.h"
#include "base/text.h"
#include "host/array.h"
#include "mesh/mesh.h"
#include "tilesim.h"

struct ts_array {
    ts_host_array host;
};

/* A request as this version has it, zero where the caller's is older and shorter. Refused: one whose size is
 * none, or of a newer version that asks for more than this one knows. `what` is the struct's name. */
bool api_read_request(ts_error *err, const char *what, const void *request, void *own, size_t own_bytes);

/* "NAME_count is -1, expected 0 or more", or there is no list. */
bool api_need_list(ts_error *err, const char *name, const void *list, int count);
bool api_need_defines(ts_error *err, const ts_define *defines, int count);

ts_array *api_array_of(ts_arena *arena, const ts_host_array *host);
/* The mesh of a request: its axes, and its topology or NULL. */
bool api_read_mesh(ts_error *err, ts_arena *arena, const ts_machine *machine, const char *const texts[2],
                   ts_mesh *mesh);
/* Refuses a topology without a mesh. */
bool api_need_mesh(ts_error *err, const char *mesh, const char *topology);
bool api_same_axes(const ts_mesh *a, const ts_mesh *b);
/* Of shapes that have layouts; else the error says what both have. */
bool api_same_dims(ts_error *err, const ts_shape *source, const ts_shape *destination);
ts_source api_source(const char *name, const char *text);
/* Of the work that is called so; NULL: the request has none. */
ts_interrupt *api_interrupt(ts_arena *arena, const char *what, int (*stopped)(void *), void *context);

/* The thread's locale, and what stands for it. */
typedef struct {
    locale_t before, own;
} api_locale;

static inline api_locale api_locale_enter(void) {
    api_locale at = {.own = newlocale(LC_ALL_MASK, "C", NULL)};
    if (!at.own) ts_out_of_memory(sizeof at);
    at.before = uselocale(at.own);
    return at;
}

static inline void api_locale_leave(const api_locale *at) {
    uselocale(at->before);
    freelocale(at->own);
}

/* To the end of the block letters and numbers are those of the C locale, whatever the host has set: a decimal
 * comma is in no program and in no JSON. */
#define API_C_LOCALE                                                                                         \
    const api_locale c_locale __attribute__((cleanup(api_locale_leave))) = api_locale_enter();               \
    (void)c_locale

/* A function of the interface that gives a text of `self`, which `add` adds to `text`. */
#define API_TEXT(id, type, add)                                                                              \
    const char *id(ts_arena *arena, const type *self) {                                                      \
        API_C_LOCALE;                                                                                        \
        ts_text text;                                                                                        \
        text = ts_text_begin(arena);                                                                         \
        add;                                                                                                 \
        return text.bytes;                                                                                   \
    }

#endif
