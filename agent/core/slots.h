/*
 * slots - how many slots of its TaskManagers a job needs. Pure.
 *
 * Vertices of one slot sharing group share slots: a slot takes one subtask of each of them. So a group needs as many slots as
 * the largest parallelism in it, and the job the sum over its groups.
 *
 * Life cycle: none.
 *
 * Source: Flink's SlotSharingSlotAllocator.calculateRequiredSlots(), SlotSharingGroup (1.18 to 2.3).
 */
#ifndef DREY_CORE_SLOTS_H
#define DREY_CORE_SLOTS_H

#include <stddef.h>
#include <stdint.h>

/* A vertex, or an operator. */
struct slot_user {
	const char *group;   /* borrowed; NULL: the default group, or not known */
	int64_t parallelism; /* <= 0: not known, counts as none */
};

int64_t slots_needed(const struct slot_user *users, size_t count);

/* "it needs 8 slots, and there are 4 (2 TaskManagers)"; NULL: there are enough. task_managers < 0: not known. The caller frees. */
char *slots_short(int64_t needed, int64_t total, int64_t task_managers);

#endif
