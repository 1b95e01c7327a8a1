#include "format/leader.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define UUID "12a33efb-e82f-4f3c-96bb-a63e3edd6167"
#define NUMBER                                                                                     \
	"{\"holderIdentity\":\"" UUID "\",\"leaseDuration\":15.000000000,"                         \
	"\"acquireTime\":\"2026-11-21T00:53:48.779363Z\","                                         \
	"\"renewTime\":\"2026-11-21T00:53:54.354969Z\",\"leaderTransitions\":3}"
#define ISO                                                                                        \
	"{\"holderIdentity\":\"" UUID "\",\"leaseDuration\":\"PT15S\","                            \
	"\"acquireTime\":\"2026-11-21T00:53:48.779363Z\","                                         \
	"\"renewTime\":\"2026-11-21T00:53:54.354969Z\",\"leaderTransitions\":3}"

static int parse(const char *text, struct leader *leader, struct err *err)
{
	return leader_parse(text, strlen(text), leader, err);
}

static void check_both(const char *text, bool iso)
{
	struct leader leader = {0};
	struct err err = {0};

	if (!CHECK_INT(parse(text, &leader, &err), ==, 0)) {
		tap_note("%s", err.msg);
		return;
	}
	CHECK_STR(leader.holder, UUID);
	CHECK_STR(leader.renew_time, "2026-11-21T00:53:54.354969Z");
	CHECK_INT(leader.duration_ms, ==, 15000);
	CHECK_INT(leader.iso, ==, iso);
	CHECK_INT(leader.transitions, ==, 3);
	CHECK_INT(leader.renew_unix_ms - leader.acquire_unix_ms, ==, 5575);
	leader_release(&leader);
}

TEST(reads_the_spelling_of_flink_1)
{
	check_both(NUMBER, false);
}

TEST(reads_the_spelling_of_flink_2)
{
	check_both(ISO, true);
}

TEST(a_record_without_a_holder_is_of_nobody)
{
	static const char *const texts[] = {
		"{\"holderIdentity\":\"\",\"leaseDuration\":1.000000000}",
		"{\"leaseDuration\":\"PT1S\",\"leaderTransitions\":0}",
		"{\"holderIdentity\":null}",
		"{}",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct leader leader = {0};
		struct err err = {0};

		if (!CHECK_INT(parse(texts[i], &leader, &err), ==, 0))
			continue;
		CHECK_STR(leader.holder, "");
		CHECK_STR(leader.renew_time, "");
		CHECK_INT(leader.renew_unix_ms, ==, -1);
		leader_release(&leader);
	}
}

TEST(knows_every_way_to_write_a_duration)
{
	static const struct {
		const char *text;
		int64_t ms;
	} cases[] = {
		{"\"PT15S\"", 15000},
		{"\"PT1M\"", 60000},
		{"\"PT0.5S\"", 500},
		{"\"PT1H1M1.5S\"", 3661500},
		{"\"P1DT1S\"", 86401000},
		{"1.000000000", 1000},
		{"0.25", 250},
		{"15", 15000},
		{"null", -1},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *text = xasprintf("{\"leaseDuration\":%s}", cases[i].text);
		struct leader leader = {0};
		struct err err = {0};

		if (!CHECK_INT(parse(text, &leader, &err), ==, 0))
			tap_note("%s: %s", cases[i].text, err.msg);
		CHECK_INT(leader.duration_ms, ==, cases[i].ms);
		leader_release(&leader);
	}
}

TEST(refuses_what_it_does_not_understand)
{
	static const char *const texts[] = {
		"",
		"x",
		"[]",
		"{\"holderIdentity\":5}",
		"{\"leaseDuration\":\"15\"}",
		"{\"leaseDuration\":\"PT\"}",
		"{\"leaseDuration\":\"PTS\"}",
		"{\"leaseDuration\":\"P1S\"}",
		"{\"leaseDuration\":\"PT-1S\"}",
		"{\"leaseDuration\":\"PT1S \"}",
		"{\"leaseDuration\":-1}",
		"{\"leaseDuration\":1e300}",
		"{\"leaseDuration\":{}}",
		"{\"renewTime\":\"yesterday\"}",
		"{\"renewTime\":7}",
		"{\"leaderTransitions\":\"many\"}",
		"{\"leaderTransitions\":1.5}",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct leader leader = {0};
		struct err err = {0};

		if (!CHECK_INT(parse(texts[i], &leader, &err), ==, -1))
			tap_note("%s", texts[i]);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		leader_release(&leader);
	}
}

TEST(finds_where_a_session_is)
{
	static const struct {
		const char *value, *host;
		int port;
	} cases[] = {
		{UUID ",http://10.0.0.7:8081", "10.0.0.7", 8081},
		{UUID ",https://10.0.0.7:8081/", "10.0.0.7", 8081},
		{UUID ",pekko.tcp://flink@10.0.0.7:6123/user/rpc/dispatcher_1", "10.0.0.7", 6123},
		{UUID ",akka.tcp://flink@jobmanager:6123/user/rpc/jobmanager_2", "jobmanager",
		 6123},
		{UUID ",http://[fd00::7]:8081", "fd00::7", 8081},
		{UUID ",pekko.tcp://flink@[fd00::7]:6123/user/rpc/resourcemanager_0", "fd00::7",
		 6123},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char host[LEADER_HOST_BYTES] = "";
		struct err err = {0};
		int port = 0;

		if (!CHECK_INT(leader_session_parse(cases[i].value, host, &port, &err), ==, 0))
			tap_note("%s", err.msg);
		CHECK_STR(host, cases[i].host);
		CHECK_INT(port, ==, cases[i].port);
	}
}

TEST(refuses_what_is_no_session)
{
	static const char *const values[] = {
		"",
		",",
		UUID,
		UUID ",",
		UUID ",10.0.0.7:8081",
		",http://10.0.0.7:8081",
		UUID ",http://10.0.0.7",
		UUID ",http://10.0.0.7:",
		UUID ",http://10.0.0.7:x",
		UUID ",http://10.0.0.7:0",
		UUID ",http://10.0.0.7:70000",
		UUID ",http://10.0.0.7:80x",
		UUID ",http://:8081",
		UUID ",http://[fd00::7",
		UUID ",http:///10.0.0.7:8081",
		UUID ",akka://flink/user/rpc/dispatcher_1",
	};

	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		char host[LEADER_HOST_BYTES] = "as before";
		struct err err = {0};
		int port = 7;

		if (!CHECK_INT(leader_session_parse(values[i], host, &port, &err), ==, -1))
			tap_note("%s", values[i]);
		CHECK_STR(host, "as before");
		CHECK_INT(port, ==, 7);
	}
}
