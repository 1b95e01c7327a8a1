#include "cmd/reasons.h"

#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/cli.h"
#include "cmd/reasons_traces.h"
#include "cmd/text.h"
#include "core/resolve/evidence.h"

static const struct candidate *chosen_by(const struct decision *decision, const struct facts *facts)
{
	if ((decision->kind != DECISION_START_FROM && decision->kind != DECISION_CONTINUE) ||
	    decision->candidate >= facts->candidate_count)
		return NULL;
	return &facts->candidates[decision->candidate];
}

static const struct candidate *chosen(const struct reasons *ex)
{
	return chosen_by(ex->decision, ex->facts);
}

/* The last of the decisions: the verdicts are from it. */
static const struct decision *judge_of(const struct reasons *ex)
{
	return ex->resumed ? ex->resumed : ex->lifted ? ex->lifted : ex->decision;
}

int reasons_status(const struct decision *decision)
{
	if (decision_starts(decision))
		return CLI_OK;
	return decision->kind == DECISION_PARK ? CLI_PARKED : CLI_HELD;
}

static void add_identity(struct json *to, const struct snapshot *snapshot)
{
	json_add_str(to, "kind", snapshot_kind_name(snapshot->kind));
	json_add_known(to, "checkpointId", snapshot->checkpoint_id, 1);
	json_add_str(to, "jobId", *snapshot->job_id ? snapshot->job_id : NULL);
	json_add_known(to, "completedUnixMs", snapshot->completed_unix_ms, 1);
}

static void add_snapshot(struct json *doc, const struct candidate *candidate)
{
	struct json *to;

	if (!candidate) {
		json_add_null(doc, "snapshot");
		return;
	}
	to = json_add_object(doc, "snapshot");
	json_add_str(to, "path", candidate->snapshot.path);
	add_identity(to, &candidate->snapshot);
	json_add_known(to, "sizeBytes", candidate->snapshot.size_bytes, 0);
	json_add_known(to, "fileCount", candidate->snapshot.file_count, 0);
}

static void add_loss(struct json *doc, const struct reasons *ex)
{
	const struct decision_loss *loss = &ex->decision->loss;
	const struct candidate *lost;
	struct json *to;

	if (!loss->is_one) {
		json_add_null(doc, "loss");
		return;
	}
	lost = &ex->facts->candidates[loss->candidate];
	to = json_add_object(doc, "loss");
	json_add_str(to, "path", lost->snapshot.path);
	add_identity(to, &lost->snapshot);
	json_add_known(to, "ms", loss->ms, 0);
}

static void add_launch(struct json *doc, const struct reasons *ex)
{
	struct json *to, *args;

	if (!decision_starts(ex->decision)) {
		json_add_null(doc, "launch");
		return;
	}
	to = json_add_object(doc, "launch");
	json_add_str(to, "jobId", ex->job_id ? ex->job_id : REASONS_NEW_ID);
	args = json_add_array(to, "args");
	for (size_t i = 0; ex->args && ex->args[i]; i++)
		json_add_str(args, NULL, ex->args[i]);
}

static const char *state_of(const struct source_fact *source)
{
	if (source->state == SOURCE_NOT_CONFIGURED)
		return source_state_name(SOURCE_ABSENT);
	return source_state_name(source->state);
}

static const char *detail_of(const struct reasons *ex, const struct source_fact *source)
{
	if (source->state == SOURCE_NOT_CONFIGURED)
		return source == &ex->facts->sources[SOURCE_LINEAGE] ? "no other directories"
								     : "not configured";
	return source->detail ? source->detail : "";
}

/* A candidate that no rule has reached was not rejected. */
static const char *verdict_of(const struct candidate *candidate, const char *not_judged)
{
	return candidate->verdict == VERDICT_NONE ? not_judged : verdict_name(candidate->verdict);
}

static const char *reason_of(const struct reasons *ex, const struct candidate *candidate,
			     char *text, size_t size)
{
	if (candidate->verdict != VERDICT_NONE)
		return candidate->reason ? candidate->reason : "";
	snprintf(text, size, "rule %d decided first", judge_of(ex)->rule);
	return text;
}

