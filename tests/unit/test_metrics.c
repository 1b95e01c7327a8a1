#include "run/outputs/metrics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

#define NOW 1700000000123

struct rig {
	struct lifecycle_config config;
	struct lifecycle life;
	struct metrics metrics;
	struct conditions conditions;
	struct buf text;
};

static void rig_begin(struct rig *rig)
{
	struct journal journal;
	struct rng rng = {0};

	memset(rig, 0, sizeof(*rig));
	rig->config.max_attempts = 3;
	rig->config.attempts_window_ms = 600000;
	rig->config.flink_version = "2.3.0";
	journal_init(&journal, "or\"ders\\\n");
	lifecycle_init(&rig->life, &rig->config, &journal, &rng);
}

static void rig_end(struct rig *rig)
{
	lifecycle_release(&rig->life);
	buf_release(&rig->text);
}

static void count(struct rig *rig, enum event_type type)
{
	struct event event = {.type = type};

	metrics_event(&rig->metrics, &event);
}

static void tell(struct rig *rig, struct notice notice)
{
	metrics_notice(&rig->metrics, &notice);
}

static const char *text(struct rig *rig)
{
	static const struct conditions_outside nothing;

	conditions_update(&rig->conditions, &rig->life, &nothing, NOW);
	buf_clear(&rig->text);
	metrics_text(&rig->metrics, &rig->life, NULL, &rig->conditions, NOW, &rig->text);
	return buf_str(&rig->text);
}

#define CHECK_SAMPLE(rig, sample) CHECK_HAS(text(rig), "\n" sample "\n")

