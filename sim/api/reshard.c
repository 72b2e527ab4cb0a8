/* Resharding. */
#include "report/reshard.h"

#include "api_private.h"

struct ts_reshard_answer {
    ts_reshard_report report;
};

static bool read_choice(ts_error *err, const char *word, ts_algorithm_choice *choice) {
    choice->forced = word != NULL;
    return !word || ts_algorithm_find(err, "algorithm", word, &choice->algorithm);
}

static bool find(ts_error *err, ts_arena *arena, const ts_reshard_query *query, ts_reshard_report *report) {
    ts_source from = api_source("source", query->source), to = api_source("destination", query->destination);
    ts_mesh_request mesh = {.machine = query->machine, .axes = api_source("mesh", query->mesh)};
    ts_reshard_request request = {&report->mesh, &report->source, &report->destination, {0}};
    if (query->topology) mesh.topology = api_source("topology", query->topology);
    mesh.failed = query->failed_links;
    mesh.failed_count = query->failed_link_count;
    if (!ts_mesh_read(err, arena, &mesh, &report->mesh)) return false;
    report->machine = report->mesh.machine;
    return read_choice(err, query->algorithm, &request.choice) &&
           ts_sharding_parse(err, arena, &report->mesh, &from, &report->source) &&
           ts_sharding_parse(err, arena, &report->mesh, &to, &report->destination) &&
           ts_reshard(err, arena, &request, &report->plan) &&
           (query->unproved || ts_reshard_report_prove(err, arena, report));
}

const ts_reshard_answer *ts_reshard_find(ts_error *err, ts_arena *arena, const ts_reshard_query *query) {
    API_C_LOCALE;
    ts_reshard_query own;
    ts_reshard_answer *answer = TS_NEW(arena, ts_reshard_answer);
    if (!api_read_request(err, "ts_reshard_query", query, &own, sizeof own)) return NULL;
    if (own.source == NULL || own.destination == NULL || own.mesh == NULL) {
        ts_error_set(err, TS_ERROR_USAGE, "ts_reshard_query needs a mesh, a source and a destination");
        return NULL;
    }
    if (!api_need_list(err, "failed_link", own.failed_links, own.failed_link_count)) return NULL;
    for (int i = 0; i < own.failed_link_count; i++)
        if (!ts_error_need(err, "a failed link", own.failed_links[i])) return NULL;
    return find(err, arena, &own, &answer->report) ? answer : NULL;
}

double ts_reshard_microseconds(const ts_reshard_answer *answer) { return answer->report.plan.ps / 1e6; }
double ts_reshard_bound_microseconds(const ts_reshard_answer *answer) {
    return answer->report.plan.bound_ps / 1e6;
}
int ts_reshard_collective_count(const ts_reshard_answer *answer) { return answer->report.plan.count; }

API_TEXT(ts_reshard_text, ts_reshard_answer, ts_report_reshard(&self->report, &text))
API_TEXT(ts_reshard_json, ts_reshard_answer, ts_report_reshard_json(&self->report, &text))
