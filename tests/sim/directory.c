/*
 * The control directory: files that say what is wanted, followed as agent/run/control does it. Only a
 * change counts, also one that was made while no agent looked; what was seen is on record once the
 * journal has it, so that a crash in between brings it once more.
 */
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

#define LOOKED_AT_MS (10 * SECOND_MS) /* when the notification is missed */

static const unsigned fields_of[DIRECTORY_KEYS] = {
	CONTROL_STATE, CONTROL_DO_NOT_RESTART, CONTROL_SAVEPOINT, CONTROL_RESTART, CONTROL_RESTORE};

void directory_write(struct world *w, const struct event *wish)
{
	const struct intent *intent = &wish->control.intent;
	struct directory *directory = &w->directory;

	for (int i = 0; i < DIRECTORY_KEYS; i++)
		directory->version[i] += (wish->control.fields & fields_of[i]) != 0;
	if (wish->control.fields & CONTROL_STATE)
		directory->state = intent->state;
	if (wish->control.fields & CONTROL_DO_NOT_RESTART)
		directory->do_not_restart = intent->do_not_restart;
	if (wish->control.fields & CONTROL_SAVEPOINT)
		snprintf(directory->savepoint, sizeof(directory->savepoint), "%s",
			 intent->savepoint_nonce);
	if (wish->control.fields & CONTROL_RESTART)
		snprintf(directory->restart, sizeof(directory->restart), "%s",
			 intent->restart_nonce);
	if (wish->control.fields & CONTROL_RESTORE) {
		directory->restore = intent->restore.kind;
		snprintf(directory->token, sizeof(directory->token), "%s", intent->restore.token);
		snprintf(directory->path, sizeof(directory->path), "%s",
			 intent->restore.path ? intent->restore.path : "");
	}
	plan(w, odds(w, 800) ? below(w, 50) : below(w, LOOKED_AT_MS), ITEM_DIRECTORY, SCOPE_WORLD);
}

static unsigned changed(struct world *w)
{
	const struct directory *directory = &w->directory;
	struct agent *agent = w->agent;
	unsigned fields = 0;

	for (int i = 0; i < DIRECTORY_KEYS; i++)
		if (directory->version[i] != agent->directory_seen[i])
			fields |= fields_of[i];
	if (((fields & CONTROL_STATE) && directory->state == DESIRED_RUNNING) ||
	    (fields & CONTROL_RESTORE))
		fields |= CONTROL_NEW_START;
	if (!agent->directory_taken && directory->do_not_restart)
		fields |= CONTROL_DO_NOT_RESTART; /* at a start a brake is a brake */
	if ((fields & CONTROL_RESTORE) && lifecycle_refuses_restore(&agent->life))
		fields &= ~(unsigned)(CONTROL_RESTORE | CONTROL_NEW_START);
	memcpy(agent->directory_seen, directory->version, sizeof(agent->directory_seen));
	return fields;
}

void directory_look(struct world *w)
{
	struct directory *directory = &w->directory;
	struct agent *agent = w->agent;
	struct event event = {.type = EVENT_CONTROL};
	struct intent *intent = &event.control.intent;

	if (!agent->alive || agent->life.fenced || agent->life.terminating)
		return;
	event.control.fields = changed(w);
	agent->directory_taken = true;
	if (event.control.fields) {
		intent->state = directory->state;
		intent->do_not_restart = directory->do_not_restart;
		intent->savepoint_nonce = directory->savepoint;
		intent->restart_nonce = directory->restart;
		intent->restore.kind = directory->restore;
		intent->restore.token = directory->token;
		intent->restore.path = *directory->path ? directory->path : NULL;
		say(w, "control directory: fields %x, state %s, brake %d, restore %s",
		    event.control.fields, desired_state_name(intent->state), intent->do_not_restart,
		    directory->path);
		/* the write that follows this event has it */
		agent->directory_sequence = agent->life.journal.sequence + 1;
		agent_step(w, &event);
	}
	if (w->agent->alive && w->agent->observe_waits) {
		w->agent->observe_waits = false;
		agent_gather(w);
	}
}

void directory_acknowledge(struct world *w)
{
	const struct agent *agent = w->agent;

	if (agent->life.acknowledged >= agent->directory_sequence && !agent->life.journal_broken)
		memcpy(w->directory.saved, agent->directory_seen, sizeof(w->directory.saved));
}
