/* Any bytes as a report of the gates. What is accepted keeps its promises. */
#include <string.h>

#include "core/handover/gate_file.h"
#include "must.h"

static void check_watermark(const struct gate_report *report)
{
	int64_t lowest = report->min_watermark_unix_ms;

	must(lowest == GATE_NO_TIME ||
	     (lowest >= -GATE_FILE_MAX_NUMBER - 1 && lowest <= GATE_FILE_MAX_NUMBER));
	if (report->order.toggle_unix_ms &&
	    gate_is_behind(report, report->order.toggle_unix_ms, true))
		must(report->known && report->running == report->subtasks);
}

static void check_snapshots(const struct gate_report *report)
{
	must(report->snapshot_count <= GATE_SNAPSHOTS);
	for (size_t i = 0; i < report->snapshot_count; i++) {
		const struct gate_snapshot *snapshot = &report->snapshots[i];

		must(snapshot->confirmed && snapshot->withheld_above >= 0);
		must(snapshot->min_watermark_unix_ms <= GATE_FILE_MAX_NUMBER);
		must(!i || snapshot->checkpoint_id < report->snapshots[i - 1].checkpoint_id);
	}
}

static void check_report(const struct gate_file_report *found)
{
	const struct gate_report *report = &found->report;
	struct gate_order order = report->order;

	must(strlen(found->instance) == GATE_FILE_INSTANCE_SZ - 1);
	must(!(report->known && found->ended));
	must(order.number >= 0 && order.toggle_unix_ms >= 0 && order.word < GATE_WORDS);
	must(order.number || (!order.toggle_unix_ms && order.word == GATE_CLOSED));
	must(report->running >= 0 && report->running <= report->subtasks);
	must(report->acked + report->refused <= report->running);
	must(report->idle >= 0 && report->idle <= report->running);
	must(report->passed_above >= 0 && report->passed_below >= 0 && report->withheld_above >= 0);
	must(!gate_has_taken(report, &order) || !gate_has_refused(report, &order));
	check_watermark(report);
	check_snapshots(report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	const struct gate_file_job job = {"00000000000012340000000000000001", SIDE_BLUE};
	struct gate_file_report report = {.written_unix_ms = -1};
	struct err err = {0};

	if (gate_file_parse(&job, (const char *)data, size_bytes, &report, &err)) {
		must(err.kind == ERR_FORMAT || err.kind == ERR_CONFIG || err.kind == ERR_BUSY);
		must(err.msg[0] && report.written_unix_ms == -1 && !report.transition);
		return 0;
	}
	must(err.kind == ERR_NONE);
	check_report(&report);
	gate_file_release(&report);
	return 0;
}
