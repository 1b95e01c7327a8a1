/*
 * What every rule writes: the decision with its reason, and the verdict on a candidate.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "core/resolve/resolve_internal.h"

static void decide(struct inquiry *in, enum decision_kind kind, enum cause cause, enum rule rule,
		   const char *fmt, va_list ap)
{
	in->decision->kind = kind;
	in->decision->cause = cause;
	in->decision->rule = rule;
	vsnprintf(in->decision->reason, sizeof(in->decision->reason), fmt, ap);
}

void inquiry_decide(struct inquiry *in, enum decision_kind kind, enum rule rule, const char *fmt,
		    ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(in, kind, CAUSE_NONE, rule, fmt, ap);
	va_end(ap);
}

void inquiry_hold(struct inquiry *in, enum cause cause, enum rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(in, DECISION_HOLD, cause, rule, fmt, ap);
	va_end(ap);
}

void inquiry_park(struct inquiry *in, enum cause cause, enum rule rule, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	decide(in, DECISION_PARK, cause, rule, fmt, ap);
	va_end(ap);
}

void inquiry_add(struct inquiry *in, const char *fmt, ...)
{
	size_t len = strlen(in->decision->reason);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(in->decision->reason + len, sizeof(in->decision->reason) - len, fmt, ap);
	va_end(ap);
}

void inquiry_verify(struct inquiry *in, const struct candidate *c, enum rule rule)
{
	in->decision->candidate = (size_t)(c - in->facts->candidates);
	inquiry_decide(in, DECISION_VERIFY, rule, "%s must be verified", c->snapshot.path);
}

void inquiry_ask_job(struct inquiry *in, enum rule rule)
{
	in->decision->of_job = true;
	inquiry_decide(in, DECISION_VERIFY, rule, "the operators of the job must be read");
}

void inquiry_judge(struct candidate *c, enum verdict verdict, const char *fmt, ...)
{
	va_list ap;

	free(c->reason);
	c->verdict = verdict;
	va_start(ap, fmt);
	c->reason = xvasprintf(fmt, ap);
	va_end(ap);
}

const char *inquiry_detail(const char *detail)
{
	return detail && *detail ? detail : "no detail";
}

void inquiry_judge_rest(struct inquiry *in, enum verdict verdict, const char *why)
{
	for (size_t i = 0; i < in->facts->candidate_count; i++)
		if (in->facts->candidates[i].verdict == VERDICT_NONE)
			inquiry_judge(&in->facts->candidates[i], verdict, "%s", why);
}
