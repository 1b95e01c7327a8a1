/* The files of the gate. Those in tests/fixtures/gate were written by a gate, or are read by one. */
#include "core/handover/gate_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"
#include "tap.h"

#define LAUNCH "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define FIRST  "00000000000012340000000000000001" /* launches of tests/gate */
#define SECOND "00000000000012340000000000000002"
#define T      INT64_C(1767225600000)
#define END    GATE_FILE_MAX_NUMBER

static const struct gate_file_job blue = {LAUNCH, SIDE_BLUE}, green = {LAUNCH, SIDE_GREEN};

static void load(const char *name, struct buf *text)
{
	cleanup_free char *path = xasprintf("tests/fixtures/gate/%s.json", name);
	struct err err = {0};

	CHECK_INT(fs_read(path, GATE_FILE_MAX_BYTES, text, &err), ==, 0);
}

/* ---- orders ---- */

TEST(an_order_is_written_as_the_gate_reads_it)
{
	static const struct {
		const char *file;
		const struct gate_file_job *job;
		const char *transition;
		struct gate_order order;
	} rows[] = {
		{"order-closed", &green, "h17-3f2ac1d0", {7, GATE_CLOSED, 0}},
		{"order-armGreen", &green, "h17-3f2ac1d0", {8, GATE_ARM_GREEN, T}},
		{"order-armBlue", &blue, "h17-3f2ac1d0", {8, GATE_ARM_BLUE, T}},
		{"order-finish", &green, "h17-3f2ac1d0", {9, GATE_FINISH, T}},
		{"order-rest", &green, NULL, {GATE_FILE_MAX_NUMBER, GATE_OPEN, 0}},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_buf struct buf want = BUF_INIT, got = BUF_INIT;
		struct err err = {0};

		load(rows[i].file, &want);
		CHECK_INT(gate_file_order(rows[i].job, rows[i].transition, &rows[i].order, &got,
					  &err),
			  ==, 0);
		CHECK_STR(buf_str(&got), buf_str(&want));
		CHECK_STR(err.msg, "");
	}
}

