#include "core/handover/join.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

/* ---- the answer ---- */

/* The answer as "STATUS BODY"; static, until the next call. */
static const char *answer(const char *asked, const struct join_facts *facts)
{
	static struct buf text;
	struct join_answer decided;

	join_decide(asked, facts, &decided);
	buf_clear(&text);
	buf_addf(&text, "%d ", decided.status);
	join_print(&decided, &text);
	return buf_str(&text);
}

static const struct join_facts green = {
	.generation = "G",
	.role = JOIN_ROLE_CANDIDATE,
	.side = "green",
	.cluster_id = "orders-green",
	.job_runs = true,
};

TEST(owner_and_candidate_name_their_side)
{
	struct join_facts facts = green;

	CHECK_STR(answer("G", &facts),
		  "200 {\"generation\":\"G\",\"side\":\"green\",\"clusterId\":\"orders-green\"}\n");
	facts.role = JOIN_ROLE_OWNER;
	CHECK_STR(answer("G", &facts),
		  "200 {\"generation\":\"G\",\"side\":\"green\",\"clusterId\":\"orders-green\"}\n");
}

TEST(only_taskmanagers_that_wait_for_the_job_rehearse)
{
	struct join_facts facts = green;

	facts.rehearses = true;
	CHECK_STR(answer("G", &facts),
		  "200 {\"generation\":\"G\",\"side\":\"green\",\"clusterId\":\"orders-green\","
		  "\"rehearse\":true}\n");
	facts.cluster_id = NULL;
	CHECK(!strstr(answer("G", &facts), "rehearse"));
	facts = green;
	facts.rehearses = true;
	facts.role = JOIN_ROLE_OWNER;
	CHECK(!strstr(answer("G", &facts), "rehearse"));
}

