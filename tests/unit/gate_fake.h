/*
 * gate_fake - what a part says at a gate, for a test of that part alone: kept in the gate, as
 * agent/run/gates.c does it. Include it once.
 */
#ifndef DREY_TESTS_GATE_FAKE_H
#define DREY_TESTS_GATE_FAKE_H

#include <stdarg.h>
#include <stdio.h>

#include "run/part.h"

enum gate_verdict gate_waits(struct gate *gate, const char *what, int64_t until_ms)
{
	gate->waits[0] = (struct gate_wait){.what = what, .until_ms = until_ms};
	return GATE_NOT_YET;
}

enum gate_verdict gate_refuses(struct gate *gate, enum cause cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(gate->why, sizeof(gate->why), fmt, ap);
	va_end(ap);
	gate->cause = cause;
	return GATE_REFUSED;
}

#endif