TEST(an_order_that_a_gate_would_ignore_is_not_written)
{
	static const struct {
		const char *launch, *transition;
		struct gate_order order;
		const char *why;
	} rows[] = {
		{"", NULL, {1, GATE_OPEN, 0}, "'launch' is empty"},
		{NULL, NULL, {1, GATE_OPEN, 0}, "'launch' is empty"},
		{LAUNCH, NULL, {0, GATE_OPEN, 0}, "'number' is 0"},
		{LAUNCH, NULL, {-1, GATE_OPEN, 0}, "'number' is -1"},
		{LAUNCH, NULL, {END + 1, GATE_OPEN, 0}, "'number' is 9007199254740992"},
		{LAUNCH, NULL, {1, GATE_WORDS, 0}, "'word' is"},
		{LAUNCH, "", {1, GATE_OPEN, 0}, "'transition' is empty"},
		{LAUNCH, "h1", {1, GATE_OPEN, -1}, "'toggle' is -1"},
		{LAUNCH, "h1", {1, GATE_ARM_BLUE, END - GATE_CEILING_MS + 1}, "'toggle' is 900"},
		{LAUNCH,
		 "h1",
		 {1, GATE_ARM_BLUE, GATE_NO_TIME},
		 "'toggle' is -9223372036854775808"},
		{LAUNCH, NULL, {1, GATE_ARM_BLUE, T}, "'armBlue' needs"},
		{LAUNCH, NULL, {1, GATE_ARM_GREEN, T}, "'armGreen' needs"},
		{LAUNCH, NULL, {1, GATE_FINISH, T}, "'finish' needs"},
		{LAUNCH, "h1", {1, GATE_FINISH, 0}, "'finish' needs"},
		{LAUNCH, "h1", {1, GATE_ARM_BLUE, 0}, "'armBlue' needs"},
		{LAUNCH, "h1", {1, GATE_ARM_GREEN, 0}, "'armGreen' needs"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_buf struct buf got = BUF_INIT;
		struct gate_file_job job = {rows[i].launch, SIDE_BLUE};
		struct err err = {0};

		CHECK_INT(gate_file_order(&job, rows[i].transition, &rows[i].order, &got, &err), ==,
			  -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, rows[i].why);
		CHECK_INT(got.len_bytes, ==, 0);
	}
}

/* ---- reports that a gate has written ---- */

TEST(the_reports_of_gates_are_read)
{
	static const struct {
		const char *name, *launch;
		enum side side;
		struct gate_report is;
		const char *transition, *ignored, *why_refused;
		bool ended;
	} rows[] = {
		{"waits",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {0, GATE_CLOSED, 0},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 0,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = GATE_NO_TIME,
		  .max_seen_unix_ms = GATE_NO_TIME,
		  .passed_above = 0,
		  .withheld_above = 0,
		  .passed_below = 0,
		  .snapshot_count = 0},
		 NULL,
		 "it is for the side green, and this is blue",
		 NULL,
		 false},
		{"open",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {2, GATE_OPEN, 0},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = 1700000002966,
		  .max_seen_unix_ms = GATE_NO_TIME,
		  .passed_above = 0,
		  .withheld_above = 0,
		  .passed_below = 0,
		  .snapshot_count = 5,
		  .snapshots = {{17, true, 0, 1700000003421, 1700000003421}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"closed",
		 SECOND,
		 SIDE_GREEN,
		 {true,
		  {1, GATE_CLOSED, 0},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = 1700000004918,
		  .max_seen_unix_ms = 1700000004985,
		  .passed_above = 0,
		  .withheld_above = 2716,
		  .passed_below = 0,
		  .snapshot_count = 8,
		  .snapshots = {{28, true, 3307, 1700000005210, 1700000005210}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"armed",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {3, GATE_ARM_BLUE, 1700000005667},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 2,
		  .min_watermark_unix_ms = 1700000005667,
		  .max_seen_unix_ms = 1700000005397,
		  .passed_above = 0,
		  .withheld_above = 0,
		  .passed_below = 4614,
		  .snapshot_count = 8,
		  .snapshots = {{53, true, 0, 1700000005335, 1700000005335}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"refused",
		 SECOND,
		 SIDE_GREEN,
		 {true,
		  {2, GATE_ARM_GREEN, 1700000004983},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 0,
		  .refused = 2,
		  .idle = 0,
		  .min_watermark_unix_ms = 1700000005335,
		  .max_seen_unix_ms = 1700000005397,
		  .passed_above = 0,
		  .withheld_above = 3538,
		  .passed_below = 0,
		  .snapshot_count = 8,
		  .snapshots = {{33, true, 3538, 1700000005335, 1700000005335}}},
		 "h1-00000001",
		 NULL,
		 "the cut is not above the watermark",
		 false},
		{"crossed",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {3, GATE_ARM_BLUE, 1700000005667},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = 1700000007522,
		  .max_seen_unix_ms = 1700000007598,
		  .passed_above = 0,
		  .withheld_above = 3829,
		  .passed_below = 5180,
		  .snapshot_count = 8,
		  .snapshots = {{58, true, 3650, 1700000007439, 1700000007439}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"idle",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {3, GATE_ARM_BLUE, 1700000004188},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 1,
		  .min_watermark_unix_ms = 1700000004188,
		  .max_seen_unix_ms = 1700000005352,
		  .passed_above = 0,
		  .withheld_above = 1147,
		  .passed_below = 3435,
		  .snapshot_count = 8,
		  .snapshots = {{48, true, 1043, 1700000003863, 1700000003863}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"no-watermarks",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {2, GATE_ARM_BLUE, 1700000003785},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = GATE_NO_TIME,
		  .max_seen_unix_ms = 1700000003809,
		  .passed_above = 0,
		  .withheld_above = 11,
		  .passed_below = 2994,
		  .snapshot_count = 8,
		  .snapshots = {{38, true, 862, GATE_NO_TIME, GATE_NO_TIME}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"two-gates",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {3, GATE_ARM_BLUE, 1700000005445},
		  .subtasks = 4,
		  .running = 4,
		  .acked = 4,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = 1700000006290,
		  .max_seen_unix_ms = 1700000006364,
		  .passed_above = 0,
		  .withheld_above = 3598,
		  .passed_below = 10401,
		  .snapshot_count = 8,
		  .snapshots = {{53, true, 3508, 1700000006273, 1700000006273}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"given-up",
		 FIRST,
		 SIDE_BLUE,
		 {true,
		  {3, GATE_OPEN, 0},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = GATE_NO_TIME,
		  .max_seen_unix_ms = 1700000004761,
		  .passed_above = 0,
		  .withheld_above = 1200,
		  .passed_below = 3022,
		  .snapshot_count = 8,
		  .snapshots = {{42, true, 1200, GATE_NO_TIME, GATE_NO_TIME}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 false},
		{"ended",
		 FIRST,
		 SIDE_BLUE,
		 {false,
		  {3, GATE_ARM_BLUE, 1700000007574},
		  .subtasks = 2,
		  .running = 2,
		  .acked = 2,
		  .refused = 0,
		  .idle = 0,
		  .min_watermark_unix_ms = 1700000008167,
		  .max_seen_unix_ms = 1700000008243,
		  .passed_above = 0,
		  .withheld_above = 1960,
		  .passed_below = 14828,
		  .snapshot_count = 8,
		  .snapshots = {{80, true, 3231, 1700000008589, 1700000008589}}},
		 "h1-00000001",
		 NULL,
		 NULL,
		 true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const struct gate_file_job job = {rows[i].launch, rows[i].side};
		const struct gate_report *is = &rows[i].is;
		cleanup_free char *file = xasprintf("report-%s", rows[i].name);
		cleanup_buf struct buf text = BUF_INIT;
		struct gate_file_report got = {.written_unix_ms = -1};
		struct err err = {0};

		tap_note("%s", rows[i].name);
		load(file, &text);
		CHECK_INT(gate_file_parse(&job, buf_str(&text), text.len_bytes, &got, &err), ==, 0);
		CHECK_STR(err.msg, "");
		CHECK_INT(got.report.known, ==, is->known);
		CHECK_INT(got.report.order.number, ==, is->order.number);
		CHECK_INT(got.report.order.word, ==, is->order.word);
		CHECK_INT(got.report.order.toggle_unix_ms, ==, is->order.toggle_unix_ms);
		CHECK_INT(got.report.subtasks, ==, is->subtasks);
		CHECK_INT(got.report.running, ==, is->running);
		CHECK_INT(got.report.acked, ==, is->acked);
		CHECK_INT(got.report.refused, ==, is->refused);
		CHECK_INT(got.report.idle, ==, is->idle);
		CHECK_INT(got.report.min_watermark_unix_ms, ==, is->min_watermark_unix_ms);
		CHECK_INT(got.report.max_seen_unix_ms, ==, is->max_seen_unix_ms);
		CHECK_INT(got.report.passed_above, ==, is->passed_above);
		CHECK_INT(got.report.passed_below, ==, is->passed_below);
		CHECK_INT(got.report.withheld_above, ==, is->withheld_above);
		CHECK_INT(got.report.snapshot_count, ==, is->snapshot_count);
		CHECK_INT(got.report.snapshots[0].checkpoint_id, ==,
			  is->snapshots[0].checkpoint_id);
		CHECK_INT(got.report.snapshots[0].confirmed, ==, is->snapshot_count > 0);
		CHECK_INT(got.report.snapshots[0].withheld_above, ==,
			  is->snapshots[0].withheld_above);
		CHECK_INT(got.report.snapshots[0].min_watermark_unix_ms, ==,
			  is->snapshots[0].min_watermark_unix_ms);
		CHECK_INT(got.report.snapshots[0].active_watermark_unix_ms, ==,
			  is->snapshots[0].active_watermark_unix_ms);
		CHECK_STR(got.transition, rows[i].transition);
		CHECK_STR(got.ignored, rows[i].ignored);
		CHECK_STR(got.why_refused, rows[i].why_refused);
		CHECK_INT(got.ended, ==, rows[i].ended);
		CHECK_INT(strlen(got.instance), ==, 16);
		CHECK_INT(got.written_unix_ms, >, T);
		gate_file_release(&got);
		CHECK(!got.transition && !got.ignored && !got.why_refused);
	}
}

TEST(a_report_that_is_cut_off_anywhere_is_refused)
{
	const struct gate_file_job job = {FIRST, SIDE_BLUE};
	cleanup_buf struct buf text = BUF_INIT;

	load("report-two-gates", &text);
	for (size_t len = 0; len + 1 < text.len_bytes; len++) {
		struct gate_file_report got = {.written_unix_ms = -1};
		struct err err = {0};

		if (gate_file_parse(&job, buf_str(&text), len, &got, &err) == -1 &&
		    err.kind == ERR_FORMAT && err.msg[0] && got.written_unix_ms == -1)
			continue;
		CHECK(!"refused");
		tap_note("%zu bytes: %s", len, err.msg);
	}
	CHECK(text.len_bytes > 1000);
}

/* ---- members ---- */

#define ORDER "\"transition\":\"h1\",\"number\":7,\"word\":\"armBlue\",\"toggle\":1767225600000,"
#define COUNTS                                                                                     \
	"\"parallelism\":3,\"running\":3,\"acked\":3,\"refused\":0,\"whyRefused\":null,"           \
	"\"minWatermark\":1767225600005,\"withoutWatermark\":0,\"crossed\":3,\"idle\":0,"          \
	"\"maxSeen\":1767225600009,\"passedBelow\":40,\"passedAbove\":2,\"withheldBelow\":0,"      \
	"\"withheldAbove\":5,\"inexact\":0,"
#define SNAPSHOT(id, withheld, watermark)                                                          \
	"{\"checkpoint\":" id ",\"completed\":true,\"withheld\":" withheld                         \
	",\"minWatermark\":" watermark "}"
#define SNAPSHOTS                                                                                  \
	SNAPSHOT("3", "0", "null")                                                                 \
	"," SNAPSHOT("4", "0", "1767225599000") "," SNAPSHOT("6", "5", "1767225600004")
#define GATE(uid, snapshots)                                                                       \
	"{\"uid\":\"" uid "\"," COUNTS "\"subtasks\":[{},{},{}],\"snapshots\":[" snapshots "]}"
#define REPORT(gates)                                                                              \
	"{\"schema\":1,\"launch\":\"" LAUNCH "\",\"side\":\"blue\","                               \
	"\"instance\":\"0123456789abcdef\",\"writtenUnixMs\":9,\"ignored\":null," ORDER            \
	"\"ended\":false,\"gates\":[" gates "]}"

static const char whole[] = REPORT(GATE("a", SNAPSHOTS));

/* With the first `from` replaced; caller frees. */
static char *with(const char *text, const char *from, const char *to)
{
	const char *at = strstr(text, from);

	if (!CHECK(at != NULL)) {
		tap_note("no %s", from);
		return xstrdup(text);
	}
	return xasprintf("%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

static int parse(const char *text, struct gate_file_report *ret_report, struct err *err)
{
	return gate_file_parse(&blue, text, strlen(text), ret_report, err);
}

static void check_refused(const char *text, enum err_kind kind, const char *why)
{
	struct gate_file_report got = {.written_unix_ms = -1};
	struct err err = {0};

	if (!CHECK_INT(parse(text, &got, &err), ==, -1)) {
		tap_note("expected: %s", why);
		gate_file_release(&got);
		return;
	}
	CHECK_INT(err.kind, ==, kind);
	CHECK_HAS(err.msg, why);
	CHECK_HAS(err.msg, "the report of the gates: ");
	CHECK_INT(got.written_unix_ms, ==, -1);
	CHECK(!got.transition);
}

/* The report with something replaced is refused. */
static void refuses(const char *from, const char *to, enum err_kind kind, const char *why)
{
	cleanup_free char *text = with(whole, from, to);

	check_refused(text, kind, why);
}

/* The report with something replaced; the caller releases it. */
static struct gate_file_report reads(const char *text)
{
	struct gate_file_report got = {0};
	struct err err = {0};

	CHECK_INT(parse(text, &got, &err), ==, 0);
	CHECK_STR(err.msg, "");
	return got;
}

TEST(each_member_must_be_there_and_of_its_type)
{
	static const struct {
		const char *member; /* as it is in `whole` */
		const char *key;
		bool may_be_null;
	} rows[] = {
		{"\"schema\":1", "schema", false},
		{"\"launch\":\"" LAUNCH "\"", "launch", false},
		{"\"side\":\"blue\"", "side", false},
		{"\"instance\":\"0123456789abcdef\"", "instance", false},
		{"\"writtenUnixMs\":9", "writtenUnixMs", false},
		{"\"ignored\":null", "ignored", true},
		{"\"transition\":\"h1\"", "transition", false}, /* of an arming */
		{"\"number\":7", "number", false},
		{"\"word\":\"armBlue\"", "word", false},
		{"\"toggle\":1767225600000", "toggle", false},
		{"\"ended\":false", "ended", false},
		{"\"uid\":\"a\"", "uid", false},
		{"\"parallelism\":3", "parallelism", false},
		{"\"running\":3", "running", false},
		{"\"acked\":3", "acked", false},
		{"\"refused\":0", "refused", false},
		{"\"whyRefused\":null", "whyRefused", true},
		{"\"minWatermark\":1767225600005", "minWatermark", false}, /* all have crossed */
		{"\"withoutWatermark\":0", "withoutWatermark", false},
		{"\"crossed\":3", "crossed", false},
		{"\"idle\":0", "idle", false},
		{"\"maxSeen\":1767225600009", "maxSeen", true},
		{"\"passedBelow\":40", "passedBelow", false},
		{"\"passedAbove\":2", "passedAbove", false},
		{"\"withheldBelow\":0", "withheldBelow", false},
		{"\"withheldAbove\":5", "withheldAbove", false},
		{"\"inexact\":0", "inexact", false},
		{"\"subtasks\":[{},{},{}]", "subtasks", false},
		{"\"snapshots\":[" SNAPSHOTS "]", "snapshots", false},
		{"\"checkpoint\":3", "checkpoint", false},
		{"\"completed\":true", "completed", false},
		{"\"withheld\":0", "withheld", false},
		{"\"minWatermark\":null", "minWatermark", true},
		{"\"gates\":[" GATE("a", SNAPSHOTS) "]", "gates", false},
	};
	static const char *const values[] = {"{}", "1.5", "9007199254740992", "\"\\u0001\"",
					     "null"};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *quoted = xasprintf("'%s'", rows[i].key);

		refuses(rows[i].member, "\"other\":0", ERR_FORMAT, quoted);
		for (size_t v = 0; v < ARRAY_LEN(values); v++) {
			bool is_null = !strcmp(values[v], "null"), is_text = values[v][0] == '"';
			cleanup_free char *member = xasprintf("\"%s\":%s", rows[i].key, values[v]);
			cleanup_free char *text = with(whole, rows[i].member, member);
			struct gate_file_report got = {0};
			struct err err = {0};
			int rc = parse(text, &got, &err);
			bool fits = (is_null && rows[i].may_be_null) ||
				    (is_text && (!strcmp(rows[i].key, "ignored") ||
						 !strcmp(rows[i].key, "whyRefused") ||
						 !strcmp(rows[i].key, "transition") ||
						 !strcmp(rows[i].key, "uid")));

			if (!CHECK_INT(rc, ==, fits ? 0 : -1))
				tap_note("%s", member);
			gate_file_release(&got);
		}
	}
}

TEST(what_is_of_another_launch_or_a_later_version_is_refused_by_name)
{
	refuses(LAUNCH, FIRST, ERR_BUSY, "it is of launch " FIRST ", and the job is " LAUNCH);
	refuses(LAUNCH, "", ERR_BUSY, "it is of launch , and the job is");
	refuses("\"blue\"", "\"green\"", ERR_BUSY, "it is of the side green, and this is blue");
	refuses("\"schema\":1", "\"schema\":2", ERR_CONFIG, "'schema' is 2, and this drey reads 1");
	refuses("\"schema\":1", "\"schema\":0", ERR_FORMAT, "'schema' is 0");
	/* whatever else a later one has */
	check_refused("{\"schema\":2}", ERR_CONFIG, "use a drey-gate.jar of this drey");
	check_refused("", ERR_FORMAT, "byte 0");
	check_refused("null", ERR_FORMAT, "expected inside an object");
	check_refused("[]", ERR_FORMAT, "expected inside an object");
}

TEST(what_no_gate_says_is_refused)
{
	static const struct {
		const char *from, *to, *why;
	} rows[] = {
		{"\"number\":7", "\"number\":0", "'number' is 0, and 'word' armBlue"},
		{"\"word\":\"armBlue\"", "\"word\":null", "'number' is 7, and 'word' null"},
		{"\"number\":7,\"word\":\"armBlue\"", "\"number\":0,\"word\":null",
		 "do not go with 'null'"},
		{"\"number\":7", "\"number\":-1", "'number' is -1"},
		{"armBlue", "armRed", "'word' is armRed"},
		{"\"toggle\":1767225600000", "\"toggle\":0", "'toggle' is 0"},
		{"\"toggle\":1767225600000", "\"toggle\":-5", "'toggle' is -5"},
		{"\"toggle\":1767225600000", "\"toggle\":null", "do not go with 'armBlue'"},
		{"\"transition\":\"h1\"", "\"transition\":null", "do not go with 'armBlue'"},
		{"0123456789abcdef", "0123456789ABCDEF", "'instance' is"},
		{"0123456789abcdef", "0123456789abcde", "'instance' is"},
		{"\"number\":7", "\"number\":7,\"number\":7", "duplicate name 'number'"},
		{"\"running\":3", "\"running\":4", "'subtasks' has 3 of them, expected 4"},
		{"\"running\":3", "\"running\":2", "'subtasks' has 3 of them, expected 2"},
		{"\"parallelism\":3", "\"parallelism\":2", "'running' is 3, expected 0 to 2"},
		{"\"refused\":0", "\"refused\":4", "'refused' is 4, expected 0 to 3"},
		{"\"refused\":0", "\"refused\":1", "'acked' is 3, expected 0 to 2"},
		{"\"idle\":0", "\"idle\":4", "'idle' is 4, expected 0 to 3"},
		{"\"idle\":0", "\"idle\":1", "'crossed' is 3, expected 0 to 2"},
		{"\"withoutWatermark\":0", "\"withoutWatermark\":1", "'withoutWatermark' is 1"},
		{"\"minWatermark\":1767225600005", "\"minWatermark\":1767225599999",
		 "'minWatermark' is 1767225599999, expected 1767225600000"},
		{"armBlue\",\"toggle\":1767225600000", "open\",\"toggle\":null",
		 "'crossed' is 3, and 'toggle' null"},
		{"\"passedAbove\":2", "\"passedAbove\":-2", "gate 0: 'a': 'passedAbove' is -2"},
		{"\"withheldAbove\":5", "\"withheldAbove\":9223372036854775807", "'withheldAbove'"},
		{"\"maxSeen\":1767225600009", "\"maxSeen\":-9223372036854775808", "'maxSeen'"},
		{"\"checkpoint\":4", "\"checkpoint\":3", "'checkpoint' is 3"},
		{"1767225599000}", "1767225599000,\"activeWatermark\":1767225598999}",
		 "'activeWatermark' is 1767225598999, expected 1767225599000"},
		{"1767225599000}", "1767225599000,\"activeWatermark\":null}",
		 "'activeWatermark' is -9223372036854775808, expected 1767225599000"},
		{"\"parallelism\":3", "\"parallelism\":32769", "expected 0 to 32768"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		refuses(rows[i].from, rows[i].to, ERR_FORMAT, rows[i].why);
}

TEST(members_that_are_not_known_are_ignored)
{
	cleanup_free char *text = with(whole, "\"ended\"", "\"more\":[1],\"ended\"");
	cleanup_free char *more = with(text, "\"uid\"", "\"more\":{\"a\":1e300},\"uid\"");
	struct gate_file_report got = reads(more);

	CHECK_INT(got.report.order.number, ==, 7);
	gate_file_release(&got);
}

TEST(numbers_are_read_exactly)
{
	cleanup_free char *text =
		with(whole, "\"minWatermark\":1767225600005", "\"minWatermark\":9007199254740991");
	cleanup_free char *more =
		with(text, "\"maxSeen\":1767225600009", "\"maxSeen\":-9007199254740991");
	cleanup_free char *most =
		with(more, "\"passedAbove\":2", "\"passedAbove\":9007199254740991");
	struct gate_file_report got = reads(most);

	CHECK_INT(got.report.min_watermark_unix_ms, ==, END);
	CHECK_INT(got.report.max_seen_unix_ms, ==, -END);
	CHECK_INT(got.report.passed_above, ==, END);
	gate_file_release(&got);
}

/* ---- what it means ---- */

TEST(a_checkpoint_says_where_the_subtasks_with_records_were)
{
	cleanup_free char *text =
		with(whole, "1767225599000}", "1767225599000,\"activeWatermark\":1767225600001}");
	cleanup_free char *second = with(text, "\"minWatermark\":null}",
					 "\"minWatermark\":null,\"activeWatermark\":7}");
	struct gate_file_report got = reads(second);

	CHECK_INT(got.report.snapshots[0].active_watermark_unix_ms, ==,
		  1767225600004); /* not said */
	CHECK_INT(got.report.snapshots[1].active_watermark_unix_ms, ==, 1767225600001);
	CHECK_INT(got.report.snapshots[1].min_watermark_unix_ms, ==, 1767225599000);
	CHECK_INT(got.report.snapshots[2].active_watermark_unix_ms, ==, 7);
	gate_file_release(&got);
}

/* The lowest watermark is never one that some subtask may not have come to. */
TEST(a_watermark_counts_only_if_every_subtask_is_there)
{
	static const struct {
		const char *acked, *min, *without, *crossed, *idle;
		int64_t lowest;
		bool behind, behind_without_idle;
	} rows[] = {
		{"3", "1767225600005", "0", "3", "0", T + 5, true, true},
		{"3", "9007199254740991", "0", "3", "0", END, true,
		 true}, /* the end of the input */
		{"0", "1767225600005", "0", "3", "0", T + 5, true,
		 true}, /* not yet for this order */
		{"3", "1767225599999", "0", "2", "0", T - 1, false, false},
		{"2", "1767225600005", "0", "2", "0", GATE_NO_TIME, false,
		 false}, /* one is silent */
		{"3", "1767225600005", "1", "2", "0", GATE_NO_TIME, false, false},
		{"3", "1767225600005", "1", "2", "1", T, false, true},
		{"3", "1767225590000", "0", "2", "1", T, false, true},
		{"3", "1767225590000", "0", "1", "1", T - 10000, false, false},
		{"3", "1767225600005", "1", "1", "1", T - 1, false, false},
		{"3", "null", "3", "0", "3", T, false, true},
		{"3", "null", "3", "0", "0", GATE_NO_TIME, false, false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *counts = xasprintf(
			"\"acked\":%s,\"refused\":0,\"whyRefused\":null,\"minWatermark\":%s,"
			"\"withoutWatermark\":%s,\"crossed\":%s,\"idle\":%s",
			rows[i].acked, rows[i].min, rows[i].without, rows[i].crossed, rows[i].idle);
		cleanup_free char *text = with(
			whole,
			"\"acked\":3,\"refused\":0,\"whyRefused\":null,\"minWatermark\":1767225600005,"
			"\"withoutWatermark\":0,\"crossed\":3,\"idle\":0",
			counts);
		struct gate_file_report got = reads(text);

		if (!CHECK_INT(got.report.min_watermark_unix_ms, ==, rows[i].lowest) ||
		    !CHECK_INT(gate_is_behind(&got.report, T, false), ==, rows[i].behind) ||
		    !CHECK_INT(gate_is_behind(&got.report, T, true), ==,
			       rows[i].behind_without_idle))
			tap_note("row %zu: %s", i, counts);
		gate_file_release(&got);
	}
}

TEST(all_gates_count)
{
	static const char *const two = REPORT(GATE("a", SNAPSHOTS) "," GATE("b", SNAPSHOTS));
	cleanup_free char *waits =
		with(two, "\"acked\":3,\"refused\":0,\"whyRefused\":null",
		     "\"acked\":2,\"refused\":1,\"whyRefused\":\"it is too late\"");
	cleanup_free char *empty = with(
		whole, COUNTS "\"subtasks\":[{},{},{}]",
		"\"parallelism\":0,\"running\":0,\"acked\":0,\"refused\":0,\"whyRefused\":null,"
		"\"minWatermark\":null,\"withoutWatermark\":0,\"crossed\":0,\"idle\":0,\"maxSeen\":null,"
		"\"passedBelow\":0,\"passedAbove\":0,\"withheldBelow\":0,\"withheldAbove\":0,"
		"\"inexact\":0,\"subtasks\":[]");
	struct gate_file_report got = reads(two);
	const struct gate_order order = got.report.order;

	CHECK_INT(got.report.subtasks, ==, 6);
	CHECK_INT(got.report.passed_above, ==, 4);
	CHECK(!got.report.inexact);
	CHECK_INT(got.report.withheld_above, ==, 10);
	CHECK(gate_has_taken(&got.report, &order));
	CHECK(!gate_has_refused(&got.report, &order));
	gate_file_release(&got);

	got = reads(waits);
	CHECK(!gate_has_taken(&got.report, &order));
	CHECK(gate_has_refused(&got.report, &order));
	CHECK_STR(got.why_refused, "it is too late");
	gate_file_release(&got);

	got = reads(empty);
	CHECK(!got.report.known);
	gate_file_release(&got);

	got = reads(REPORT(""));
	CHECK(!got.report.known);
	CHECK_INT(got.report.min_watermark_unix_ms, ==, GATE_NO_TIME);
	gate_file_release(&got);
}

TEST(the_last_report_is_of_a_job_that_does_not_run)
{
	cleanup_free char *text = with(whole, "\"ended\":false", "\"ended\":true");
	struct gate_file_report got = reads(text);

	CHECK(got.ended && !got.report.known);
	CHECK(!gate_has_taken(&got.report, &got.report.order));
	CHECK(gate_has_committed(&got.report, T)); /* which is what it is for */
	gate_file_release(&got);
}

/* The owner held it back above a cut that was given up, and it is below the next one. */
TEST(one_subtask_that_does_not_know_makes_a_count_the_least)
{
	cleanup_free char *text = with(whole, "\"inexact\":0", "\"inexact\":1");
	struct gate_file_report got = reads(text);

	CHECK(got.report.inexact);
	gate_file_release(&got);
}

TEST(what_was_held_back_above_an_earlier_cut_counts)
{
	cleanup_free char *text = with(whole, "\"withheldBelow\":0,\"withheldAbove\":5",
				       "\"withheldBelow\":5,\"withheldAbove\":0");
	struct gate_file_report got = reads(text);

	CHECK_INT(got.report.withheld_above, ==, 5);
	gate_file_release(&got);
}

TEST(a_checkpoint_counts_when_all_gates_have_completed_it)
{
	cleanup_free char *two = xstrdup(REPORT(GATE("a", SNAPSHOTS) "," GATE(
		"b", SNAPSHOT("4", "1", "1767225598000") "," SNAPSHOT(
			     "5", "0", "null") "," SNAPSHOT("6", "2", "1767225600009"))));
	cleanup_free char *running = with(whole, "{\"checkpoint\":6,\"completed\":true",
					  "{\"checkpoint\":6,\"completed\":false");
	struct gate_file_report got = reads(whole);

	CHECK_INT(got.report.snapshot_count, ==, 3);
	CHECK_INT(got.report.snapshots[0].checkpoint_id, ==, 6); /* newest first */
	CHECK_INT(got.report.snapshots[2].checkpoint_id, ==, 3);
	CHECK_INT(got.report.snapshots[2].min_watermark_unix_ms, ==, GATE_NO_TIME);
	CHECK_INT(gate_clean(&got.report)->checkpoint_id, ==, 4);
	CHECK(gate_has_committed(&got.report, T + 4) && !gate_has_committed(&got.report, T + 5));
	gate_file_release(&got);

	got = reads(two);
	CHECK_INT(got.report.snapshot_count, ==, 2);
	CHECK_INT(got.report.snapshots[0].checkpoint_id, ==, 6);
	CHECK_INT(got.report.snapshots[0].withheld_above, ==, 7);
	CHECK_INT(got.report.snapshots[0].min_watermark_unix_ms, ==, T + 4);
	CHECK_INT(got.report.snapshots[1].checkpoint_id, ==, 4);
	CHECK_INT(got.report.snapshots[1].min_watermark_unix_ms, ==, T - 2000);
	CHECK(!gate_clean(&got.report));
	gate_file_release(&got);

	got = reads(running);
	CHECK_INT(got.report.snapshot_count, ==, 2);
	CHECK_INT(got.report.snapshots[0].checkpoint_id, ==, 4);
	CHECK(!gate_has_committed(&got.report, T));
	gate_file_release(&got);
}

/* ---- bounds ---- */

static char *repeated(const char *format, int count)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (int i = 0; i < count; i++) {
		buf_addf(&text, "%s", i ? "," : "");
		for (const char *at = format; *at; at++)
			if (*at == '#')
				buf_addf(&text, "%d", i);
			else
				buf_addch(&text, *at);
	}
	return xstrdup(buf_str(&text));
}

static void bound(const char *from, const char *format, int most, const char *why)
{
	cleanup_free char *fits = repeated(format, most);
	cleanup_free char *over = repeated(format, most + 1);
	cleanup_free char *good = with(whole, from, fits);
	cleanup_free char *bad = with(whole, from, over);
	struct gate_file_report got = reads(good);

	CHECK_INT(got.report.snapshot_count, <=, GATE_SNAPSHOTS);
	gate_file_release(&got);
	check_refused(bad, ERR_FORMAT, why);
}

TEST(it_has_bounds)
{
	bound(GATE("a", SNAPSHOTS), GATE("a#", ""), GATE_FILE_MAX_GATES, "'gates' has 65 of them");
	bound(SNAPSHOTS, SNAPSHOT("#", "0", "null"), GATE_FILE_SNAPSHOTS, "'snapshots' has 17");
}

TEST(more_subtasks_than_are_listed_are_counted)
{
	cleanup_free char *listed = repeated("{}", GATE_FILE_LISTED);
	cleanup_free char *wide = with(whole, "\"parallelism\":3,\"running\":3,\"acked\":3",
				       "\"parallelism\":32768,\"running\":32768,\"acked\":32768");
	cleanup_free char *crossed = with(wide, "\"crossed\":3", "\"crossed\":32768");
	cleanup_free char *text = with(crossed, "{},{},{}", listed);
	struct gate_file_report got = reads(text);

	CHECK_INT(got.report.acked, ==, 32768);
	CHECK(gate_is_behind(&got.report, T, false));
	gate_file_release(&got);
}

TEST(more_than_a_mebibyte_is_refused_unread)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct gate_file_report got = {0};
	struct err err = {0};

	buf_addf(&text, "%s%*s", whole, GATE_FILE_MAX_BYTES - (int)strlen(whole), "");
	CHECK_INT(parse(buf_str(&text), &got, &err), ==, 0);
	gate_file_release(&got);
	buf_addch(&text, ' ');
	check_refused(buf_str(&text), ERR_FORMAT, "more than the limit of 1048576");
}

/* ---- round trip ---- */

/* What a gate that follows it reports of an order is that order. */
TEST(an_order_comes_back_as_it_was_given)
{
	static const char *const keys[] = {"launch", "side", "transition",
					   "number", "word", "toggle"};

	for (int word = 0; word < GATE_WORDS; word++) {
		struct gate_order order = {INT64_C(1) << (word * 13), (enum gate_word)word,
					   word == GATE_CLOSED ? 0 : T - word};
		cleanup_buf struct buf file = BUF_INIT, text = BUF_INIT;
		struct gate_file_report got = {0};
		struct err err = {0};
		cleanup_json struct json *sent = NULL, *report = NULL;

		CHECK_INT(gate_file_order(&blue, "h\"1\\", &order, &file, &err), ==, 0);
		sent = json_parse(buf_str(&file), file.len_bytes, GATE_FILE_MAX_BYTES, &err);
		report = json_parse(REPORT(""), strlen(REPORT("")), GATE_FILE_MAX_BYTES, &err);
		for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
			json_remove(report, keys[i]);
			json_add(report, keys[i], json_copy(json_get(sent, keys[i])));
		}
		json_print(report, &text);
		CHECK_INT(parse(buf_str(&text), &got, &err), ==, 0);
		CHECK_STR(err.msg, "");
		CHECK_INT(got.report.order.number, ==, order.number);
		CHECK_INT(got.report.order.word, ==, order.word);
		CHECK_INT(got.report.order.toggle_unix_ms, ==, order.toggle_unix_ms);
		CHECK_STR(got.transition, "h\"1\\");
		gate_file_release(&got);
	}
}
