/* Who a pod is according to the journal: a row for every rule, and what is true of all combinations. */
#include "core/handover/handover_role.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/journal/journal.h"
#include "tap.h"

#define SILENT_MS 15000
#define TAKE_MS   15000
#define RUN_MS    180000

static const struct role_limits limits = {
	.silent_ms = SILENT_MS, .take_ms = TAKE_MS, .run_ms = RUN_MS};

#define PARTY(name, text)                                                                          \
	{                                                                                          \
		.pod = name, .uid = "u" name, .template = text                                     \
	}

/* Who takes part. By value, and 0 is nobody. */
enum who { NOBODY, OLD, OLD_NEXT, SAME, NEW, NEW_NEXT, THIRD, PODS };
static const struct party pods[PODS] = {
	[NOBODY] = {0},
	[OLD] = PARTY("old", "g1/c1/h1"),
	[OLD_NEXT] = PARTY("old2", "g1/c1/h1"), /* replaces it */
	[SAME] = PARTY("same", "g1/c2/h2"),     /* another configuration of drey */
	[NEW] = PARTY("new", "g2/c1/h3"),
	[NEW_NEXT] = PARTY("new2", "g2/c1/h3"),
	[THIRD] = PARTY("third", "g3/c1/h4"),
};

static struct party at(enum who who, enum side side)
{
	struct party party = pods[who];

	party.side = side;
	return party;
}

static const char *place_of(enum who who, char text[64], const char *boot)
{
	snprintf(text, 64, "%s/%s%s", pods[who].pod ? pods[who].pod : "x",
		 pods[who].uid ? pods[who].uid : "x", boot);
	return text;
}

/* A journal that `writer` has written last. */
struct world {
	enum who owner, last, writer; /* last: with nobody as the owner */
	enum side side;               /* of the owner */
	enum handover_state state;
	enum who from, to;
	enum transition_state transition;
};

static bool same_generation(enum who a, enum who b)
{
	return template_same_generation(pods[a].template, pods[b].template);
}

/* The sides of a hand-over follow from the generations: the owner's side is `side`. */
static void journal_of(const struct world *world, struct journal *journal, char writer[64])
{
	bool taken = world->owner == world->to;
	enum side other =
		same_generation(world->from, world->to) ? world->side : side_other(world->side);

	memset(journal, 0, sizeof(*journal));
	journal->owner = at(world->owner, world->side);
	if (!world->owner)
		journal->owner.template = pods[world->last].template;
	journal->writer = (char *)(uintptr_t)place_of(world->writer, writer, "/1");
	journal->handover.state = world->state;
	journal->handover.id = world->from ? "h1-00000000" : NULL;
	journal->handover.from = at(world->from, taken ? other : world->side);
	journal->handover.to = at(world->to, taken ? world->side : other);
	journal->handover.transition.id = journal->handover.id;
	journal->handover.transition.state = world->transition;
}

/* ---- one row for each rule ---- */

struct row {
	const char *when; /* of the rule that decides */
	struct world world;
	enum who me;
	enum wanted wanted;
	enum side_lock lock;
	int64_t silent_ms, granted_ms, quiet_ms;
	bool unreadable, absent;
	/* expected */
	enum role role;
	enum claim claim;
	enum side side;
	enum handover_kind kind;
	bool asks;
	int64_t look_ms;
};

#define BY_OLD                                                                                     \
	{                                                                                          \
		.owner = OLD, .writer = OLD                                                        \
	}
#define GRANTED                                                                                    \
	{                                                                                          \
		.owner = NEW, .writer = OLD, .side = SIDE_GREEN, .state = HANDOVER_GRANTED,        \
		.from = OLD, .to = NEW                                                             \
	}
#define TAKEN                                                                                      \
	{                                                                                          \
		.owner = NEW, .writer = NEW, .side = SIDE_GREEN, .state = HANDOVER_TAKEN,          \
		.from = OLD, .to = NEW                                                             \
	}
#define GRANTED_BLUE_GREEN                                                                         \
	{                                                                                          \
		.owner = NEW, .writer = OLD, .side = SIDE_GREEN, .state = HANDOVER_GRANTED,        \
		.from = OLD, .to = NEW, .transition = TRANSITION_GRANTED                           \
	}
#define TAKEN_BLUE_GREEN                                                                           \
	{                                                                                          \
		.owner = NEW, .writer = NEW, .side = SIDE_GREEN, .state = HANDOVER_TAKEN,          \
		.from = OLD, .to = NEW, .transition = TRANSITION_TAKEN                             \
	}
