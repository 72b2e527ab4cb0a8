/* What a relayout takes, as text and JSON. */
#include "report/relayout.h"

#include <inttypes.h>

#include "report/json.h"
#include "report/machine.h"

static void add_ops(const ts_relayout *plan, ts_text *out) {
    for (int i = 0; i < TS_RELAYOUT_OPS; i++)
        if (plan->counts[i] > 0)
            ts_text_add(out, "%-10s %6" PRId64 " %s\n", "", plan->counts[i],
                        ts_relayout_op_name((ts_relayout_kind)i));
    ts_text_add(out, "ops        %d", plan->op_count);
    if (plan->kept_count < plan->op_count)
        ts_text_add(out, ", %d when those that are the same are merged", plan->kept_count);
}

void ts_report_relayout(const ts_relayout_price_request *r, const ts_relayout_price *price, ts_text *out) {
    const ts_relayout *plan = &price->plan;
    ts_text_add(out, "from       %s\n", ts_shape_text(out->arena, r->from));
    ts_text_add(out, "to         %s\n", ts_shape_text(out->arena, r->to));
    ts_report_machine_line("machine    ", r->machine, out);
    ts_text_add(out, "vregs      %" PRId64 " to %" PRId64 "\nhow        %s\n", plan->sources, plan->results,
                plan->steps.bytes);
    add_ops(plan, out);
    if (plan->scratch_sublanes > 0)
        ts_text_add(out, "\nscratch    %s", ts_text_counted(out->arena, plan->scratch_sublanes, "sublane"));
    if (price->unpriced != NULL)
        ts_text_add(out, "\ncycles     not known: %s", price->unpriced);
    else
        ts_text_add(out, "\ncycles     %" PRId64, price->cycles);
    if (plan->op_count > 0 && price->unpriced == NULL)
        ts_text_add(out, " more than to load and store the vregs alone");
    ts_text_add_char(out, '\n');
}

void ts_report_relayout_json(const ts_relayout_price_request *r, const ts_relayout_price *price,
                             ts_text *out) {
    const ts_relayout *plan = &price->plan;
    ts_json json;
    ts_json_begin(&json, out, "relayout");
    ts_report_machine_keys(r->machine, &json);
    ts_json_text(&json, "src", ts_shape_text(out->arena, r->from));
    ts_json_text(&json, "dst", ts_shape_text(out->arena, r->to));
    ts_json_int(&json, "src_vregs", plan->sources);
    ts_json_int(&json, "dst_vregs", plan->results);
    ts_json_text(&json, "how", plan->steps.bytes);
    ts_json_object(&json, "ops");
    for (int i = 0; i < TS_RELAYOUT_OPS; i++)
        if (plan->counts[i] > 0)
            ts_json_int(&json, ts_relayout_op_name((ts_relayout_kind)i), plan->counts[i]);
    ts_json_close(&json);
    ts_json_int(&json, "op_count", plan->op_count);
    ts_json_int(&json, "merged_op_count", plan->kept_count);
    ts_json_int(&json, "scratch_sublanes", plan->scratch_sublanes);
    if (price->unpriced != NULL)
        ts_json_text(&json, "unpriced", price->unpriced);
    else
        ts_json_int(&json, "cycles", price->cycles);
    ts_json_end(&json);
}
