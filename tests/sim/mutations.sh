#!/usr/bin/env bash
#
# mutations.sh - shows that the simulator can fail: each deliberate bug in the core has to be caught.
#
#   tests/sim/mutations.sh [NAME...]
#
# Every mutation is a substitution in the source of agent/core; that it still applies is checked. Builds the mutants in a
# scratch directory and leaves the sources alone. TAP; SEEDS (300000) is how many histories may pass before a bug counts
# as missed.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
SEEDS=${SEEDS:-300000}
CC=${CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# NAME|FILES|PERL SUBSTITUTION: over each whole file of agent/core whose name begins with FILES
mutations() {
	cat <<'LIST'
launch before the journal has it|lifecycle|s/emit_after_write\(life, EFFECT_LAUNCH\);/life->launch_step = LAUNCH_STARTING; life->want_write = true; emit(life, EFFECT_LAUNCH);/
trigger before the journal has it|lifecycle|s/emit_after_write\(life, EFFECT_TRIGGER\)/emit(life, EFFECT_TRIGGER)/
deferred effects come out after a failed write|lifecycle|s/life->acknowledged = life->requested;\n\tif \(event->journal\.conflict\)/life->acknowledged = life->requested;\n\trelease_deferred(life);\n\tif (event->journal.conflict)/
do-not-restart is ignored|resolve|s/if \(intent->do_not_restart\)/if (false)/
the desired state is ignored|resolve|s/else if \(intent->state != DESIRED_RUNNING\)/else if (false)/
an outcome on record is ignored|resolve|s/else if \(outcome->kind != OUTCOME_NONE && !generation_is_past_failure\(in\)\)/else if (false)/
an unreadable source counts as empty|resolve|s/source->state != SOURCE_UNREADABLE\)/true)/
a damaged snapshot counts as good|resolve|s/(bool candidate_decides.*?)c->integrity == INTEGRITY_DAMAGED \|\| /$1/s; s/c->integrity == INTEGRITY_DAMAGED/false/g
an unreadable newest one is passed over|resolve|s/(bool candidate_decides\(struct inquiry \*in, struct candidate \*c\)\n\{)/$1\n\tif (c->integrity == INTEGRITY_UNREADABLE) {\n\t\tinquiry_judge(c, VERDICT_REJECTED, "x");\n\t\treturn false;\n\t}/
age by time instead of checkpoint id|resolve|s/by_id \? by_number : by_time/by_time/; s/by_id \? by_time : by_number/by_number/
an abandoned branch counts|lineage|s/BRANCH_LIVING : BRANCH_ABANDONED/BRANCH_LIVING : BRANCH_LIVING/
an empty start after state was seen|resolve|s/(static bool has_state\(const struct inquiry \*in\)\n\{)/$1\n\tif (in)\n\t\treturn false;/
a running Flink is not taken over|lifecycle|s/if \(running && !is_current/if (false && !is_current/; s/\tif \(running\) \{/\tif (running && false) {/
SIGKILL never comes|lifecycle|s/if \(due\(life, &life->kill_ms\) &&[^{]*\{/if (false) {/
a conflict of the journal is taken for a failure|lifecycle|s/if \(event->journal\.conflict\)/if (false)/
a Flink whose drey has lost the journal runs on|lifecycle|s/if \(life->launch_step == LAUNCH_LIVE \|\| life->foreign\)\n\t\tkill_flink\(life\);/;/
nobody looks whether another drey has the journal|lifecycle|s/emit\(life, EFFECT_CHECK_JOURNAL\);/;/
a wrong restore is overlooked|lifecycle|s/bool same = launch->restore_path/bool same = true || launch->restore_path/
the container ends while Flink lives|lifecycle|s/if \(life->launch_step != LAUNCH_LIVE && life->launch_step != LAUNCH_STARTING\)/if (true)/
a second stop with a new trigger id|lifecycle|s/life->step = STEP_TRIGGERING;\n\tlife->operation_poll_ms = life->now_ms \+ ASK_AGAIN_MS;/operation_clear(life);/
a request is not remembered as carried out|lifecycle|s/journal_consume\(&life->journal, decision->token\);/;/
a restore request lies in wait while the job runs|lifecycle|s/\(fields & CONTROL_RESTORE\) && lifecycle_refuses_restore\(life\)/false/
a due savepoint wakes up for ever|lifecycle|s/life->seen\.tasks_missing \|\| life->stop_retry_ms/life->seen.tasks_missing/
an interrupted operation is not looked for|resolve|s/(static bool may_be_the_result.*?\n\{)/$1\n\tif (in)\n\t\treturn false;/s
an interrupted operation takes any savepoint for its own|resolve|s/return in->journal->snapshots\[i\]\.completed_unix_ms >\s*operation->started_unix_ms;/return true;/; s/return !completed \|\| completed \+ STORAGE_CLOCK_MS >= operation->started_unix_ms;/return true;/
an interrupted operation is never settled|lifecycle|s/(void operation_settle.*?\n\{)/$1\n\tif (life)\n\t\treturn;/s
a launch does not wait for an operation to be settled|resolve|s/in->decision->settlement = SETTLEMENT_OPEN;/in->decision->settlement = SETTLEMENT_FAILED; parked = true;/
another application is waited for for ever|resolve|s/operators_compare\(other, own\) == OPERATORS_DISJOINT/false/
another application's state is taken|lineage|s/return BRANCH_FOREIGN;/return BRANCH_LIVING;/
nobody looks again after a hold|lifecycle|s/life->retry_ms = life->now_ms \+ backoff_ms\(config->hold_retry_first_ms,\s*config->hold_retry_max_ms, life->holds\);/;/
a lost answer to a POST is never followed up|lifecycle|s/life->operation_poll_ms = life->now_ms \+ wait_ms;/if (status != STATUS_UNREACHABLE)\n\t\tlife->operation_poll_ms = life->now_ms + wait_ms;/
the newest savepoint is disposed of|retention|s/snapshot == newest \|\| is_newest_of_job\(journal, snapshot\) \|\|//; s/\|\| !newest\)/)/; s/is_due\(retention, journal, snapshot, now_unix_ms\)/(retention->keep_count || retention->max_age_ms)/
a savepoint goes before the launch is proven|retention|s/!on_its_own\(journal\) \|\| //; s/is_due\(retention, journal, snapshot, now_unix_ms\)/(retention->keep_count || retention->max_age_ms)/; s/is_origin\(journal, snapshot\) \|\|//
what the job was started from is disposed of|retention|s/is_origin\(journal, snapshot\) \|\|//
the newest savepoint is known by the clock only|retention|s/is_newest_of_job\(journal, snapshot\) \|\|//
a job goes on although a savepoint is newer|resolve_ha|s/\*ret_overtaken = true;/;/
a job goes on from HA data that are damaged|resolve_ha|s/if \(c->recovery != INTEGRITY_COMPLETE\)/if (false)/
a slow answer counts as of when it came|lifecycle|s/life->polled_ms - life->seen\.not_restored_ms/life->now_ms - life->seen.not_restored_ms/
what an unknown launch has made is overlooked|resolve_foreign|s/(void foreign_check\(.*?\n\{)/$1\n\tif (in)\n\t\treturn;/s
a lost journal is a first start|resolve_foreign|s/(bool lost_journal_decides\(.*?\n\{)/$1\n\tif (in)\n\t\treturn false;/s
a request that is made again leaves newer state behind|resolve|s/in->judged_unix_ms = launch->intended_unix_ms;/;/
a request of an old journal leaves newer state behind|resolve|s/in->judged_unix_ms = request->asked_unix_ms;/;/
an order that stood there is dated now|lifecycle|s/fields & CONTROL_STANDING \? 0 : now_unix_ms/now_unix_ms/
an order of unknown age is carried out without a journal|resolve|s/\(source_unreadable\(in\) \|\| undated_request_holds\(in\)\)/false/
a request is made again by any launch from the same place|resolve|s/!launch->request_token \|\|\s*strcmp\(launch->request_token, request->token \? request->token : ""\) != 0\)/!journal_is_consumed(journal, request->token) || (request->kind == RESTORE_EMPTY ? launch->restore_path != NULL : !snapshot_same_path(launch->restore_path, request->path)))/
an old savepoint goes although the newest is damaged|lifecycle|s/if \(!event->inspected\.complete\) \{\n\t\tkeeper/if (false) {\n\t\tkeeper/
the journal keeps every launch|journal|s/trim_launches\(journal, JOURNAL_MAX_LAUNCHES\);//
the journal keeps every line of its log|journal|s/trim_log\(journal, JOURNAL_MAX_LOG\);//
a Flink of the agent before counts as unknown|lifecycle|s/if \(running && !is_current_launch\(life, running\)\)/if (running)/
an id that has left traces is used again|lifecycle|s/if \(!flink_id_is_used\(journal, facts, job_id\)\)/memset(job_id, 97, JOB_ID_BYTES - 1);\n\t\tif (true)/
a number that has left traces is used again|lifecycle|s/if \(flink_id_is_used\(journal, facts, job_id\)\)/if (false)/
a generation that has failed is tried again|resolve|s/else if \(generation_has_failed\(in\)\)/else if (false)/; s/generation_is_past_failure\(in\) && !generation_has_failed\(in\)/generation_is_past_failure(in)/
a stateless upgrade forgets what its own generation left|resolve|s/if \(launch->restore_path \|\| launch_left_state\(in, i\)\)/if (false)/
state of any age is taken|resolve|s/if \(!limit_ms \|\|/if (true || !limit_ms ||/
what was found in storage is disposed of|lifecycle|s/found\.origin = ORIGIN_FOUND/found.origin = ORIGIN_PERIODIC/
what others have made is disposed of|lifecycle|s/\.origin = ORIGIN_FOUND/.origin = ORIGIN_PERIODIC/
LIST
}

flags=(-std=gnu11 -O1 -D_GNU_SOURCE -DDREY_VERSION='"test"' -Iagent -I. -w)
BUILD=${BUILD:-build}

# Build the simulator with a mutated core. 1 = applies nowhere, 2 = does not build.
build_mutant() { # PREFIX SUBSTITUTION
	local source applied=1
	rm -f "$work"/*.o
	for source in agent/core/"$1"*.c; do
		perl -0pe "$2" "$source" >"$work/mutant.c"
		cmp -s "$source" "$work/mutant.c" && continue
		applied=0
		"$CC" "${flags[@]}" -c -o "$work/$(basename "$source").o" "$work/mutant.c" || return 2
	done
	[ $applied -eq 0 ] || return 1
	# what is named before the library is taken in place of what is in it
	"$CC" -o "$work/mutant" "$work"/*.o "$BUILD"/obj/tests/sim/*.o "$BUILD/libdrey.a" -lcjson -lcrypto || return 2
}

make -s "$BUILD/tests/sim/sim"
number=0
failed=0
while IFS='|' read -r name file substitution; do
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	number=$((number + 1))
	status=0
	build_mutant "$file" "$substitution" || status=$?
	if [ $status -ne 0 ]; then
		echo "not ok $number - $name: $([ $status -eq 1 ] && echo does not apply || echo does not build)"
		failed=1
	elif "$work/mutant" --seeds "$SEEDS" >"$work/out" 2>&1; then
		echo "not ok $number - $name: not caught in $SEEDS histories"
		failed=1
	else
		echo "ok $number - $name: $(grep -m 1 '^seed ' "$work/out" | cut -c1-110)"
	fi
done < <(mutations)
echo "1..$number"
exit $failed
