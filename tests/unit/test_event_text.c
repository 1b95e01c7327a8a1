/* Which Kubernetes Event tells of a notice: reasons and types are what docs/reference/kubernetes.md promises. */
#include "core/report/event_text.h"

#include "base/mem.h"
#include "tap.h"

#define NO_EVENT "-"

/* "Warning Reason Action: note", or NO_EVENT. */
#define CHECK_EVENT(want, ...)                                                                     \
	do {                                                                                       \
		cleanup_free char *got = event_of(&(struct notice){__VA_ARGS__});                  \
		CHECK_STR(got, want);                                                              \
	} while (0)

static char *event_of(const struct notice *notice)
{
	struct event_text text;
	char *line;

	if (!event_text(notice, &text))
		return xstrdup(NO_EVENT);
	line = xasprintf("%s %s %s: %s", text.warning ? "Warning" : "Normal", text.reason,
			 text.action, text.note ? text.note : "");
	event_text_release(&text);
	return line;
}

TEST(a_phase_is_told_by_its_cause_or_its_name)
{
	CHECK_EVENT("Normal Running Supervise: job 1 runs", .type = NOTICE_PHASE,
		    .phase = PHASE_RUNNING, .text = "job 1 runs");
	CHECK_EVENT("Normal Finished Supervise: it is over", .type = NOTICE_PHASE,
		    .phase = PHASE_FINISHED, .cause = CAUSE_FINISHED, .text = "it is over");
}

TEST(what_a_person_has_to_look_at_is_a_warning)
{
	CHECK_EVENT("Warning Failed Supervise: ", .type = NOTICE_PHASE, .phase = PHASE_FAILED);
	CHECK_EVENT("Warning StopFailed Supervise: ", .type = NOTICE_PHASE, .phase = PHASE_RUNNING,
		    .cause = CAUSE_STOP_FAILED);
	CHECK_EVENT("Warning JobNotRunning Supervise: ", .type = NOTICE_PHASE,
		    .phase = PHASE_RUNNING, .cause = CAUSE_JOB_NOT_RUNNING);
	CHECK_EVENT("Warning StorageUnreadable Supervise: ", .type = NOTICE_PHASE,
		    .phase = PHASE_HOLDING, .cause = CAUSE_STORAGE_UNREADABLE);
}

TEST(a_hold_that_a_person_has_asked_for_is_none)
{
	CHECK_EVENT("Normal DoNotRestart Supervise: ", .type = NOTICE_PHASE, .phase = PHASE_HOLDING,
		    .cause = CAUSE_DO_NOT_RESTART, .do_not_restart = true);
}

TEST(where_a_new_agent_begins_is_no_event)
{
	CHECK_EVENT(NO_EVENT, .type = NOTICE_PHASE, .phase = PHASE_FAILED, .known = true);
}

TEST(an_operation_names_its_savepoint_or_what_went_wrong)
{
	CHECK_EVENT("Normal SavepointCompleted Operate: savepoint (manual): file:/sp/1",
		    .type = NOTICE_OPERATION, .kind = OPERATION_SAVEPOINT, .reason = REASON_MANUAL,
		    .ok = true, .path = "file:/sp/1");
	CHECK_EVENT("Warning StopFailed Operate: stop (suspend): expired", .type = NOTICE_OPERATION,
		    .kind = OPERATION_STOP, .reason = REASON_SUSPEND, .path = "file:/sp/1",
		    .text = "expired");
	CHECK_EVENT("Normal CheckpointCompleted Operate: checkpoint 12 (manual): file:/cp/chk-12",
		    .type = NOTICE_OPERATION, .kind = OPERATION_CHECKPOINT, .reason = REASON_MANUAL,
		    .ok = true, .checkpoint_id = 12, .path = "file:/cp/chk-12");
	CHECK_EVENT("Warning CheckpointFailed Operate: checkpoint (periodic): no",
		    .type = NOTICE_OPERATION, .kind = OPERATION_CHECKPOINT,
		    .reason = REASON_PERIODIC, .text = "no");
	CHECK_EVENT("Normal CancelCompleted Operate: cancel (cancel)", .type = NOTICE_OPERATION,
		    .kind = OPERATION_CANCEL, .reason = REASON_CANCEL, .ok = true);
}

TEST(a_launch_is_told_when_it_is_verified_and_proven)
{
	CHECK_EVENT("Normal RestoreVerified Launch: file:/sp/1", .type = NOTICE_RESTORE_VERIFIED,
		    .path = "file:/sp/1");
	CHECK_EVENT("Normal RestoreVerified Launch: started without state, as decided",
		    .type = NOTICE_RESTORE_VERIFIED);
	CHECK_EVENT("Normal Proven Launch: the first checkpoint of this launch is complete",
		    .type = NOTICE_PROVEN);
}

TEST(a_fence_is_a_warning)
{
	CHECK_EVENT("Warning TakenOver Supervise: another drey", .type = NOTICE_FENCED,
		    .text = "another drey");
}

