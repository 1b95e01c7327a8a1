#include "core/handover/handover.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "core/handover/transition.h"

const char *const handover_mode_words[] = {"none", "surge", "blueGreen", NULL};
_Static_assert(HANDOVER_OFF == 0 && HANDOVER_SURGE == 1 && HANDOVER_BLUE_GREEN == 2,
	       "order of handover_mode_words");
const char *const handover_kind_words[] = {"surge", "same", NULL};
const char *const handover_state_words[] = {"none", "offered",  "stopping", "granted", "taken",
					    "done", "returned", "refused",  NULL};

static const char *const roles[] = {"unknown", "owner", "candidate", "reserve", "standby", "heir"};
static const char *const claims[] = {"none", "own", "succeed", "take", "back", "force"};

/* ---- in the journal ---- */

#define PARTY(name, kind, ...)    FIELD(name, kind, struct party, __VA_ARGS__)
#define HANDOVER(name, kind, ...) FIELD(name, kind, struct handover, __VA_ARGS__)

static const struct field party_fields[] = {
	PARTY("pod", TEXT, pod),
	PARTY("uid", TEXT, uid, .key = true),
	PARTY("template", TEXT, template, .key = true),
	/* an application that is at green may have no owner */
	PARTY("side", WORD, side, .words = side_words, .key = true),
};
const struct record party_table = RECORD(struct party, party_fields);

#define ENDS(name, member) FIELD(name, NUMBER, struct handover_ends, member)

static const struct field ends_fields[] = {
	ENDS("done", done),
	ENDS("returned", returned),
	ENDS("refused", refused),
	ENDS("none", none),
};
static const struct record ends_table = RECORD(struct handover_ends, ends_fields);

static const struct field handover_fields[] = {
	HANDOVER("id", TEXT, id, .key = true),
	HANDOVER("mode", WORD, kind, .words = handover_kind_words),
	HANDOVER("state", WORD, state, .words = handover_state_words),
	HANDOVER("from", RECORD, from, .record = &party_table),
	HANDOVER("to", RECORD, to, .record = &party_table),
	HANDOVER("jobId", ID, job_id),
	HANDOVER("launchId", ID, launch_id, .sparse = true),
	HANDOVER("applicationId", ID, application_id),
	HANDOVER("asked", KNOWN, asked),
	HANDOVER("savepoint", TEXT, savepoint),
	HANDOVER("slots", KNOWN, slots),
	HANDOVER("tries", KNOWN, tries),
	HANDOVER("forced", BOOL, forced),
	HANDOVER("startedUnixMs", KNOWN, started_unix_ms),
	HANDOVER("stateUnixMs", KNOWN, state_unix_ms),
	HANDOVER("deadlineUnixMs", KNOWN, deadline_unix_ms),
	HANDOVER("why", TEXT, why, .max_bytes = 512),
	HANDOVER("preparedUnixMs", KNOWN, prepared_unix_ms),
	HANDOVER("stoppingUnixMs", KNOWN, stopping_unix_ms),
	HANDOVER("grantedUnixMs", KNOWN, granted_unix_ms),
	HANDOVER("takenUnixMs", KNOWN, taken_unix_ms),
	HANDOVER("doneUnixMs", KNOWN, done_unix_ms),
	HANDOVER("returned", TEXT, returned, .max_bytes = 512),
	HANDOVER("returnedUnixMs", KNOWN, returned_unix_ms),
	HANDOVER("ends", RECORD, ends, .record = &ends_table),
	/* a member of its own: an older drey rejects a mode, or a state, that it does not know */
	HANDOVER("transition", RECORD, transition, .record = &transition_table, .sparse = true),
};
const struct record handover_table = RECORD(struct handover, handover_fields);

void party_set(struct party *to, const struct party *from)
{
	xstrset(&to->pod, from->pod);
	xstrset(&to->uid, from->uid);
	xstrset(&to->template, from->template);
	to->side = from->side;
}

void party_release(struct party *party)
{
	record_release(&party_table, party);
}

void handover_release(struct handover *handover)
{
	record_release(&handover_table, handover);
}

void handover_renew(struct handover *handover, bool again)
{
	struct transition *before = &handover->transition;
	/* a gate takes no order with a lower number than the last one */
	struct handover fresh = {.ends = handover->ends,
				 .transition = {.owner_number = before->owner_number,
						.candidate_number = before->candidate_number}};

	if (again) {
		fresh.returned = handover->returned;
		fresh.returned_unix_ms = handover->returned_unix_ms;
		handover->returned = NULL;
	}
	handover_release(handover);
	*handover = fresh;
}

