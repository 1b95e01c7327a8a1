/*
 * web_axis - where a time is on the picture of the launches. Pure.
 *
 * Launches that follow each other within seconds and one that ran for months must both be seen. So the axis is made of
 * the times of what is drawn: in between, the width grows with the logarithm of the time.
 *
 * Life cycle: a zeroed struct -> web_axis_add() for each time -> web_axis_scale() -> web_axis_x().
 */
#ifndef DREY_CORE_WEB_AXIS_H
#define DREY_CORE_WEB_AXIS_H

#include <stddef.h>
#include <stdint.h>

#define AXIS_TIMES 512 /* more are not added: they are drawn between the others */

struct web_axis {
	int64_t times[AXIS_TIMES];
	int64_t x[AXIS_TIMES]; /* after web_axis_scale() */
	size_t count;
};

void web_axis_add(struct web_axis *axis, int64_t unix_ms); /* 0 and less: nothing */
void web_axis_scale(struct web_axis *axis, int from_x, int to_x);
int web_axis_x(const struct web_axis *axis, int64_t unix_ms);

#endif
