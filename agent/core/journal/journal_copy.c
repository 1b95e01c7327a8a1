#include "core/journal/journal_copy.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/backoff.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "core/journal/journal_fields.h"

#define RETRY_MAX_MS (10 * 60 * INT64_C(1000))

char *journal_copy_uri(const char *dir, const char *application, bool candidate)
{
	size_t len = strlen(dir);

	while (len && dir[len - 1] == '/')
		len--;
	return xasprintf("%.*s/" JOURNAL_COPY_DIRECTORY "/%s/journal%s.json", (int)len, dir,
			 application, candidate ? "-candidate" : "");
}

/* ---- the document ---- */

static void hash(const struct json *doc, char ret_hex[SHA256_HEX_BYTES])
{
	cleanup_buf struct buf text = BUF_INIT;

	json_print(doc, &text);
	sha256_hex(text.data, text.len_bytes, ret_hex);
}

int journal_copy_encode(struct journal *journal, const struct journal_copy_head *head,
			struct buf *ret_text, struct err *err)
{
	cleanup_json struct json *doc = json_object();
	cleanup_buf struct buf text = BUF_INIT;
	char hex[SHA256_HEX_BYTES];
	struct json *inner;

	if (journal_encode(journal, &text, err) < 0)
		return -1;
	inner = json_parse(buf_str(&text), text.len_bytes, JOURNAL_MAX_BYTES, err);
	if (!inner)
		return -1;
	json_add_i64(doc, "journalCopy", JOURNAL_COPY_FORMAT);
	json_add_str(doc, "application", head->application);
	json_add_str(doc, "namespace", head->name_space);
	json_add_str(doc, "place", head->place);
	json_add_str(doc, "dreyVersion", head->drey_version);
	json_add_i64(doc, "writtenUnixMs", head->written_unix_ms);
	json_add_i64(doc, "sequence", journal->sequence);
	json_add(doc, "journal", inner);
	hash(doc, hex);
	json_add_str(doc, "sha256", hex);
	json_print(doc, ret_text);
	buf_addch(ret_text, '\n');
	return 0;
}

static int read_copy_head(const struct json *doc, struct journal_copy_head *head, struct err *err)
{
	const char *application, *name_space = NULL, *place = NULL, *version = NULL;

	if (json_need_str(doc, "application", &application, err) ||
	    json_opt_str(doc, "namespace", &name_space, err) < 0 ||
	    json_opt_str(doc, "place", &place, err) < 0 ||
	    json_opt_str(doc, "dreyVersion", &version, err) < 0 ||
	    json_need_i64(doc, "writtenUnixMs", &head->written_unix_ms, err))
		return -1;
	head->application = xstrdup(application);
	head->name_space = xstrdup(name_space);
	head->place = xstrdup(place);
	head->drey_version = xstrdup(version);
	return 0;
}

static int check_hash(struct json *doc, struct err *err)
{
	char hex[SHA256_HEX_BYTES], said[SHA256_HEX_BYTES] = "";
	const char *text;

	if (json_need_str(doc, "sha256", &text, err))
		return -1;
	if (strlen(text) == SHA256_HEX_BYTES - 1)
		memcpy(said, text, sizeof(said));
	json_remove(doc, "sha256");
	hash(doc, hex);
	/* MUT: a damaged copy is believed */
	if (strcmp(hex, said) != 0)
		return err_set(err, ERR_FORMAT, 0, "its checksum is wrong");
	return 0;
}

static int read_copy(struct json *doc, struct journal_copy *copy, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	const struct json *inner;
	int64_t format;

	if (json_need_i64(doc, "journalCopy", &format, err))
		return -1;
	if (format != JOURNAL_COPY_FORMAT)
		return err_set(err, ERR_CONFIG, 0, "written by a later drey (format %" PRId64 ")",
			       format);
	if (check_hash(doc, err) || read_copy_head(doc, &copy->head, err) ||
	    json_need_object(doc, "journal", &inner, err))
		return -1;
	json_print(inner, &text);
	if (journal_decode(buf_str(&text), text.len_bytes, &copy->journal, err))
		return -1;
	if (!xstrsame(copy->head.application, copy->journal.application))
		return err_set(err, ERR_FORMAT, 0,
			       "its head and its journal name two applications");
	return 0;
}

int journal_copy_decode(const char *text, size_t len_bytes, struct journal_copy **ret_copy,
			struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, JOURNAL_COPY_MAX_BYTES, err);
	struct journal_copy *copy;

	if (!doc)
		return -1;
	copy = xcalloc(1, sizeof(*copy));
	if (read_copy(doc, copy, err) < 0) {
		journal_copy_free(copy);
		return -1;
	}
	*ret_copy = copy;
	return 0;
}

void journal_copy_free(struct journal_copy *copy)
{
	if (!copy)
		return;
	free(copy->head.application);
	free(copy->head.name_space);
	free(copy->head.place);
	free(copy->head.drey_version);
	free(copy->uri);
	journal_release(&copy->journal);
	free(copy);
}

/* ---- what it says ---- */

