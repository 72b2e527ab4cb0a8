/* What reports write, for tests: parts of texts, values of JSON. */
#ifndef TESTS_SUPPORT_WRITTEN_H
#define TESTS_SUPPORT_WRITTEN_H

#include "base/text.h"

/* Fails the test, and shows the text, where it does not hold the part. */
#define assert_holds(text, part) assert_holds_at((text), (part), __FILE__, __LINE__)
void assert_holds_at(const char *text, const char *part, const char *file, int line);

/* How often the text holds the part. */
int count_parts(const char *text, const char *part);

/* From the line that begins so to the next empty one, or the end; "": there is no such line. */
const char *section_of(ts_arena *arena, const char *text, const char *beginning);

/* The value of a key of the outermost object, without blanks. Fails the test where there is none. */
const char *json_value(ts_arena *arena, const char *json, const char *key);

#endif
