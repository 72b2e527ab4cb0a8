/* Elements of values, for tests. */
#include "tests/support/elements.h"

#include <string.h>

#include "layout/convert.h"

uint64_t element_from_double(ts_dtype dtype, double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return ts_element_convert(TS_DTYPE_F64, bits, dtype);
}
