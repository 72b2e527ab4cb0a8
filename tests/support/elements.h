/* Elements of values, for tests. */
#ifndef TESTS_SUPPORT_ELEMENTS_H
#define TESTS_SUPPORT_ELEMENTS_H

#include "layout/dtype.h"

/* A double converted as an F64 is (ts_element_convert). */
uint64_t element_from_double(ts_dtype dtype, double value);

#endif
