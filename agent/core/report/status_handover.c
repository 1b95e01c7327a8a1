#include "core/report/status_handover.h"

#include "core/record.h"

static void add_candidate(struct json *doc, const struct standby *standby)
{
	const struct candidate_record *record = &standby->record;
	struct json *to = json_add_object(doc, "candidate");

	json_add_str(to, "state", candidate_state_name(record->state));
	json_add_str(to, "side", side_name(standby->verdict.side));
	json_add_bool(to, "mainHeld", record->warm.main_held);
	json_add_i64(to, "taskManagers", record->warm.task_managers);
	json_add_i64(to, "slotsFree", record->warm.slots_free);
	json_add_str(to, "checked", record->checked.decision);
	json_add_str(to, "why", record->why);
}

void status_add_handover(struct json *doc, const struct journal *journal,
			 const struct standby *standby)
{
	const struct party *owner = journal ? &journal->owner : standby ? &standby->owner : NULL;
	const struct handover *handover = journal   ? &journal->handover
					  : standby ? &standby->handover
						    : NULL;

	json_add_str(doc, "role",
		     role_name(journal   ? ROLE_OWNER
			       : standby ? standby->verdict.role
					 : ROLE_UNREADABLE));
	record_add(doc, "owner", &party_table, owner, NULL);
	record_add(
		doc, "handover", &handover_table, handover,
		"id mode state from to savepoint slots tries forced startedUnixMs stateUnixMs deadlineUnixMs why");
	if (standby)
		add_candidate(doc, standby);
}