#define SHADOWS(now)                                                                               \
	{                                                                                          \
		.owner = OLD, .writer = OLD, .state = HANDOVER_OFFERED, .from = OLD, .to = NEW,    \
		.transition = (now)                                                                \
	}
#define DONE                                                                                       \
	{                                                                                          \
		.owner = NEW, .writer = NEW, .side = SIDE_GREEN, .state = HANDOVER_DONE,           \
		.from = OLD, .to = NEW                                                             \
	}
#define RETURNED                                                                                   \
	{                                                                                          \
		.owner = OLD, .writer = NEW, .state = HANDOVER_RETURNED, .from = OLD, .to = NEW    \
	}
#define REFUSED                                                                                    \
	{                                                                                          \
		.owner = OLD, .writer = OLD, .state = HANDOVER_REFUSED, .from = OLD, .to = NEW     \
	}
#define LEFT_AFTER_REFUSAL                                                                         \
	{                                                                                          \
		.last = OLD, .writer = OLD, .state = HANDOVER_REFUSED, .from = OLD, .to = NEW      \
	}
#define GRANTED_SAME                                                                               \
	{                                                                                          \
		.owner = SAME, .writer = OLD, .state = HANDOVER_GRANTED, .from = OLD, .to = SAME   \
	}
#define DONE_SAME                                                                                  \
	{                                                                                          \
		.owner = SAME, .writer = SAME, .state = HANDOVER_DONE, .from = OLD, .to = SAME     \
	}