static void add_launch(struct rig *rig, const char *path, enum snapshot_kind kind)
{
	struct launch *launch = journal_add_launch(&rig->life.journal);

	launch->restore_path = xstrdup(path);
	launch->restore_kind = kind;
	launch->started_unix_ms = NOW - 5000;
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

RIG_TEST(a_standstill_has_its_word)
{
	CHECK(!strstr(text(rig), "\ndrey_cause{"));
	rig->life.phase = PHASE_HOLDING;
	rig->life.cause = CAUSE_STORAGE_UNREADABLE;
	CHECK_SAMPLE(rig, "drey_cause{cause=\"StorageUnreadable\"} 1");
}

RIG_TEST(states_are_one_for_exactly_one_label)
{
	const char *at;
	int ones = 0;

	rig->life.phase = PHASE_RUNNING;
	rig->life.launch_step = LAUNCH_LIVE;
	rig->life.seen.job_present = rig->life.seen.reachable = true;
	rig->life.seen.state = JOB_RUNNING;
	rig->life.journal.intent.do_not_restart = true;
	CHECK_SAMPLE(rig, "drey_phase{phase=\"Running\"} 1");
	CHECK_SAMPLE(rig, "drey_phase{phase=\"Holding\"} 0");
	CHECK_SAMPLE(rig, "drey_job_state{state=\"RUNNING\"} 1");
	CHECK_SAMPLE(rig, "drey_desired_state{state=\"running\"} 1");
	CHECK_SAMPLE(rig, "drey_do_not_restart 1");
	CHECK_SAMPLE(rig, "drey_flink_reachable 1");
	for (at = text(rig); (at = strstr(at, "\ndrey_phase{")); at++)
		ones += strcspn(at + 1, "\n") > 2 && at[strcspn(at + 1, "\n")] == '1';
	CHECK_INT(ones, ==, 1);
	rig->life.launch_step = LAUNCH_NONE;
	CHECK_SAMPLE(rig, "drey_job_state{state=\"UNKNOWN\"} 1");
	CHECK_SAMPLE(rig, "drey_flink_reachable 0");
}

RIG_TEST(the_tasks_and_what_they_lack_are_told)
{
	CHECK(!strstr(text(rig), "\ndrey_tasks"));
	CHECK(!strstr(text(rig), "\ndrey_slots"));
	rig->life.phase = PHASE_RUNNING;
	rig->life.launch_step = LAUNCH_LIVE;
	rig->life.seen.job_present = rig->life.seen.reachable = true;
	rig->life.seen.state = JOB_RUNNING;
	CHECK_SAMPLE(rig, "drey_ready 1");
	rig->life.seen.tasks_missing = true;
	rig->life.seen.cluster = (struct cluster){
		.tasks_known = true, .slots_known = true, .tasks_total = 12, .tasks_waiting = 12};
	CHECK_SAMPLE(rig, "drey_ready 0");
	CHECK_SAMPLE(rig, "drey_phase{phase=\"Running\"} 1");
	CHECK_SAMPLE(rig, "drey_cause{cause=\"JobNotRunning\"} 1");
	CHECK_SAMPLE(rig, "drey_tasks 12");
	CHECK_SAMPLE(rig, "drey_tasks_running 0");
	CHECK_SAMPLE(rig, "drey_task_managers 0");
	CHECK_SAMPLE(rig, "drey_slots 0");
	CHECK(!strstr(text(rig), "\ndrey_job_restarts"));
	rig->life.seen.restarts_known = true;
	rig->life.seen.restarts = 555;
	CHECK_SAMPLE(rig, "drey_job_restarts 555");
}

RIG_TEST(labels_are_escaped)
{
	CHECK_HAS(text(rig), "application=\"or\\\"ders\\\\\\n\",flink_version=\"2.3.0\"} 1\n");
}

RIG_TEST(what_is_not_known_has_no_sample)
{
	CHECK(!strstr(text(rig), "\ndrey_savepoint_last"));
	CHECK(!strstr(text(rig), "\ndrey_checkpoint_last"));
	CHECK(!strstr(text(rig), "\ndrey_savepoint_next"));
	CHECK(!strstr(text(rig), "\ndrey_operation_start"));
	CHECK_HAS(text(rig), "# TYPE drey_savepoint_last_size_bytes gauge\n");
	CHECK_SAMPLE(rig, "drey_launches_total 0");
}

TEST(before_the_journal_is_read_it_says_what_it_is)
{
	struct metrics metrics = {0};
	struct buf out = BUF_INIT;

	metrics_text(&metrics, NULL, NULL, &(struct conditions){0}, NOW, &out);
	CHECK_HAS(buf_str(&out), "drey_build_info{version=\"" DREY_VERSION "\"");
	CHECK(!strstr(buf_str(&out), "drey_phase"));
	buf_release(&out);
}

RIG_TEST(restores_are_counted_by_what_was_restored)
{
	tell(rig, (struct notice){.type = NOTICE_RESTORE_VERIFIED});
	CHECK_SAMPLE(rig, "drey_restores_total{kind=\"empty\"} 1");
	tell(rig, (struct notice){.type = NOTICE_RESTORE_VERIFIED,
				  .path = "file:/sp/1",
				  .restored = SNAPSHOT_SAVEPOINT});
	tell(rig, (struct notice){.type = NOTICE_RESTORE_VERIFIED,
				  .path = "file:/ck/1",
				  .restored = SNAPSHOT_CHECKPOINT});
	tell(rig, (struct notice){.type = NOTICE_PROVEN});
	CHECK_SAMPLE(rig, "drey_restores_total{kind=\"savepoint\"} 1");
	CHECK_SAMPLE(rig, "drey_restores_total{kind=\"checkpoint\"} 1");
	CHECK_SAMPLE(rig, "drey_restores_total{kind=\"empty\"} 1");
}

RIG_TEST(the_last_launch_is_shown)
{
	add_launch(rig, NULL, SNAPSHOT_CHECKPOINT);
	CHECK_SAMPLE(rig, "drey_launch_restore_verified 0");
	CHECK_SAMPLE(rig, "drey_launch_start_timestamp_seconds 1699999995.123");
	add_launch(rig, "file:/sp/1", SNAPSHOT_SAVEPOINT);
	rig->life.journal.launches[1].verified_unix_ms = NOW;
	CHECK_SAMPLE(rig, "drey_launch_restore_verified 1");
	CHECK_SAMPLE(rig, "drey_launches_total 2");
}

RIG_TEST(operations_are_counted_by_kind_reason_and_result)
{
	struct notice notice = {.type = NOTICE_OPERATION,
				.kind = OPERATION_SAVEPOINT,
				.reason = REASON_PERIODIC,
				.ok = true,
				.took_ms = 2500,
				.path = "file:/sp/1"};

	tell(rig, notice);
	tell(rig, notice);
	notice.ok = false;
	notice.took_ms = 9000;
	tell(rig, notice);
	CHECK_SAMPLE(rig, "drey_operations_total{kind=\"savepoint\",reason=\"periodic\",result="
			  "\"ok\"} 2");
	CHECK_SAMPLE(rig, "drey_operations_total{kind=\"savepoint\",reason=\"periodic\",result="
			  "\"failed\"} 1");
	CHECK_SAMPLE(rig, "drey_savepoint_last_duration_seconds 2.500");
	notice.ok = true;
	notice.took_ms = -3000; /* the clock was set back */
	tell(rig, notice);
	notice.took_ms = 4000; /* a cancel has no savepoint */
	notice.path = NULL;
	tell(rig, notice);
	CHECK_SAMPLE(rig, "drey_savepoint_last_duration_seconds 2.500");
}

RIG_TEST(failures_holds_and_ends_are_counted)
{
	struct event end = {.type = EVENT_EXITED, .process.oom_killed = true};
	struct notice holds = {
		.type = NOTICE_PHASE, .from = PHASE_RESOLVING, .phase = PHASE_HOLDING};

	tell(rig, holds);
	holds.from = PHASE_HOLDING; /* for another cause */
	tell(rig, holds);
	tell(rig, (struct notice){.type = NOTICE_PHASE, .phase = PHASE_LAUNCHING});
	metrics_event(&rig->metrics, &end);
	count(rig, EVENT_EXITED);
	tell(rig, (struct notice){.type = NOTICE_ATTEMPT_FAILED});
	tell(rig, (struct notice){.type = NOTICE_ATTEMPT_FAILED});
	CHECK_SAMPLE(rig, "drey_holds_total 1");
	CHECK_SAMPLE(rig, "drey_failed_attempts_total 2");
	CHECK_SAMPLE(rig, "drey_attempts_failed 0");
	journal_add_failure(&rig->life.journal, NOW - 1000);
	CHECK_SAMPLE(rig, "drey_attempts_failed 1");
	CHECK_SAMPLE(rig, "drey_failed_attempts_total 2");
	CHECK_SAMPLE(rig, "drey_flink_ends_total 2");
	CHECK_SAMPLE(rig, "drey_flink_oom_kills_total 1");
	rig->metrics.spare_ready = true;
	rig->metrics.spares = 3;
	rig->metrics.spare_launches = 2;
	CHECK_SAMPLE(rig, "drey_spare_ready 1");
	CHECK_SAMPLE(rig, "drey_spares_total 3");
	CHECK_SAMPLE(rig, "drey_spare_launches_total 2");
}

RIG_TEST(journal_writes_are_counted)
{
	count(rig, EVENT_JOURNAL_WRITTEN);
	count(rig, EVENT_JOURNAL_WRITTEN);
	count(rig, EVENT_JOURNAL_FAILED);
	rig->life.journal_broken = true;
	rig->life.acknowledged = 17;
	CHECK_SAMPLE(rig, "drey_journal_writes_total 2");
	CHECK_SAMPLE(rig, "drey_journal_write_failures_total 1");
	CHECK_SAMPLE(rig, "drey_journal_broken 1");
	CHECK_SAMPLE(rig, "drey_journal_sequence 17");
}

RIG_TEST(the_newest_snapshots_are_shown)
{
	struct snapshot savepoint = {.path = (char *)"file:/sp/1",
				     .kind = SNAPSHOT_SAVEPOINT,
				     .checkpoint_id = 7,
				     .size_bytes = 4096,
				     .completed_unix_ms = NOW};

	journal_add_snapshot(&rig->life.journal, &savepoint);
	add_launch(rig, NULL, SNAPSHOT_CHECKPOINT);
	rig->life.journal.launches[0].last_checkpoint_id = 9;
	rig->life.journal.launches[0].last_checkpoint_unix_ms = NOW + 7;
	add_launch(rig, NULL, SNAPSHOT_CHECKPOINT);
	rig->life.now_unix_ms = NOW;
	rig->life.now_ms = 1000;
	rig->life.savepoint_ms = 61000;
	CHECK_SAMPLE(rig, "drey_savepoint_last_timestamp_seconds 1700000000.123");
	CHECK_SAMPLE(rig, "drey_savepoint_last_size_bytes 4096");
	CHECK_SAMPLE(rig, "drey_savepoint_last_checkpoint_id 7");
	CHECK_SAMPLE(rig, "drey_checkpoint_last_id 9");
	CHECK_SAMPLE(rig, "drey_checkpoint_last_timestamp_seconds 1700000000.130");
	CHECK_SAMPLE(rig, "drey_savepoint_next_timestamp_seconds 1700000060.123");
}

/* ---- hand-overs ---- */

static void hands_over(struct rig *rig, enum handover_state state)
{
	rig->config.handover.mode = HANDOVER_SURGE;
	xstrset(&rig->life.journal.handover.id, "h2-00000001");
	rig->life.journal.handover.state = state;
}

RIG_TEST(without_hand_overs_nothing_is_said_of_them)
{
	CHECK_HAS(text(rig), "# TYPE drey_handover_state gauge\n");
	CHECK(!strstr(text(rig), "\ndrey_handover"));
	CHECK(!strstr(text(rig), "\ndrey_role"));
}

RIG_TEST(the_state_of_a_hand_over_is_one_of_all)
{
	hands_over(rig, HANDOVER_STOPPING);
	rig->life.journal.handover.deadline_unix_ms = NOW + 300000;
	CHECK(!strstr(text(rig), "\ndrey_transition"));
	CHECK_SAMPLE(rig, "drey_handover_state{state=\"stopping\"} 1");
	CHECK_SAMPLE(rig, "drey_handover_state{state=\"none\"} 0");
	CHECK_SAMPLE(rig, "drey_handover_state{state=\"refused\"} 0");
	CHECK_SAMPLE(rig, "drey_handover_deadline_timestamp_seconds 1700000300.123");
	CHECK_SAMPLE(rig, "drey_role{role=\"owner\"} 1");
	CHECK_SAMPLE(rig, "drey_role{role=\"candidate\"} 0");
	CHECK_SAMPLE(rig, "drey_handover_returned 0");
	hands_over(rig, HANDOVER_DONE); /* one that is over has no limit */
	CHECK(!strstr(text(rig), "\ndrey_handover_deadline"));
	rig->life.handover.given = true;
	hands_over(rig, HANDOVER_GRANTED);
	CHECK_SAMPLE(rig, "drey_role{role=\"reserve\"} 1");
}

RIG_TEST(the_parts_of_a_hand_over_are_timed)
{
	struct handover *handover = &rig->life.journal.handover;

	hands_over(rig, HANDOVER_TAKEN);
	handover->started_unix_ms = NOW;
	handover->prepared_unix_ms = NOW + 12500;
	handover->stopping_unix_ms = NOW + 13000;
	handover->granted_unix_ms = NOW + 13300;
	handover->taken_unix_ms = NOW + 13340;
	CHECK_SAMPLE(rig, "drey_handover_seconds{part=\"prepare\"} 12.500");
	CHECK_SAMPLE(rig, "drey_handover_seconds{part=\"stop\"} 0.300");
	CHECK_SAMPLE(rig, "drey_handover_seconds{part=\"take\"} 0.040");
	CHECK(!strstr(text(rig), "part=\"run\"")); /* it has not ended */
	handover->done_unix_ms = NOW + 14340;
	CHECK_SAMPLE(rig, "drey_handover_seconds{part=\"run\"} 1.000");
	handover->taken_unix_ms = NOW + 13000; /* by the clock of another machine */
	CHECK(!strstr(text(rig), "part=\"take\""));
}

RIG_TEST(the_ends_of_hand_overs_are_counted_on_record)
{
	struct handover *handover = &rig->life.journal.handover;

	hands_over(rig, HANDOVER_OFFERED);
	handover->ends = (struct handover_ends){.done = 4, .returned = 2, .refused = 1, .none = 3};
	handover->tries = 1;
	xstrset(&handover->returned, "main() threw");
	CHECK_SAMPLE(rig, "drey_handovers_total{result=\"done\"} 4");
	CHECK_SAMPLE(rig, "drey_handovers_total{result=\"returned\"} 2");
	CHECK_SAMPLE(rig, "drey_handovers_total{result=\"refused\"} 1");
	CHECK_SAMPLE(rig, "drey_handovers_total{result=\"none\"} 3");
	CHECK_SAMPLE(rig, "drey_handover_tries 1");
	CHECK_SAMPLE(rig, "drey_handover_returned 1");
}

RIG_TEST(the_state_of_a_transition_is_one_of_all)
{
	struct transition *transition = &rig->life.journal.handover.transition;

	hands_over(rig, HANDOVER_OFFERED);
	rig->config.handover.mode = HANDOVER_BLUE_GREEN;
	CHECK_SAMPLE(rig, "drey_transition_state{state=\"none\"} 1");
	CHECK(!strstr(text(rig), "\ndrey_transition_doubled_records"));
	xstrset(&transition->id, "h2-00000001");
	transition->state = TRANSITION_CROSSING;
	transition->above = 3;
	transition->below = 4;
	CHECK_SAMPLE(rig, "drey_transition_state{state=\"crossing\"} 1");
	CHECK_SAMPLE(rig, "drey_transition_state{state=\"none\"} 0");
	CHECK_SAMPLE(rig, "drey_transition_doubled_records 7");
}

RIG_TEST(a_pod_that_is_not_the_owner_tells_only_of_itself)
{
	struct standby standby = {.verdict = {.role = ROLE_CANDIDATE}};
	static const struct conditions_outside nothing;
	struct buf out = BUF_INIT;

	rig->config.handover.mode = HANDOVER_SURGE;
	rig->life.phase = PHASE_PREPARED;
	rig->life.cause = CAUSE_PREPARING;
	conditions_update(&rig->conditions, &rig->life, &nothing, NOW);
	metrics_text(&rig->metrics, &rig->life, &standby, &rig->conditions, NOW, &out);
	CHECK_HAS(buf_str(&out), "\ndrey_role{role=\"candidate\"} 1\n");
	CHECK_HAS(buf_str(&out), "\ndrey_phase{phase=\"Prepared\"} 1\n");
	CHECK_HAS(buf_str(&out), "\ndrey_cause{cause=\"Preparing\"} 1\n");
	CHECK_HAS(buf_str(&out), "\ndrey_ready 0\n");
	CHECK(!strstr(buf_str(&out), "drey_desired_state"));
	CHECK(!strstr(buf_str(&out), "drey_handover"));
	buf_release(&out);
}

RIG_TEST(a_pod_that_has_given_the_job_away_does_not_hold)
{
	tell(rig, (struct notice){.type = NOTICE_PHASE,
				  .from = PHASE_STOPPING,
				  .phase = PHASE_HOLDING,
				  .cause = CAUSE_STANDING_BY});
	tell(rig, (struct notice){.type = NOTICE_PHASE,
				  .from = PHASE_LAUNCHING,
				  .phase = PHASE_HOLDING,
				  .cause = CAUSE_HANDOVER_RETURNED});
	CHECK_SAMPLE(rig, "drey_holds_total 0");
}

/* ---- docs/reference/metrics.md; the tests run from the top of the tree ---- */

static void read_doc(struct buf *ret)
{
	FILE *file = fopen("docs/reference/metrics.md", "r");
	char chunk[4096];
	size_t got;

	if (!CHECK(file != NULL))
		return;
	while ((got = fread(chunk, 1, sizeof(chunk), file)))
		buf_add(ret, chunk, got);
	fclose(file);
}

RIG_TEST(checkpoints_are_told_as_flink_tells_them)
{
	CHECK(!strstr(text(rig), "\ndrey_checkpoints_"));
	rig->life.phase = PHASE_RUNNING;
	rig->life.launch_step = LAUNCH_LIVE;
	rig->life.seen.job_present = rig->life.seen.reachable = true;
	rig->life.seen.statistics_ms = rig->life.seen.progress_ms = 1;
	add_launch(rig, NULL, SNAPSHOT_CHECKPOINT);
	rig->life.seen.checkpointing = (struct checkpointing){.completed = 17,
							      .failed = 4,
							      .in_progress = 1,
							      .failures = 2,
							      .duration_ms = 1500,
							      .size_bytes = 4096,
							      .processed_bytes = 10,
							      .persisted_bytes = 20};
	rig->life.seen.plan = (struct checkpoint_plan){.known = true, .interval_ms = 10000};
	CHECK_SAMPLE(rig, "drey_checkpoints_failing 0");
	CHECK_SAMPLE(rig, "drey_checkpoints_completed 17");
	CHECK_SAMPLE(rig, "drey_checkpoints_failed 4");
	CHECK_SAMPLE(rig, "drey_checkpoints_in_progress 1");
	CHECK_SAMPLE(rig, "drey_checkpoint_failures 2");
	CHECK_SAMPLE(rig, "drey_checkpoint_interval_seconds 10.000");
	CHECK_SAMPLE(rig, "drey_checkpoint_last_duration_seconds 1.500");
	CHECK_SAMPLE(rig, "drey_checkpoint_last_size_bytes 4096");
	CHECK_SAMPLE(rig, "drey_checkpoint_last_processed_bytes 10");
	CHECK_SAMPLE(rig, "drey_checkpoint_last_persisted_bytes 20");
	rig->config.health.checkpoint_failures = 2;
	CHECK_SAMPLE(rig, "drey_checkpoints_failing 1");
	CHECK_SAMPLE(rig, "drey_cause{cause=\"CheckpointsFailing\"} 1");
	CHECK_SAMPLE(rig, "drey_ready 1");
	rig->life.seen.statistics_failed = true;
	CHECK(!strstr(text(rig), "\ndrey_checkpoints_failing "));
}

RIG_TEST(lost_state_is_counted_until_it_is_settled)
{
	struct state_loss *loss = &rig->life.journal.loss;

	CHECK_SAMPLE(rig, "drey_lost_state_seconds 0.000");
	loss->unix_ms = 1;
	loss->ms = 60000;
	loss->total_ms = 182500;
	CHECK_SAMPLE(rig, "drey_lost_state_seconds 182.500");
	state_loss_release(loss);
	CHECK_SAMPLE(rig, "drey_lost_state_seconds 0.000");
}

RIG_TEST(the_document_names_every_metric_with_its_type)
{
	struct buf doc = BUF_INIT;
	char name[128], type[32], row[200];
	int families = 0, rows = 0;

	read_doc(&doc);
	for (const char *at = text(rig); (at = strstr(at, "# TYPE ")); at++) {
		CHECK_INT(sscanf(at, "# TYPE %127s %31s", name, type), ==, 2);
		snprintf(row, sizeof(row), "\n| `%s` | %s |", name, type);
		if (!CHECK(strstr(buf_str(&doc), row) != NULL))
			tap_note("docs/reference/metrics.md has no row for %s (%s)", name, type);
		CHECK(!strcmp(type, "counter") ==
		      !strcmp(name + strlen(name) - strlen("_total"), "_total"));
		families++;
	}
	for (const char *at = buf_str(&doc); (at = strstr(at, "\n| `drey_")); at++)
		rows++;
	CHECK_INT(families, ==, rows);
	CHECK_INT(families, >, 30);
	buf_release(&doc);
}