static void keep_end(struct handover *handover, enum handover_state before, int64_t now_unix_ms)
{
	switch (handover->state) {
	case HANDOVER_DONE:
		handover->ends.done++;
		handover->done_unix_ms = now_unix_ms;
		xstrset(&handover->returned, NULL);
		handover->returned_unix_ms = 0;
		break;
	case HANDOVER_RETURNED:
		handover->ends.returned++;
		xstrset(&handover->returned, handover->why);
		handover->returned_unix_ms = now_unix_ms;
		break;
	case HANDOVER_REFUSED:
		handover->ends.refused++;
		break;
	default: /* that a refused one is allowed again is no end */
		handover->ends.none +=
			handover->state == HANDOVER_NONE && before != HANDOVER_REFUSED;
		break;
	}
}

void handover_keep(struct handover *handover, enum handover_state before, int64_t now_unix_ms)
{
	if (handover->state == HANDOVER_STOPPING)
		handover->stopping_unix_ms = now_unix_ms;
	else if (handover->state == HANDOVER_GRANTED)
		handover->granted_unix_ms = now_unix_ms;
	else if (handover->state == HANDOVER_TAKEN)
		handover->taken_unix_ms = now_unix_ms;
	else
		keep_end(handover, before, now_unix_ms);
}

bool party_is(const struct party *party, const char *uid)
{
	return party->uid && uid && !strcmp(party->uid, uid);
}

bool party_wrote(const struct party *party, const char *writer)
{
	size_t pod_len = party->pod ? strlen(party->pod) : 0;
	size_t uid_len = party->uid ? strlen(party->uid) : 0;

	return writer && pod_len && uid_len && !strncmp(writer, party->pod, pod_len) &&
	       writer[pod_len] == '/' && !strncmp(writer + pod_len + 1, party->uid, uid_len) &&
	       writer[pod_len + 1 + uid_len] == '/';
}

const char *handover_state_name(enum handover_state state)
{
	return state <= HANDOVER_REFUSED ? handover_state_words[state] : "unknown";
}

const char *handover_word(enum handover_state state)
{
	static const char *const words[] = {
		[HANDOVER_NONE] = "HandoverGivenUp",      [HANDOVER_OFFERED] = "HandoverOffered",
		[HANDOVER_STOPPING] = "HandoverStopping", [HANDOVER_GRANTED] = "HandoverGranted",
		[HANDOVER_TAKEN] = "HandoverTaken",       [HANDOVER_DONE] = "HandoverDone",
		[HANDOVER_RETURNED] = "HandoverReturned", [HANDOVER_REFUSED] = "HandoverRefused",
	};

	return (size_t)state < ARRAY_LEN(words) ? words[state] : "HandoverUnknown";
}

const char *role_name(enum role role)
{
	return role < ROLES ? roles[role] : "unknown";
}

const char *claim_name(enum claim claim)
{
	return claim <= CLAIM_FORCE ? claims[claim] : "unknown";
}

/* What is behind it, and the Event that has all of it, has to have room. */
#define MOST_WORDS 300

char *handover_quotes(const char *why, const char *words)
{
	int len = words ? (int)utf8_cut(words, MOST_WORDS) : 0;

	/* MUT: why the candidate could not be prepared is lost */
	if (!len)
		return xstrdup(why);
	return xasprintf("%s: %.*s", why, len, words);
}

bool handover_is_under_way(const struct handover *handover)
{
	return handover->state == HANDOVER_OFFERED || handover->state == HANDOVER_STOPPING ||
	       handover->state == HANDOVER_GRANTED || handover->state == HANDOVER_TAKEN;
}

/* ---- templates ---- */

char *template_text(const char *generation, const char *checksum, const char *hash)
{
	return xasprintf("%s/%s/%s", generation ? generation : "", checksum ? checksum : "",
			 hash ? hash : "");
}

/* Length of the first `parts` parts. A generation may contain any character but a slash. */
static size_t prefix(const char *template, int parts)
{
	const char *at = template;

	while (parts--) {
		at += strcspn(at, "/");
		at += parts && *at;
	}
	return (size_t)(at - template);
}

static bool same_prefix(const char *a, const char *b, int parts)
{
	size_t len = a ? prefix(a, parts) : 0;

	return a && b && *a && *a != '/' && prefix(b, parts) == len && !memcmp(a, b, len);
}

bool template_same_generation(const char *a, const char *b)
{
	return same_prefix(a, b, 1);
}

bool template_same_content(const char *a, const char *b)
{
	return same_prefix(a, b, 2);
}

enum handover_kind handover_kind_between(const char *from, const char *to)
{
	return template_same_generation(from, to) ? HANDOVER_SAME : HANDOVER_OTHER;
}
