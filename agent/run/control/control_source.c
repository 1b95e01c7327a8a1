#include "run/control/control_source.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

void control_source_take(struct control_source *source, const struct desired *desired, bool absent)
{
	desired_release(&source->desired);
	desired_copy(&source->desired, desired);
	source->known = true;
	source->absent = absent;
	if (absent) {
		source->seen = false;
	} else if (!source->seen && !desired->bad.kind) {
		source->seen = true;
		xstrset(&source->standing, desired->restore.token);
	}
}

void control_source_release(struct control_source *source)
{
	desired_release(&source->desired);
	free(source->standing);
	*source = (struct control_source){0};
}

bool control_source_is_standing(const struct control_source *source, const struct desired *desired)
{
	return source->standing && desired->restore.token &&
	       !strcmp(source->standing, desired->restore.token);
}
