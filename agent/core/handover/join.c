#include "core/handover/join.h"

#include <string.h>

#include "base/json.h"
#include "base/utf8.h"

/* ---- the answer ---- */

static bool is_own(const char *asked, const struct join_facts *facts)
{
	return !strcmp(asked, facts->generation ? facts->generation : "");
}

/* Why a TaskManager of this generation has to wait; NULL: it need not. */
static const char *why_wait(const struct join_facts *facts)
{
	switch (facts->role) {
	case JOIN_ROLE_UNKNOWN:
		return "drey is still starting: the journal is being read";
	case JOIN_ROLE_STANDBY:
		return "this drey waits, and has no side yet";
	case JOIN_ROLE_HANDED_OVER:
		return "this drey has handed over the application";
	case JOIN_ROLE_OWNER:
	case JOIN_ROLE_CANDIDATE:
		break;
	}
	return facts->side && facts->cluster_id ? NULL : "the side is not known yet";
}

void join_decide(const char *asked, const struct join_facts *facts, struct join_answer *ret_answer)
{
	struct join_answer answer = {
		.status = 404,
		.generation = facts->generation ? facts->generation : "",
	};

	if (is_own(asked, facts)) {
		answer.why = why_wait(facts);
		answer.status = answer.why ? 503 : 200;
	}
	if (answer.status == 200) {
		answer.side = facts->side;
		answer.cluster_id = facts->cluster_id;
		/* of an owner they have a job to run, at once */
		answer.rehearse = facts->rehearses && facts->role == JOIN_ROLE_CANDIDATE;
	}
	*ret_answer = answer;
}

bool join_ready(const char *asked, const struct join_facts *facts)
{
	return is_own(asked, facts) && facts->job_runs;
}

const char *join_ready_text(bool ready)
{
	return ready ? "the job of this generation runs here\n"
		     : "the job of this generation does not run here\n";
}

bool join_is_ready(int status, const char *body, size_t len_bytes)
{
	const char *text = join_ready_text(true);

	return status == 200 && len_bytes == strlen(text) && !memcmp(body, text, len_bytes);
}

void join_print(const struct join_answer *answer, struct buf *body)
{
	cleanup_json struct json *doc = json_object();

	json_add_str(doc, "generation", answer->generation);
	json_add_str_opt(doc, "side", answer->side);
	json_add_str_opt(doc, "clusterId", answer->cluster_id);
	json_add_str_opt(doc, "why", answer->why);
	if (answer->rehearse)
		json_add_bool(doc, "rehearse", true);
	json_print(doc, body);
	buf_addch(body, '\n');
}

/* ---- as the one who asks ---- */

static void copy_cut(char *to, const char *text, size_t size_bytes)
{
	size_t len = utf8_cut(text, size_bytes - 1);

	memcpy(to, text, len);
	to[len] = '\0';
}

/* It becomes an argument of Flink and the name of an object: the characters of such a name. */
static bool is_name(const char *text, size_t size_bytes)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
	static const char all[] = "abcdefghijklmnopqrstuvwxyz0123456789-.";
	size_t len = strlen(text);

	return len > 0 && len < size_bytes && strchr(letters, text[0]) && strspn(text, all) == len;
}

static int need_name(const struct json *doc, const char *key, char *ret, size_t size_bytes,
		     struct err *err)
{
	const char *text;

	if (json_need_str(doc, key, &text, err) < 0)
		return -1;
	if (!is_name(text, size_bytes))
		return err_set(err, ERR_FORMAT, 0, "'%s' is not a name", key);
	memcpy(ret, text, strlen(text) + 1);
	return 0;
}

static int read_go(const struct json *doc, struct join_reply *reply, struct err *err)
{
	reply->kind = JOIN_GO;
	if (json_opt_bool(doc, "rehearse", &reply->rehearse, err) < 0)
		return -1;
	if (need_name(doc, "clusterId", reply->cluster_id, sizeof(reply->cluster_id), err) < 0)
		return -1;
	return need_name(doc, "side", reply->side, sizeof(reply->side), err);
}

static int read_wait(const struct json *doc, struct join_reply *reply, struct err *err)
{
	const char *why = "";

	reply->kind = JOIN_WAIT;
	if (json_opt_str(doc, "why", &why, err) < 0)
		return -1;
	copy_cut(reply->why, why, sizeof(reply->why));
	return 0;
}

int join_read(int status, const char *body, size_t len_bytes, const char *asked,
	      struct join_reply *ret_reply, struct err *err)
{
	cleanup_json struct json *doc = NULL;
	struct join_reply reply = {.kind = JOIN_OTHER};
	const char *generation;
	bool own;

	if (status != 200 && status != 404 && status != 503)
		return err_set(err, ERR_FORMAT, 0, "HTTP %d", status);
	doc = json_parse(body, len_bytes, JOIN_ANSWER_BYTES, err);
	if (!doc || json_need_str(doc, "generation", &generation, err) < 0)
		return err_wrap(err, "HTTP %d", status);
	own = !strcmp(generation, asked);
	if (own == (status == 404))
		return err_set(err, ERR_FORMAT, 0, "HTTP %d: generation '%.*s'", status,
			       (int)utf8_cut(generation, JOIN_TEXT_BYTES), generation);
	copy_cut(reply.generation, generation, sizeof(reply.generation));
	if ((status == 200 && read_go(doc, &reply, err) < 0) ||
	    (status == 503 && read_wait(doc, &reply, err) < 0))
		return err_wrap(err, "HTTP %d", status);
	*ret_reply = reply;
	return 0;
}
