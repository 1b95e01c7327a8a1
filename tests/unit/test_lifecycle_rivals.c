/*
 * Two pods of one application without Flink's own HA, `fencing: strict` and `default`, from seeds: partitions, slow and lost answers of the API server, agents
 * that are stopped for as long as it takes, pods that die and are replaced, and drey-init, which does what it was told last. Is there
 * ever a moment with two Flinks?
 */
#include <stdlib.h>

#include "base/buf.h"
#include "life.h"

#define PODS     2
#define TICK_MS  100
#define LEASE_MS 30000
#define SEEDS    30
#define HOURS_MS (2 * 3600 * INT64_C(1000))

struct late_answer {
	enum event_type
		type; /* JOURNAL_WRITTEN, JOURNAL_FAILED, JOURNAL_SEEN, OBSERVED, VIEW, ... */
	int64_t at_ms, sequence;
	bool conflict, unknown, used;
};

struct pod {
	struct lifecycle life;
	struct lifecycle_config config;
	char place[32], flink_id[JOB_ID_BYTES];
	bool up, flink;
	int64_t known;                     /* sequence that it has read or written last */
	int64_t lease_ms, cut_ms, stop_ms; /* until when */
	struct late_answer answers[16];
};

struct world {
	struct pod pods[PODS];
	struct rng rng;
	struct buf journal;
	int64_t now_ms, sequence, both_ms, longest_ms, ran_ms;
	bool strict, healthy; /* no partition, and no agent is stopped */
	int made, launches;
	const char *writer;
};

static int64_t below(struct world *w, int64_t n)
{
	return (int64_t)rng_below(&w->rng, (uint64_t)n);
}

static struct late_answer *answer_in(struct world *w, struct pod *pod, enum event_type type,
				     int64_t ms)
{
	for (size_t i = 0; i < ARRAY_LEN(pod->answers); i++)
		if (!pod->answers[i].used) {
			pod->answers[i] = (struct late_answer){
				.type = type, .at_ms = w->now_ms + ms, .used = true};
			return &pod->answers[i];
		}
	abort();
}

static bool is_writer(const struct world *w, const struct pod *pod)
{
	return w->sequence == pod->known;
}

/* What the server does, it does at once; the answer takes its time, or never comes. */
static void write_journal(struct world *w, struct pod *pod, int64_t sequence)
{
	bool cut = w->now_ms < pod->cut_ms, lost = below(w, 20) == 0;
	bool ours = is_writer(w, pod);
	struct late_answer *answer = answer_in(
		w, pod, cut || lost || !ours ? EVENT_JOURNAL_FAILED : EVENT_JOURNAL_WRITTEN,
		cut || lost ? 5000 : below(w, 3000));

	answer->sequence = sequence;
	answer->conflict = !cut && !ours && !lost;
	if (cut || !ours)
		return;
	buf_release(&w->journal);
	CHECK_INT(journal_encode(&pod->life.journal, &w->journal, NULL), ==, 0);
	w->sequence = pod->known = sequence;
}

static void check_journal_now(struct world *w, struct pod *pod)
{
	bool cut = w->now_ms < pod->cut_ms, ours = is_writer(w, pod);
	struct late_answer *answer = answer_in(w, pod, EVENT_JOURNAL_SEEN,
					       cut ? 10000 : below(w, w->healthy ? 4000 : 8000));

	answer->unknown = cut;
	if (cut || ours)
		return;
	answer->type = EVENT_JOURNAL_FAILED;
	answer->sequence = -1; /* that of the last write, when it comes */
	answer->conflict = true;
}

static void kill_flink_of(struct world *w, struct pod *pod)
{
	if (pod->flink)
		answer_in(w, pod, EVENT_EXITED, below(w, 300));
	pod->flink = false;
}

