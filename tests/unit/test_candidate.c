#include "core/handover/candidate.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define SHADOW                                                                                     \
	"{\"transition\":\"h17-3f2ac1d0\",\"state\":\"shadowing\",\"ended\":false,\"gate\":"       \
	"{\"known\":true,\"number\":7,\"word\":\"armGreen\",\"toggleUnixMs\":1767225660000,"       \
	"\"subtasks\":4,\"running\":3,\"acked\":2,\"refused\":0,\"idle\":1,"                       \
	"\"minWatermarkUnixMs\":1767225600000,\"maxSeenUnixMs\":1767225601000,"                    \
	"\"passedAbove\":5,\"withheldAbove\":0,\"passedBelow\":6,\"inexact\":true}}"
#define FULL                                                                                       \
	"{\"schema\":1,\"application\":\"orders\",\"uid\":\"u-2\",\"pod\":\"orders-2\","           \
	"\"template\":\"g18/c0ffee/7c9d\",\"generation\":\"g18\",\"flinkVersion\":\"2.3.0\","      \
	"\"side\":\"green\",\"handover\":\"h17-3f2ac1d0\",\"state\":\"Prepared\",\"beat\":17,"     \
	"\"ask\":3,\"answer\":2,\"warm\":{\"taskManagers\":2,\"slotsFree\":0,\"mainHeld\":true,"   \
	"\"sinceUnixMs\":1767225600000},\"checked\":{\"decision\":\"startFrom\","                  \
	"\"why\":\"the newest\"},\"shadow\":" SHADOW ",\"why\":\"it holds\"}"
#define LEAST                                                                                      \
	"{\"schema\":1,\"application\":\"orders\",\"uid\":\"u-2\",\"pod\":\"orders-2\","           \
	"\"template\":\"//\",\"side\":\"blue\",\"state\":\"Standby\",\"beat\":0}"

static int decode(const char *text, struct candidate_record *ret, struct err *err)
{
	return candidate_decode(text, strlen(text), "orders", ret, err);
}

TEST(every_member_is_read_and_written)
{
	struct candidate_record record;
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	if (!CHECK_INT(decode(FULL, &record, &err), ==, 0)) {
		tap_note("%s", err.msg);
		return;
	}
	CHECK_STR(record.application, "orders");
	CHECK_STR(record.uid, "u-2");
	CHECK_STR(record.pod, "orders-2");
	CHECK_STR(record.template, "g18/c0ffee/7c9d");
	CHECK_STR(record.generation, "g18");
	CHECK_STR(record.flink_version, "2.3.0");
	CHECK_INT(record.side, ==, SIDE_GREEN);
	CHECK_STR(record.handover, "h17-3f2ac1d0");
	CHECK_INT(record.state, ==, CANDIDATE_PREPARED);
	CHECK_INT(record.beat, ==, 17);
	CHECK_INT(record.ask, ==, 3);
	CHECK_INT(record.answer, ==, 2);
	CHECK_INT(record.warm.task_managers, ==, 2);
	CHECK_INT(record.warm.slots_free, ==, 0);
	CHECK(record.warm.main_held);
	CHECK_INT(record.warm.since_unix_ms, ==, 1767225600000);
	CHECK_STR(record.checked.decision, "startFrom");
	CHECK_STR(record.checked.why, "the newest");
	CHECK_STR(record.shadow.transition, "h17-3f2ac1d0");
	CHECK_INT(record.shadow.state, ==, SHADOW_RUNNING);
	CHECK(!record.shadow.ended && record.shadow.gate.known);
	CHECK_INT(record.shadow.gate.order.number, ==, 7);
	CHECK_INT(record.shadow.gate.order.word, ==, GATE_ARM_GREEN);
	CHECK_INT(record.shadow.gate.order.toggle_unix_ms, ==, 1767225660000);
	CHECK_INT(record.shadow.gate.subtasks, ==, 4);
	CHECK_INT(record.shadow.gate.running, ==, 3);
	CHECK_INT(record.shadow.gate.acked, ==, 2);
	CHECK_INT(record.shadow.gate.refused, ==, 0);
	CHECK_INT(record.shadow.gate.idle, ==, 1);
	CHECK_INT(record.shadow.gate.min_watermark_unix_ms, ==, 1767225600000);
	CHECK_INT(record.shadow.gate.max_seen_unix_ms, ==, 1767225601000);
	CHECK_INT(record.shadow.gate.passed_above, ==, 5);
	CHECK(record.shadow.gate.inexact);
	CHECK_INT(record.shadow.gate.passed_below, ==, 6);
	CHECK_STR(record.why, "it holds");
	CHECK_INT(candidate_encode(&record, &text, &err), ==, 0);
	CHECK_STR(buf_str(&text), FULL);
	candidate_release(&record);
	CHECK(!record.uid && !record.warm.main_held);
}

