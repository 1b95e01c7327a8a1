/*
 * The journal as JSON text, by the tables of journal_fields.c. It is read strictly: every known
 * member must be as expected, or the whole document is rejected. A journal that is half understood
 * is worse than a missing one.
 */
#include <string.h>

#include "base/json.h"
#include "core/journal/journal_fields.h"

/* The same text, or the same absence of it. */
static bool same_text(const struct json *a, const struct json *b, const char *key)
{
	const char *left = json_str(a, key);
	const char *right = json_str(b, key);

	return left && right && !strcmp(left, right);
}

static bool same_element(const struct json *a, const struct json *b, const char *key)
{
	int64_t number = json_i64_or(a, key, -1);

	return same_text(a, b, key) || (number >= 0 && number == json_i64_or(b, key, -1));
}

/* json_merge_unknown() leaves arrays alone: elements belong together by `key`, not by position. */
static void merge_elements(struct json *array, const struct json *old, const char *key)
{
	const struct json *element;
	const struct json *before;

	json_each (element, array)
		json_each (before, old)
			if (same_element(element, before, key))
				json_merge_unknown((struct json *)element, before);
}

/* A new request, operation, result or outcome must not inherit members. */
static void forget_other(const struct json *doc, struct json *origin, const char *member,
			 const char *key)
{
	if (!same_element(json_get(doc, member), json_get(origin, member), key))
		json_remove(origin, member);
}

/* What a later drey has written of the owner and the hand-over stays as long as these do. */
static void forget_other_handover(const struct json *doc, struct json *origin)
{
	forget_other(doc, origin, "owner", "uid");
	forget_other(doc, origin, "handover", "id");
	if (json_get(origin, "handover"))
		forget_other(json_get(doc, "handover"), (struct json *)json_get(origin, "handover"),
			     "transition", "id");
}

static void keep_unknown(struct json *doc, const struct json *origin_as_read)
{
	cleanup_json struct json *origin = NULL;

	if (!origin_as_read)
		return;
	origin = json_copy(origin_as_read);
	forget_other(json_get(doc, "intent"), (struct json *)json_get(origin, "intent"), "restore",
		     "token");
	forget_other(doc, origin, "operation", "triggerId");
	forget_other(doc, origin, "lastOperation", "triggerId");
	forget_other(doc, origin, "outcome", "unixMs");
	forget_other(doc, origin, "rescaled", "unixMs");
	forget_other(doc, origin, "stateLoss", "unixMs");
	forget_other(doc, origin, "checkpoint", "triggerId");
	forget_other_handover(doc, origin);
	json_merge_unknown(doc, origin);
	merge_elements((struct json *)json_get(doc, "launches"), json_get(origin, "launches"),
		       "number");
	merge_elements((struct json *)json_get(doc, "snapshots"), json_get(origin, "snapshots"),
		       "path");
}

int journal_encode(struct journal *journal, struct buf *ret_text, struct err *err)
{
	journal_trim(journal);
	do {
		cleanup_json struct json *doc = json_object();
		cleanup_buf struct buf text = BUF_INIT;

		json_add_i64(doc, "schema", JOURNAL_SCHEMA);
		record_write(&journal_table, journal, NULL, doc);
		keep_unknown(doc, journal->origin);
		json_print_pretty(doc, &text);
		if (text.len_bytes <= JOURNAL_MAX_BYTES) {
			buf_add(ret_text, text.data, text.len_bytes);
			return 0;
		}
	} while (journal_shrink(journal));
	return err_set(err, ERR_FORMAT, 0, "journal: larger than %d bytes, although shortened",
		       JOURNAL_MAX_BYTES);
}

static int read_schema(const struct json *doc, struct err *err)
{
	int64_t schema;

	if (json_kind(doc) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "not a JSON object");
	if (json_need_i64(doc, "schema", &schema, err))
		return -1;
	if (schema > JOURNAL_SCHEMA)
		return err_set(
			err, ERR_CONFIG, 0,
			"written by a newer drey (schema %lld, this one knows %d): run that version again; this one leaves the journal unchanged",
			(long long)schema, JOURNAL_SCHEMA);
	if (schema < 1)
		return err_set(err, ERR_FORMAT, 0, "'schema': %lld does not exist",
			       (long long)schema);
	return 0;
}

static int check_launches(const struct journal *journal, struct err *err)
{
	int64_t last = 0;

	for (size_t i = 0; i < journal->launch_count; i++) {
		int64_t number = journal->launches[i].number;

		if (number <= last || number == INT64_MAX)
			return err_set(err, ERR_FORMAT, 0, "launches[%zu]: 'number': not ascending",
				       i);
		last = number;
	}
	return 0;
}

/* Of two snapshots with the same path the later one counts. */
static void drop_repeated_snapshots(struct journal *journal)
{
	struct snapshot *snapshots = journal->snapshots;

	for (size_t i = journal->snapshot_count; i-- > 0;)
		for (size_t later = i + 1; later < journal->snapshot_count; later++)
			if (!strcmp(snapshots[i].path, snapshots[later].path)) {
				record_list_remove(&snapshot_table, snapshots,
						   &journal->snapshot_count, i, 1);
				break;
			}
}

static int read_document(const struct json *doc, struct journal *journal, struct err *err)
{
	if (read_schema(doc, err) || record_read(&journal_table, doc, journal, err) ||
	    check_launches(journal, err))
		return -1;
	if (journal->sequence < 0 || journal->sequence == INT64_MAX)
		return err_set(err, ERR_FORMAT, 0, "'sequence': out of range");
	if (journal->id_next < 0)
		return err_set(err, ERR_FORMAT, 0, "jobIds: 'next': out of range");
	drop_repeated_snapshots(journal);
	while (journal->savepoint_request_count > JOURNAL_MAX_REQUESTS)
		journal_drop_savepoint_request(journal);
	while (journal->checkpoint_request_count > JOURNAL_MAX_REQUESTS)
		journal_drop_checkpoint_request(journal);
	return 0;
}

int journal_decode(const char *text, size_t len_bytes, struct journal *ret_journal, struct err *err)
{
	struct journal journal = {0};

	journal.origin = json_parse(text, len_bytes, JOURNAL_MAX_BYTES, err);
	if (!journal.origin)
		return err_wrap(err, "journal");
	if (read_document(journal.origin, &journal, err)) {
		journal_release(&journal);
		return err_wrap(err, "journal");
	}
	/* known members that are left out when they are empty are not to come back from here */
	record_forget_sparse(&journal_table, journal.origin);
	*ret_journal = journal;
	return 0;
}