static const struct row rows[] = {
	{.when = "the journal cannot be read",
	 .world = BY_OLD,
	 .me = OLD,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .unreadable = true,
	 .role = ROLE_UNREADABLE},
	{.when = "the job was granted to this pod",
	 .world = GRANTED,
	 .me = NEW,
	 .lock = LOCK_HELD, /* by its own Flink, which is held */
	 .role = ROLE_OWNER,
	 .claim = CLAIM_TAKE,
	 .side = SIDE_GREEN},
	{.when = "the job was granted to this pod",
	 .world = GRANTED_SAME,
	 .me = SAME,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_TAKE},
	{.when = "the job was returned to this pod",
	 .world = RETURNED,
	 .me = OLD,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_BACK},
	{.when = "this pod is the owner",
	 .world = BY_OLD,
	 .me = OLD,
	 .wanted = WANTED_NO,
	 .lock = LOCK_HELD,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_OWN},
	{.when = "this pod is the owner",
	 .world = TAKEN,
	 .me = NEW,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_OWN,
	 .side = SIDE_GREEN},
	/* the first one of all */
	{.when = "there is no owner, and this pod has written last, or no Flink leads and no other pod has precedence",
	 .me = NEW,
	 .lock = LOCK_FREE,
	 .absent = true,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_OWN},
	/* after one pod at a time: this pod has written it itself */
	{.when = "there is no owner, and this pod has written last, or no Flink leads and no other pod has precedence",
	 .world = {.writer = OLD},
	 .me = OLD,
	 .lock = LOCK_HELD,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_OWN},
	/* the owner has ended in order, and another generation comes: to the other side */
	{.when = "there is no owner, and this pod has written last, or no Flink leads and no other pod has precedence",
	 .world = {.last = OLD, .writer = OLD},
	 .me = NEW,
	 .lock = LOCK_FREE,
	 .quiet_ms = SILENT_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_OWN,
	 .side = SIDE_GREEN},
	/* ... which was refused: later */
	{.when = "there is no owner, and this pod has written last, or no Flink leads and no other pod has precedence",
	 .world = LEFT_AFTER_REFUSAL,
	 .me = NEW_NEXT,
	 .lock = LOCK_FREE,
	 .quiet_ms = RUN_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_OWN,
	 .side = SIDE_GREEN},
	/* ... or the same one: it stays, also at green */
	{.when = "there is no owner, and this pod has written last, or no Flink leads and no other pod has precedence",
	 .world = {.last = NEW, .writer = NEW, .side = SIDE_GREEN},
	 .me = NEW_NEXT,
	 .lock = LOCK_FREE,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_OWN,
	 .side = SIDE_GREEN},
	/* the member is stale: a drey that knows no owner has written since */
	{.when = "there is a journal without an owner, and a Flink leads",
	 .world = {.owner = OLD, .writer = THIRD},
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_HELD,
	 .role = ROLE_HEIR,
	 .side = SIDE_GREEN},
	{.when = "there is no owner, and a pod of the last owner's generation has precedence",
	 .world = {.last = OLD, .writer = OLD},
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .quiet_ms = SILENT_MS - 1,
	 .role = ROLE_STANDBY,
	 .side = SIDE_GREEN,
	 .look_ms = 1},
	{.when = "there is no owner, and a pod of the last owner's generation has precedence",
	 .world = LEFT_AFTER_REFUSAL,
	 .me = NEW_NEXT,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .quiet_ms = SILENT_MS,
	 .role = ROLE_STANDBY,
	 .side = SIDE_GREEN,
	 .look_ms = RUN_MS - SILENT_MS},
	{.when = "there is no owner, and a Flink may lead",
	 .world = {.writer = OLD},
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_UNKNOWN,
	 .role = ROLE_STANDBY},
	{.when = "there is no owner, and a Flink may lead",
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_HELD,
	 .absent = true,
	 .role = ROLE_STANDBY},
	{.when = "this pod has granted the job, and it was not taken within takeDeadline",
	 .world = GRANTED,
	 .me = OLD,
	 .lock = LOCK_HELD, /* by a Flink that was not let go */
	 .silent_ms = -1,
	 .granted_ms = TAKE_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_BACK},
	{.when = "this pod has granted the job, and who took it is silent, leads no more, and has written nothing for runDeadline",
	 .world = TAKEN,
	 .me = OLD,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .quiet_ms = RUN_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_BACK,
	 .asks = true,
	 .look_ms = SILENT_MS},
	{.when = "this pod has granted the job, and it does not run yet",
	 .world = GRANTED,
	 .me = OLD,
	 .wanted = WANTED_YES,
	 .silent_ms = -1,
	 .granted_ms = TAKE_MS - 1,
	 .role = ROLE_RESERVE,
	 .look_ms = 1},
	{.when = "this pod has granted the job, and it does not run yet",
	 .world = TAKEN,
	 .me = OLD,
	 .lock = LOCK_HELD,
	 .silent_ms = SILENT_MS,
	 .quiet_ms = RUN_MS,
	 .role = ROLE_RESERVE,
	 .look_ms = SILENT_MS},
	{.when = "this pod has granted the job, and it does not run yet",
	 .world = TAKEN,
	 .me = OLD,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .quiet_ms = RUN_MS - 5,
	 .role = ROLE_RESERVE,
	 .asks = true,
	 .look_ms = 5},
	/* the other version has written output: only a pod of it goes on */
	{.when = "this pod has granted the job, and it does not run yet",
	 .world = GRANTED_BLUE_GREEN,
	 .me = OLD,
	 .lock = LOCK_FREE,
	 .silent_ms = RUN_MS,
	 .granted_ms = RUN_MS,
	 .role = ROLE_RESERVE},
	{.when = "this pod has granted the job, and it does not run yet",
	 .world = TAKEN_BLUE_GREEN,
	 .me = OLD,
	 .lock = LOCK_FREE,
	 .silent_ms = RUN_MS,
	 .quiet_ms = RUN_MS,
	 .role = ROLE_RESERVE,
	 .asks = true},
	{.when = "the owner has the same template, or has the job from this pod of its generation; it leads no more, and is silent",
	 .world = GRANTED_BLUE_GREEN,
	 .me = NEW_NEXT,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_SUCCEED,
	 .asks = true,
	 .look_ms = SILENT_MS,
	 .side = SIDE_GREEN,
	 .kind = HANDOVER_SAME},
	{.when = "the owner has the same template, or has the job from this pod of its generation; it leads no more, and is silent",
	 .world = BY_OLD,
	 .me = OLD_NEXT,
	 .wanted = WANTED_NO,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_SUCCEED,
	 .asks = true,
	 .look_ms = SILENT_MS,
	 .kind = HANDOVER_SAME},
	/* the pod that the job was granted to is gone: its successor takes it */
	{.when = "the owner has the same template, or has the job from this pod of its generation; it leads no more, and is silent",
	 .world = GRANTED,
	 .me = NEW_NEXT,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_SUCCEED,
	 .asks = true,
	 .look_ms = SILENT_MS,
	 .side = SIDE_GREEN,
	 .kind = HANDOVER_SAME},
	{.when = "the owner has the same template",
	 .world = BY_OLD,
	 .me = OLD_NEXT,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS - 7,
	 .role = ROLE_STANDBY,
	 .kind = HANDOVER_SAME,
	 .asks = true,
	 .look_ms = 7},
	{.when = "the owner has the same template, or has the job from this pod of its generation; it leads no more, and is silent",
	 .world = DONE_SAME,
	 .me = OLD,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_SUCCEED,
	 .kind = HANDOVER_SAME,
	 .asks = true,
	 .look_ms = SILENT_MS},
	{.when = "this pod has handed over to the owner, which has the same generation",
	 .world = DONE_SAME,
	 .me = OLD,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS - 1,
	 .role = ROLE_RESERVE,
	 .kind = HANDOVER_SAME,
	 .asks = true,
	 .look_ms = 1},
	{.when = "this pod has handed over to the owner, and the Deployment does not want its template",
	 .world = DONE,
	 .me = OLD,
	 .wanted = WANTED_UNKNOWN,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_RESERVE,
	 .look_ms = SILENT_MS},
	{.when = "the Deployment wants another template, or that is not known",
	 .world = BY_OLD,
	 .me = NEW,
	 .wanted = WANTED_NO,
	 .lock = LOCK_FREE,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_STANDBY,
	 .side = SIDE_GREEN,
	 .look_ms = SILENT_MS},
	{.when = "the Deployment wants another template, or that is not known",
	 .world = GRANTED,
	 .me = THIRD,
	 .wanted = WANTED_UNKNOWN,
	 .role = ROLE_STANDBY,
	 .silent_ms = -1},
	/* nothing was held back yet, or only a pod of the owner's template has what was */
	{.when = "the owner leads no more, and is silent twice as long (runDeadline, if this version was refused)",
	 .world = SHADOWS(TRANSITION_ARMING),
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = 2 * SILENT_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_FORCE,
	 .asks = true,
	 .side = SIDE_GREEN},
	{.when = "otherwise",
	 .world = SHADOWS(TRANSITION_ARMED),
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = 2 * SILENT_MS,
	 .role = ROLE_CANDIDATE,
	 .asks = true,
	 .side = SIDE_GREEN},
	{.when = "otherwise",
	 .world = SHADOWS(TRANSITION_CROSSED),
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = RUN_MS,
	 .role = ROLE_CANDIDATE,
	 .asks = true,
	 .side = SIDE_GREEN},
	{.when = "the owner leads no more, and is silent twice as long (runDeadline, if this version was refused)",
	 .world = BY_OLD,
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = 2 * SILENT_MS,
	 .role = ROLE_OWNER,
	 .claim = CLAIM_FORCE,
	 .asks = true,
	 .side = SIDE_GREEN},
	{.when = "otherwise",
	 .world = REFUSED,
	 .me = NEW_NEXT,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = RUN_MS - 1,
	 .role = ROLE_CANDIDATE,
	 .asks = true,
	 .look_ms = 1,
	 .side = SIDE_GREEN},
	{.when = "otherwise",
	 .world = BY_OLD,
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = 2 * SILENT_MS - 1,
	 .role = ROLE_CANDIDATE,
	 .asks = true,
	 .look_ms = 1,
	 .side = SIDE_GREEN},
	{.when = "the owner has the same generation",
	 .world = BY_OLD,
	 .me = SAME,
	 .wanted = WANTED_YES,
	 .silent_ms = -1,
	 .lock = LOCK_HELD,
	 .role = ROLE_CANDIDATE,
	 .kind = HANDOVER_SAME},
	{.when = "otherwise",
	 .world = BY_OLD,
	 .me = NEW,
	 .wanted = WANTED_YES,
	 .lock = LOCK_HELD,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_CANDIDATE,
	 .look_ms = SILENT_MS,
	 .side = SIDE_GREEN},
	/* rolled back: the reserve is the wanted one again */
	{.when = "otherwise",
	 .world = DONE,
	 .me = OLD,
	 .wanted = WANTED_YES,
	 .lock = LOCK_FREE,
	 .silent_ms = -1,
	 .role = ROLE_CANDIDATE,
	 .asks = true},
	{.when = "otherwise",
	 .world = TAKEN,
	 .me = THIRD,
	 .wanted = WANTED_YES,
	 .lock = LOCK_UNKNOWN,
	 .silent_ms = SILENT_MS,
	 .role = ROLE_CANDIDATE,
	 .look_ms = SILENT_MS,
	 .side = SIDE_BLUE},
};

