#include "run/handover/candidate_map.h"

#include <string.h>

#include "base/mem.h"
#include "kube_stub.h"
#include "tap.h"

#define NAME "orders-drey-candidate"
#define PATH "/api/v1/namespaces/team-a/configmaps"
/* A record of a pod, as a text and inside of JSON. */
#define RECORD_OF(uid, beat)                                                                       \
	"{\"schema\":1,\"application\":\"orders\",\"uid\":\"" uid "\",\"pod\":\"p\","              \
	"\"template\":\"//\",\"side\":\"blue\",\"state\":\"Standby\",\"beat\":" beat "}"
#define QUOTED_OF(uid, beat)                                                                       \
	"\"{\\\"schema\\\":1,\\\"application\\\":\\\"orders\\\",\\\"uid\\\":\\\"" uid              \
	"\\\",\\\"pod\\\":\\\"p\\\",\\\"template\\\":\\\"//\\\",\\\"side\\\":\\\"blue\\\","        \
	"\\\"state\\\":\\\"Standby\\\",\\\"beat\\\":" beat "}\""
#define CANDIDATE_OF(uid, beat) "\"candidate.json\":" QUOTED_OF(uid, beat)
#define RESERVE_OF(uid, beat)   "\"reserve.json\":" QUOTED_OF(uid, beat)
#define HOLDS(version, data)                                                                       \
	{                                                                                          \
		.body = KUBE_MAP(NAME, version, data)                                              \
	}
#define NO_MAP                                                                                     \
	{                                                                                          \
		.status = 404, .body = KUBE_NOT_FOUND("configmaps", NAME)                          \
	}
#define CONFLICT(reason)                                                                           \
	{                                                                                          \
		.status = 409, .body = KUBE_STATUS(409, reason, "no", "\"name\":\"" NAME "\"")     \
	}

struct rig {
	struct kube_stub stub;
	struct candidate_writer writer;
	struct candidate_reading reading;
	struct err err;
};

static void begin(struct rig *rig)
{
	*rig = (struct rig){0};
	kube_stub_start(&rig->stub);
	rig->writer = (struct candidate_writer){.kube = rig->stub.kube,
						.name = NAME,
						.application = "orders",
						.uid = "me",
						.place = PLACE_CANDIDATE};
}

static void end(struct rig *rig)
{
	candidate_reading_release(&rig->reading);
	kube_stub_stop(&rig->stub);
}

static int read_map(struct rig *rig)
{
	return candidate_map_read(rig->stub.kube, NAME, &rig->reading, &rig->err);
}

static int write_map(struct rig *rig, const char *text)
{
	return candidate_map_write(&rig->writer, text, &rig->reading, &rig->err);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, begin, end)

RIG_TEST(both_keys_are_read)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "1") "," RESERVE_OF("other", "9")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_STR(rig->stub.asked[0], "GET " PATH "/" NAME);
	CHECK(rig->reading.present && !rig->reading.deleting);
	CHECK_STR(rig->reading.version, "7");
	CHECK_STR(rig->reading.texts[PLACE_CANDIDATE], RECORD_OF("me", "1"));
	CHECK_STR(rig->reading.texts[PLACE_RESERVE], RECORD_OF("other", "9"));
}

RIG_TEST(a_map_that_is_not_there_is_no_failure)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "1")), NO_MAP);
	CHECK_INT(read_map(rig), ==, 0);
	CHECK(!rig->reading.texts[PLACE_RESERVE]);
	CHECK_INT(read_map(rig), ==, 0);
	CHECK(!rig->reading.present && !rig->reading.version &&
	      !rig->reading.texts[PLACE_CANDIDATE]);
}

/* An error is never absence: what was read stays. */
RIG_TEST(what_cannot_be_read_is_not_absent)
{
	static const struct {
		struct kube_stub_says says;
		enum err_kind kind;
	} cases[] = {
		{{.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")},
		 ERR_DENIED},
		{{.status = 503, .body = KUBE_STATUS(503, "ServiceUnavailable", "later", "")},
		 ERR_RETRY},
		{{.reset = true}, ERR_RETRY},
		{{.body = KUBE_MAP("another", "7", "")}, ERR_FORMAT},
		{{.status = 404, .body = "404 page not found"}, ERR_CONFIG},
	};

	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->err = (struct err){0};
		kube_stub_say(&rig->stub, &cases[i].says, 1);
		CHECK_INT(read_map(rig), ==, -1);
		CHECK_INT(rig->err.kind, ==, cases[i].kind);
		CHECK_STR(rig->reading.version, "7");
	}
}

