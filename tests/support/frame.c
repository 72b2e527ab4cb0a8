/* Pictures as SVG: what is drawn lies inside the frame, and texts apart. */
#include "tests/support/frame.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

/* Behind `name="` in the tag, or NULL. */
static const char *attribute(const char *tag, const char *name) {
    size_t length = strlen(name);
    for (const char *at = tag; *at != '>'; at++)
        if (at[0] == ' ' && strncmp(at + 1, name, length) == 0 && at[length + 1] == '=')
            return at + length + 3;
    return NULL;
}

static double number(const char *tag, const char *name, double otherwise) {
    const char *text = attribute(tag, name);
    char *end;
    if (!text) return otherwise;
    double value = strtod(text, &end);
    return *end == '%' ? otherwise : value; /* of the frame */
}

/* Of a text that begins there, an entity as one. */
static int letters(const char *text) {
    int count = 0;
    for (; *text && *text != '<'; text++, count++)
        if (*text == '&') text += strcspn(text, ";");
    return count;
}

typedef struct {
    double left, right, top, bottom;
} box;

static box box_of_rect(const char *tag) {
    double x = number(tag, "x", 0), y = number(tag, "y", 0);
    return (box){x, x + number(tag, "width", 0), y, y + number(tag, "height", 0)};
}

static box box_of_text(const char *tag) {
    double pixels = number(tag, "font-size", 12), x = number(tag, "x", 0), y = number(tag, "y", 0),
           wide = letters(strchr(tag, '>') + 1) * pixels / 2;
    const char *anchor = attribute(tag, "text-anchor");
    if (anchor) x -= *anchor == 'm' ? wide / 2 : *anchor == 'e' ? wide : 0;
    return (box){x, x + wide, y - pixels * 3 / 4, y + pixels / 4};
}

/* The next rectangle or text that is not turned, from there on, or NULL. */
static const char *next_item(const char *at, box *found) {
    for (; (at = strchr(at, '<')) != NULL; at++) {
        bool rect = strncmp(at, "<rect ", 6) == 0, text = strncmp(at, "<text ", 6) == 0;
        if ((!rect && !text) || attribute(at, "transform")) continue;
        *found = rect ? box_of_rect(at) : box_of_text(at);
        return at;
    }
    return NULL;
}

void assert_in_frame_at(const char *svg, const char *file, int line) {
    const char *frame = strstr(svg, "<svg");
    double width = number(frame, "width", 0), height = number(frame, "height", 0);
    box b;
    for (const char *at = frame; (at = next_item(at, &b)) != NULL; at++) {
        if (b.left >= 0 && b.right <= width && b.top >= 0 && b.bottom <= height) continue;
        print_error("outside of %g x %g: %.*s\n", width, height, (int)strcspn(at, "\n"), at);
        _fail(file, line);
    }
}

void assert_readable_at(const char *svg, const char *file, int line) {
    box a, b;
    assert_in_frame_at(svg, file, line);
    for (const char *one = svg; (one = next_item(one, &a)) != NULL; one++) {
        if (one[1] != 't') continue;
        for (const char *other = one + 1; (other = next_item(other, &b)) != NULL; other++) {
            bool apart = a.right <= b.left || b.right <= a.left || a.bottom <= b.top || b.bottom <= a.top;
            if (other[1] != 't' || apart) continue;
            print_error("%.*s\ncovers %.*s\n", (int)strcspn(one, "\n"), one, (int)strcspn(other, "\n"),
                        other);
            _fail(file, line);
        }
    }
}
