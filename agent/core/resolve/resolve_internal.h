/*
 * resolve_internal - what the rules share. Private to them.
 *
 *   resolve.c             the order of the rules and vetoes; rule 5, unreadable sources
 *   resolve_inquiry.c     how a rule writes its decision
 *   resolve_park.c        rules 1 and 2: the journal forbids a start
 *   resolve_result.c      rule 2: how the last launch ended, by Flink's record; only its savepoint
 *                         counts
 *   resolve_settle.c      rule 3: the operation in flight when Flink ended
 *   resolve_request.c     rule 4: a person's order
 *   resolve_candidates.c  rule 6: which candidates count, the newest of them
 *   resolve_loss.c        what a start would give up, because newer state is damaged
 *   resolve_traces.c      rule 8: what launches leave behind besides snapshots
 *   resolve_heads.c       which savepoints must be read to be compared
 *   resolve_candidate.c   classifies candidates, and tells which of two is newer
 *   resolve_generation.c  what another generation or Flink version may do, and what a failed one
 *                         may not
 *   resolve_ha.c          rule 7: Flink's own HA
 *   resolve_nothing.c     rule 8: nothing to start from; empty starts
 *   resolve_foreign.c     snapshots that no launch of ours made; a journal that is lost or too old
 *   resolve_sight.c       a job whose checkpoints drey cannot tell apart
 *   resolve_adopt.c       the same, when the newest of them may be taken without a person
 *   resolve_gates.c       the same, when a blue/green upgrade was under way
 *   resolve_copy.c        what the journal's copy in storage says, when the journal is lost or too old
 *
 * A rule that "decides" returns true when it has written the decision (which may be a question). A
 * veto finds a start decided, and returns true when it has replaced that decision.
 */
#ifndef DREY_CORE_RESOLVE_INTERNAL_H
#define DREY_CORE_RESOLVE_INTERNAL_H

#include "core/resolve/lineage.h"
#include "core/resolve/resolve.h"

#define JOB_GROUP_DIGITS 6 /* number of digits of its job id in a savepoint's name */

/* Lives for one call of resolve(). */
struct inquiry {
	const struct journal *journal;
	struct facts *facts;
	const struct policy *policy;
	struct decision *decision;
	struct lineage lineage;
	size_t *order; /* indices of the candidates that count, newest first in each group */
	size_t order_count;
	int64_t judged_unix_ms; /* a request is carried out: its author knew what existed then */
	bool undated;           /* a request is carried out, and its time is unknown */
	bool adopts;            /* the journal has no launch, and what is found counts as ours */
	/* a request is carried out again; the first time was with another line of Flink */
	bool other_line;
	/* The job was stopped with this savepoint, or a person has named it: only this may be
	 * started from. NULL = none; borrowed */
	const char *promised;
	const char *not_continued; /* why Flink's HA data are not used; NULL = no such data */
	const char *not_continued_detail; /* NULL = no more detail */
};

/* ---- resolve.c ---- */

/* A source other than the journal, the initial savepoint and Flink's record
 * of the end cannot be read. */
bool source_is_unreadable(struct inquiry *in);

/* ---- resolve_inquiry.c ---- */

void inquiry_decide(struct inquiry *in, enum decision_kind kind, enum rule rule, const char *fmt,
		    ...) __attribute__((format(printf, 4, 5)));