/* Chosen first, then older, then rejected, then what was not judged; inside each the newest first. */
static int by_rank(const void *a, const void *b)
{
	const struct candidate *left = *(const struct candidate *const *)a;
	const struct candidate *right = *(const struct candidate *const *)b;
	int left_verdict = left->verdict ? (int)left->verdict : VERDICT_REJECTED + 1;
	int right_verdict = right->verdict ? (int)right->verdict : VERDICT_REJECTED + 1;
	const struct snapshot *x = &left->snapshot, *y = &right->snapshot;

	if (left_verdict != right_verdict)
		return left_verdict < right_verdict ? -1 : 1;
	if (x->checkpoint_id != y->checkpoint_id)
		return x->checkpoint_id > y->checkpoint_id ? -1 : 1;
	if (x->completed_unix_ms != y->completed_unix_ms)
		return x->completed_unix_ms > y->completed_unix_ms ? -1 : 1;
	return strcmp(x->path, y->path);
}

/* The caller frees the list, not what it points to. */
static const struct candidate **ranked(const struct facts *facts)
{
	const struct candidate **list = xcalloc(facts->candidate_count + 1, sizeof(*list));

	for (size_t i = 0; i < facts->candidate_count; i++)
		list[i] = &facts->candidates[i];
	qsort(list, facts->candidate_count, sizeof(*list), by_rank);
	return list;
}

/* What each witness says of it (core/resolve/evidence.h). */
static void add_evidence(struct json *doc, const struct reasons *ex,
			 const struct candidate *candidate)
{
	struct evidence evidence;
	struct json *to;

	if (!ex->journal)
		return;
	evidence_of(ex->journal, ex->facts, candidate, &evidence);
	to = json_add_object(doc, "evidence");
	json_add_str(to, "verdict", evidence_verdict_name(evidence.verdict));
	json_add_str(to, "sighting", sighting_name(evidence.sighting));
	json_add_known(to, "listedUnixMs", candidate->listed_unix_ms, 1);
	json_add_known(to, "metadataBytes", candidate->snapshot.metadata_bytes, 1);
	json_add_str(to, "reading", reading_name(evidence.reading));
	json_add_known(to, "readUnixMs", candidate->read_unix_ms, 1);
	json_add_str(to, "record", record_of_name(evidence.record));
	json_add_bool(to, "contradicted", evidence.contradicted);
	json_add_str(to, "text", evidence.text);
}

static void add_candidate(struct json *list, const struct reasons *ex,
			  const struct candidate *candidate)
{
	struct json *to = json_add_object(list, NULL);
	char text[64];

	json_add_str(to, "path", candidate->snapshot.path);
	json_add_str(to, "source", source_kind_name(candidate->source));
	add_identity(to, &candidate->snapshot);
	json_add_known(to, "sizeBytes", candidate->snapshot.size_bytes, 0);
	json_add_known(to, "fileCount", candidate->snapshot.file_count, 0);
	json_add_known(to, "metadataVersion", candidate->metadata_version, 1);
	json_add_str(to, "integrity", integrity_name(candidate->integrity));
	json_add_str(to, "detail", candidate->detail);
	json_add_str(to, "haJobId", candidate->in_ha ? candidate->ha_job_id : NULL);
	json_add_bool(to, "haFormer", candidate->in_ha && candidate->ha_former);
	json_add_str(to, "haIntegrity",
		     candidate->in_ha ? integrity_name(candidate->recovery) : NULL);
	json_add_str(to, "verdict", verdict_of(candidate, "notJudged"));
	json_add_str(to, "reason", reason_of(ex, candidate, text, sizeof(text)));
	add_evidence(to, ex, candidate);
}

/* A URI of the old form s3a://KEY:SECRET@bucket/... contains keys, which must not be printed. */
static void add_uri(struct json *to, const char *uri)
{
	const char *host = strstr(uri, "://");
	const char *at = host ? strchr(host + 3, '@') : NULL;
	cleanup_free char *shown = NULL;

	if (at && at < host + 3 + strcspn(host + 3, "/"))
		shown = xasprintf("%.*s%s", (int)(host + 3 - uri), uri, at + 1);
	json_add_str(to, "path", shown ? shown : uri);
}

/* Each directory that was read on its own. */
static void add_directories(struct json *source, const struct facts *facts, enum source_kind kind)
{
	struct json *list = json_add_array(source, "directories");

	for (size_t i = 0; i < facts->place_count; i++) {
		const struct place_fact *place = &facts->places[i];
		struct json *to;

		if (place->source != kind)
			continue;
		to = json_add_object(list, NULL);
		add_uri(to, place->dir);
		json_add_str(to, "kind", snapshot_kind_name(place->kind));
		json_add_str(to, "state", source_state_name(place->state));
		json_add_str(to, "detail", place->detail ? place->detail : "");
	}
}

