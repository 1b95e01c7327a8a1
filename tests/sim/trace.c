/*
 * The first steps of each agent, as the trace of a real one has them, repeated when it ends: so what
 * the trace leaves out would be noticed.
 */
#include "tests/sim/sim.h"
#include "tests/trace/replay.h"

void trace_start(struct world *w)
{
	struct agent *agent = w->agent;

	/* what a journal with long paths drops, the repetition would keep */
	agent->traced = w->store.text == TEXT_ALL && !w->ids.long_paths &&
			!w->config->savepoints.has_cron && !w->config->savepoints.blackout_count;
	if (agent->traced)
		life_trace_begin(&agent->trace, &agent->life);
}

struct json *trace_event(const struct world *w, const struct event *event)
{
	return w->agent->traced ? life_trace_event(event) : NULL;
}

void trace_step(struct world *w, struct json *event, enum phase before,
		const struct effects *effects)
{
	struct agent *agent = w->agent;
	cleanup_json struct json *step = NULL;

	if (!event)
		return;
	step = life_trace_step(event, before, &agent->life, effects);
	if (agent->trace.count == TRACE_STEPS ||
	    agent->trace.bytes > TRACE_BYTES - TRACE_STEP_BYTES)
		agent->traced = false; /* that is enough of it */
	else
		life_trace_add(&agent->trace, step);
}

void trace_end(struct world *w)
{
	struct agent *agent = w->agent;
	cleanup_json struct json *trace = NULL;
	struct err err = {0};
	size_t count;

	if (!agent->trace.begin)
		return;
	trace = json_object();
	life_trace_write(&agent->trace, trace);
	if (replay(trace, &count, &err) < 0 && !strstr(err.msg, "too large"))
		fail(w, "step %zu of agent %s is not repeated: %s", count + 1, agent->writer,
		     err.msg);
	life_trace_release(&agent->trace);
}