bool journal_copy_is_foreign(const struct journal_copy *copy, const char *application,
			     const char *name_space, struct buf *why)
{
	const struct journal_copy_head *head = &copy->head;

	if (application && !xstrsame(head->application, application))
		buf_addf(why, "it is of application %s", head->application);
	else if (head->name_space && name_space && !xstrsame(head->name_space, name_space))
		buf_addf(why, "it is of namespace %s", head->name_space);
	else
		return false;
	return true;
}

const struct launch *journal_copy_unknown_launch(const struct journal_copy *copy,
						 const struct journal *journal)
{
	for (size_t i = copy->journal.launch_count; i-- > 0;) {
		const struct launch *launch = &copy->journal.launches[i];

		if (!launch->never_started && !journal_knows_job(journal, launch->job_id))
			return launch;
	}
	return NULL;
}

const char *journal_copy_newest(const struct journal_copy *copy)
{
	const struct snapshot *savepoint = journal_last_savepoint(&copy->journal);
	const struct launch *launch = journal_last_checkpointed(&copy->journal);

	if (!savepoint || (launch && launch->last_checkpoint_path && savepoint->checkpoint_id &&
			   launch->last_checkpoint_id > savepoint->checkpoint_id))
		return launch ? launch->last_checkpoint_path : NULL;
	return savepoint->path;
}

bool journal_copy_parks(const struct journal_copy *copy)
{
	const struct intent *intent = &copy->journal.intent;

	return intent->do_not_restart || intent->state != DESIRED_RUNNING ||
	       copy->journal.outcome.kind != OUTCOME_NONE;
}

void journal_copy_describe(const struct journal_copy *copy, struct buf *to)
{
	const struct journal *journal = &copy->journal;
	const struct launch *launch = journal_launch_const(journal);
	const char *newest = journal_copy_newest(copy);
	char time[CLOCK_TEXT_BYTES];

	buf_addf(to, "the copy of %s", clock_minute(copy->head.written_unix_ms, time));
	if (launch)
		buf_addf(to, " (launch %" PRId64 ")", launch->number);
	buf_addstr(to, " says: ");
	if (journal->outcome.kind != OUTCOME_NONE)
		buf_addstr(to, outcome_kind_name(journal->outcome.kind));
	else
		buf_addstr(to, desired_state_name(journal->intent.state));
	if (journal->intent.do_not_restart)
		buf_addstr(to, ", do-not-restart is on");
	if (newest)
		buf_addf(to, ", newest state %s", newest);
}

/* Its last launch that ran, if it is this job; `ret_later`: it is one that came after that. */
static const struct launch *last_of_job(const struct journal *journal, const char *job_id,
					bool *ret_later)
{
	const struct launch *last = NULL;

	*ret_later = false;
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];

		if (!strcmp(launch->job_id, job_id))
			last = launch;
		*ret_later = last && last != launch && (*ret_later || !launch->never_started);
	}
	return last;
}

bool journal_copy_made_end(const struct journal_copy *copy, enum operation_kind kind,
			   const char *job_id, const char *path)
{
	const struct journal *journal = &copy->journal;
	const struct operation_result *last = &journal->last_operation;
	const struct snapshot *made = path ? journal_snapshot(journal, path) : NULL;
	bool later;
	const struct launch *launch = last_of_job(journal, job_id, &later);

	if (!launch)
		return false;
	if (later ||
	    (journal->operation.kind == kind && !strcmp(journal->operation.job_id, job_id)))
		return true;
	if (path)
		return (made && made->origin == ORIGIN_STOP) ||
		       (last->kind == kind && snapshot_same_path(last->location, path));
	return last->kind == kind && last->ok && last->ended_unix_ms >= launch->intended_unix_ms;
}

const char *journal_copy_stop(const struct journal_copy *copy)
{
	const struct operation_result *last = &copy->journal.last_operation;

	return last->kind == OPERATION_STOP ? last->location : NULL;
}

/* ---- taking it ---- */

#define SWAP(a, b)                                                                                 \
	do {                                                                                       \
		__typeof__(a) swapped = (a);                                                       \
		(a) = (b);                                                                         \
		(b) = swapped;                                                                     \
	} while (0)

void journal_copy_take(struct journal *journal, struct journal_copy *copy)
{
	struct journal *from = &copy->journal;
	struct restore_request *mine = &journal->intent.restore;
	bool keeps = mine->kind != RESTORE_NONE && mine->token &&
		     !journal_is_consumed(from, mine->token);
	int64_t sequence = journal->sequence > from->sequence ? journal->sequence : from->sequence;

	/* the earlier writers are those of both: what one of them wrote is no other drey's */
	for (size_t i = 0; i < journal->writer_count; i++)
		journal_add_writer(from, journal->writers[i]);
	if (from->writer)
		journal_add_writer(from, from->writer);
	SWAP(*journal, *from);
	SWAP(journal->writer, from->writer);
	SWAP(journal->owner, from->owner);
	SWAP(journal->handover, from->handover);
	SWAP(journal->lease_id, from->lease_id);
	SWAP(journal->phase, from->phase);
	if (keeps)
		SWAP(journal->intent.restore, from->intent.restore);
	else
		journal->intent.restore.read_back = true;
	journal->sequence = sequence;
}

