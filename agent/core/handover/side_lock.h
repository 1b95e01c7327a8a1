/* side_lock - Flink's leader lock of a side, as far as it is known from outside. */
#ifndef DREY_CORE_HANDOVER_SIDE_LOCK_H
#define DREY_CORE_HANDOVER_SIDE_LOCK_H

enum side_lock {
	LOCK_UNKNOWN,
	LOCK_HELD,
	LOCK_FREE, /* released, run out, or there is no such map */
};

#endif
