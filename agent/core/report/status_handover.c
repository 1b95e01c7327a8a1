#include "core/report/status_handover.h"

#include "core/record.h"
#include "core/report/status_transition.h"

#define MEMBERS                                                                                    \
	"id mode state from to savepoint slots tries forced startedUnixMs stateUnixMs "            \
	"deadlineUnixMs why preparedUnixMs stoppingUnixMs grantedUnixMs takenUnixMs doneUnixMs "   \
	"returned returnedUnixMs"

static void add_candidate(struct json *doc, const struct candidate_record *record, enum side side)
{
	struct json *to;

	if (!record) {
		json_add_null(doc, "candidate");
		return;
	}
	to = json_add_object(doc, "candidate");
	json_add_str(to, "pod", record->pod);
	json_add_str(to, "state", candidate_state_name(record->state));
	json_add_str(to, "side", side_name(side));
	json_add_bool(to, "mainHeld", record->warm.main_held);
	json_add_i64(to, "taskManagers", record->warm.task_managers);
	json_add_i64(to, "slotsFree", record->warm.slots_free);
	json_add_str(to, "checked", record->checked.decision);
	json_add_str(to, "why", record->why);
}

void status_add_handover(struct json *doc, const struct lifecycle *life,
			 const struct candidate_record *candidate, const struct standby *standby)
{
	const struct party *owner = life ? &life->journal.owner : standby ? &standby->owner : NULL;
	const struct handover *handover = life      ? &life->journal.handover
					  : standby ? &standby->handover
						    : NULL;
	enum role role = life      ? lifecycle_role(life)
			 : standby ? standby->verdict.role
				   : ROLE_UNREADABLE;

	json_add_str(doc, "role", role_name(role));
	record_add(doc, "owner", &party_table, owner, NULL);
	record_add(doc, "handover", &handover_table, handover, MEMBERS);
	if (handover && handover->id)
		status_add_transition((struct json *)json_get(doc, "handover"), handover, life);
	if (standby)
		add_candidate(doc, &standby->record, standby->verdict.side);
	else
		add_candidate(doc, candidate, candidate ? candidate->side : SIDE_BLUE);
}
