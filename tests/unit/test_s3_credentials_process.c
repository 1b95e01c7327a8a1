/* credential_process: keys that a program prints. */
#include <unistd.h>

#include "base/clock.h"
#include "credentials_world.h"
#include "process_gone.h"
#include "store/s3/s3_credentials.h"
#include "store/s3/s3_credentials_internal.h"

#define MINUTE 60000
#define KEYS   "\"AccessKeyId\":\"AKPROC\",\"SecretAccessKey\":\"s3cret-k\""

/* A profile whose program is this script; '$HOME' in it is the world's. */
static void begin(const char *script)
{
	cleanup_free char *text = NULL, *path = NULL;

	world_begin();
	world_file("keys.sh", script);
	path = xasprintf("%s/keys.sh", world.dir);
	text = xasprintf("[default]\ncredential_process = HOME='%s' sh \"%s\"\n", world.dir, path);
	world_file(".aws/config", text);
}

TEST(an_answer_of_a_program_is_read)
{
	static const struct {
		const char *text, *why; /* NULL: it has keys */
	} cases[] = {
		{"{\"Version\":1," KEYS "}", NULL},
		{" {\"Version\":1," KEYS ",\"SessionToken\":\"s3cret-t\",\"AccountId\":\"1\","
		 "\"Expiration\":\"2026-03-01T13:00:00Z\"}\n",
		 NULL},
		{"{\"Version\":1," KEYS ",\"Expiration\":\"2026-03-01T14:00:00.5+01:00\"}", NULL},
		{"{\"Version\":1," KEYS ",\"SessionToken\":null,\"Expiration\":null}", NULL},
		{"", "the text ends too early"},
		{"s3cret", "expected a value"},
		{"[]", "'Version': expected inside an object"},
		{"{" KEYS "}", "'Version' is missing"},
		{"{\"Version\":2," KEYS "}", "it has \"Version\": 2, not 1"},
		{"{\"Version\":\"1\"," KEYS "}", "'Version': expected"},
		{"{\"Version\":1,\"SecretAccessKey\":\"s3cret\"}", "'AccessKeyId' is missing"},
		{"{\"Version\":1,\"AccessKeyId\":\"A\"}", "'SecretAccessKey' is missing"},
		{"{\"Version\":1,\"AccessKeyId\":\"A\",\"SecretAccessKey\":\"s3cret\\n\"}",
		 "the keys contain invalid characters"},
		{"{\"Version\":1," KEYS ",\"Expiration\":\"soon\"}",
		 "the expiry of the keys is not a time"},
		{"{\"Version\":1," KEYS ",\"Expiration\":1}", "'Expiration': expected a string"},
		{"{\"Version\":1," KEYS "} s3cret", "more bytes after the document"},
		{"{\"Version\":1," KEYS, "the text ends too early"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct s3_keys keys = {0};
		struct err err = {0};
		int result =
			s3_keys_from_process(cases[i].text, strlen(cases[i].text), &keys, &err);

		CHECK_INT(result, ==, cases[i].why ? -1 : 0);
		CHECK(!strstr(err.msg, "s3cret"));
		if (cases[i].why) {
			CHECK_INT(err.kind, ==, ERR_FORMAT);
			CHECK_HAS(err.msg, cases[i].why);
		} else {
			CHECK_STR(keys.access_key, "AKPROC");
			CHECK_STR(keys.session_token, i == 1 ? "s3cret-t" : NULL);
			CHECK_INT(keys.expires_unix_ms, ==,
				  i == 1   ? INT64_C(1772370000000)
				  : i == 2 ? INT64_C(1772370000500)
					   : 0);
		}
		s3_keys_release(&keys);
	}
}

TEST(a_program_prints_the_keys)
{
	begin("echo wait... >&2\necho '{\"Version\":1," KEYS ",\"SessionToken\":\"s3cret-t\"}'\n");
	CHECK_KEYS("AKPROC", "s3cret-k", "s3cret-t");
	CHECK_STR(s3_credentials_source(world.credentials), "shared files");
	CHECK_INT(world.keys->expires_unix_ms, ==, 0);
	world_end();
}

TEST(fixed_keys_come_before_a_program)
{
	begin("exit 1\n");
	world_file(".aws/credentials",
		   "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=s3cret-f\n");
	CHECK_KEYS("AKFILE", "s3cret-f", NULL);
	world_end();
}

TEST(a_program_runs_again_before_its_keys_end)
{
	begin("echo x >>$HOME/runs\n"
	      "echo '{\"Version\":1,\"AccessKeyId\":\"AK'$(wc -l <$HOME/runs)'\","
	      "\"SecretAccessKey\":\"s3cret-k\",\"Expiration\":\"2026-03-01T13:00:00Z\"}'\n");
	CHECK_KEYS("AK1", "s3cret-k", NULL);
	world.now_unix_ms += 54 * MINUTE;
	CHECK_KEYS("AK1", "s3cret-k", NULL);
	world.now_unix_ms += 1 * MINUTE;
	CHECK_KEYS("AK2", "s3cret-k", NULL);
	CHECK(s3_credentials_refused(world.credentials)); /* the store knows better */
	CHECK_KEYS("AK3", "s3cret-k", NULL);
	world_end();
}

TEST(a_program_that_fails_is_told_with_its_last_words)
{
	begin("echo '{\"Version\":1," KEYS "}'; echo first >&2\n"
	      "printf 'the sign-in\\thas expired\\n\\n' >&2; exit 3\n");
	CHECK_NO_KEYS(ERR_RETRY, "profile 'default': credential_process: exit status 3: "
				 "the sign-in has expired");
	CHECK(!strstr(world.err.msg, "first"));
	world_end();
	begin("exec 2>&-; exit 4\n");
	CHECK_NO_KEYS(ERR_RETRY, "credential_process: exit status 4");
	world_end();
	begin("exec /nowhere/keys\n");
	CHECK_NO_KEYS(ERR_RETRY, "exit status 127: ");
	CHECK_HAS(world.err.msg, "/nowhere/keys");
	world_end();
	begin("echo no keys today\n");
	CHECK_NO_KEYS(ERR_FORMAT, "credential_process: its output: ");
	world_end();
}

TEST(a_failed_run_is_borne_as_long_as_the_keys_live)
{
	begin("test ! -e $HOME/broken || exit 1\n"
	      "echo '{\"Version\":1," KEYS ",\"Expiration\":\"2026-03-01T13:00:00Z\"}'\n");
	CHECK_KEYS("AKPROC", "s3cret-k", NULL);
	world_file("broken", "");
	world.now_unix_ms += 59 * MINUTE;
	CHECK_KEYS("AKPROC", "s3cret-k", NULL);
	world.now_unix_ms += 1 * MINUTE;
	CHECK_NO_KEYS(ERR_RETRY, "exit status 1");
	world_end();
}

TEST(a_program_that_prints_without_end_is_killed)
{
	begin("echo $$ >$HOME/pid; exec yes s3cret\n");
	CHECK_NO_KEYS(ERR_FORMAT, "it was killed, for it had printed more than 65536 bytes");
	world_end();
}

TEST(a_program_that_hangs_is_killed_and_not_run_for_every_file)
{
	int64_t begin_ms = clock_mono_ms();
	cleanup_free char *path = NULL;
	cleanup_buf struct buf runs = BUF_INIT;

	begin("echo $$ >>$HOME/runs; sleep 600 & wait\n");
	CHECK_NO_KEYS(ERR_RETRY, "it was killed, for it had not ended after 3 s");
	for (int i = 0; i < 1000; i++)
		CHECK_NO_KEYS(ERR_RETRY, "it was killed, for it had not ended after 3 s");
	CHECK_INT(clock_mono_ms() - begin_ms, <, 60000);
	path = xasprintf("%s/runs", world.dir);
	CHECK_INT(fs_read(path, 1000, &runs, NULL), ==, 0);
	CHECK_INT(strspn(buf_str(&runs), "0123456789") + 1, ==, runs.len_bytes); /* one line */
	CHECK(is_gone(atol(buf_str(&runs))));
	world_end();
}
