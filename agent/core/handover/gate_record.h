/*
 * gate_record - the JSON form of what the gates of one job report together (gate.h), as a member of
 * other documents: candidate.json, the trace.
 *
 * Times that are GATE_NO_TIME, or before 1970, are null.
 */
#ifndef DREY_CORE_GATE_RECORD_H
#define DREY_CORE_GATE_RECORD_H

#include "core/record.h"

/* A struct gate_report without its snapshots; and with them. */
extern const struct record gate_report_table, gate_report_whole_table;

#endif
