/* The owner in a transition (transition.h): what is known, what follows, what is done. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/lifecycle/lifecycle_handover_internal.h"

/* ---- what is known ---- */

void on_gate(struct lifecycle *life, const struct event *event)
{
	const struct launch *launch = journal_launch(&life->journal);

	if (!launch || !event->gate.launch_id || strcmp(launch->job_id, event->gate.launch_id) != 0)
		return;
	xstrset(&life->gate.transition, event->gate.transition);
	memcpy(life->gate.launch_id, launch->job_id, JOB_ID_BYTES);
	life->gate.ended = event->gate.ended;
	life->gate.report = event->gate.report;
}

void transition_release_seen(struct lifecycle *life)
{
	xstrset(&life->gate.transition, NULL);
}
