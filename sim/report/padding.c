/* Padding: its share, and how much larger it makes the data. */
#include "padding.h"

#include <math.h>

double report_padding_percent(int64_t data_bytes, int64_t padded_bytes) {
    return padded_bytes > data_bytes ? 100.0 * (double)(padded_bytes - data_bytes) / (double)padded_bytes : 0;
}

double report_expansion(int64_t data_bytes, int64_t padded_bytes) {
    return data_bytes > 0 ? (double)padded_bytes / (double)data_bytes : 1;
}

void report_padding_json(ts_json *json, int64_t data_bytes, int64_t padded_bytes) {
    ts_json_real(json, "padding_percent", report_padding_percent(data_bytes, padded_bytes), 4);
    ts_json_real(json, "expansion", data_bytes > 0 ? report_expansion(data_bytes, padded_bytes) : (double)NAN,
                 6);
}
