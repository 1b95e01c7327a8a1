/*
 * Which lies there are, when they begin and end, and the ways out that drey names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/sim/sim.h"

enum lie_trait {
	OF_SNAPSHOT = 1, /* it is about one */
	LASTS = 2,       /* it happens at once, and stays when it ends: the journal is gone */
	SUDDEN = 4,      /* it changes what is read at once: it may begin with an observation */
};

struct lie_row {
	const char *name;
	const char *changes; /* what drey is shown, for the history as text */
	int weight;
	unsigned traits;
};

static const struct lie_row lie_table[LIE_COUNT] = {
	[LIE_GONE] = {"gone", "its _metadata is listed, and not found", 10, OF_SNAPSHOT | SUDDEN},
	[LIE_STALE_LISTING] = {"stale-listing", "listings are old from now on", 8, 0},
	[LIE_CUT_LISTING] = {"cut-listing", "listings leave out it and others", 8,
			     OF_SNAPSHOT | SUDDEN},
	[LIE_OTHER_LISTING] = {"other-listing", "listings are of another prefix", 6, SUDDEN},
	[LIE_OLDER_ANSWER] = {"older-answer", "files answer as now, listings do not", 8, 0},
	[LIE_STALE_STORE] = {"stale-store", "everything answers as now", 8, 0},
	[LIE_DAMAGED] = {"damaged", "its _metadata is damaged", 10, OF_SNAPSHOT | SUDDEN},
	[LIE_WRONG_METADATA] = {"wrong-metadata", "its _metadata is of another", 8,
				OF_SNAPSHOT | SUDDEN},
	[LIE_STALE_HA] = {"stale-ha", "HA data are shown as now", 6, 0},
	[LIE_HIDDEN_HA] = {"hidden-ha", "HA data are not shown", 5, SUDDEN},
	[LIE_OLDER_REST] = {"older-rest", "older statistics come after newer ones", 6, 0},
	[LIE_HIDDEN_END] = {"hidden-end", "the record of an end is not found", 4, SUDDEN},
	[LIE_LOST_JOURNAL] = {"lost-journal", "the journal is gone, not its copy", 5, LASTS},
	[LIE_LOST_BOTH] = {"lost-both", "the journal and its copy are gone", 2, LASTS},
	[LIE_BAD_COPY] = {"bad-copy", "the copy of the journal is unusable", 3, SUDDEN},
	[LIE_CODE] = {"code", "the job's code overrides its settings", 3, 0},
};

static bool lie_has(int kind, enum lie_trait trait)
{
	return lie_table[kind].traits & trait;
}

const char *lie_name(enum lie_kind kind)
{
	return lie_table[kind].name;
}

/* ---- which this history has ---- */

static int64_t lie_below(struct world *w, int64_t bound)
{
	return stream_between(&w->lies.rng, 0, bound - 1);
}

static bool is_of_journal(enum lie_kind kind)
{
	return kind == LIE_LOST_JOURNAL || kind == LIE_LOST_BOTH || kind == LIE_BAD_COPY;
}

/* Most histories have few kinds, so that one of them can be told without the others. */
static void draw_kinds(struct world *w)
{
	int most = stream_odds(&w->lies.rng, 300) ? LIE_COUNT : 1 + (int)lie_below(w, 4);

	for (int i = 0; i < most; i++)
		w->lies.kinds |= 1U << lie_below(w, LIE_COUNT);
	/* a journal that is lost does not know of a directory that is no longer configured; where directories are
	 * shared, or dates mean nothing, it cannot be distinguished from a first one */
	for (int kind = 0; kind < LIE_COUNT; kind++)
		if (is_of_journal((enum lie_kind)kind) &&
		    (w->lies.kinds & (1U << LIE_CODE) || w->chaos.clock_step_ms ||
		     w->config->policy.foreign == FOREIGN_IGNORE))
			w->lies.kinds &= ~(1U << kind);
}