TEST(checkpoints_that_cannot_be_restored_are_a_warning_and_their_end_is_not)
{
	CHECK_EVENT("Warning CheckpointsUnusable Supervise: gone", .type = NOTICE_REVIEW,
		    .text = "gone");
	CHECK_EVENT("Normal CheckpointsUsable Supervise: fine", .type = NOTICE_REVIEW, .ok = true,
		    .text = "fine");
}

TEST(settings_that_may_lose_state_are_a_warning_and_their_end_is_not)
{
	CHECK_EVENT("Warning SettingsOverridden Supervise: deletes", .type = NOTICE_SETTINGS,
		    .text = "deletes");
	CHECK_EVENT("Normal SettingsAsConfigured Supervise: fine", .type = NOTICE_SETTINGS,
		    .ok = true, .text = "fine");
}

TEST(checkpoints_that_fail_are_a_warning_and_their_end_is_not)
{
	CHECK_EVENT("Warning CheckpointsFailing Supervise: 3 failed", .type = NOTICE_CHECKPOINTS,
		    .phase = PHASE_RUNNING, .text = "3 failed");
	CHECK_EVENT("Normal CheckpointsCompleting Supervise: in time", .type = NOTICE_CHECKPOINTS,
		    .phase = PHASE_RUNNING, .ok = true, .text = "in time");
}

TEST(each_state_of_a_hand_over_has_its_event)
{
	CHECK_EVENT("Normal HandoverOffered HandOver: hand-over h2-1 to new: new prepares",
		    .type = NOTICE_HANDOVER, .handover = HANDOVER_OFFERED,
		    .text = "hand-over h2-1 to new: new prepares");
	CHECK_EVENT("Normal HandoverPrepared HandOver: ", .type = NOTICE_PREPARED);
	CHECK_EVENT("Normal HandoverStopping HandOver: ", .type = NOTICE_HANDOVER,
		    .handover = HANDOVER_STOPPING);
	CHECK_EVENT("Normal HandoverGranted HandOver: ", .type = NOTICE_HANDOVER,
		    .handover = HANDOVER_GRANTED);
	CHECK_EVENT("Normal HandoverTaken HandOver: ", .type = NOTICE_HANDOVER,
		    .handover = HANDOVER_TAKEN);
	CHECK_EVENT("Normal HandoverDone HandOver: ", .type = NOTICE_HANDOVER,
		    .handover = HANDOVER_DONE);
	CHECK_EVENT("Normal HandoverGivenUp HandOver: ", .type = NOTICE_HANDOVER,
		    .handover = HANDOVER_NONE);
	CHECK_EVENT("Warning HandoverReturned HandOver: main() threw", .type = NOTICE_HANDOVER,
		    .handover = HANDOVER_RETURNED, .text = "main() threw");
	CHECK_EVENT("Warning HandoverRefused HandOver: not in time", .type = NOTICE_HANDOVER,
		    .handover = HANDOVER_REFUSED, .text = "not in time");
}

TEST(each_state_of_a_transition_has_its_event)
{
	static const char *const words[TRANSITION_STATES] = {
		[TRANSITION_OFFERED] = "Normal HandoverOffered HandOver: why",
		[TRANSITION_SEEDING] = "Normal TransitionSeeding HandOver: why",
		[TRANSITION_SEEDED] = "Normal TransitionSeeded HandOver: why",
		[TRANSITION_SHADOW] = "Normal TransitionShadow HandOver: why",
		[TRANSITION_ARMING] = "Normal TransitionArming HandOver: why",
		[TRANSITION_ARMED] = "Normal TransitionArmed HandOver: why",
		[TRANSITION_CROSSING] = "Normal TransitionCrossing HandOver: why",
		[TRANSITION_CROSSED] = "Normal TransitionCrossed HandOver: why",
		[TRANSITION_ABORTING] = "Warning TransitionAborting HandOver: why",
	};

	for (int i = 0; i < TRANSITION_STATES; i++)
		if (words[i])
			CHECK_EVENT(words[i], .type = NOTICE_TRANSITION, .transition = i,
				    .text = "why");
	CHECK_EVENT("Normal TransitionCaughtUp HandOver: why", .type = NOTICE_CAUGHT_UP,
		    .text = "why");
}

TEST(a_pod_that_has_given_the_job_away_does_not_warn_of_a_hold)
{
	CHECK_EVENT(NO_EVENT, .type = NOTICE_PHASE, .phase = PHASE_HOLDING,
		    .cause = CAUSE_STANDING_BY);
	CHECK_EVENT(NO_EVENT, .type = NOTICE_PHASE, .phase = PHASE_HOLDING,
		    .cause = CAUSE_HANDOVER_RETURNED);
}

TEST(what_its_phase_tells_is_not_told_twice)
{
	CHECK_EVENT(NO_EVENT, .type = NOTICE_ENDED, .phase = PHASE_FAILED);
	CHECK_EVENT(NO_EVENT, .type = NOTICE_ATTEMPT_FAILED, .phase = PHASE_RESOLVING);
}
