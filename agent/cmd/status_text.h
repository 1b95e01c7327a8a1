/*
 * status_text - the status document for people: what `drey status` prints. Pure.
 *
 * One row for each thing that is worth a person's attention; what is as usual has none. Nothing in the
 * document can move a cursor or forge a row (shown.h).
 */
#ifndef DREY_CMD_STATUS_TEXT_H
#define DREY_CMD_STATUS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/shown.h"
#include "cmd/status_view.h"
#include "cmd/term.h"

struct status_layout {
	struct term term;
	bool wide; /* also the generation, the slots, the conditions, and all transitions, in full */
	int64_t now_unix_ms;
	const char *program; /* that explains causes; NULL = drey */
};

/* Append the rows. */
void status_text(const struct status_view *view, const struct status_layout *layout,
		 struct shown *ret_text);

/* The colour of a phase: red needs a person, yellow is between two phases or not ready, green is as
 * desired, cyan is parked on request. */
enum term_colour status_colour(const struct status_view *view);

#endif
