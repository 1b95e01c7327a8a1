/* What a job says of itself, and a JVM that says nothing. */
#include "flink/job_graph.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define ID "b71731f1c0df9c3076c4a455334d0ad6"

static struct err err;

static int parsed(const char *text, struct job_graph *ret_graph)
{
	err = (struct err){0};
	return job_graph_parse(text, strlen(text), ret_graph, &err);
}

TEST(a_graph_is_read)
{
	struct job_graph graph;

	CHECK_INT(
		parsed("{\"schema\":1,\"name\":\"orders\",\"operators\":[{\"id\":\"" ID
		       "\",\"userId\":null,\"name\":\"count\",\"uid\":\"counter\",\"parallelism\":2,"
		       "\"maxParallelism\":-1,\"x\":[]},{\"id\":\"" ID "\",\"userId\":\"" ID
		       "\",\"parallelism\":1,\"maxParallelism\":128,\"slotGroup\":\"heavy\"}]}",
		       &graph),
		==, 0);
	CHECK_STR(graph.name, "orders");
	CHECK_INT(graph.operator_count, ==, 2);
	CHECK_STR(graph.operators[0].id, ID);
	CHECK(graph.operators[0].user_id == NULL);
	CHECK_STR(graph.operators[0].name, "count");
	CHECK_STR(graph.operators[0].uid, "counter");
	CHECK_INT(graph.operators[0].parallelism, ==, 2);
	CHECK_INT(graph.operators[0].max_parallelism, ==, -1);
	CHECK(!graph.knows_gates);
	CHECK_STR(graph.operators[1].user_id, ID);
	CHECK_STR(graph.operators[1].name, "");
	CHECK_STR(graph.operators[0].slot_group, NULL);
	CHECK_STR(graph.operators[1].slot_group, "heavy");
	job_graph_release(&graph);
}

#define GRAPH(checkpoints) "{\"schema\":1,\"checkpoints\":" checkpoints ",\"operators\":[]}"

TEST(a_graph_has_the_settings_that_the_code_of_the_job_makes)
{
	struct job_graph graph;

	CHECK_INT(parsed(GRAPH("{\"intervalMs\":5000,\"retention\":\"DELETE_ON_CANCELLATION\"}"),
			 &graph),
		  ==, 0);
	CHECK(graph.knows_checkpoints);
	CHECK_INT(graph.checkpoint_interval_ms, ==, 5000);
	CHECK_STR(graph.retention, "DELETE_ON_CANCELLATION");
	job_graph_release(&graph);
	CHECK_INT(parsed("{\"schema\":1,\"operators\":[]}", &graph), ==, 0);
	CHECK(!graph.knows_checkpoints);
	job_graph_release(&graph);
	CHECK_INT(parsed(GRAPH("{\"intervalMs\":\"often\",\"retention\":\"\"}"), &graph), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_INT(parsed(GRAPH("[]"), &graph), ==, -1);
}

TEST(a_job_that_cannot_be_built_is_its_users_to_change)
{
	struct job_graph graph;

	CHECK_INT(
		parsed("{\"schema\":1,\"error\":\"java.lang.IllegalStateException: no\"}", &graph),
		==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_STR(err.msg, "java.lang.IllegalStateException: no");
}

TEST(whatever_else_it_says_is_no_graph)
{
	static const char *const cases[] = {
		"",
		"{}",
		"[]",
		"{\"schema\":2,\"operators\":[]}",
		"{\"schema\":1}",
		"{\"schema\":1,\"operators\":{}}",
		"{\"schema\":1,\"operators\":[1]}",
		"{\"schema\":1,\"operators\":[{\"id\":\"x\",\"parallelism\":1,\"maxParallelism\":1}]}",
		"{\"schema\":1,\"operators\":[{\"id\":\"" ID "\",\"maxParallelism\":1}]}",
		"{\"schema\":1,\"operators\":[{\"id\":\"" ID
		"\",\"userId\":\"B\",\"parallelism\":1,\"maxParallelism\":1}]}",
		"{\"schema\":1,\"operators\":[",
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct job_graph graph;

		CHECK_INT(parsed(cases[i], &graph), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
	}
}

/* ---- the process ---- */

static int built(const char *script, int64_t timeout_ms, struct job_graph *ret_graph)
{
	char *argv[] = {"/bin/sh", "-c", (char *)(uintptr_t)script, NULL};
	char *env[] = {"PATH=/usr/bin:/bin", NULL};
	const struct flink_exec exec = {.argv = argv, .env = env, .argc = 3, .envc = 1};

	err = (struct err){0};
	return job_graph_build(&exec, timeout_ms, ret_graph, &err);
}

TEST(the_answer_is_read_from_the_file_that_it_was_told)
{
	struct job_graph graph;

	CHECK_INT(built("echo words; echo '{\"schema\":1,\"operators\":[]}' >\"$DREY_GRAPH_FILE\"",
			20000, &graph),
		  ==, 0);
	CHECK_INT(graph.operator_count, ==, 0);
	job_graph_release(&graph);
}

TEST(without_an_answer_the_innermost_cause_is_told)
{
	struct job_graph graph;

	CHECK_INT(
		built("echo 'FlinkException: outer'; echo 'Caused by: inner'; echo '  at x'; exit 3",
		      20000, &graph),
		==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_STR(err.msg, "Flink ended with status 3 before the job was built: inner");
	CHECK_INT(built("echo first; echo 'last words' >&2; kill -9 $$", 20000, &graph), ==, -1);
	CHECK_STR(err.msg, "Flink ended with status 137 before the job was built: last words");
}

TEST(a_main_that_hangs_is_ended_with_what_it_has_started)
{
	struct job_graph graph;

	CHECK_INT(built("sleep 60 & sleep 60", 300, &graph), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	/* it has closed its output, and runs on */
	CHECK_INT(built("exec >&- 2>&-; sleep 60", 300, &graph), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
}

TEST(the_gates_of_a_job_are_known_by_their_side)
{
	struct job_graph graph;

	CHECK_INT(parsed("{\"schema\":1,\"operators\":[{\"id\":\"" ID
			 "\",\"parallelism\":2,\"maxParallelism\":-1,\"gate\":null},{\"id\":\"" ID
			 "\",\"parallelism\":2,\"maxParallelism\":-1,\"gate\":\"green\"}]}",
			 &graph),
		  ==, 0);
	CHECK(graph.knows_gates);
	CHECK_STR(graph.operators[0].gate, NULL);
	CHECK_STR(graph.operators[1].gate, "green");
	job_graph_release(&graph);
}
