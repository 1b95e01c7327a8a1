/*
 * What the pods of a Deployment share: the ConfigMap of the candidate, and Flink's leader lock of
 * each side, which a JVM holds for 15 s after each renewal. And what must be true of them.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "tests/sim/sim.h"

#define LEASE_MS   15000
#define RENEW_MS   2000
#define GIVE_UP_MS 13000 /* Flink ends its job before others may lead */

#define EXITED(status) ((status) << 8)

/* ---- the leader lock ---- */

bool flink_is_held(const struct flink *flink)
{
	return *flink->held_id != '\0';
}

static struct leader *leader_of(struct world *w)
{
	return &w->leaders[w->flink->side];
}

static bool is_mine(const struct world *w, const struct leader *leader)
{
	return leader->pod == w->pod && leader->epoch == w->epochs[SCOPE_FLINK];
}

bool leader_is(struct world *w)
{
	struct leader *leader = leader_of(w);

	if (is_mine(w, leader))
		return true;
	if (is_cut_off(w) || (leader->pod >= 0 && w->now_ms < leader->until_ms))
		return false;
	*leader = (struct leader){
		.pod = w->pod, .epoch = w->epochs[SCOPE_FLINK], .until_ms = w->now_ms + LEASE_MS};
	w->flink->renewed_ms = w->now_ms;
	say(w, "Flink of pod %s leads %s", w->pods[w->pod].name, side_name(w->flink->side));
	return true;
}

void leader_start(struct world *w)
{
	if (!flink_is_held(w->flink))
		w->flink->side = w->config->handover.me.side;
	plan(w, RENEW_MS, ITEM_RENEW, SCOPE_FLINK);
}

static void renew(struct world *w)
{
	struct leader *leader = leader_of(w);

	plan(w, RENEW_MS, ITEM_RENEW, SCOPE_FLINK);
	if (!is_mine(w, leader))
		return;
	if (!is_cut_off(w)) {
		leader->until_ms = w->now_ms + LEASE_MS;
		w->flink->renewed_ms = w->now_ms;
		if (w->flink->uncleaned)
			flink_cleans_up(w);
		flink_judge_again(w);
	} else if (w->now_ms >= w->flink->renewed_ms + GIVE_UP_MS - RENEW_MS) {
		say(w, "Flink of pod %s leads no more: it could not renew", w->pods[w->pod].name);
		if (!flink_survives_its_leadership(w)) {
			flink_end(w, EXITED(239), true);
			return;
		}
		leader->epoch = UINT64_MAX; /* it stays there until it has run out */
		flink_leads_no_more(w);
	}
}

/* Called with the epoch that follows that of the dead one. */
void leader_ended(struct world *w, bool clean)
{
	struct leader *leader = leader_of(w);

	if (leader->pod != w->pod || leader->epoch + 1 != w->epochs[SCOPE_FLINK])
		return;
	if (clean && !is_cut_off(w))
		leader->pod = -1;
	else if (w->agent->alive && odds(w, 700))
		plan(w, between(w, 50, 1000), ITEM_LOCK_BACK, SCOPE_WORLD)->a =
			(int64_t)leader->epoch;
}

static void give_back(struct world *w, const struct item *item)
{
	for (int i = 0; i < SIDES; i++)
		if (!is_cut_off(w) && w->leaders[i].pod == w->pod &&
		    w->leaders[i].epoch == (uint64_t)item->a)
			w->leaders[i].pod = -1;
}

/* Flink deletes the map of a cluster whose application has finished. */
void leader_job_over(struct world *w)
{
	struct leader *leader = leader_of(w);

	if (is_mine(w, leader) && w->flink->state == JOB_FINISHED)
		leader->pod = -1;
}

/* ---- a Flink that waits in main() ---- */

void flink_start_held(struct world *w, const char *job_id, enum side side)
{
	struct flink *flink = w->flink;
	bool bad = !strcmp(w->config->generation, "bad") && !w->calm;

	*flink = (struct flink){.alive = true,
				.base = -1,
				.restored = -1,
				.restored_before = -1,
				.completed = -1,
				.cached_ms = -1,
				.stop_op = -1,
				.side = side,
				.joined_ms = w->now_ms + between(w, 0, 20 * SECOND_MS)};
	memcpy(flink->held_id, job_id, JOB_ID_BYTES);
	w->epochs[SCOPE_FLINK]++;
	w->epochs[SCOPE_JOB]++;
	say(w, "Flink of pod %s starts, held: job %.6s on %s", w->pods[w->pod].name, job_id,
	    side_name(side));
	if (chance(w, w->chaos.start_fails) || (bad && odds(w, 400)))
		plan(w, between(w, 100, 20000), ITEM_FLINK_EXIT, SCOPE_FLINK)->a = EXITED(1);
	plan(w, between(w, 300, 8000), ITEM_REST_UP, SCOPE_FLINK);
	leader_start(w);
}