TEST(what_is_not_known_is_null)
{
	struct candidate_record record;
	cleanup_buf struct buf text = BUF_INIT;

	CHECK_INT(decode(LEAST, &record, NULL), ==, 0);
	CHECK(!record.generation && !record.handover && !record.checked.decision && !record.why);
	CHECK(!record.warm.task_managers && !record.warm.since_unix_ms);
	CHECK_INT(record.ask, ==, 0);
	CHECK_INT(candidate_encode(&record, &text, NULL), ==, 0);
	CHECK_HAS(buf_str(&text), "\"generation\":null,\"flinkVersion\":null,\"side\":\"blue\","
				  "\"handover\":null,\"state\":\"Standby\",\"beat\":0,\"ask\":0,"
				  "\"answer\":0,\"warm\":null,\"checked\":null,\"why\":null}");
	candidate_release(&record);
	CHECK_INT(decode(buf_str(&text), &record, NULL), ==, 0);
	candidate_release(&record);
}

TEST(a_member_of_a_newer_drey_is_ignored)
{
	struct candidate_record record;

	CHECK_INT(decode("{\"gate\":{\"x\":[]},\"schema\":1,\"application\":\"orders\","
			 "\"uid\":\"u\",\"pod\":\"p\",\"template\":\"//\",\"side\":\"blue\","
			 "\"state\":\"Failed\",\"beat\":1,\"warm\":{\"heat\":\"much\"}}",
			 &record, NULL),
		  ==, 0);
	CHECK_INT(record.state, ==, CANDIDATE_FAILED);
	candidate_release(&record);
}

/* FULL with one text in the place of another; the caller frees. */
static char *spoiled(const char *from, const char *to)
{
	const char *at = strstr(FULL, from);

	CHECK(at != NULL);
	return xasprintf("%.*s%s%s", (int)(at - FULL), FULL, to, at + strlen(from));
}

TEST(what_is_not_as_expected_is_refused_by_its_path)
{
	static const struct {
		const char *from, *to, *says;
	} cases[] = {
		{"\"schema\":1", "\"schema\":2", "'schema': 2; this drey knows 1"},
		{"\"schema\":1", "\"schema\":\"1\"", "'schema'"},
		{"\"schema\":1,", "", "'schema'"},
		{"\"application\":\"orders\"", "\"application\":\"bills\"",
		 "'application': it is of application bills, not of orders"},
		{"\"uid\":\"u-2\"", "\"uid\":null", "'uid'"},
		{"\"uid\":\"u-2\"", "\"uid\":7", "'uid'"},
		{"\"pod\":\"orders-2\",", "", "'pod'"},
		{"\"template\":\"g18/c0ffee/7c9d\",", "", "'template'"},
		{"\"generation\":\"g18\"", "\"generation\":18", "'generation'"},
		{"\"side\":\"green\"", "\"side\":\"red\"", "'side': unknown word \"red\""},
		{"\"side\":\"green\",", "", "'side'"},
		{"\"state\":\"Prepared\"", "\"state\":\"prepared\"",
		 "'state': unknown word \"prepared\""},
		{"\"beat\":17,", "", "'beat'"},
		{"\"beat\":17", "\"beat\":-1", "'beat': -1 is out of range"},
		{"\"beat\":17", "\"beat\":1e3", "'beat'"},
		{"\"ask\":3", "\"ask\":-3", "'ask': -3 is out of range"},
		{"\"answer\":2", "\"answer\":-2", "'answer': -2 is out of range"},
		{"\"slotsFree\":0", "\"slotsFree\":\"0\"", "warm: 'slotsFree'"},
		{"\"taskManagers\":2", "\"taskManagers\":-2",
		 "warm: 'taskManagers': -2 is out of range"},
		{"\"slotsFree\":0", "\"slotsFree\":-1", "warm: 'slotsFree': -1 is out of range"},
		{"\"mainHeld\":true", "\"mainHeld\":1", "warm: 'mainHeld'"},
		{"\"decision\":\"startFrom\"", "\"decision\":[]", "checked: 'decision'"},
		{"\"transition\":\"h17-3f2ac1d0\"", "\"transition\":17", "shadow: 'transition'"},
		{"\"state\":\"shadowing\"", "\"state\":\"Shadowing\"",
		 "shadow: 'state': unknown word \"Shadowing\""},
		{"\"ended\":false", "\"ended\":0", "shadow: 'ended'"},
		{"\"word\":\"armGreen\"", "\"word\":\"arm\"",
		 "shadow: gate: 'word': unknown word \"arm\""},
		{"\"acked\":2", "\"acked\":-2", "shadow: gate: 'acked': -2 is out of range"},
		{"\"acked\":2", "\"acked\":5", "shadow: gate: 'acked': 5 is out of range"},
		{"\"running\":3", "\"running\":5", "shadow: gate: 'running': 5 is out of range"},
		{"\"refused\":0", "\"refused\":null", "shadow: gate: 'refused'"},
		{"\"passedAbove\":5", "\"passedAbove\":-5", "shadow: gate: 'passedAbove'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *text = spoiled(cases[i].from, cases[i].to);
		struct candidate_record record = {0};
		struct err err = {0};

		if (!CHECK_INT(decode(text, &record, &err), ==, -1))
			tap_note("%s", text);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, cases[i].says);
		CHECK(!record.uid);
	}
}