/* ---- when it is written ---- */

#define BASIS UINT64_C(0xcbf29ce484222325) /* of FNV-1a */

static uint64_t mix(uint64_t key, const void *bytes, size_t len)
{
	const unsigned char *from = bytes;

	for (size_t i = 0; i < len; i++)
		key = (key ^ from[i]) * UINT64_C(0x100000001b3);
	return key;
}

static uint64_t mix_i64(uint64_t key, int64_t value)
{
	return mix(key, &value, sizeof(value));
}

static uint64_t mix_str(uint64_t key, const char *text)
{
	return text ? mix(key, text, strlen(text) + 1) : mix_i64(key, -1);
}

static uint64_t mix_launches(uint64_t key, const struct journal *journal)
{
	for (size_t i = 0; i < journal->launch_count; i++) {
		const struct launch *launch = &journal->launches[i];

		key = mix_str(key, launch->job_id);
		key = mix_i64(key, launch->number);
		key = mix_i64(key, launch->verified_unix_ms);
		key = mix_i64(key, launch->proven_unix_ms);
		key = mix_i64(key, launch->ended_unix_ms);
		key = mix_i64(key, launch->job_ended);
		key = mix_i64(key, launch->mismatched);
		key = mix_i64(key, launch->never_started);
	}
	return mix_i64(key, (int64_t)journal->former_job_count);
}

static uint64_t mix_intent(uint64_t key, const struct intent *intent)
{
	key = mix_i64(key, intent->state);
	key = mix_i64(key, intent->do_not_restart);
	key = mix_i64(key, intent->restore.kind);
	key = mix_str(key, intent->restore.token);
	return mix_str(key, intent->restart_nonce);
}

static uint64_t soon_of(const struct journal *journal)
{
	const struct launch *launch = journal_launch_const(journal);
	uint64_t key = mix_i64(BASIS, launch ? launch->number : 0);

	return mix_i64(mix_intent(key, &journal->intent), journal->outcome.kind);
}

struct copy_mark journal_copy_mark(const struct journal *journal)
{
	uint64_t key = mix_launches(BASIS, journal);

	key = mix_intent(key, &journal->intent);
	key = mix_i64(key, journal->outcome.kind);
	key = mix_i64(key, journal->outcome.unix_ms);
	for (size_t i = 0; i < journal->snapshot_count; i++)
		key = mix_str(key, journal->snapshots[i].path);
	key = mix_i64(key, operation_ends_job(journal->operation.kind));
	key = mix_str(key, journal->last_operation.trigger_id);
	key = mix_i64(key, (int64_t)journal->consumed_count);
	key = mix_i64(key, (int64_t)journal->failed_generation_count);
	key = mix_i64(key, journal->handover.state);
	return (struct copy_mark){.key = key, .soon = soon_of(journal)};
}

enum copy_next copy_pace_next(const struct copy_pace *pace, const struct copy_mark *mark,
			      bool leaving, int64_t now_ms, int64_t *ret_wait_ms)
{
	int64_t not_before_ms = pace->not_before_ms;

	if (pace->known && pace->mark.key == mark->key)
		return COPY_REST;
	/* MUT: the copy knows of a launch a minute later */
	if (pace->known && pace->mark.soon != mark->soon)
		not_before_ms = pace->soon_ms;
	/* MUT: the copy is written with every change */
	if (!leaving && now_ms < not_before_ms) {
		*ret_wait_ms = not_before_ms - now_ms;
		return COPY_LATER;
	}
	return COPY_NOW;
}

void copy_pace_begin(struct copy_pace *pace, int64_t now_ms)
{
	pace->not_before_ms = now_ms + JOURNAL_COPY_PACE_MS;
	pace->soon_ms = now_ms + JOURNAL_COPY_SOON_MS;
}

void copy_pace_wrote(struct copy_pace *pace, const struct copy_mark *mark)
{
	pace->known = true;
	pace->mark = *mark;
	pace->failures = 0;
}

void copy_pace_failed(struct copy_pace *pace, int64_t now_ms)
{
	pace->known = false;
	pace->not_before_ms =
		now_ms + backoff_ms(JOURNAL_COPY_PACE_MS, RETRY_MAX_MS, ++pace->failures);
}

enum copy_verdict journal_copy_judge(const struct journal *journal,
				     const struct journal_copy *there, const char *name_space)
{
	cleanup_buf struct buf why = BUF_INIT;

	if (journal_copy_is_foreign(there, journal->application, name_space, &why))
		return COPY_IS_FOREIGN;
	/* MUT: an older journal replaces a copy that knows more */
	if (journal_copy_unknown_launch(there, journal) ||
	    there->journal.sequence > journal->sequence)
		return COPY_IS_NEWER;
	return COPY_REPLACE;
}

bool journal_copy_is_overtaken(const struct journal *journal, const struct journal_copy *there)
{
	const struct launch *launch = journal_launch_const(journal);

	return launch && launch->verified_unix_ms &&
	       !journal_knows_job(&there->journal, launch->job_id);
}
