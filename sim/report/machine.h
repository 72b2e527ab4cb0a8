/* Machines for people: the file, what follows from it, the list of machines, and the schema of files. */
#ifndef TILESIM_REPORT_MACHINE_H
#define TILESIM_REPORT_MACHINE_H

#include "machine/machine.h"
#include "report/json.h"

/* A machine file: every figure with its source, and what follows from them as comments. */
void ts_report_machine(const ts_machine *machine, ts_text *out);
void ts_report_machine_json(const ts_machine *machine, ts_text *out);

/* What every report calls it: "tpu-v5e (TPU v5e), the default, with hbm.clock=3.2 GHz". */
const char *ts_report_machine_name(ts_arena *arena, const ts_machine *machine);
/* The same as a line behind a label, which goes on below its beginning when it is long. */
void ts_report_machine_line(const char *label, const ts_machine *machine, ts_text *out);
/* The same as the content of XML and HTML. */
const char *ts_report_machine_escaped(ts_arena *arena, const ts_machine *machine);
/* The keys machine, machine_hash and machine_overrides; NULL: there is no machine, or there are several. */
void ts_report_machine_keys(const ts_machine *machine, ts_json *json);

/* What reports say behind a label of prices that a machine's model did not simulate access by access. */
#define REPORT_ESTIMATED "~ sampled or extended; --exact simulates every access"

/* The built-in machines, a line each. */
bool ts_report_machines(ts_error *err, ts_arena *arena, ts_text *out);
bool ts_report_machines_json(ts_error *err, ts_arena *arena, ts_text *out);

/* Every field of a machine file. */
void ts_report_schema(ts_text *out);
void ts_report_schema_json(ts_text *out);
void ts_report_schema_markdown(ts_text *out); /* docs/machine.md */

#endif