/* The same for decisions not to start: HOLD, or PARK. */
void inquiry_hold(struct inquiry *in, enum cause cause, enum rule rule, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
void inquiry_park(struct inquiry *in, enum cause cause, enum rule rule, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Append to the reason of the decision. */
void inquiry_add(struct inquiry *in, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void inquiry_judge(struct candidate *c, enum verdict verdict, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Candidates not judged yet were passed over for this reason. */
void inquiry_judge_rest(struct inquiry *in, enum verdict verdict, const char *why);

/* Request a check of c; or what the job consists of. */
void inquiry_verify(struct inquiry *in, const struct candidate *c, enum rule rule);
void inquiry_ask_job(struct inquiry *in, enum rule rule);
const char *inquiry_detail(const char *detail); /* never empty */

/* ---- resolve_park.c ---- */

bool desired_state_parks(struct inquiry *in);
bool outcome_parks(struct inquiry *in);

/* Stopped or cancelled from outside drey while do-not-restart was on: it applies only as long as
 * that is on. */
bool outcome_is_suspension(const struct outcome *outcome);

/* PARK for an outcome, by rule 2. `stop`: the savepoint with which the job was
 * stopped; NULL = none is known. */
void inquiry_park_outcome(struct inquiry *in, enum outcome_kind kind, const char *reason,
			  const char *stop);

/* ---- resolve_request.c ---- */

/* A request that was not carried out yet. */
bool request_decides(struct inquiry *in);

/* A launch that was never proven does not consume its restore point. A launch that a person
 * requested is therefore repeated in the same way as long as it has left no state of its own. */
bool repeated_request_decides(struct inquiry *in);

/* ---- resolve_result.c ---- */

/* The last launch has ended, or it is unknown whether it has. */
bool result_decides(struct inquiry *in);

/* The savepoint of a suspension, or the one that a new generation names; NULL =
 * there is none. Borrowed. */
const char *promise_of_outcome(const struct inquiry *in);

/* The promised savepoint is unusable, or is not the newest state: an older one, or one that was not
 * intended, is not used instead. */
bool promise_forbids(struct inquiry *in);

/* ---- resolve_generation.c ---- */

/* The recorded outcome is that a generation has failed, and it is not the one that would be
 * launched now. */
bool generation_is_past_failure(const struct inquiry *in);

/* What would be launched now has used up its attempts before, without completing a checkpoint. */
bool generation_has_failed(const struct inquiry *in);

/* Another generation than that of launch `index`, and it names as its initial savepoint exactly the
 * newest state of it: a person wants the job to continue from there, whatever its outcome. `stop`:
 * the savepoint with which that launch was stopped; NULL = none is known. */
bool generation_names_newest(const struct inquiry *in, int index, const char *stop);

/* The same for the launch of the recorded outcome. */
bool generation_is_asked_for(const struct inquiry *in);

/* Upgrades are declared stateless, and no launch of this generation has left state yet. */
bool generation_starts_empty(const struct inquiry *in);

/* What cannot be read, and would tell whether this generation has left state; NULL = nothing, or upgrades are not stateless. */
const struct candidate *generation_unread(const struct inquiry *in);

/* The Flink version of the launch that made this checkpoint, when it is of another line (1.20, 2.3)
 * than what would be launched: across lines only savepoints are meant to be readable. If that
 * launch is not in the journal: of the last one that was started from it. NULL: a savepoint, the
 * same line, or not known. Borrowed from the journal. */
const char *generation_other_line(const struct inquiry *in, const struct candidate *c);

/* Was it made with a Flink line other than the one that would be launched? */
bool launch_is_of_other_line(const struct inquiry *in, const struct launch *launch);

/* It has completed something, from what was decided, wherever that is. */
bool launch_left_state(const struct launch *launch);

/* The restore request is for a generation other than the one that would be launched. */
bool order_is_for_other(const struct inquiry *in);

/* A request for the newest state is in force: the launch that is decided may leave state out. */
void order_permits(struct inquiry *in);

/* ---- resolve_settle.c ---- */

/* The operation in flight must be settled before anything else, except when nothing is started
 * anyway (rules 1 and 2). */
bool operation_decides(struct inquiry *in);

/* ---- resolve_candidates.c ---- */

/* Classify each candidate; with a journal without launches the decision is made here. */
bool lost_journal_decides(struct inquiry *in);

/* Sort the candidates that count; one of unknown age must be checked first. */
bool unknown_age_decides(struct inquiry *in);

bool newest_decides(struct inquiry *in);

/* Is the decided snapshot too old to be used automatically? */
bool age_forbids(struct inquiry *in);

/* Choose c or say why it cannot be used now; `rule` is the one that picked it. */
void candidate_take(struct inquiry *in, struct candidate *c, enum rule rule, const char *why);

/* A savepoint of the last launch that Flink reported too late for it to be inspected, so that its
 * checkpoint id is unknown, that is not found, and that may be newer than c; NULL = none. */
const struct snapshot *candidate_vanished(const struct inquiry *in, const struct candidate *c);

/* ---- resolve_loss.c ---- */

/* The newest snapshot newer than c that Flink's HA data name and that the storage does not have; NULL =
 * there is none. */
const struct candidate *candidate_missing(const struct inquiry *in, const struct candidate *c);

/* When it was completed; of its own date and the one on record the older, since a copied file has the date of the copy. 0 = not
 * known. */
int64_t candidate_started_unix_ms(const struct inquiry *in, const struct candidate *c);

/* What was passed over because it is damaged is lost with this start: is that too much? */
bool loss_forbids(struct inquiry *in);

/* ---- resolve_traces.c ---- */

/* restore.adopt: newest, and the last that is known of the application is that its job has finished. */
bool finished_trace_decides(struct inquiry *in);

/* c would be adopted, but Flink has recorded that its job finished, or another one after it: hold. */
bool trace_forbids_adoption(struct inquiry *in, const struct candidate *c);

/* An earlier launch has left something else than snapshots. */
bool traces_decide(struct inquiry *in);

/* What a hold for a request of unknown age begins and ends with; the first takes its token. */
#define REQUEST_MAY_BE_OLD                                                                         \
	"the restore request %s was already there when drey first read its inputs, and may have been carried out before the journal was lost: the journal has no launch, but "
#define REQUEST_WAYS_OUT                                                                           \
	"; to confirm the request, repeat it with a new token or with `drey resume`, else use `drey resume --from PATH`"

/* A request of unknown age, and such a launch may have come after it: it may be the one that carried the request out. */
bool traces_hold_request(struct inquiry *in);

/* ---- resolve_heads.c ---- */

/* A rule that compares checkpoint ids will be asked, and some are not read: all of them must be. */
bool heads_all_decide(struct inquiry *in);

/* Among the sorted candidates are some that must be read to know which is the newest. */
bool heads_decide(struct inquiry *in);

/* ---- resolve_candidate.c ---- */

/* The candidate that the request names; NULL = not found. */
struct candidate *requested_candidate(const struct inquiry *in);

/* The configured initial savepoint, or a former one. */
bool candidate_is_initial(const struct candidate *c);
bool candidate_is_damaged(const struct candidate *c); /* loudly: it was complete once */

/* The initial savepoint is older than anything that a launch of ours has made, whatever its
 * checkpoint id. It stays in force until a launch that was started from it is proven. */
bool candidate_is_fallback(const struct inquiry *in, const struct candidate *c);

/* Made by a launch that had restored something else than was decided. */
bool candidate_is_tainted(const struct inquiry *in, const struct candidate *c);

/* A snapshot of ours that was completed once, whether or not it is usable now and allowed by the
 * policy; NULL = none. Without a journal every trace counts. */
const struct candidate *candidate_trace(const struct inquiry *in);

/* The newest living one that is not proven unusable, whatever the policy; NULL = none. */
struct candidate *candidate_newest_own(struct inquiry *in);

/* No launch has ever run, and none is known to have left anything. */
bool inquiry_never_ran(const struct inquiry *in);

/* Of those that fit, beside `than` (NULL: nothing), the one with the newest date, whoever made it; NULL = none. */
typedef bool candidate_test(const struct inquiry *in, const struct candidate *c,
			    const struct candidate *than);
struct candidate *candidate_newest_dated(const struct inquiry *in, candidate_test *fits,
					 const struct candidate *than);

/* Negative when a is newer; inside one job by checkpoint id, else by time of completion. */
int candidate_compare_age(const struct snapshot *a, const struct snapshot *b, bool by_id);
bool candidate_same_job(const struct candidate *a, const struct candidate *b);

/* ---- resolve_nothing.c ---- */

bool stateless_decides(struct inquiry *in);
bool stateless_upgrade_decides(struct inquiry *in);
bool nothing_decides(struct inquiry *in);

/* ---- resolve_ha.c ---- */

/* The current launch can continue under its own ids. */
bool continue_decides(struct inquiry *in);

/* A start is decided, and leftovers of an earlier launch in Flink's HA must be removed first: can
 * they be? */
bool leftovers_forbid(struct inquiry *in);

/* ---- resolve_foreign.c ---- */

/* The journal has no launches, but the directories contain snapshots: hold. */
bool journal_is_lost(struct inquiry *in);

/* The snapshot counts against an empty journal: it is not the initial savepoint, not clearly older
 * than that, and not in a directory that is declared as shared. The newest such snapshot, NULL = none. */
bool foreign_counts(const struct inquiry *in, const struct candidate *c);
struct candidate *foreign_newest(const struct inquiry *in);
bool foreign_is_there(const struct inquiry *in);

/* The journal has no launches, and a request of unknown age would abandon existing snapshots: it
 * may have been carried out long ago, by a launch lost from the journal. */
bool undated_request_holds(struct inquiry *in);

/* There are foreign snapshots: the operators of our own must be known, to tell them apart. */
bool foreign_matters(const struct inquiry *in);

/* Flink's HA has a job that no launch in the journal had, started from something else. */
bool unknown_launch_forbids(struct inquiry *in);

/* Is there a newer snapshot than the decided one that no launch of ours made? */
bool foreign_forbids(struct inquiry *in);

/* May a person's request for c, which is not ours, be carried out? False: decided. */
bool foreign_request_passes(struct inquiry *in, struct candidate *c);

/* ---- resolve_sight.c ---- */

/* Its code has made the last launch write its checkpoints where newer ones than the decided cannot be told apart,
 * or not be listed. */
bool sight_forbids(struct inquiry *in);

/* ---- resolve_adopt.c ---- */

/* The journal is lost, and restore.adopt allows to take what is found. */
bool adopt_applies(const struct inquiry *in);

/* c is the newest: is it certainly this job's, and certainly the newest? True: decided. False: it
 * may be taken, or it has been rejected because it is another job's. */
bool adopt_decides(struct inquiry *in, struct candidate *c);

/* ---- resolve_gates.c ---- */

/* c is the newest and was read, and there is no journal: were records held back in it that the other version of a blue/green
 * upgrade was to write? True: it asks for an older one, or holds. */
bool gates_decide(struct inquiry *in, struct candidate *c);

/* The same of the newest that a lost journal has left, before it is named. */
bool lost_gates_decide(struct inquiry *in);

/* ---- resolve_copy.c ---- */

/* The journal has no launch that ran, but its copy in storage has, or cannot be used. */
bool copy_decides(struct inquiry *in);

/* The copy knows a launch that was decided after that: what was requested then was carried out, or given up, before the journal was
 * put back. */
bool copy_is_past(const struct inquiry *in, int64_t unix_ms);

/* The journal was put back: the copy is newer, and has a launch that has run and that the journal does not have. */
bool copy_forbids(struct inquiry *in);

/* The copy is newer than the journal, and says that drey has stopped or cancelled this job. `path`: with
 * this savepoint; NULL = any end. */
bool copy_made_end(const struct inquiry *in, const struct launch *launch, enum operation_kind kind,
		   const char *path);

/* Such an end, and the copy also says that the job is not to run: hold. False: it is to run. */
bool copy_end_holds(struct inquiry *in);

enum operators {
	OPERATORS_UNKNOWN,
	OPERATORS_DISJOINT,
	OPERATORS_OVERLAP, /* some on the left are missing on the right */
	OPERATORS_WITHIN,  /* all on the left are also on the right */
};
enum operators operators_compare(const struct candidate *left, const struct candidate *right);
enum operators operators_of_job(const struct candidate *left, const struct job_fact *job);

#endif