static void check_row(const struct row *row, const struct role_rule *rule)
{
	struct journal journal;
	char writer[64];
	struct party me = pods[row->me];
	struct role_facts facts = {.journal = row->unreadable ? NULL : &journal,
				   .absent = row->absent,
				   .me = &me,
				   .wanted = row->wanted,
				   .lock = row->lock,
				   .silent_ms = row->silent_ms,
				   .granted_ms = row->granted_ms,
				   .quiet_ms = row->quiet_ms};
	struct role_verdict verdict;
	bool ok;

	journal_of(&row->world, &journal, writer);
	if (row->absent)
		journal.writer = NULL;
	handover_role(&facts, &limits, &verdict);
	ok = CHECK_STR(verdict.why, rule->why);
	ok &= CHECK_INT(rule->role, ==, row->role);
	ok &= CHECK_STR(role_name(verdict.role), role_name(row->role));
	ok &= CHECK_STR(claim_name(verdict.claim), claim_name(row->claim));
	ok &= CHECK_STR(side_name(verdict.side), side_name(row->side));
	ok &= CHECK_STR(handover_kind_words[verdict.kind], handover_kind_words[row->kind]);
	ok &= CHECK_INT(verdict.asks, ==, row->asks);
	ok &= CHECK_INT(verdict.look_ms, ==, row->look_ms);
	if (!ok)
		tap_note("row %d: %s", (int)(row - rows), row->when);
}

