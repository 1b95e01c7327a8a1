#include "core/lifecycle/phase.h"

#include <stddef.h>

#include "base/mem.h"

const char *phase_name(enum phase phase)
{
	static const char *const names[] = {"Resolving",  "Holding",     "Launching", "Running",
					    "Stopping",   "Suspended",   "Cancelled", "Finished",
					    "Failed",     "Terminating", "Standby",   "Prepared",
					    "HandedOver", "Shadow"};

	return (size_t)phase < ARRAY_LEN(names) ? names[phase] : "unknown";
}

bool phase_is_end(enum phase phase)
{
	return phase == PHASE_FINISHED || phase == PHASE_FAILED || phase == PHASE_CANCELLED;
}
