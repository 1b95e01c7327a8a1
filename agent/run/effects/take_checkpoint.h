/* take_checkpoint - asks Flink for a checkpoint, and for its result; on the lane of part_flink. */
#ifndef DREY_RUN_TAKE_CHECKPOINT_H
#define DREY_RUN_TAKE_CHECKPOINT_H

struct driver;
struct effect;

/* EFFECT_TRIGGER_CHECKPOINT, EFFECT_POLL_CHECKPOINT; EVENT_CHECKPOINT follows. */
void take_checkpoint(struct driver *driver, const struct effect *effect);

#endif
