#include "run/config/setup_side.h"

#include <string.h>

#include "base/mem.h"
#include "tap.h"

struct world {
	struct setup setup;
	struct journal journal;
};

static void begin(struct world *w)
{
	*w = (struct world){0};
	w->setup.ha.on = true;
	w->setup.ha.cluster_id = "orders";
	w->setup.handover = (struct setup_handover){.two_sides = true,
						    .cluster_ids = {"orders", "orders-green"}};
	journal_init(&w->journal, "orders");
}

static void end(struct world *w)
{
	journal_release(&w->journal);
}

static void launched(struct world *w, const char *cluster_id)
{
	xstrset(&journal_add_launch(&w->journal)->ha_cluster_id, cluster_id);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, begin, end)

WORLD_TEST(each_side_has_its_cluster_id)
{
	CHECK_STR(setup_cluster_id(&w->setup, SIDE_BLUE), "orders");
	CHECK_STR(setup_cluster_id(&w->setup, SIDE_GREEN), "orders-green");
}

WORLD_TEST(one_cluster_id_is_that_of_both_sides)
{
	w->setup.handover = (struct setup_handover){.cluster_ids = {"orders", NULL}};
	CHECK_STR(setup_cluster_id(&w->setup, SIDE_BLUE), "orders");
	CHECK_STR(setup_cluster_id(&w->setup, SIDE_GREEN), "orders");
	w->setup = (struct setup){0};
	CHECK(!setup_cluster_id(&w->setup, SIDE_GREEN));
}

WORLD_TEST(the_newest_launch_tells_the_side)
{
	CHECK_INT(setup_side(&w->setup, &w->journal), ==, SIDE_BLUE);
	launched(w, "orders");
	CHECK_INT(setup_side(&w->setup, &w->journal), ==, SIDE_BLUE);
	launched(w, "orders-green");
	CHECK_INT(setup_side(&w->setup, &w->journal), ==, SIDE_GREEN);
	launched(w, "orders");
	CHECK_INT(setup_side(&w->setup, &w->journal), ==, SIDE_BLUE);
}

/* Of an earlier configuration, or without HA. */
WORLD_TEST(another_cluster_id_is_no_side)
{
	launched(w, "orders-green");
	launched(w, "elsewhere");
	launched(w, NULL);
	CHECK_INT(setup_side(&w->setup, &w->journal), ==, SIDE_GREEN);
}

WORLD_TEST(only_blue_green_with_dreys_gate_has_gates)
{
	CHECK(!setup_has_gates(&w->setup));
	w->setup.config.handover.mode = HANDOVER_SURGE;
	CHECK(!setup_has_gates(&w->setup));
	w->setup.config.handover.mode = HANDOVER_BLUE_GREEN;
	CHECK(setup_has_gates(&w->setup));
	w->setup.config.blue_green.gate = TRANSITION_GATE_NONE;
	CHECK(!setup_has_gates(&w->setup));
}

WORLD_TEST(without_a_journal_or_two_sides_it_is_blue)
{
	launched(w, "orders-green");
	CHECK_INT(setup_side(&w->setup, NULL), ==, SIDE_BLUE);
	w->setup.handover.two_sides = false;
	CHECK_INT(setup_side(&w->setup, &w->journal), ==, SIDE_BLUE);
}