/* A held launch is decided by one agent and let go by the next one, if that dies in between: what has
 * happened to its snapshot since then is for Flink to find. */
bool handover_struck_since(const struct world *w, int base)
{
	const struct launch *launch = journal_launch_const(&w->agent->life.journal);

	return base >= 0 && launch->held &&
	       w->storage.snaps[base].struck_unix_ms > launch->intended_unix_ms;
}

/* The agent writes the go file, and nothing else: where no JVM waits for it nothing starts. */
void handover_goes(struct world *w)
{
	const struct launch *launch = journal_launch(&w->agent->life.journal);
	bool held = w->flink->alive && !strcmp(w->flink->held_id, launch->job_id);
	struct item *answer;

	if (held) {
		oracle_launch(w);
		w->figures->launches++;
		plan(w, between(w, 1, 50), ITEM_GO, SCOPE_FLINK)->launch =
			truth_find(w, launch->job_id);
	}
	answer = plan(w, between(w, 0, 5), ITEM_STARTED, SCOPE_AGENT);
	memcpy(answer->id, launch->job_id, JOB_ID_BYTES);
}

static void go(struct world *w, const struct item *item)
{
	struct flink *flink = w->flink;
	struct truth_launch *truth = &w->truth.launches[item->launch];
	bool main_held = flink->main_held;
	bool bad = !strcmp(w->config->generation, "bad") && !w->calm;

	if (!flink_is_held(flink))
		return;
	say(w, "main() of job %s is let go, from %s", truth->job_id,
	    truth->argument >= 0 ? w->storage.snaps[truth->argument].path : "nothing");
	*flink->held_id = '\0';
	flink->launch = item->launch;
	flink->base = truth->argument;
	flink->checkpoint_dir = w->pods[w->pod].dirs[SNAPSHOT_CHECKPOINT];
	flink->savepoint_dir = w->pods[w->pod].dirs[SNAPSHOT_SAVEPOINT];
	flink->retained = (int)between(w, 1, 3);
	flink->checkpoint_interval_ms = between(w, 5, 120) * SECOND_MS;
	flink->checkpoint_takes_ms = between(w, 50, 20000);
	flink->ignores_term = chance(w, w->chaos.term_ignored);
	flink->cancel_ignored = chance(w, w->chaos.cancel_ignored);
	flink->wrong = chance(w, w->chaos.wrong_restore);
	truth->executed = true;
	if (bad)
		plan(w, between(w, 10, 5000), ITEM_FLINK_EXIT, SCOPE_FLINK)->a = EXITED(163);
	if (main_held)
		plan(w, between(w, 5, 500), ITEM_SUBMIT, SCOPE_FLINK);
}

/* ---- who hears of whom ---- */

void handover_news(struct world *w)
{
	int self = w->pod;

	for (int i = 0; i < PODS; i++) {
		if (!w->pods[i].agent.alive || !w->pods[i].agent.stands)
			continue;
		world_enter(w, i);
		/* a watch may break: then the next regular look finds it */
		if (!is_cut_off(w) && !chance(w, 50))
			plan(w, between(w, 5, 200), ITEM_STAND_NEWS, SCOPE_AGENT);
	}
	world_enter(w, self);
}

void handover_tell(struct world *w)
{
	int self = w->pod;

	for (int i = 0; i < PODS; i++) {
		world_enter(w, i);
		if (!w->agent->alive || w->agent->stands)
			continue;
		for (int which = 0; which < PLACES; which++)
			plan(w, between(w, 5, chance(w, 100) ? 8000 : 300), ITEM_CANDIDATE,
			     SCOPE_AGENT)
				->a = which;
	}
	world_enter(w, self);
}

/* ---- what must be true ---- */

