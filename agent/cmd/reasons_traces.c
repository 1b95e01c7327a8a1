#include "cmd/reasons_traces.h"

#include "base/clock.h"
#include "base/json.h"
#include "cmd/reasons.h"
#include "cmd/text.h"

/* They are looked for when the journal knows of no launch, or a job id must be drawn from a few. */
static bool were_asked(const struct reasons *ex)
{
	return ex->journal && ex->policy &&
	       (ex->facts->results_listed.state != SOURCE_NOT_CONFIGURED ||
		ex->facts->trace_count || ex->facts->job_count);
}

void reasons_add_traces(struct json *doc, const struct reasons *ex)
{
	const struct facts *facts = ex->facts;
	struct json *to, *list;

	if (!were_asked(ex))
		return;
	to = json_add_object(doc, "traces");
	json_add_str(to, "results", source_state_name(facts->results_listed.state));
	json_add_str(to, "detail", facts->results_listed.detail);
	json_add_i64(to, "usedIds", (int64_t)facts->job_count);
	list = json_add_array(to, "list");
	for (size_t i = 0; i < facts->trace_count; i++) {
		const struct trace *trace = &facts->traces[i];
		struct json *row = json_add_object(list, NULL);
		const char *why;

		json_add_str(row, "kind", trace_kind_name(trace->kind));
		json_add_str(row, "jobId", *trace->name ? trace->name : NULL);
		json_add_str(row, "path", trace->path);
		json_add_known(row, "unixMs", trace->unix_ms, 1);
		json_add_str(row, "says", trace->says);
		json_add_bool(row, "forbids",
			      resolve_trace(ex->journal, ex->facts, ex->policy, trace, &why));
		json_add_str(row, "why", why);
	}
}

static void print_one(const struct reasons *ex, const struct trace *trace, struct out out)
{
	char age[CLOCK_TEXT_BYTES] = "-";
	const char *why;
	bool forbids = resolve_trace(ex->journal, ex->facts, ex->policy, trace, &why);

	if (trace->unix_ms > 0)
		clock_ago(trace->unix_ms, ex->facts->now_unix_ms, age);
	out_put(out, "%-10s  %-6s  %-8.8s  %-16s  %s\n            %s",
		forbids ? "forbids" : "permits", trace_kind_name(trace->kind),
		*trace->name ? trace->name : "-", age, trace->path, why);
	if (trace->says) {
		out_put(out, "; %s", trace->says);
	}
	out_put(out, "\n");
}

void reasons_print_traces(const struct reasons *ex, struct out out)
{
	const struct source_fact *results = &ex->facts->results_listed;

	if (!were_asked(ex))
		return;
	out_put(out, "\ntraces of own launches: records of ends %s",
		results->state == SOURCE_NOT_CONFIGURED ? "not asked"
							: source_state_name(results->state));
	if (results->detail) {
		out_put(out, " (%s)", results->detail);
	}
	out_put(out, ", copy of the journal %s, %zu job ids in use\n",
		source_state_name(ex->facts->sources[SOURCE_COPY].state), ex->facts->job_count);
	if (!ex->facts->trace_count)
		return;
	out_put(out, "%-10s  %-6s  %-8s  %-16s  %s\n", "EMPTY", "KIND", "JOB", "AGE", "PATH");
	for (size_t i = 0; i < ex->facts->trace_count; i++)
		print_one(ex, &ex->facts->traces[i], out);
}
