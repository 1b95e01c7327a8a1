/*
 * explain - a decision as a document and as a table: what `drey resolve --explain` prints. Pure.
 *
 * The document:
 *   {decision, rule, reason, allowNonRestoredState,
 *    snapshot {path, kind, checkpointId, jobId, completedUnixMs, sizeBytes, fileCount} or null,
 *    launch {jobId, args []} or null,
 *    sources [{name, state: present|absent|unreadable, detail, leftOut}],
 *    candidates [{path, source, kind, checkpointId, jobId, completedUnixMs, sizeBytes, fileCount,
 *                 metadataVersion, integrity: unchecked|complete|damaged|incomplete|unreadable,
 *                 detail, haJobId, haIntegrity, verdict: chosen|older|rejected, reason}]}
 * and, only when do-not-restart parks it, whenLifted {decision, rule, cause, reason}.
 * Candidates are in the order chosen, older, rejected, and inside that the newest first.
 * What is not known is null. A source that is not configured is absent, with this detail; a
 * candidate that no rule came to is rejected, with this reason.
 */
#ifndef DREY_CMD_EXPLAIN_H
#define DREY_CMD_EXPLAIN_H

#include <stdio.h>

#include "core/facts.h"
#include "core/resolve.h"

struct json;

/* Where the id of a new launch stands in place of one that is drawn only at the launch. */
#define EXPLAIN_NEW_ID "<new>"

struct explanation {
	const struct facts *facts; /* as resolve() has judged them */
	const struct decision *decision;
	const char *job_id;      /* of the launch; NULL = a new one */
	const char *const *args; /* command line, NULL-terminated; NULL = nothing would start */
	/* what it would be without do-not-restart, where that parks it; NULL = it does not */
	const struct decision *lifted;
};

/* The caller frees with json_free(). */
struct json *explain_document(const struct explanation *explanation);

/* For people; times are said relative to facts->now_unix_ms. */
void explain_print(const struct explanation *explanation, FILE *out);

/* Exit status: CLI_OK would launch, CLI_PARKED, CLI_HELD. */
int explain_status(const struct decision *decision);

#endif