static void carry_out(struct world *w, struct pod *pod, const struct effect *effect)
{
	switch (effect->type) {
	case EFFECT_OBSERVE:
		answer_in(w, pod, EVENT_OBSERVED, below(w, 2000));
		break;
	case EFFECT_WRITE_JOURNAL:
		write_journal(w, pod, effect->sequence);
		break;
	case EFFECT_CHECK_JOURNAL:
		check_journal_now(w, pod);
		break;
	case EFFECT_LEASE:
		pod->lease_ms = effect->until_ms;
		break;
	case EFFECT_LAUNCH:
		if (w->strict && w->now_ms >= pod->lease_ms) {
			answer_in(w, pod, EVENT_REFUSED, 0);
			break;
		}
		pod->flink = true;
		w->launches++;
		answer_in(w, pod, EVENT_STARTED, below(w, 500));
		break;
	case EFFECT_POLL:
		answer_in(w, pod, EVENT_VIEW, below(w, 1000));
		break;
	case EFFECT_SIGNAL:
		kill_flink_of(w, pod);
		break;
	default:
		break;
	}
}

static void send(struct world *w, struct pod *pod, const struct event *event)
{
	struct effects out = {0};

	/* two wall clocks that have nothing to do with each other */
	lifecycle_step(&pod->life, event, w->now_ms,
		       UNIX_START + w->now_ms + (pod == w->pods ? 0 : 7200000), &out);
	for (size_t i = 0; i < out.count; i++)
		carry_out(w, pod, &out.list[i]);
	effects_clear(&out);
}

static void send_answer(struct world *w, struct pod *pod, const struct late_answer *answer)
{
	const struct launch *launch = journal_launch_const(&pod->life.journal);
	struct facts facts = {0};
	struct decision decision = {.kind = DECISION_START_EMPTY, .settled = NO_CANDIDATE};
	struct event event = {.type = answer->type};

	if (answer->type == EVENT_OBSERVED) {
		event.observed.facts = &facts;
		event.observed.decision = &decision;
	} else if (answer->type == EVENT_VIEW) {
		event.view = job_in(JOB_RUNNING);
	} else if (answer->type == EVENT_REFUSED) {
		event.refused.effect = EFFECT_LAUNCH;
		event.refused.launch_id = launch ? launch->job_id : NULL;
		event.refused.cause = CAUSE_JOURNAL_UNREADABLE;
		event.refused.why = "the lease is over";
	} else if (answer->type == EVENT_STARTED || answer->type == EVENT_EXITED) {
		event.process.launch_id = launch ? launch->job_id : NULL;
		event.process.wait_status = KILLED(SIGKILL);
		event.process.meaning = "it ended";
	} else {
		event.journal.sequence =
			answer->sequence < 0 ? pod->life.requested : answer->sequence;
		event.journal.conflict = answer->conflict;
		event.journal.unknown = answer->unknown;
		event.journal.error = "because";
	}
	send(w, pod, &event);
}

static void end_pod(struct pod *pod)
{
	if (pod->up)
		lifecycle_release(&pod->life);
	*pod = (struct pod){0};
}

static void start_pod(struct world *w, struct pod *pod)
{
	struct event hello = {.type = EVENT_HELLO};
	struct journal journal;
	char writer[64];
	struct rng rng;

	end_pod(pod);
	snprintf(pod->place, sizeof(pod->place), "orders/uid-%d", ++w->made);
	snprintf(writer, sizeof(writer), "%s/x", pod->place);
	pod->config = (struct lifecycle_config){.place = pod->place,
						.journal_check_ms = w->strict ? 6000 : 30000,
						.lease_ms = w->strict ? LEASE_MS : 0,
						.takeover_ms = LEASE_MS + 5000,
						.max_attempts = 1000,
						.attempts_window_ms = 600000,
						.backoff_first_ms = 1000,
						.backoff_max_ms = 10000,
						.ready_deadline_ms = 120000,
						.poll_fast_ms = 500,
						.poll_slow_ms = 30000,
						.kill_after_ms = 20000,
						.hold_retry_first_ms = 2000,
						.hold_retry_max_ms = 60000,
						.stop_retry_ms = 30000};
	if (!w->journal.len_bytes)
		journal_init(&journal, "orders");
	else
		CHECK_INT(
			journal_decode(buf_str(&w->journal), w->journal.len_bytes, &journal, NULL),
			==, 0);
	journal_take_over(&journal, writer);
	pod->known = w->sequence;
	rng_seed(&rng, rng_next(&w->rng));
	lifecycle_init(&pod->life, &pod->config, &journal, &rng);
	pod->up = true;
	send(w, pod, &hello);
}