TEST(without_a_side_its_taskmanagers_wait_and_are_told_why)
{
	static const struct {
		enum join_role role;
		const char *side, *cluster_id, *why;
	} cases[] = {
		{JOIN_ROLE_UNKNOWN, "green", "orders-green", "the journal is being read"},
		{JOIN_ROLE_STANDBY, "green", "orders-green", "waits"},
		{JOIN_ROLE_HANDED_OVER, "green", "orders-green", "handed over"},
		{JOIN_ROLE_OWNER, NULL, "orders-green", "side is not known"},
		{JOIN_ROLE_CANDIDATE, "green", NULL, "side is not known"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct join_facts facts = green;
		const char *text;

		facts.role = cases[i].role;
		facts.side = cases[i].side;
		facts.cluster_id = cases[i].cluster_id;
		text = answer("G", &facts);
		CHECK_HAS(text, "503 {\"generation\":\"G\",\"why\":\"");
		CHECK_HAS(text, cases[i].why);
		CHECK(!strstr(text, "clusterId"));
	}
}

TEST(another_generation_is_not_found_whatever_the_role)
{
	struct join_facts facts = green;

	for (int role = JOIN_ROLE_UNKNOWN; role <= JOIN_ROLE_HANDED_OVER; role++) {
		facts.role = role;
		CHECK_STR(answer("H", &facts), "404 {\"generation\":\"G\"}\n");
		CHECK_STR(answer("", &facts), "404 {\"generation\":\"G\"}\n");
		CHECK_STR(answer("GG", &facts), "404 {\"generation\":\"G\"}\n");
	}
	facts.generation = NULL;
	CHECK_STR(answer("H", &facts), "404 {\"generation\":\"\"}\n");
}

TEST(a_taskmanager_is_ready_when_the_job_of_its_generation_runs)
{
	struct join_facts facts = green;

	CHECK(join_ready("G", &facts));
	CHECK(!join_ready("H", &facts));
	facts.job_runs = false;
	CHECK(!join_ready("G", &facts));
}

/* ---- as the one who asks ---- */

static struct join_reply reply;
static char why_not[ERR_MSG_BYTES];

/* "go", "wait", "other" or "error" for an answer to a TaskManager of generation G. */
static const char *read_as(int status, const char *body)
{
	static const char *const names[] = {
		[JOIN_OTHER] = "other", [JOIN_WAIT] = "wait", [JOIN_GO] = "go"};
	struct err err = {0};

	memset(&reply, 0, sizeof(reply));
	if (join_read(status, body, strlen(body), "G", &reply, &err) == 0)
		return names[reply.kind];
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_STR(reply.cluster_id, "");
	snprintf(why_not, sizeof(why_not), "%s", err.msg);
	return "error";
}

TEST(reads_what_it_answers)
{
	struct join_facts facts = green;

	CHECK_STR(read_as(200, answer("G", &facts) + 4), "go");
	CHECK_STR(reply.cluster_id, "orders-green");
	CHECK_STR(reply.side, "green");
	CHECK(!reply.rehearse);
	facts.rehearses = true;
	CHECK_STR(read_as(200, answer("G", &facts) + 4), "go");
	CHECK(reply.rehearse);
	facts.role = JOIN_ROLE_STANDBY;
	CHECK_STR(read_as(503, answer("G", &facts) + 4), "wait");
	CHECK_HAS(reply.why, "waits");
	facts.generation = "H";
	CHECK_STR(read_as(404, answer("G", &facts) + 4), "other");
	CHECK_STR(reply.generation, "H");
}

TEST(members_that_it_does_not_know_are_ignored)
{
	CHECK_STR(read_as(200,
			  "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"a\",\"x\":[]}"),
		  "go");
	CHECK_STR(read_as(503, "{\"generation\":\"G\"}"), "wait");
	CHECK_STR(read_as(503, "{\"generation\":\"G\",\"why\":null}"), "wait");
}

TEST(whatever_else_comes_is_an_error)
{
	static const struct {
		int status;
		const char *body;
	} cases[] = {
		{404, "Not Found\n"}, /* a drey that knows no /join */
		{404, ""},
		{404, "{}"},
		{404, "[\"H\"]"},
		{404, "{\"generation\":7}"},
		{404, "{\"generation\":\"G\"}"}, /* and is not found? */
		{200, "{\"generation\":\"H\",\"side\":\"blue\",\"clusterId\":\"a\"}"},
		{503, "{\"generation\":\"H\"}"},
		{503, "{\"generation\":\"G\",\"why\":7}"},
		{503, "no healthy upstream"}, /* of a proxy */
		{200, "{\"generation\":\"G\",\"side\":\"blue\"}"},
		{200, "{\"generation\":\"G\",\"clusterId\":\"a\"}"},
		{200,
		 "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"a\",\"rehearse\":1}"},
		{200, "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"\"}"},
		{200, "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"-Dx\"}"},
		{200, "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"a b\"}"},
		{200, "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"a/b\"}"},
		{200, "{\"generation\":\"G\",\"side\":\"b\\nc\",\"clusterId\":\"a\"}"},
		{200, "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"a\""},
		{500, "{\"generation\":\"G\"}"},
		{301, "{\"generation\":\"H\"}"},
		{0, ""},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (!CHECK_STR(read_as(cases[i].status, cases[i].body), "error"))
			tap_note("%d %s", cases[i].status, cases[i].body);
}

TEST(an_error_says_the_status_and_what_is_wrong)
{
	CHECK_STR(read_as(200, "{\"generation\":\"G\"}"), "error");
	CHECK_HAS(why_not, "HTTP 200: 'clusterId'");
	CHECK_STR(read_as(502, ""), "error");
	CHECK_STR(why_not, "HTTP 502");
	CHECK_STR(read_as(404, "{\"generation\":\"G\"}"), "error");
	CHECK_STR(why_not, "HTTP 404: generation 'G'");
}

TEST(names_have_a_limit_and_texts_are_cut)
{
	cleanup_buf struct buf body = BUF_INIT;

	buf_addstr(&body, "{\"generation\":\"G\",\"side\":\"blue\",\"clusterId\":\"");
	for (int i = 0; i < JOIN_CLUSTER_ID_BYTES; i++)
		buf_addch(&body, 'a');
	buf_addstr(&body, "\"}");
	CHECK_STR(read_as(200, buf_str(&body)), "error");
	buf_clear(&body);
	buf_addstr(&body, "{\"generation\":\"G\",\"why\":\"");
	for (int i = 0; i < 2 * JOIN_TEXT_BYTES; i++)
		buf_addch(&body, 'a');
	buf_addstr(&body, "\"}");
	CHECK_STR(read_as(503, buf_str(&body)), "wait");
	CHECK_INT(strlen(reply.why), ==, JOIN_TEXT_BYTES - 1);
	buf_clear(&body);
	buf_addstr(&body, "{\"generation\":\"H\",\"why\":\"");
	for (int i = 0; i < JOIN_ANSWER_BYTES; i++)
		buf_addch(&body, 'a');
	buf_addstr(&body, "\"}");
	CHECK_STR(read_as(404, buf_str(&body)), "error");
}

TEST(only_the_sentence_about_the_generation_says_ready)
{
	const char *yes = join_ready_text(true), *no = join_ready_text(false);
	static const char old[] = "Running: job 1 is running\n";

	CHECK(join_is_ready(200, yes, strlen(yes)));
	CHECK(!join_is_ready(503, yes, strlen(yes)));
	CHECK(!join_is_ready(200, no, strlen(no)));
	CHECK(!join_is_ready(200, old, strlen(old)));
	CHECK(!join_is_ready(200, "", 0));
}
