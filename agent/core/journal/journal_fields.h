/*
 * journal_fields - the members of the journal's structs and their names in JSON (core/record.h).
 */
#ifndef DREY_CORE_JOURNAL_FIELDS_H
#define DREY_CORE_JOURNAL_FIELDS_H

#include "core/journal/journal.h"
#include "core/record.h"

extern const struct record journal_table;
extern const struct record intent_table;
extern const struct record launch_table;
extern const struct record last_checkpoint_table; /* of a struct launch */
extern const struct record effective_table;
extern const struct record snapshot_table;
extern const struct record operation_table;
extern const struct record operation_result_table;
extern const struct record savepoint_request_table;
extern const struct record checkpoint_request_table;
extern const struct record outcome_table;
extern const struct record parallelism_table;
extern const struct record rescaled_table;
extern const struct record log_table;
extern const struct record state_loss_table;

#endif