void lies_draw(struct world *w)
{
	struct lies *lies = &w->lies;

	rng_seed(&lies->rng, w->seed ^ UINT64_C(0x6c696573));
	w->chaos.journal_lost_ms = 0;
	/* what these excuse would hide what a lie does */
	if (stream_odds(&w->lies.rng, 900))
		w->chaos.clock_step_ms = 0;
	if (stream_odds(&w->lies.rng, 900))
		w->chaos.replace_ms = 0;
	draw_kinds(w);
	lies->gap_ms = (1 + lie_below(w, 8)) * MINUTE_MS;
	lies->asked_per_mille = (int)(stream_odds(&w->lies.rng, 750) ? 50 + lie_below(w, 500) : 0);
	lies->shown = lies->shown_launch = -1;
	w->config->policy.adopt_lost = stream_odds(&w->lies.rng, 500) ? ADOPT_NEWEST : ADOPT_HOLD;
	if (w->lies.kinds & (1U << LIE_CODE))
		w->chaos.journal_back_ms = 0;
}

void lies_begin(struct world *w)
{
	plan(w, 1 + lie_below(w, 2 * w->lies.gap_ms), ITEM_LIE, SCOPE_WORLD);
}

/* ---- one begins, and ends ---- */

/* Mostly the one that the next launch would need. */
static int draw_target(struct world *w)
{
	int newest = oracle_newest(w, truth_head(w));

	if (newest >= 0 && stream_odds(&w->lies.rng, 700))
		return newest;
	if (!w->storage.count)
		return -1;
	if (stream_odds(&w->lies.rng, 600))
		return w->storage.count - 1;
	return (int)lie_below(w, w->storage.count);
}

static bool is_told(const struct world *w, enum lie_kind kind)
{
	for (int i = 0; i < LIES_AT_ONCE; i++)
		if (w->lies.now[i].told && w->lies.now[i].kind == kind)
			return true;
	return false;
}

static int64_t weight_of(const struct world *w, int kind, bool asked)
{
	return w->lies.kinds & (1U << kind) && (lie_has(kind, SUDDEN) || !asked)
		       ? lie_table[kind].weight
		       : 0;
}

static int draw_kind(struct world *w, bool asked)
{
	int64_t sum = 0, drawn;
	int kind = 0;

	for (int i = 0; i < LIE_COUNT; i++)
		sum += weight_of(w, i, asked);
	if (!sum)
		return -1;
	for (drawn = lie_below(w, sum); drawn >= weight_of(w, kind, asked); kind++)
		drawn -= weight_of(w, kind, asked);
	return kind;
}

/* As it is now. */
static void remember_store(struct world *w, int slot)
{
	for (int i = 0; i < w->storage.count; i++) {
		struct snap *snap = &w->storage.snaps[i];

		snap->was_there[slot] = !snap->deleted;
		snap->was_complete[slot] = !snap->deleted && snap->complete;
	}
}

static void begin_kind(struct world *w, struct lie *lie)
{
	switch (lie->kind) {
	case LIE_STALE_HA:
		for (int i = 0; i < w->truth.count; i++)
			w->truth.launches[i].ha_then = w->truth.launches[i].ha;
		break;
	case LIE_OLDER_REST:
		w->lies.shown = w->flink->alive ? w->flink->completed : -1;
		w->lies.shown_launch = w->flink->launch;
		break;
	case LIE_CODE:
		if (lie->which % 4 != 3)
			w->own_dir = 1 + lie->which / 4 % (DIRS - 1);
		break;
	case LIE_LOST_JOURNAL:
	case LIE_LOST_BOTH:
		lie_lose_journal(w, lie->kind == LIE_LOST_BOTH);
		break;
	default:
		break;
	}
}

/* From some seconds to as long as a history has. */
static int64_t draw_length(struct world *w, bool asked)
{
	if (asked)
		return lie_below(w, 90) * SECOND_MS;
	return (1 + lie_below(w, stream_odds(&w->lies.rng, 200) ? 120 : 10)) * MINUTE_MS;
}

