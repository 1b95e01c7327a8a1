#include "core/handover/gate_record.h"

#include "core/handover/gate.h"

#define SNAPSHOT(name, kind, ...) FIELD(name, kind, struct gate_snapshot, __VA_ARGS__)
#define REPORT(name, kind, ...)   FIELD(name, kind, struct gate_report, __VA_ARGS__)

static const struct field report_fields[] = {
	REPORT("known", BOOL, known),
	REPORT("number", KNOWN, order.number),
	REPORT("word", WORD, order.word, .words = gate_words),
	REPORT("toggleUnixMs", KNOWN, order.toggle_unix_ms),
	REPORT("subtasks", SMALL, subtasks, .unknown = -1, .needed = true),
	REPORT("running", SMALL, running, .unknown = -1, .needed = true),
	REPORT("acked", SMALL, acked, .unknown = -1, .needed = true),
	REPORT("refused", SMALL, refused, .unknown = -1, .needed = true),
	REPORT("idle", SMALL, idle, .unknown = -1, .needed = true),
	REPORT("minWatermarkUnixMs", KNOWN, min_watermark_unix_ms, .unknown = GATE_NO_TIME),
	REPORT("maxSeenUnixMs", KNOWN, max_seen_unix_ms, .unknown = GATE_NO_TIME),
	REPORT("passedAbove", KNOWN, passed_above, .unknown = -1, .needed = true),
	REPORT("withheldAbove", KNOWN, withheld_above, .unknown = -1, .needed = true),
	REPORT("passedBelow", KNOWN, passed_below, .unknown = -1, .needed = true),
	REPORT("inexact", BOOL, inexact),
};
const struct record gate_report_table = RECORD(struct gate_report, report_fields);

static const struct field snapshot_fields[] = {
	SNAPSHOT("checkpointId", KNOWN, checkpoint_id, .key = true),
	SNAPSHOT("confirmed", BOOL, confirmed),
	SNAPSHOT("withheldAbove", KNOWN, withheld_above, .unknown = -1),
	SNAPSHOT("minWatermarkUnixMs", KNOWN, min_watermark_unix_ms, .unknown = GATE_NO_TIME),
};
static const struct record snapshot_table = RECORD(struct gate_snapshot, snapshot_fields);

static void write_count(struct json *to, const void *from)
{
	const struct gate_report *report = from;

	json_add_i64(to, "snapshots", (int64_t)report->snapshot_count);
}

static int read_count(const struct json *from, void *to, struct err *err)
{
	struct gate_report *report = to;
	int64_t count = json_i64_or(from, "snapshots", 0);

	if (count < 0 || count > GATE_SNAPSHOTS)
		return err_set(err, ERR_FORMAT, 0, "'snapshots': %lld is out of range",
			       (long long)count);
	report->snapshot_count = (size_t)count;
	return 0;
}

/* They are no list, which would be memory of its own. */
#define AT(index) REPORT("snapshot" #index, RECORD, snapshots[index], .record = &snapshot_table)
static const struct field whole_fields[] = {
	REPORT("report", RECORD, known, .record = &gate_report_table),
	AT(0),
	AT(1),
	AT(2),
	AT(3),
	AT(4),
	AT(5),
	AT(6),
	AT(7),
	REPORT("snapshots", OWN, snapshot_count, .write = write_count, .read = read_count),
};
_Static_assert(GATE_SNAPSHOTS == 8, "a member for each snapshot");
const struct record gate_report_whole_table = RECORD(struct gate_report, whole_fields);
