/* Machines for people: the file, what follows from it, the list of machines, and the schema of files. */
#ifndef TILESIM_REPORT_MACHINE_H
#define TILESIM_REPORT_MACHINE_H

#include "tilesim/machine/machine.h"
#include "tilesim/report/json.h"

/* A machine file: every figure with its source, and what follows from them as comments. */
void ts_report_machine(const ts_machine *machine, ts_text *out);
void ts_report_machine_json(const ts_machine *machine, ts_text *out);

/* The built-in machines, a line each. */
bool ts_report_machines(ts_error *err, ts_arena *arena, ts_text *out);
bool ts_report_machines_json(ts_error *err, ts_arena *arena, ts_text *out);

/* Every field of a machine file. */
void ts_report_schema(ts_text *out);
void ts_report_schema_json(ts_text *out);
void ts_report_schema_markdown(ts_text *out); /* docs/machine.md */

#endif
