/* The kinds of gates: what each of them is, and when the keys that some go by count as written. */
#include "core/handover/gate_kind.h"

#include "tap.h"

TEST(gates_take_orders_or_go_by_keys)
{
	for (int gate = 0; gate < TRANSITION_GATES; gate++) {
		const struct gate_kind *kind = gate_kind_of((enum transition_gate)gate);

		CHECK_INT(kind->gated, ==, gate != TRANSITION_GATE_NONE);
		CHECK_INT(kind->ordered, ==, gate == TRANSITION_GATE_DREY);
		CHECK_INT(kind->keys != NULL, ==, gate == TRANSITION_GATE_FLIP);
	}
}

TEST(keys_of_another_state_or_transition_are_not_written)
{
	struct handover handover = {.id = (char *)"h2",
				    .state = HANDOVER_OFFERED,
				    .transition = {.id = (char *)"h2", .state = TRANSITION_SHADOW}};
	struct gate_keys keys = {.transition = (char *)"h2", .state = TRANSITION_SHADOW};

	CHECK(gate_keys_are_written(&keys, &handover));
	keys.state = TRANSITION_NONE; /* read, and not written */
	CHECK(!gate_keys_are_written(&keys, &handover));
	keys.state = TRANSITION_SHADOW;
	keys.transition = (char *)"h1";
	CHECK(!gate_keys_are_written(&keys, &handover));
	keys.transition = NULL;
	CHECK(!gate_keys_are_written(&keys, &handover));
}
