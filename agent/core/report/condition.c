#include "core/report/condition.h"

#include <stdarg.h>
#include <stdio.h>

void condition_say(struct condition *condition, enum truth status, const char *reason,
		   const char *fmt, ...)
{
	va_list args;

	condition->status = status;
	snprintf(condition->reason, sizeof(condition->reason), "%s", reason);
	va_start(args, fmt);
	vsnprintf(condition->message, sizeof(condition->message), fmt, args);
	va_end(args);
}

const char *truth_name(enum truth truth)
{
	static const char *const names[] = {"Unknown", "False", "True"};

	return names[truth];
}
