#include "run/kube/resource_wish.h"

#include <string.h>

#include "base/json.h"
#include "tap.h"

static void judge(const char *text, struct control_wish *wish)
{
	cleanup_json struct json *spec = json_parse(text, strlen(text), 4096, NULL);

	CHECK(spec != NULL);
	resource_wish(spec, wish);
}

TEST(a_spec_is_a_wish)
{
	struct control_wish wish;

	judge("{\"state\":\"suspended\",\"doNotRestart\":true,\"savepointNonce\":\"a\","
	      "\"restartNonce\":\"7\",\"restore\":{\"kind\":\"path\",\"token\":\"t\","
	      "\"path\":\"s3://b/sp/1\",\"foreign\":true,\"allowNonRestoredState\":true}}",
	      &wish);
	CHECK_INT(wish.bad.kind, ==, ERR_NONE);
	CHECK_INT(wish.state, ==, DESIRED_SUSPENDED);
	CHECK(wish.do_not_restart);
	CHECK_STR(wish.text[CONTROL_KEY_SAVEPOINT_NONCE], "a");
	CHECK_STR(wish.text[CONTROL_KEY_RESTART_NONCE], "7");
	CHECK_INT(wish.restore.kind, ==, RESTORE_PATH);
	CHECK_STR(wish.restore.token, "t");
	CHECK_STR(wish.restore.path, "s3://b/sp/1");
	CHECK(wish.restore.foreign && wish.restore.allow_non_restored);
	control_wish_release(&wish);
}

TEST(an_empty_one_wants_nothing)
{
	struct control_wish wish;

	judge("{\"state\":null}", &wish);
	for (int i = 0; i < CONTROL_KEYS; i++)
		CHECK(!wish.text[i]);
	CHECK_INT(wish.bad.kind, ==, ERR_NONE);
	control_wish_release(&wish);
	resource_wish(NULL, &wish);
	CHECK_INT(wish.bad.kind, ==, ERR_NONE);
	control_wish_release(&wish);
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
		{"{\"restore\":[]}", "spec.restore: must be an object"},
		{"{\"restore\":{\"kind\":\"path\",\"token\":\"t\"}}", "restore"},
		{"{\"restore\":{\"kind\":\"empty\",\"token\":\"t\",\"path\":\"s3://b/x\"}}",
		 "restore"},
		{"{\"restore\":{\"kind\":\"path\",\"path\":\"s3://b/x\"}}", "restore"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct control_wish wish;

		judge(rows[i].spec, &wish);
		CHECK(wish.bad.kind != ERR_NONE);
		CHECK_HAS(wish.bad.msg, rows[i].says);
		control_wish_release(&wish);
	}
}

TEST(a_brake_counts_in_a_bad_one)
{
	struct control_wish wish;

	judge("{\"doNotRestart\":true,\"state\":\"stopped\"}", &wish);
	CHECK(wish.bad.kind != ERR_NONE);
	CHECK(wish.do_not_restart);
	control_wish_release(&wish);
}

TEST(what_is_no_member_is_ignored_and_told)
{
	struct control_wish wish;

	judge("{\"image\":\"x\",\"state\":\"running\"}", &wish);
	CHECK_INT(wish.bad.kind, ==, ERR_NONE);
	CHECK_STR(wish.ignored, "image");
	control_wish_release(&wish);
}