RIG_TEST(the_first_write_makes_the_map)
{
	KUBE_SAY(&rig->stub, NO_MAP, HOLDS("8", CANDIDATE_OF("me", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, 0);
	CHECK_STR(rig->stub.asked[1], "POST " PATH);
	CHECK_HAS(rig->stub.bodies[1], "\"data\":{" CANDIDATE_OF("me", "1") "}");
	CHECK_HAS(rig->stub.bodies[1], "\"app.kubernetes.io/instance\":\"orders\"");
	CHECK_HAS(rig->stub.bodies[1], "\"app.kubernetes.io/component\":\"candidate\"");
	CHECK_STR(rig->reading.version, "8");
}

RIG_TEST(a_map_that_the_chart_makes_is_missed_and_not_made)
{
	rig->writer.made = true;
	KUBE_SAY(&rig->stub, NO_MAP);
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, "{}"), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg,
		  "ConfigMap team-a/" NAME " does not exist, and drey does not create it");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1);
}

RIG_TEST(a_write_is_of_one_key_and_of_the_version_that_was_read)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "1")),
		 HOLDS("8", CANDIDATE_OF("me", "2") "," RESERVE_OF("other", "1")),
		 HOLDS("9", CANDIDATE_OF("me", "2") "," RESERVE_OF("me", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "2")), ==, 0);
	CHECK_STR(rig->stub.asked[1], "PATCH " PATH "/" NAME);
	CHECK_HAS(rig->stub.heads[1], "application/merge-patch+json");
	CHECK_STR(rig->stub.bodies[1],
		  "{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{" CANDIDATE_OF("me",
										      "2") "}}");
	/* what the other one says comes along */
	CHECK_STR(rig->reading.texts[PLACE_RESERVE], RECORD_OF("other", "1"));
	rig->writer.place = PLACE_RESERVE;
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, 0);
	CHECK_STR(
		rig->stub.bodies[2],
		"{\"metadata\":{\"resourceVersion\":\"8\"},\"data\":{" RESERVE_OF("me", "1") "}}");
}

RIG_TEST(the_writer_of_the_other_key_is_in_nobodys_way)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "1") "," RESERVE_OF("other", "1")),
		 CONFLICT("Conflict"),
		 HOLDS("8", CANDIDATE_OF("me", "1") "," RESERVE_OF("other", "2")),
		 HOLDS("9", CANDIDATE_OF("me", "2") "," RESERVE_OF("other", "2")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "2")), ==, 0);
	CHECK_HAS(rig->stub.bodies[3], "\"resourceVersion\":\"8\"");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 4);
	CHECK_STR(rig->reading.version, "9");
}

/* The key of a pod that is gone is claimed while the reserve writes its own. */
RIG_TEST(a_claim_survives_the_writer_of_the_other_key)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("gone", "5") "," RESERVE_OF("other", "1")),
		 CONFLICT("Conflict"),
		 HOLDS("8", CANDIDATE_OF("gone", "5") "," RESERVE_OF("other", "2")),
		 HOLDS("9", CANDIDATE_OF("me", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, 0);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 4);
}

RIG_TEST(of_two_pods_that_claim_a_key_one_hears_of_the_other)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("gone", "5")), CONFLICT("Conflict"),
		 HOLDS("8", CANDIDATE_OF("faster", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
	CHECK_HAS(rig->err.msg, "another pod has written key 'candidate.json' of ConfigMap "
				"team-a/" NAME " in the meantime");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 3);
	CHECK_STR(rig->reading.texts[PLACE_CANDIDATE], RECORD_OF("faster", "1"));
}

/* The pod that was thought to be gone lives. */
RIG_TEST(a_claim_loses_against_a_beat)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("gone", "5")), CONFLICT("Conflict"),
		 HOLDS("8", CANDIDATE_OF("gone", "6")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
}

RIG_TEST(a_key_that_was_claimed_by_another_pod_is_not_taken_back_by_chance)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "5")), CONFLICT("Conflict"),
		 HOLDS("8", CANDIDATE_OF("other", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "6")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
}

RIG_TEST(of_two_first_writes_one_hears_of_the_other)
{
	KUBE_SAY(&rig->stub, CONFLICT("AlreadyExists"), HOLDS("7", CANDIDATE_OF("faster", "1")));
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
	CHECK_STR(rig->reading.version, "7");
}

RIG_TEST(a_map_that_was_just_made_for_the_other_key_is_used)
{
	KUBE_SAY(&rig->stub, CONFLICT("AlreadyExists"), HOLDS("7", RESERVE_OF("other", "1")),
		 HOLDS("8", CANDIDATE_OF("me", "1")));
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, 0);
	CHECK_HAS(rig->stub.bodies[2], "\"resourceVersion\":\"7\"");
}

