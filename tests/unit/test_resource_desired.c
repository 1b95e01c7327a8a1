#include "run/inputs/resource_desired.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

static void judge(const char *text, struct desired *desired)
{
	cleanup_json struct json *spec = json_parse(text, strlen(text), 4096, NULL);

	CHECK(spec != NULL);
	resource_desired(spec, desired);
}

TEST(a_spec_has_the_desired_state)
{
	struct desired desired;

	judge("{\"state\":\"suspended\",\"doNotRestart\":true,\"savepointNonce\":\"a\","
	      "\"restartNonce\":\"7\",\"restore\":{\"kind\":\"path\",\"token\":\"t\","
	      "\"path\":\"s3://b/sp/1\",\"foreign\":true,\"allowNonRestoredState\":true}}",
	      &desired);
	CHECK_INT(desired.bad.kind, ==, ERR_NONE);
	CHECK_INT(desired.state, ==, DESIRED_SUSPENDED);
	CHECK(desired.do_not_restart);
	CHECK_STR(desired.text[DESIRED_KEY_SAVEPOINT_NONCE], "a");
	CHECK_STR(desired.text[DESIRED_KEY_RESTART_NONCE], "7");
	CHECK_INT(desired.restore.kind, ==, RESTORE_PATH);
	CHECK_STR(desired.restore.token, "t");
	CHECK_STR(desired.restore.path, "s3://b/sp/1");
	CHECK(desired.restore.foreign && desired.restore.allow_non_restored);
	desired_release(&desired);
}

TEST(a_parallelism_is_taken_with_a_nonce_of_its_own)
{
	struct desired desired, other;

	judge("{\"parallelism\":{\"all\":4,\"vertices\":{\"count\":2}}}", &desired);
	judge("{\"parallelism\":{\"reset\":true}}", &other);
	CHECK_INT(desired.bad.kind, ==, ERR_NONE);
	CHECK_INT(desired.parallelism.all, ==, 4);
	CHECK_INT(desired.parallelism.vertex_count, ==, 1);
	CHECK_STR(desired.parallelism.vertices[0].vertex, "count");
	CHECK_INT(desired.parallelism.vertices[0].parallelism, ==, 2);
	CHECK(other.parallelism.reset);
	CHECK(desired.parallelism.nonce && other.parallelism.nonce);
	CHECK(!xstrsame(desired.parallelism.nonce, other.parallelism.nonce));
	desired_release(&desired);
	desired_release(&other);
}

TEST(an_empty_one_wants_nothing)
{
	struct desired desired;

	judge("{\"state\":null}", &desired);
	for (int i = 0; i < DESIRED_KEYS; i++)
		CHECK(!desired.text[i]);
	CHECK_INT(desired.bad.kind, ==, ERR_NONE);
	desired_release(&desired);
	resource_desired(NULL, &desired);
	CHECK_INT(desired.bad.kind, ==, ERR_NONE);
	desired_release(&desired);
}

TEST(what_is_wrong_is_named)
{
	static const struct {
		const char *spec, *says;
	} rows[] = {
		{"{\"state\":\"stopped\"}", "must be running, suspended or cancelled"},
		{"{\"state\":1}", "spec.state: must be a string"},
		{"{\"doNotRestart\":\"true\"}", "spec.doNotRestart: must be"},
		{"{\"savepointNonce\":\"with space\"}", "savepoint-nonce"},
		{"{\"savepointNonce\":\"\"}", "savepoint-nonce"},
		{"{\"checkpointNonce\":\"half n\"}", "checkpoint-nonce"},
		{"{\"promote\":true}", "spec.promote: must be a string"},
		{"{\"promote\":\"a soon\"}", "promote"},
		{"{\"abort\":\"a b\"}", "abort"},
		{"{\"restore\":[]}", "spec.restore: must be an object"},
		{"{\"parallelism\":4}", "spec.parallelism: must be an object"},
		{"{\"parallelism\":{}}", "parallelism"},
		{"{\"parallelism\":{\"all\":0}}", "must be 1 to 32768"},
		{"{\"parallelism\":{\"all\":1,\"merge\":true}}", "unknown member 'merge'"},
		{"{\"restore\":{\"kind\":\"path\",\"token\":\"t\"}}", "restore"},
		{"{\"restore\":{\"kind\":\"empty\",\"token\":\"t\",\"path\":\"s3://b/x\"}}",
		 "restore"},
		{"{\"restore\":{\"kind\":\"path\",\"path\":\"s3://b/x\"}}", "restore"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct desired desired;

		judge(rows[i].spec, &desired);
		CHECK(desired.bad.kind != ERR_NONE);
		CHECK_HAS(desired.bad.msg, rows[i].says);
		desired_release(&desired);
	}
}

TEST(do_not_restart_counts_in_a_bad_one)
{
	struct desired desired;

	judge("{\"doNotRestart\":true,\"state\":\"stopped\"}", &desired);
	CHECK(desired.bad.kind != ERR_NONE);
	CHECK(desired.do_not_restart);
	desired_release(&desired);
}

TEST(what_is_no_member_is_ignored_and_told)
{
	struct desired desired;

	judge("{\"image\":\"x\",\"state\":\"running\"}", &desired);
	CHECK_INT(desired.bad.kind, ==, ERR_NONE);
	CHECK_STR(desired.ignored, "image");
	desired_release(&desired);
}