static struct json *add_other(struct json *doc, const char *name, const struct decision *decision)
{
	struct json *to = json_add_object(doc, name);

	json_add_str(to, "decision", decision_kind_name(decision->kind));
	json_add_i64(to, "rule", decision->rule);
	json_add_str(to, "cause", cause_name(decision->cause));
	json_add_str(to, "reason", decision->reason);
	return to;
}

struct json *reasons_document(const struct reasons *ex)
{
	cleanup_free const struct candidate **candidates = ranked(ex->facts);
	struct json *doc = json_object();
	struct json *list;

	json_add_str(doc, "decision", decision_kind_name(ex->decision->kind));
	json_add_i64(doc, "rule", ex->decision->rule);
	json_add_str(doc, "cause", cause_name(ex->decision->cause));
	json_add_str(doc, "reason", ex->decision->reason);
	json_add_bool(doc, "allowNonRestoredState", ex->decision->allow_non_restored);
	add_snapshot(doc, chosen(ex));
	add_launch(doc, ex);
	add_loss(doc, ex);
	if (ex->lifted)
		add_other(doc, "whenLifted", ex->lifted);
	if (ex->resumed) {
		const struct candidate *from = chosen_by(ex->resumed, ex->facts);

		json_add_str(add_other(doc, "whenResumed", ex->resumed), "path",
			     from ? from->snapshot.path : NULL);
	}
	list = json_add_array(doc, "sources");
	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &ex->facts->sources[i];
		struct json *to = json_add_object(list, NULL);

		json_add_str(to, "name", source_kind_name((enum source_kind)i));
		json_add_str(to, "state", state_of(source));
		json_add_str(to, "detail", detail_of(ex, source));
		json_add_i64(to, "leftOut", (int64_t)source->left_out);
		add_directories(to, ex->facts, (enum source_kind)i);
	}
	list = json_add_array(doc, "candidates");
	for (size_t i = 0; i < ex->facts->candidate_count; i++)
		add_candidate(list, ex, candidates[i]);
	reasons_add_traces(doc, ex);
	return doc;
}

#define LABEL_INDENT 11

/* "checkpoint 12, completed 3 min ago, 1.2 MB in 5 files": without what is unknown. */
static void print_snapshot(const struct snapshot *snapshot, int64_t now_unix_ms, struct out out)
{
	char age[CLOCK_TEXT_BYTES], size[TEXT_SIZE_BYTES];
	cleanup_buf struct buf text = BUF_INIT;

	buf_addstr(&text, snapshot_kind_name(snapshot->kind));
	if (snapshot->checkpoint_id > 0)
		buf_addf(&text, ", checkpoint id %" PRId64, snapshot->checkpoint_id);
	if (snapshot->completed_unix_ms > 0)
		buf_addf(&text, ", completed %s",
			 clock_ago(snapshot->completed_unix_ms, now_unix_ms, age));
	if (snapshot->size_bytes >= 0)
		buf_addf(&text, ", %s", text_size(snapshot->size_bytes, size));
	if (snapshot->file_count >= 0)
		buf_addf(&text, " in %" PRId64 " file%s", snapshot->file_count,
			 snapshot->file_count == 1 ? "" : "s");
	out_row(out, "", LABEL_INDENT, buf_str(&text));
}

static void print_launch(const struct reasons *ex, struct out out)
{
	out_put(out, "launch     job id %s\n", ex->job_id ? ex->job_id : REASONS_NEW_ID);
	if (!ex->args)
		return;
	out_put(out, "          ");
	for (size_t i = 0; ex->args[i]; i++) {
		out_put(out, " ");
		text_print_shell(ex->args[i], out);
	}
	out_put(out, "\n");
}

/* Its fault, if the reason does not mention it. */
static void say_condition(const struct candidate *candidate, const char *reason, struct buf *text)
{
	if (candidate->in_ha && candidate->source != SOURCE_HA)
		buf_addstr(text, "; Flink's HA data refers to it, too");
	if (!candidate->detail || strstr(reason, candidate->detail))
		return;
	buf_addstr(text, "; ");
	if (candidate->integrity)
		buf_addf(text, "%s: ", integrity_name(candidate->integrity));
	buf_addstr(text, candidate->detail);
}