/* The answer was lost, so the next write goes by an old version. */
RIG_TEST(an_own_write_whose_answer_was_lost_is_recognised)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "5")),
		 {.status = 503, .body = KUBE_STATUS(503, "ServiceUnavailable", "later", "")},
		 CONFLICT("Conflict"), HOLDS("8", CANDIDATE_OF("me", "6")),
		 HOLDS("9", CANDIDATE_OF("me", "7")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "6")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_STR(rig->reading.version, "7");
	CHECK_INT(write_map(rig, RECORD_OF("me", "7")), ==, 0);
	CHECK_STR(rig->reading.version, "9");
}

RIG_TEST(what_is_nonsense_may_be_claimed_but_only_as_it_was_read)
{
	KUBE_SAY(&rig->stub, HOLDS("7", "\"candidate.json\":\"{\""), CONFLICT("Conflict"),
		 HOLDS("8", "\"candidate.json\":\"[\""), HOLDS("9", CANDIDATE_OF("me", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, 0);
}

RIG_TEST(a_key_can_be_given_up)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "5") "," RESERVE_OF("other", "1")),
		 HOLDS("8", RESERVE_OF("other", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, NULL), ==, 0);
	CHECK_STR(rig->stub.bodies[1], "{\"metadata\":{\"resourceVersion\":\"7\"},\"data\":{"
				       "\"candidate.json\":null}}");
	CHECK(!rig->reading.texts[PLACE_CANDIDATE]);
	CHECK_INT(write_map(rig, NULL), ==, 0);
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 2);
}

RIG_TEST(the_key_of_another_pod_is_not_given_up)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "5")), CONFLICT("Conflict"),
		 HOLDS("8", CANDIDATE_OF("other", "1")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, NULL), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_BUSY);
}

RIG_TEST(a_map_that_vanishes_is_made_anew)
{
	KUBE_SAY(&rig->stub, HOLDS("7", CANDIDATE_OF("me", "5")), NO_MAP, NO_MAP,
		 HOLDS("1", CANDIDATE_OF("me", "6")));
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "6")), ==, 0);
	CHECK_STR(rig->stub.asked[3], "POST " PATH);
}

RIG_TEST(what_goes_with_the_map_is_not_written)
{
	KUBE_SAY(&rig->stub, HOLDS("7", ""),
		 {.body = "{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" NAME
			  "\",\"uid\":\"u-1\",\"resourceVersion\":\"8\",\"deletionTimestamp\":"
			  "\"2026-03-01T12:00:00Z\"},\"data\":{" CANDIDATE_OF("me", "1") "}}"});
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg, "is being deleted");
}

RIG_TEST(a_map_that_changes_all_the_time_is_given_up)
{
	struct kube_stub_says says[KUBE_STUB_MAX] = {HOLDS("7", CANDIDATE_OF("me", "1"))};

	for (int i = 1; i < KUBE_STUB_MAX; i++)
		says[i] = i % 2 ? (struct kube_stub_says)CONFLICT("Conflict") : says[0];
	kube_stub_say(&rig->stub, says, KUBE_STUB_MAX);
	CHECK_INT(read_map(rig), ==, 0);
	CHECK_INT(write_map(rig, RECORD_OF("me", "2")), ==, -1);
	CHECK_INT(rig->err.kind, ==, ERR_RETRY);
	CHECK_HAS(rig->err.msg, "is changed by others continuously");
	CHECK_INT(kube_stub_asked(&rig->stub), ==, 1 + 2 * 6);
}

RIG_TEST(a_refusal_says_what_the_server_said)
{
	static const struct {
		struct kube_stub_says says;
		enum err_kind kind;
	} cases[] = {
		{{.status = 403, .body = KUBE_STATUS(403, "Forbidden", "you may not", "")},
		 ERR_DENIED},
		{{.status = 422, .body = KUBE_STATUS(422, "Invalid", "too large", "")}, ERR_CONFIG},
		{{.status = 404, .body = KUBE_NOT_FOUND("namespaces", "team-a")}, ERR_ABSENT},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		rig->err = (struct err){0};
		kube_stub_say(&rig->stub, &cases[i].says, 1);
		CHECK_INT(write_map(rig, RECORD_OF("me", "1")), ==, -1);
		CHECK_INT(rig->err.kind, ==, cases[i].kind);
		CHECK_INT(kube_stub_asked(&rig->stub), ==, i + 1);
	}
}