/* Every pod, for people who look for the reason of a failure. */
void handover_describe(struct world *w)
{
	for (int i = 0; i < PODS; i++) {
		const struct pod *pod = &w->pods[i];
		const struct lifecycle *life = &pod->agent.life;
		const struct candidate_seen *seen = &life->handover.seen[PLACE_CANDIDATE];

		if (!pod->exists)
			continue;
		if (pod->agent.alive && pod->agent.stands)
			say(w, "pod %s (%s): %s, %s", pod->name, w->templates[pod->template].text,
			    role_name(pod->agent.standby.verdict.role), pod->agent.standby.reason);
		else if (pod->agent.alive)
			say(w,
			    "pod %s (%s): %s, step %d, hand-over %s is %s: %s; candidate %s, state %d, wanted %d, seen %d s ago, tries %d, asked %d, answer %d",
			    pod->name, w->templates[pod->template].text, phase_name(life->phase),
			    (int)life->operation.step,
			    life->journal.handover.id ? life->journal.handover.id : "-",
			    handover_state_name(life->journal.handover.state),
			    life->journal.handover.why ? life->journal.handover.why : "-",
			    seen->present ? seen->party.pod : "-", (int)seen->state,
			    (int)seen->wanted,
			    (int)((w->now_ms + MONOTONIC_BASE_MS - seen->seen_ms) / SECOND_MS),
			    (int)life->journal.handover.tries, (int)life->journal.handover.asked,
			    (int)seen->answer);
		else
			say(w, "pod %s (%s): no agent", pod->name,
			    w->templates[pod->template].text);
	}
}

/* The write has passed the comparison of its sequence number. */
static bool may_write(const struct world *w, const struct journal *stored)
{
	const char *uid = w->pods[w->pod].uid, *place = w->pods[w->pod].place;
	enum claim claim = w->agent->life.handover.claim;
	size_t len = strlen(place);

	if (!stored->owner.uid || party_is(&stored->owner, uid))
		return true;
	/* what gave it away is written once more: the answer was lost */
	if (stored->writer && !strncmp(stored->writer, place, len) && stored->writer[len] == '/')
		return true;
	/* takes it back, or follows one that is gone: only with its first write */
	return (claim == CLAIM_BACK || claim == CLAIM_SUCCEED || claim == CLAIM_FORCE) &&
	       !w->agent->life.has_written;
}

void handover_store(struct world *w, const struct journal *written)
{
	const struct journal *stored = &w->store.image->journal;
	const struct handover *handover = &written->handover;

	if (w->store.exists && !may_write(w, stored))
		fail(w, "pod %s writes the journal of %s", w->pods[w->pod].name, stored->owner.pod);
	if (w->ids.count && *handover->job_id &&
	    !(w->store.exists && !strcmp(handover->job_id, stored->handover.job_id)))
		ids_judge(w, handover->job_id, written);
	if (w->store.exists && handover->state == stored->handover.state)
		return;
	w->figures->handovers += handover->state == HANDOVER_DONE;
	w->figures->returned += handover->state == HANDOVER_RETURNED;
	w->figures->forced += handover->state == HANDOVER_TAKEN && handover->forced;
}

/* It may commit output, or will again by itself. */
static bool runs_the_job(const struct flink *flink)
{
	return flink->alive && flink->job_present && flink->has_run &&
	       !job_state_is_final(flink->state) && flink->state != JOB_UNKNOWN;
}

void handover_one_job(struct world *w)
{
	int running = 0;

	for (int i = 0; i < PODS; i++)
		running += runs_the_job(&w->pods[i].flink);
	if (running > 1)
		fail(w, "the job runs twice");
	for (int i = 0; i < PODS; i++) {
		struct agent *agent = &w->pods[i].agent;

		if (!agent->alive || agent->stands || !agent->life.fenced ||
		    !w->pods[i].flink.alive || w->now_ms < w->pods[i].paused_until_ms)
			agent->fenced_ms = -1;
		else if (agent->fenced_ms < 0)
			agent->fenced_ms = w->now_ms;
		else if (w->now_ms > agent->fenced_ms + 5 * SECOND_MS)
			fail(w, "a drey that has lost the journal does not kill its Flink");
	}
}

void handover_item(struct world *w, const struct item *item)
{
	switch (item->kind) {
	case ITEM_RENEW:
		renew(w);
		break;
	case ITEM_LOCK_BACK:
		give_back(w, item);
		break;
	case ITEM_GO:
		go(w, item);
		break;
	default:
		break;
	}
}
