#include "base/log_seldom.h"

#include <stdlib.h>

#include "base/mem.h"

bool log_seldom_due(struct log_seldom *seldom, const char *text, int64_t now_ms)
{
	bool recent = seldom->said && now_ms - seldom->said_ms < LOG_SELDOM_MS;

	if (!text)
		log_seldom_release(seldom);
	/* MUT: a trouble that stays is logged at each try */
	if (!text || (recent && xstrsame(seldom->said, text)))
		return false;
	xstrset(&seldom->said, text);
	seldom->said_ms = now_ms;
	return true;
}

void log_seldom_release(struct log_seldom *seldom)
{
	free(seldom->said);
	*seldom = (struct log_seldom){0};
}