/* What the witnesses say, where they do not agree and nothing above has it. */
static void say_evidence(const struct reasons *ex, const struct candidate *candidate,
			 struct buf *text)
{
	struct evidence evidence;

	if (!ex->journal)
		return;
	evidence_of(ex->journal, ex->facts, candidate, &evidence);
	if (!evidence.contradicted ||
	    (candidate->detail && strstr(candidate->detail, evidence.text)))
		return;
	buf_addf(text, "; %s: %s", evidence_verdict_name(evidence.verdict), evidence.text);
}

static void say_why(const struct reasons *ex, const struct candidate *candidate, struct buf *text)
{
	char reason[64];
	const char *why = reason_of(ex, candidate, reason, sizeof(reason));

	buf_addstr(text, why);
	say_condition(candidate, why, text);
	say_evidence(ex, candidate, text);
}

struct cells {
	const char *verdict, *source, *kind, *job;
	char age[CLOCK_TEXT_BYTES], id[24], files[24], size[TEXT_SIZE_BYTES];
};

static struct cells cells_of(const struct candidate *candidate, int64_t now_unix_ms)
{
	const struct snapshot *snapshot = &candidate->snapshot;
	struct cells cells = {.verdict = verdict_of(candidate, "not checked"),
			      .source = source_kind_name(candidate->source),
			      .kind = snapshot_kind_name(snapshot->kind),
			      .job = *snapshot->job_id ? snapshot->job_id : "-",
			      .age = "-",
			      .id = "-",
			      .files = "-",
			      .size = "-"};

	if (snapshot->checkpoint_id > 0)
		snprintf(cells.id, sizeof(cells.id), "%" PRId64, snapshot->checkpoint_id);
	if (snapshot->completed_unix_ms > 0)
		clock_ago(snapshot->completed_unix_ms, now_unix_ms, cells.age);
	if (snapshot->size_bytes >= 0)
		text_size(snapshot->size_bytes, cells.size);
	if (snapshot->file_count >= 0)
		snprintf(cells.files, sizeof(cells.files), "%" PRId64, snapshot->file_count);
	return cells;
}

#define ROW         "%-10s  %-11s  %-10s  %6s  %-8.8s  %-16s  %8s  %5s  "
#define ROW_COLUMNS 90
#define WHY_INDENT  12
#define NARROW      4

static void print_row(const struct reasons *ex, const struct candidate *candidate, struct out out)
{
	struct cells cells = cells_of(candidate, ex->facts->now_unix_ms);
	cleanup_buf struct buf why = BUF_INIT;

	out_put(out, ROW "%s\n", cells.verdict, cells.source, cells.kind, cells.id, cells.job,
		cells.age, cells.size, cells.files, candidate->snapshot.path);
	say_why(ex, candidate, &why);
	out_row(out, "", WHY_INDENT, buf_str(&why));
}

/* The path, which is what one copies, and below it a sentence. */
static void print_narrow(const struct reasons *ex, const struct candidate *candidate,
			 struct out out)
{
	struct cells cells = cells_of(candidate, ex->facts->now_unix_ms);
	cleanup_buf struct buf text = BUF_INIT;

	out_put(out, "%s\n", candidate->snapshot.path);
	buf_addf(&text, "%s: %s from %s, id %s, job %.8s, %s", cells.verdict, cells.kind,
		 cells.source, cells.id, cells.job, cells.age);
	if (candidate->snapshot.size_bytes >= 0)
		buf_addf(&text, ", %s", cells.size);
	if (candidate->snapshot.file_count >= 0)
		buf_addf(&text, " in %s files", cells.files);
	buf_addstr(&text, ": ");
	say_why(ex, candidate, &text);
	out_row(out, "", NARROW, buf_str(&text));
}

/* Where lines are not broken, the table is for scripts and people alike. */
static bool fits(const struct candidate *const *candidates, size_t count, const struct term *term)
{
	for (size_t i = 0; i < count && term->width; i++)
		if (ROW_COLUMNS + strlen(candidates[i]->snapshot.path) > (size_t)term->width)
			return false;
	return true;
}

static void print_candidates(const struct reasons *ex, struct out out)
{
	cleanup_free const struct candidate **candidates = ranked(ex->facts);
	const struct term term = out_term(out);
	bool wide = fits(candidates, ex->facts->candidate_count, &term);

	out_put(out, "\n");
	if (wide)
		out_put(out, ROW "%s\n", "VERDICT", "SOURCE", "KIND", "ID", "JOB", "AGE", "SIZE",
			"FILES", "PATH");
	for (size_t i = 0; i < ex->facts->candidate_count; i++)
		if (wide)
			print_row(ex, candidates[i], out);
		else
			print_narrow(ex, candidates[i], out);
}

