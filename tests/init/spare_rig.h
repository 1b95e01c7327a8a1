/* spare_rig - a fake agent with a lock file, a counter of the jobs that have run, and spares. */
#ifndef DREY_TESTS_INIT_SPARE_RIG_H
#define DREY_TESTS_INIT_SPARE_RIG_H

#include "rig.h"

struct spare_rig {
	struct rig rig;
	char lock[40], counter[40];
	int lock_fd; /* of the last launch: its description, as an agent keeps it until the answer */
	int jobs;    /* that must have run */
};

void spare_rig_begin(struct spare_rig *s);
void spare_rig_begin_pid1(struct spare_rig *s); /* false: skipped; s->rig.pid is 0 */
int spare_rig_end(struct spare_rig *s);         /* drey-init's status */

/* SPARE of a puppet with these steps. */
void spare_rig_start(struct spare_rig *s, const char *id, int64_t until_ms,
		     const char *const *steps);
#define SPARE(s, ...) spare_rig_start(s, "spare-1", 0, (const char *const[]){__VA_ARGS__, NULL})

/* SPARE, and it is ready: its pid. */
pid_t spare_rig_ready(struct spare_rig *s, const char *const *steps);
#define READY(s, ...) spare_rig_ready(s, (const char *const[]){"ready", __VA_ARGS__, NULL})

/* LAUNCH of a puppet with these arguments, all of which a spare gets; `into` NULL: without a spare. */
void spare_rig_launch(struct spare_rig *s, const char *into, const char *const *args);
void spare_rig_launch_job(struct spare_rig *s, const char *into);

/* The job that was launched has run, alone and with the lock, and its lock is free again. */
void spare_rig_job_done(struct spare_rig *s);

/* SPARE_GONE with this errno. Returns the wait status. */
int spare_rig_gone(struct spare_rig *s, int why);

/* A new open file description. */
int spare_rig_open(const char *path);

#endif
