/*
 * The control directory: files with the desired state, which core/desired_inputs follows. What was read is
 * recorded only after the journal has it, so after a crash in between it is read again. The record is stored next
 * to the journal, and is lost with it; then old requests are read as if for the first time.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/sim.h"

#define READ_EVERY_MS (10 * SECOND_MS) /* if the notification is missed */

static void put(struct directory *directory, enum desired_key key, const char *text)
{
	snprintf(directory->text[key], sizeof(directory->text[key]), "%s", text);
}

void directory_write(struct world *w, const struct event *asked)
{
	const struct intent *intent = &asked->control.intent;
	struct directory *directory = &w->directory;
	unsigned fields = asked->control.fields;

	if (fields & CONTROL_STATE) {
		directory->state = intent->state;
		put(directory, DESIRED_KEY_STATE, desired_state_name(intent->state));
	}
	if (fields & CONTROL_DO_NOT_RESTART) {
		directory->do_not_restart = intent->do_not_restart;
		put(directory, DESIRED_KEY_DO_NOT_RESTART,
		    intent->do_not_restart ? "true" : "false");
	}
	if (fields & CONTROL_SAVEPOINT)
		put(directory, DESIRED_KEY_SAVEPOINT_NONCE, intent->savepoint_nonce);
	if (fields & CONTROL_RESTART)
		put(directory, DESIRED_KEY_RESTART_NONCE, intent->restart_nonce);
	if (fields & CONTROL_RESTORE) {
		directory->restore = intent->restore.kind;
		put(directory, DESIRED_KEY_RESTORE, intent->restore.token);
		snprintf(directory->path, sizeof(directory->path), "%s",
			 intent->restore.path ? intent->restore.path : "");
	}
	plan(w, odds(w, 800) ? below(w, 50) : below(w, READ_EVERY_MS), ITEM_DIRECTORY, SCOPE_WORLD);
}

static void read_files(struct directory *directory, struct desired_inputs *inputs)
{
	struct desired desired = {.state = directory->state,
				  .do_not_restart = directory->do_not_restart};

	for (int i = 0; i < DESIRED_KEYS; i++)
		desired.text[i] = *directory->text[i] ? directory->text[i] : NULL;
	if (directory->restore != RESTORE_NONE)
		desired.restore =
			(struct restore_request){.kind = directory->restore,
						 .token = directory->text[DESIRED_KEY_RESTORE],
						 .path = *directory->path ? directory->path : NULL};
	desired_inputs_read(inputs, DESIRED_FROM_DIRECTORY, &desired, false, NULL);
}

static void take(struct world *w, const struct event *event)
{
	const struct intent *intent = &event->control.intent;
	struct agent *agent = w->agent;

	say(w, "control directory: fields %x, state %s, do-not-restart %d, restore %s",
	    event->control.fields, desired_state_name(intent->state), intent->do_not_restart,
	    w->directory.path);
	/* the write that follows this event has it */
	agent->seen_sequence = agent->life.journal.sequence + 1;
	agent_step(w, event);
}

void directory_look(struct world *w)
{
	struct agent *agent = w->agent;
	struct desired_news news;

	if (!agent->alive || agent->life.fenced || agent->life.terminating)
		return;
	read_files(&w->directory, &agent->inputs);
	desired_inputs_judge(&agent->inputs, &agent->life, &news);
	agent->seen_unsaved |= news.save;
	if (news.error && !agent->inputs.refused.why)
		fail(w, "%s", news.error);
	if (news.changed)
		take(w, &news.event);
	desired_news_release(&news);
	if (agent->alive && agent->observe_waits) {
		agent->observe_waits = false;
		agent_gather(w);
	}
}

/* ---- the record of what was read ---- */

static void copy_seen(struct desired_seen *to, const struct desired_seen *from)
{
	to->known = from->known;
	for (int i = 0; i < DESIRED_KEYS; i++)
		xstrset(&to->text[i], from->text[i]);
	xstrset(&to->restore_token, from->restore_token);
}

void directory_begin(struct world *w)
{
	struct desired_inputs *inputs = &w->agent->inputs;
	struct desired_seen seen = {0};

	inputs->from[DESIRED_FROM_DIRECTORY].configured = w->directory.used;
	copy_seen(&seen, &w->directory.saved);
	desired_inputs_load(inputs, &seen);
}

void directory_acknowledge(struct world *w)
{
	struct agent *agent = w->agent;

	if (!agent->seen_unsaved || agent->life.acknowledged < agent->seen_sequence ||
	    agent->life.journal_broken)
		return;
	copy_seen(&w->directory.saved, &agent->inputs.seen);
	agent->seen_unsaved = false;
}

void directory_lose(struct world *w)
{
	desired_seen_release(&w->directory.saved);
}

void directory_back_up(struct world *w)
{
	copy_seen(&w->directory.backup, &w->directory.saved);
}

void directory_put_back(struct world *w)
{
	copy_seen(&w->directory.saved, &w->directory.backup);
}

void directory_release(struct world *w)
{
	desired_seen_release(&w->directory.saved);
	desired_seen_release(&w->directory.backup);
}
