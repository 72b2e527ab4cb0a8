/* Operations of tables of vectors, as expressions. */
#ifndef TESTS_SUPPORT_ALGEBRA_H
#define TESTS_SUPPORT_ALGEBRA_H

#include "base/text.h"

/* "op(a, b)", where `b` may be NULL or empty; a '|' in it divides arguments. */
void algebra_cute_text(ts_text *out, const char *op, const char *a, const char *b);
/* "op(a, key=value ..)" of arguments "key=value;key=value", as vectors_axe.tsv has them. */
void algebra_keys_text(ts_text *out, const char *op, const char *a, const char *args);
/* Evaluates; false: an error. The result as those tables write it. */
bool algebra_run(ts_error *err, ts_arena *arena, const ts_text *expression, ts_text *out);

#endif
