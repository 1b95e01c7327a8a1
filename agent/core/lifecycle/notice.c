#include "core/lifecycle/notice.h"

#include <stddef.h>
#include <stdlib.h>

#include "base/mem.h"

const char *notice_type_name(enum notice_type type)
{
	static const char *const names[] = {
		"phase",     "ended",       "operation", "attempt-failed", "restore-verified",
		"proven",    "fenced",      "handover",  "prepared",       "transition",
		"caught-up", "checkpoints", "settings",  "state-lost",     "review"};

	return (size_t)type < ARRAY_LEN(names) ? names[type] : "unknown";
}

void notice_release(struct notice *notice)
{
	free(notice->path);
	free(notice->text);
	notice->path = notice->text = NULL;
}