TEST(every_rule_decides)
{
	size_t count;
	const struct role_rule *rules = handover_role_rules(&count);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < count; k++)
			if (!strcmp(rules[k].when, rows[i].when))
				check_row(&rows[i], &rules[k]);
	for (size_t k = 0; k < count; k++) {
		int decides = 0;

		for (size_t i = 0; i < ARRAY_LEN(rows); i++)
			decides += !strcmp(rules[k].when, rows[i].when);
		if (!CHECK_INT(decides, >, 0))
			tap_note("no row for: %s", rules[k].when);
	}
}

/* ---- whatever the journal says ---- */

struct loop {
	char place[64]; /* prefix of the names of the writers of the pod that is asked about */
	struct world world;
	struct journal journal;
	char writer[64];
	struct role_facts facts;
	struct role_verdict verdict;
	int broken;
	long seen;
};

static void must(struct loop *loop, bool holds, const char *what)
{
	const struct world *world = &loop->world;

	if (holds || loop->broken++ > 5)
		return;
	CHECK(holds);
	tap_note("%s: %s %s as %s; owner %s at %s, written by %s, %s from %s to %s", what,
		 loop->facts.me->pod, role_name(loop->verdict.role),
		 claim_name(loop->verdict.claim),
		 pods[world->owner].pod ? pods[world->owner].pod : "-", side_name(world->side),
		 loop->journal.writer, handover_state_name(world->state),
		 pods[world->from].pod ? pods[world->from].pod : "-",
		 pods[world->to].pod ? pods[world->to].pod : "-");
}

/* The claims that the journal gives by name, whatever has happened since. */
static bool by_name(const struct loop *loop)
{
	const struct role_verdict *verdict = &loop->verdict;

	return verdict->role == ROLE_OWNER && party_is(&loop->journal.owner, loop->facts.me->uid) &&
	       (verdict->claim == CLAIM_TAKE || verdict->claim == CLAIM_OWN ||
		verdict->claim == CLAIM_BACK);
}

static bool was_refused(const struct loop *loop)
{
	const struct handover *handover = &loop->journal.handover;

	return handover->state == HANDOVER_REFUSED &&
	       template_same_generation(handover->to.template, loop->facts.me->template);
}

/* The owner has ended in order, and had another generation. */
static void check_left(struct loop *loop, bool written_here)
{
	const struct party *last = &loop->journal.owner;

	if (last->uid || !last->template || written_here ||
	    template_same_generation(last->template, loop->facts.me->template))
		return;
	must(loop, loop->facts.quiet_ms >= (was_refused(loop) ? limits.run_ms : limits.silent_ms),
	     "a pod of the last generation goes first");
}

