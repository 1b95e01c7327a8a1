#include "core/handover/side.h"

#include <stddef.h>
#include <string.h>

const char *const side_words[] = {"blue", "green", NULL};

const char *side_name(enum side side)
{
	return side < SIDES ? side_words[side] : "unknown";
}

bool side_parse(const char *name, enum side *ret_side)
{
	for (int i = 0; name && i < SIDES; i++) {
		if (strcmp(name, side_words[i]) != 0)
			continue;
		*ret_side = (enum side)i;
		return true;
	}
	return false;
}

enum side side_other(enum side side)
{
	return side == SIDE_BLUE ? SIDE_GREEN : SIDE_BLUE;
}
