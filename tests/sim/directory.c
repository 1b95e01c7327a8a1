/*
 * The control directory: files that say what is wanted, followed as agent/run/control does it. Only a
 * change counts, also one that was made while no agent looked; what was seen is on record once the
 * journal has it, so that a crash in between brings it once more. It lies beside the journal, and is lost
 * with it; then orders of long ago are seen for the first time.
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

/* An order that nobody knows to be carried out. */
static bool has_order(const struct world *w)
{
	return w->directory.restore != RESTORE_NONE &&
	       !journal_is_consumed(&w->agent->life.journal, w->directory.token);
}

/* It stood there when this agent looked first. */
static bool is_standing(const struct world *w)
{
	return !strcmp(w->agent->directory_standing, w->directory.token);
}

/* At a first look the nonces ask for nothing, and nothing is forgiven. */
static unsigned first_look(const struct world *w, unsigned fields)
{
	if (w->directory.state == w->agent->life.journal.intent.state)
		fields &= ~(unsigned)CONTROL_STATE;
	return fields & ~(unsigned)(CONTROL_SAVEPOINT | CONTROL_RESTART | CONTROL_NEW_START);
}

static unsigned changed(struct world *w)
{
	const struct directory *directory = &w->directory;
	struct agent *agent = w->agent;
	unsigned fields = 0;

	for (int i = 0; i < DIRECTORY_KEYS; i++)
		if (directory->version[i] != agent->directory_seen[i])
			fields |= fields_of[i];
	if (!agent->directory_taken)
		snprintf(agent->directory_standing, sizeof(agent->directory_standing), "%s",
			 directory->restore != RESTORE_NONE ? directory->token : "");
	/* what was asked for while it was suspended is for this start */
	if ((fields & CONTROL_STATE) && directory->state == DESIRED_RUNNING)
		fields |= CONTROL_RESTORE;
	if (!has_order(w))
		fields &= ~(unsigned)CONTROL_RESTORE;
	if (((fields & CONTROL_STATE) && directory->state == DESIRED_RUNNING) ||
	    (fields & CONTROL_RESTORE))
		fields |= CONTROL_NEW_START;
	if (!agent->directory_known)
		fields = first_look(w, fields);
	if (!agent->directory_taken && directory->do_not_restart)
		fields |= CONTROL_DO_NOT_RESTART; /* at a start a brake is a brake */
	if ((fields & CONTROL_RESTORE) && lifecycle_refuses_restore(&agent->life))
		fields &= ~(unsigned)(CONTROL_RESTORE | CONTROL_NEW_START);
	if ((fields & CONTROL_RESTORE) && is_standing(w))
		fields |= CONTROL_STANDING;
	agent->directory_known = true;
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

	if (agent->life.acknowledged < agent->directory_sequence || agent->life.journal_broken)
		return;
	memcpy(w->directory.saved, agent->directory_seen, sizeof(w->directory.saved));
	w->directory.known = agent->directory_known;
}

void directory_lose(struct world *w)
{
	memset(w->directory.saved, 0, sizeof(w->directory.saved));
	w->directory.known = false;
}

void directory_back_up(struct world *w)
{
	memcpy(w->directory.backup, w->directory.saved, sizeof(w->directory.backup));
	w->directory.backup_known = w->directory.known;
}

void directory_put_back(struct world *w)
{
	memcpy(w->directory.saved, w->directory.backup, sizeof(w->directory.saved));
	w->directory.known = w->directory.backup_known;
}