static void check_owner(struct loop *loop)
{
	const struct role_facts *facts = &loop->facts;
	const struct handover *handover = &loop->journal.handover;
	enum claim claim = loop->verdict.claim;
	bool from = party_is(&handover->from, facts->me->uid);
	bool forced = claim == CLAIM_FORCE;
	bool silent =
		facts->silent_ms >=
		(forced && was_refused(loop) ? limits.run_ms : limits.silent_ms * (forced ? 2 : 1));
	bool written_here = loop->journal.writer &&
			    !strncmp(loop->journal.writer, loop->place, strlen(loop->place));
	bool in_time =
		from && handover->state == HANDOVER_GRANTED && facts->granted_ms >= limits.take_ms;

	must(loop, claim != CLAIM_NONE, "an owner has a claim");
	check_left(loop, written_here);
	if (facts->lock != LOCK_FREE)
		must(loop, by_name(loop) || in_time || (claim == CLAIM_OWN && written_here),
		     "while a Flink may lead");
	if (claim == CLAIM_SUCCEED || claim == CLAIM_FORCE)
		must(loop, silent && facts->lock == LOCK_FREE, "the owner is gone");
	if (claim == CLAIM_FORCE)
		must(loop, facts->wanted == WANTED_YES, "a forced take is wanted");
	if (claim == CLAIM_TAKE)
		must(loop, handover->state == HANDOVER_GRANTED && by_name(loop), "it was granted");
	if (claim == CLAIM_BACK && !by_name(loop))
		must(loop,
		     from && (in_time || (handover->state == HANDOVER_TAKEN && silent &&
					  facts->quiet_ms >= limits.run_ms)),
		     "it is taken back in time only");
}

static void check_candidate(struct loop *loop, enum who me)
{
	bool same = same_generation(loop->world.owner, me);

	must(loop, loop->facts.wanted == WANTED_YES, "a candidate is wanted");
	must(loop, loop->world.owner != NOBODY, "a candidate has an owner");
	must(loop, !party_is(&loop->journal.owner, loop->facts.me->uid), "it is not the owner");
	must(loop, (loop->verdict.side == loop->world.side) == same, "the side of a candidate");
	must(loop, (loop->verdict.kind == HANDOVER_SAME) == same, "the kind of its hand-over");
}

static void judge(struct loop *loop, enum who me)
{
	struct role_verdict *verdict = &loop->verdict;

	loop->facts.me = &pods[me];
	place_of(me, loop->place, "");
	loop->facts.journal = &loop->journal;
	handover_role(&loop->facts, &limits, verdict);
	loop->seen++;
	must(loop, verdict->role != ROLE_UNREADABLE, "it was read");
	must(loop, verdict->look_ms >= 0, "a look in the past");
	must(loop, !verdict->asks || loop->facts.lock == LOCK_FREE,
	     "it asks only when the lock is free");
	if (verdict->role == ROLE_OWNER)
		check_owner(loop);
	else
		must(loop, verdict->claim == CLAIM_NONE, "a claim without being the owner");
	if (verdict->role == ROLE_CANDIDATE)
		check_candidate(loop, me);
}

/* All of them at the same time, and as late as can be. */
static void check_together(struct loop *loop)
{
	int named = 0, owners = 0, takes = 0, backs = 0;

	for (enum who me = OLD; me < PODS; me++) {
		judge(loop, me);
		named += by_name(loop);
		owners += loop->verdict.role == ROLE_OWNER;
		takes += loop->verdict.claim == CLAIM_TAKE;
		backs += loop->verdict.claim == CLAIM_BACK;
	}
	must(loop, named <= 1, "one owner by name");
	if (loop->facts.lock == LOCK_FREE) /* who writes first is it */
		return;
	must(loop,
	     owners <= 1 || (owners == 2 && takes == 1 && backs == 1 &&
			     loop->world.state == HANDOVER_GRANTED),
	     "one owner while a Flink may lead");
}

static void check_times(struct loop *loop)
{
	static const int64_t silent[] = {-1, 0, SILENT_MS};

	for (int t = 0; t < 12; t++) {
		loop->facts.silent_ms = silent[t % 3];
		loop->facts.granted_ms = t / 3 % 2 ? TAKE_MS : TAKE_MS - 1;
		loop->facts.quiet_ms = t / 6 ? RUN_MS : 0;
		for (enum wanted wanted = WANTED_UNKNOWN; wanted <= WANTED_YES; wanted++) {
			loop->facts.wanted = wanted;
			for (enum who me = OLD; me < PODS; me++)
				judge(loop, me);
		}
	}
	loop->facts.wanted = WANTED_YES;
	check_together(loop);
}