#define SOURCE_INDENT 25

static void print_source(enum source_kind kind, const char *state, const char *detail,
			 struct out out)
{
	char label[SOURCE_INDENT + 1];

	snprintf(label, sizeof(label), "%-11s  %-10s", source_kind_name(kind), state);
	out_row(out, label, SOURCE_INDENT, detail);
}

/* Each directory of the lineage has its own row. */
static bool print_directories(const struct facts *facts, struct out out)
{
	bool any = false;

	for (size_t i = 0; i < facts->place_count; i++) {
		const struct place_fact *place = &facts->places[i];
		cleanup_free char *detail = NULL;

		if (place->source != SOURCE_LINEAGE)
			continue;
		detail = xasprintf("%ss in %s: %s", snapshot_kind_name(place->kind), place->dir,
				   place->detail ? place->detail : "");
		print_source(SOURCE_LINEAGE, source_state_name(place->state), detail, out);
		any = true;
	}
	return any;
}

static void print_sources(const struct reasons *ex, struct out out)
{
	out_put(out, "\n%-11s  %-10s  %s\n", "SOURCE", "STATE", "DETAIL");
	for (int i = 0; i < SOURCE_COUNT; i++) {
		const struct source_fact *source = &ex->facts->sources[i];

		if (i == SOURCE_LINEAGE && print_directories(ex->facts, out))
			continue;
		print_source((enum source_kind)i, state_of(source), detail_of(ex, source), out);
	}
}

/* The last line: the command that an operator needs next. */
static void print_resume(const struct reasons *ex, struct out out)
{
	const struct decision *decision = ex->resumed ? ex->resumed : ex->decision;
	const struct candidate *from = chosen_by(decision, ex->facts);
	cleanup_buf struct buf text = BUF_INIT;

	buf_addstr(&text,
		   ex->lifted ? "with do-not-restart off, a resume would " : "a resume would ");
	if (from) {
		buf_addf(&text, "start from %s %s", snapshot_kind_name(from->snapshot.kind),
			 from->snapshot.path);
		if (from->snapshot.checkpoint_id > 0)
			buf_addf(&text, " (checkpoint id %" PRId64 ")",
				 from->snapshot.checkpoint_id);
	} else if (decision->kind == DECISION_START_EMPTY) {
		buf_addstr(&text, "start without any state");
	} else if (ex->resumed) {
		buf_addf(&text, "not start the job: %s (rule %d): %s",
			 decision_kind_name(decision->kind), decision->rule, decision->reason);
	} else {
		buf_addstr(
			&text,
			"not start the job either, for the same reason; it withdraws a restore request");
	}
	out_put(out, "\n");
	out_row(out, "", 0, buf_str(&text));
}

void reasons_print(const struct reasons *ex, struct out out)
{
	const struct candidate *candidate = chosen(ex);

	out_put(out, "decision   %s (rule %d)\n", decision_kind_name(ex->decision->kind),
		ex->decision->rule);
	out_row(out, "reason", LABEL_INDENT, ex->decision->reason);
	if (ex->decision->cause)
		out_put(out, "see        drey explain %s\n", cause_name(ex->decision->cause));
	if (ex->lifted) {
		cleanup_buf struct buf text = BUF_INIT;

		buf_addf(&text, "without do-not-restart: %s (rule %d): %s",
			 decision_kind_name(ex->lifted->kind), ex->lifted->rule,
			 ex->lifted->reason);
		out_row(out, "lifted", LABEL_INDENT, buf_str(&text));
	}
	if (candidate) {
		out_put(out, "snapshot   %s\n", candidate->snapshot.path);
		print_snapshot(&candidate->snapshot, ex->facts->now_unix_ms, out);
	}
	if (ex->decision->allow_non_restored)
		out_put(out, "           state that the job no longer has may be left out\n");
	if (decision_starts(ex->decision))
		print_launch(ex, out);
	print_sources(ex, out);
	reasons_print_traces(ex, out);
	if (!ex->facts->candidate_count) {
		out_put(out, "\nno candidates\n");
		print_resume(ex, out);
		return;
	}
	print_candidates(ex, out);
	print_resume(ex, out);
}
