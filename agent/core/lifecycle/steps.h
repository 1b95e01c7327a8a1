/*
 * steps - how far a launch, an operation and a requested checkpoint are.
 */
#ifndef DREY_CORE_STEPS_H
#define DREY_CORE_STEPS_H

enum launch_step {
	LAUNCH_NONE,
	LAUNCH_WRITING,  /* the intent is being written */
	LAUNCH_STARTING, /* drey-init was asked */
	LAUNCH_LIVE,     /* the process runs */
};

enum operation_step {
	STEP_NONE,
	STEP_WRITING,    /* the intent is being written */
	STEP_TRIGGERING, /* POST under way, or to be repeated */
	STEP_POLLING,
	STEP_INSPECTING, /* the reported savepoint is being inspected */
	STEP_ENDING,     /* stop, cancel: waiting for the job's final state */
	STEP_SETTLING,   /* Flink ended before the result was seen: storage is searched for it */
};

enum checkpoint_step {
	CHECKPOINT_NONE,
	CHECKPOINT_WRITING,    /* the intent is being written */
	CHECKPOINT_TRIGGERING, /* POST to be repeated */
	CHECKPOINT_POLLING,
	CHECKPOINT_LEFT, /* given up; its result must be read, or Flink does not end */
};

#endif
