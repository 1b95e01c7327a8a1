#include "core/handover/gate_kind.h"

#include "base/mem.h"
#include "core/handover/flip.h"

const char *const transition_gate_words[] = {"drey", "flip", "none", NULL};
_Static_assert(ARRAY_LEN(transition_gate_words) == TRANSITION_GATES + 1, "a word for each kind");

const struct gate_kind *gate_kind_of(enum transition_gate gate)
{
	static const struct gate_kind kinds[TRANSITION_GATES] = {
		[TRANSITION_GATE_DREY] = {.gated = true, .ordered = true},
		[TRANSITION_GATE_FLIP] = {.gated = true, .keys = &flip_kind},
		[TRANSITION_GATE_NONE] = {.gated = false},
	};

	return &kinds[gate];
}

bool gate_keys_are_written(const struct gate_keys *keys, const struct handover *handover)
{
	return xstris(keys->transition, handover->id) && keys->state == transition_of(handover);
}
