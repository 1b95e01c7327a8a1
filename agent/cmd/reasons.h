/*
 * reasons - a decision as a document and as a table: what `drey resolve --explain` prints. Pure.
 *
 * The document:
 *   {decision, rule, reason, allowNonRestoredState,
 *    snapshot {path, kind, checkpointId, jobId, completedUnixMs, sizeBytes, fileCount} or null,
 *    launch {jobId, args []} or null,
 *    loss {path, kind, checkpointId, jobId, completedUnixMs, ms} or null: what is, or would be, given up
 *    sources [{name, state: present|absent|unreadable, detail, leftOut}],
 *    candidates [{path, source, kind, checkpointId, jobId, completedUnixMs, sizeBytes, fileCount,
 *                 metadataVersion, integrity: unchecked|complete|damaged|incomplete|unreadable,
 *                 detail, haJobId, haIntegrity, verdict: chosen|older|rejected|notJudged, reason,
 *                 evidence {verdict, sighting, listedUnixMs, metadataBytes, reading, readUnixMs, record,
 *                           contradicted, text}}]}
 * and, only when it is parked, whenResumed {decision, rule, cause, reason, path}, and whenLifted (without
 * path) if that is by do-not-restart; and traces (reasons_traces.h), if they were looked for. The verdicts are those of the last of these decisions. Candidates
 * are in the order chosen, older, rejected, notJudged (no rule has reached it), and inside that the newest
 * first. Unknown values are null. A source that is not configured is absent, with that as detail.
 */
#ifndef DREY_CMD_REASONS_H
#define DREY_CMD_REASONS_H

#include "cmd/out.h"

#include "core/resolve/facts.h"
#include "core/resolve/resolve.h"

struct json;

/* Placeholder for the id of a new launch, which is generated only at the launch. */
#define REASONS_NEW_ID "<new>"

struct reasons {
	const struct facts *facts; /* as resolve() has judged them */
	const struct decision *decision;
	const char *job_id;      /* of the launch; NULL = a new one */
	const char *const *args; /* command line, NULL-terminated; NULL = nothing would start */
	/* the decision without do-not-restart, if that parks it; NULL = it does not */
	const struct decision *lifted;
	/* the decision after `drey resume`, if the application is parked; NULL = it is not */
	const struct decision *resumed;
	const struct journal *journal; /* by which they were decided; NULL: no evidence is shown */
	const struct policy *policy;   /* likewise; NULL: no traces are shown */
};

/* The caller frees with json_free(). */
struct json *reasons_document(const struct reasons *explanation);

/* For people; times are relative to facts->now_unix_ms. */
void reasons_print(const struct reasons *explanation, struct out out);

/* Exit status: CLI_OK would launch, CLI_PARKED, CLI_HELD. */
int reasons_status(const struct decision *decision);

#endif
