/* Energies, as text and as JSON. */
#ifndef TILESIM_REPORT_ENERGY_H
#define TILESIM_REPORT_ENERGY_H

#include "chip/energy.h"
#include "report/json.h"

/* Lines behind `label`, which sets their indent: of what took `microseconds`. */
void report_energy(ts_text *out, const char *label, const ts_energy *energy, double microseconds);
/* An object: joules by cause, and in all. */
double report_total_joules(const double joules[TS_HBM_ENERGY_CAUSES]);
void report_hbm_energy_json(ts_json *json, const char *key, const double joules[TS_HBM_ENERGY_CAUSES]);
/* The objects "hbm_energy_joules" and "op_energy_joules": what is not stated is null. */
void report_energy_json(ts_json *json, const ts_energy *energy);

#endif
