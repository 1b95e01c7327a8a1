/* Blue/green: the gates of the new job, and the sinks that have a uid on each side. */
#include "core/resolve/graph_sides.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/murmur3.h"
#include "tap.h"

#define MOST 8

struct world {
	struct side_operator job[MOST], state[MOST];
	char ids[2 * MOST][MURMUR3_HEX_BYTES];
	size_t used;
	struct side_graph graph;
};

static const char *id_of(struct world *w, const char *uid)
{
	murmur3_hex(uid, strlen(uid), w->ids[w->used]);
	return w->ids[w->used++];
}

static void has(struct world *w, const char *uid, const char *gate)
{
	w->job[w->graph.job_count++] = (struct side_operator){id_of(w, uid), uid, gate};
}

/* As a snapshot of Flink 1: only the id. */
static void had(struct world *w, const char *uid)
{
	w->state[w->graph.state_count++] = (struct side_operator){.id = id_of(w, uid)};
}

static char *const both[] = {"out-blue", "out-green", NULL};

/* The new version is green, and fits. */
static void fits(struct world *w)
{
	*w = (struct world){.graph = {.side = SIDE_GREEN, .gates = true, .sink_uids = both}};
	w->graph.job = w->job;
	w->graph.state = w->state;
	has(w, "gate-orders", "green");
	has(w, "out-green", NULL);
	has(w, "Sink Committer: out-green", NULL);
	had(w, "gate-orders");
	had(w, "out-blue");
	had(w, "Sink Committer: out-blue");
}

static void check_says(char *said, const char *part)
{
	if (part)
		CHECK_HAS(said ? said : "", part);
	else
		CHECK_STR(said, NULL);
	free(said);
}

TEST(a_job_with_a_gate_and_a_sink_on_each_side_fits)
{
	struct world w;

	fits(&w);
	check_says(graph_sides_refuse(&w.graph), NULL);
	check_says(graph_sides_warn(&w.graph), NULL);
	has(&w, "gate-other", "green"); /* as many gates as there are sinks */
	check_says(graph_sides_refuse(&w.graph), NULL);
}

TEST(a_job_without_a_gate_is_refused)
{
	struct world w;

	fits(&w);
	w.job[0].gate = NULL;
	check_says(graph_sides_refuse(&w.graph), "the new job has no gate");
	w.graph.gates = false; /* gate: none, or it is not known */
	check_says(graph_sides_refuse(&w.graph), NULL);
}

TEST(a_gate_with_the_wrong_side_is_refused)
{
	struct world w;

	fits(&w);
	w.job[0].gate = "blue";
	check_says(
		graph_sides_refuse(&w.graph),
		"gate 'gate-orders' of the new job takes itself for blue, but this version will be green");
	w.graph.side = SIDE_BLUE;
	check_says(graph_sides_refuse(&w.graph), NULL);
	has(&w, "gate-other", "green"); /* each of them counts */
	check_says(graph_sides_refuse(&w.graph), "gate 'gate-other' of the new job");
}

TEST(a_committing_sink_that_both_versions_have_is_refused)
{
	struct world w;

	fits(&w);
	has(&w, "audit", NULL);
	has(&w, "Sink Committer: audit", NULL);
	check_says(graph_sides_refuse(&w.graph), NULL); /* it is new */
	had(&w, "audit");
	check_says(graph_sides_refuse(&w.graph),
		   "sink 'audit' has the same uid in both versions, and commits");
	w.graph.sink_uids = (char *const[]){"audit", NULL}; /* a person says so */
	check_says(graph_sides_refuse(&w.graph), NULL);
}

TEST(a_sink_that_does_not_commit_may_be_shared)
{
	struct world w;

	fits(&w);
	has(&w, "print", NULL);
	had(&w, "print");
	check_says(graph_sides_refuse(&w.graph), NULL);
}

TEST(a_uid_that_no_operator_has_is_named)
{
	struct world w;

	fits(&w);
	w.graph.sink_uids = (char *const[]){"out-blue", "out-green", "uot-blue", "old", NULL};
	check_says(graph_sides_warn(&w.graph),
		   "no operator of either version has 'uot-blue', 'old'");
	/* the one of the side that is not there is like the one that is */
	fits(&w);
	w.graph.state_count = 0;
	check_says(graph_sides_warn(&w.graph), NULL);
	w.graph.sink_uids = NULL;
	check_says(graph_sides_warn(&w.graph), NULL);
}

TEST(all_operators_of_such_a_sink_stay_also_without_names)
{
	static const char *const of_sink[] = {"out-blue", "Sink Committer: out-blue",
					      "Sink out-blue Global Committer"};
	struct world w = {0};

	for (size_t i = 0; i < ARRAY_LEN(of_sink); i++)
		CHECK(graph_sides_stays(both, id_of(&w, of_sink[i]), NULL));
	CHECK(!graph_sides_stays(both, id_of(&w, "count"), NULL));
	CHECK(!graph_sides_stays(both, id_of(&w, "count"), "count"));
	CHECK(graph_sides_stays(both, id_of(&w, "by another hash"), "out-green"));
	CHECK(!graph_sides_stays(NULL, id_of(&w, "out-blue"), "out-blue"));
}
