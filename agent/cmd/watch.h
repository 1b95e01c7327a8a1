/* watch - one picture of `drey status --watch` on a terminal: redrawn in place, without a flicker. Pure. */
#ifndef DREY_CMD_WATCH_H
#define DREY_CMD_WATCH_H

#include <stddef.h>

#include "cmd/shown.h"

/*
 * Append what draws `text` (lines, with colours) at the top of a screen of `rows` by
 * `columns`, and clears the rest. What does not fit is left out at the bottom; a last row stays free for
 * the cursor. rows or columns 0: not known, nothing is left out.
 */
void watch_frame(const struct shown *lines, size_t rows, size_t columns, struct shown *ret_frame);

#endif