static void trouble(struct world *w, struct pod *pod)
{
	if (!pod->up) {
		if (below(w, 600) == 0)
			start_pod(w, pod);
		return;
	}
	if (!w->healthy && below(w, 3000) == 0)
		pod->cut_ms = w->now_ms + below(w, 300000);
	if (!w->healthy && below(w, 3000) == 0)
		pod->stop_ms = w->now_ms + below(w, 200000);
	if (pod->flink && below(w, 6000) == 0)
		kill_flink_of(w, pod);
	if (below(w, 4000) == 0) /* the node dies, and nobody is told */
		end_pod(pod);
}

static void live(struct world *w, struct pod *pod)
{
	struct event tick = {.type = EVENT_TICK};
	int64_t deadline_ms;

	if (w->strict && pod->flink && w->now_ms >= pod->lease_ms) /* drey-init */
		kill_flink_of(w, pod);
	if (w->now_ms < pod->stop_ms)
		return;
	for (size_t i = 0; i < ARRAY_LEN(pod->answers); i++) {
		struct late_answer answer = pod->answers[i];

		if (!answer.used || w->now_ms < answer.at_ms)
			continue;
		pod->answers[i].used = false;
		send_answer(w, pod, &answer);
	}
	deadline_ms = lifecycle_deadline_ms(&pod->life);
	if (deadline_ms >= 0 && w->now_ms >= deadline_ms)
		send(w, pod, &tick);
}

static void run(struct world *w, uint64_t seed, bool strict, bool healthy)
{
	*w = (struct world){.now_ms = 1000, .strict = strict, .healthy = healthy};
	rng_seed(&w->rng, seed);
	start_pod(w, &w->pods[0]);
	for (; w->now_ms < HOURS_MS; w->now_ms += TICK_MS) {
		for (int i = 0; i < PODS; i++) {
			trouble(w, &w->pods[i]);
			if (w->pods[i].up)
				live(w, &w->pods[i]);
		}
		w->both_ms = w->pods[0].flink && w->pods[1].flink ? w->both_ms + TICK_MS : 0;
		if (w->both_ms > w->longest_ms)
			w->longest_ms = w->both_ms;
		w->ran_ms += w->pods[0].flink || w->pods[1].flink ? TICK_MS : 0;
	}
	for (int i = 0; i < PODS; i++)
		end_pod(&w->pods[i]);
	buf_release(&w->journal);
}

static void no_history_has_two(bool strict, bool healthy)
{
	int64_t ran_ms = 0;
	int launches = 0;

	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		struct world w;

		run(&w, seed, strict, healthy);
		ran_ms += w.ran_ms;
		launches += w.launches;
		if (!CHECK_INT(w.longest_ms, ==, 0)) {
			tap_note("seed %d", (int)seed);
			break;
		}
	}
	CHECK_INT(launches, >, 5 * SEEDS);
	CHECK_INT(ran_ms, >, SEEDS * HOURS_MS / 10);
	tap_note("%d launches, a Flink runs %d %% of the time", launches,
		 (int)(100 * ran_ms / (SEEDS * HOURS_MS)));
}

TEST(strict_has_never_two_flinks_at_a_time)
{
	no_history_has_two(true, false);
}

TEST(the_default_has_not_either_as_long_as_the_api_server_is_reached)
{
	no_history_has_two(false, true);
}