TEST(a_part_of_it_is_refused)
{
	struct candidate_record record;

	for (size_t len = 0; len < strlen(FULL); len++) {
		struct err err = {0};

		CHECK_INT(candidate_decode(FULL, len, "orders", &record, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
	}
	CHECK_INT(decode("[]", &record, NULL), ==, -1);
	CHECK_INT(decode("null", &record, NULL), ==, -1);
}

TEST(it_has_at_most_64_kib)
{
	cleanup_buf struct buf spaces = BUF_INIT;
	cleanup_buf struct buf text = BUF_INIT;
	struct candidate_record record;
	struct err err = {0};

	buf_addstr(&spaces, FULL);
	while (spaces.len_bytes < CANDIDATE_MAX_BYTES)
		buf_addch(&spaces, ' ');
	CHECK_INT(decode(buf_str(&spaces), &record, NULL), ==, 0);
	buf_addch(&spaces, ' ');
	candidate_release(&record);
	CHECK_INT(decode(buf_str(&spaces), &record, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);

	CHECK_INT(decode(FULL, &record, NULL), ==, 0);
	free(record.pod);
	record.pod = xcalloc(CANDIDATE_MAX_BYTES + 1, 1);
	memset(record.pod, 'x', CANDIDATE_MAX_BYTES);
	err = (struct err){0};
	CHECK_INT(candidate_encode(&record, &text, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_INT(text.len_bytes, ==, 0);
	candidate_release(&record);
}

TEST(a_long_reason_is_cut)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct candidate_record record, again;

	CHECK_INT(decode(FULL, &record, NULL), ==, 0);
	free(record.why);
	record.why = xcalloc(9001, 1);
	memset(record.why, 'y', 9000);
	CHECK_INT(candidate_encode(&record, &text, NULL), ==, 0);
	CHECK_INT(decode(buf_str(&text), &again, NULL), ==, 0);
	CHECK_INT(strlen(again.why), <=, CANDIDATE_MAX_PROSE + 3);
	candidate_release(&again);
	candidate_release(&record);
}

TEST(every_state_has_a_name_of_its_own)
{
	for (int i = 0; i < CANDIDATE_STATES; i++)
		for (int k = 0; k < i; k++)
			CHECK(strcmp(candidate_state_name((enum candidate_state)i),
				     candidate_state_name((enum candidate_state)k)) != 0);
	CHECK_STR(candidate_state_name(CANDIDATE_HANDED_OVER), "HandedOver");
	CHECK_STR(candidate_state_name(CANDIDATE_STATES), "unknown");
}

TEST(every_role_has_a_key_of_its_own)
{
	CHECK_STR(candidate_keys[candidate_place_of(CANDIDATE_STANDBY)], "standby.json");
	CHECK_STR(candidate_keys[candidate_place_of(CANDIDATE_PREPARING)], "candidate.json");
	CHECK_STR(candidate_keys[candidate_place_of(CANDIDATE_PREPARED)], "candidate.json");
	CHECK_STR(candidate_keys[candidate_place_of(CANDIDATE_FAILED)], "candidate.json");
	CHECK_STR(candidate_keys[candidate_place_of(CANDIDATE_WITHDRAWN)], "candidate.json");
	CHECK_STR(candidate_keys[candidate_place_of(CANDIDATE_HANDED_OVER)], "reserve.json");
}