static void check_world(struct loop *loop)
{
	journal_of(&loop->world, &loop->journal, loop->writer);
	for (enum side_lock lock = LOCK_UNKNOWN; lock <= LOCK_FREE; lock++) {
		loop->facts.lock = lock;
		check_times(loop);
	}
}

TEST(whatever_is_written_there_is_one_owner_by_name_and_nobody_takes_from_a_leading_flink)
{
	static const enum who pairs[][2] = {
		{NOBODY, NOBODY}, {OLD, NEW}, {NEW, OLD}, {OLD, SAME}, {NEW, THIRD}};
	static const enum who writers[] = {NOBODY, OLD, OLD_NEXT, SAME, NEW, THIRD};
	static const enum who owners[] = {NOBODY, OLD, OLD_NEXT, SAME, NEW};
	struct loop loop = {0};
	size_t states = HANDOVER_REFUSED + 1,
	       all = 2 * states * ARRAY_LEN(pairs) * ARRAY_LEN(writers) * ARRAY_LEN(owners);

	for (size_t i = 0; i < all; i++) {
		size_t rest = i / 2;

		loop.world.side = i % 2 ? SIDE_GREEN : SIDE_BLUE;
		loop.world.state = rest % states;
		rest /= states;
		loop.world.from = pairs[rest % ARRAY_LEN(pairs)][0];
		loop.world.to = pairs[rest % ARRAY_LEN(pairs)][1];
		rest /= ARRAY_LEN(pairs);
		loop.world.writer = writers[rest % ARRAY_LEN(writers)];
		loop.world.owner = owners[rest / ARRAY_LEN(writers)];
		loop.world.last = OLD;
		check_world(&loop);
	}
	CHECK_INT(loop.broken, ==, 0);
	CHECK_INT(loop.seen, >, 300000);
	tap_note("%ld verdicts", loop.seen);
}

TEST(without_the_journal_nothing_else_counts)
{
	for (int i = 0; i < 3 * 3 * PODS; i++) {
		const struct role_facts facts = {.me = &pods[i % PODS],
						 .wanted = i / PODS % 3,
						 .lock = i / PODS / 3,
						 .silent_ms = SILENT_MS,
						 .granted_ms = TAKE_MS,
						 .quiet_ms = RUN_MS};
		struct role_verdict verdict;

		handover_role(&facts, &limits, &verdict);
		CHECK_INT(verdict.role, ==, ROLE_UNREADABLE);
		CHECK_INT(verdict.claim, ==, CLAIM_NONE);
		CHECK(!verdict.asks);
	}
}

/* Each agent of a pod that has taken the job may die before the next write. */
TEST(a_flink_that_waits_in_main_is_known_until_its_launch_is_on_record)
{
	static const char id[] = "0123456789abcdef0123456789abcdef";
	static const char other[] = "fedcba9876543210fedcba9876543210";
	struct journal journal = {0};
	struct launch launch = {0};

	memcpy(journal.handover.job_id, id, sizeof(id));
	CHECK(handover_waits_in_main(&journal, CLAIM_TAKE, id));
	CHECK(handover_waits_in_main(&journal, CLAIM_OWN, id));
	CHECK(!handover_waits_in_main(&journal, CLAIM_OWN, other));
	CHECK(!handover_waits_in_main(&journal, CLAIM_OWN, NULL));
	CHECK(!handover_waits_in_main(&journal, CLAIM_OWN, ""));
	for (enum claim claim = CLAIM_NONE; claim <= CLAIM_FORCE; claim++)
		CHECK_INT(handover_waits_in_main(&journal, claim, id), ==,
			  claim == CLAIM_TAKE || claim == CLAIM_OWN);
	memcpy(launch.job_id, id, sizeof(id));
	journal.launches = &launch;
	journal.launch_count = 1;
	launch.held = true;
	CHECK(!handover_waits_in_main(&journal, CLAIM_OWN, id)); /* it may have been let go */
	launch.ended_unix_ms = 2;
	CHECK(handover_waits_in_main(&journal, CLAIM_OWN, id)); /* it was withdrawn */
	launch.started_unix_ms = 1;
	CHECK(!handover_waits_in_main(&journal, CLAIM_OWN, id));
	launch.started_unix_ms = 0;
	launch.held = false;
	CHECK(!handover_waits_in_main(&journal, CLAIM_OWN, id));
}