static void lie_begin(struct world *w, bool asked)
{
	int slot = 0, kind = draw_kind(w, asked);
	struct lie *lie;

	while (slot < LIES_AT_ONCE && w->lies.now[slot].told)
		slot++;
	if (kind < 0 || slot == LIES_AT_ONCE || is_told(w, (enum lie_kind)kind) ||
	    (slot && !stream_odds(&w->lies.rng, 400)) ||
	    (lie_has(kind, LASTS) && (asked || drey_decides(w))))
		return;
	lie = &w->lies.now[slot];
	*lie = (struct lie){.told = !lie_has(kind, LASTS),
			    .kind = (enum lie_kind)kind,
			    .target = lie_has(kind, OF_SNAPSHOT) ? draw_target(w) : -1,
			    .which = (int)lie_below(w, 16),
			    .salt = rng_next(&w->lies.rng)};
	if (lie_has(kind, OF_SNAPSHOT) && lie->target < 0) {
		lie->told = false;
		return;
	}
	w->lies.told++;
	w->figures->lies++;
	remember_store(w, slot);
	say(w, "lie %s: %s%s%s", lie_table[kind].name, lie_table[kind].changes,
	    lie->target >= 0 ? ": " : "",
	    lie->target >= 0 ? w->storage.snaps[lie->target].path : "");
	begin_kind(w, lie);
	lie->until_ms = w->now_ms + draw_length(w, asked);
	if (lie->told)
		plan(w, lie->until_ms - w->now_ms, ITEM_LIE_ENDS, SCOPE_WORLD)->a = slot;
}

static void lie_end(struct world *w, struct lie *lie)
{
	if (!lie->told)
		return;
	say(w, "lie %s ends", lie_name(lie->kind));
	if (lie->kind == LIE_CODE)
		w->own_dir = -1;
	lie->told = false;
}

void lies_end(struct world *w)
{
	for (int i = 0; i < LIES_AT_ONCE; i++)
		lie_end(w, &w->lies.now[i]);
}

void lie_observed(struct world *w)
{
	lie_judged(w);
	for (int i = 0; i < w->storage.count; i++)
		w->storage.snaps[i].left_out = false;
	if (!w->calm && w->lies.asked_per_mille &&
	    stream_odds(&w->lies.rng, w->lies.asked_per_mille))
		lie_begin(w, true);
}

void lie_judged(struct world *w)
{
	for (int i = 0; i < w->storage.count; i++)
		w->storage.snaps[i].veiled = w->storage.snaps[i].slandered = false;
}

void lie_item(struct world *w, const struct item *item)
{
	struct lie *lie = &w->lies.now[item->a];

	switch (item->kind) {
	case ITEM_LIE:
		if (w->calm)
			return;
		lie_begin(w, false);
		lies_begin(w);
		break;
	case ITEM_LIE_ENDS:
		if (lie->told && w->now_ms >= lie->until_ms)
			lie_end(w, lie);
		break;
	default:
		lie_journal_item(w, item);
		break;
	}
}

/* ---- the ways out ---- */

/* `drey resume --from PATH` is any; with a path it is that one. */
bool lie_way_out(const struct world *w, int *ret_snap)
{
	static const char from[] = "drey resume --from ";
	const struct lifecycle *life = &w->agent->life;
	const char *way = strstr(life->reason, from);
	char path[PATH_BYTES];
	size_t len;

	if (life->phase != PHASE_HOLDING)
		return false;
	if (!way) {
		*ret_snap = -1;
		return strstr(life->reason, "drey resume --empty") != NULL;
	}
	way += sizeof(from) - 1;
	len = strcspn(way, " `),;");
	*ret_snap = oracle_newest(w, truth_head(w));
	if (!strncmp(way, "PATH", 4) || len >= sizeof(path))
		return true;
	snprintf(path, sizeof(path), "%.*s", (int)len, way);
	*ret_snap = storage_find(w, path);
	return *ret_snap >= 0;
}
