/*
 * metrics_handover - what /metrics has of a hand-over, and who this pod is. Pure. Without hand-overs the
 * families have no samples.
 */
#ifndef DREY_RUN_METRICS_HANDOVER_H
#define DREY_RUN_METRICS_HANDOVER_H

#include "base/buf.h"
#include "core/handover/standby.h"
#include "core/lifecycle/lifecycle.h"

/* standby: as in metrics_text(). */
void metrics_role(const struct lifecycle *life, const struct standby *standby, struct buf *text);
/* Of the owner, from its journal. */
void metrics_handover(const struct lifecycle *life, struct buf *text);

#endif
