#include "core/report/condition.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/utf8.h"
#include "base/visible.h"
#include "base/words.h"

void condition_say(struct condition *condition, enum truth status, const char *reason,
		   const char *fmt, ...)
{
	cleanup_buf struct buf text = BUF_INIT;
	va_list args;

	condition->status = status;
	if (condition->brief)
		return;
	snprintf(condition->reason, sizeof(condition->reason), "%s", reason);
	va_start(args, fmt);
	visible_addvf(&text, fmt, args);
	va_end(args);
	snprintf(condition->message, sizeof(condition->message), "%.*s",
		 (int)utf8_cut(buf_str(&text), sizeof(condition->message) - 1), buf_str(&text));
}

WORDS(truth_name, enum truth, "unknown", "Unknown", "False", "True");
