/*
 * gc_look - every snapshot in reach, and what they refer to; used by run/gc only. Read-only. Blocks.
 *
 * A running Flink adds and discards checkpoints meanwhile, so the snapshots are listed again until nothing
 * new is found. What one sighting contradicts another is not readable: a _metadata that was listed and then
 * is not found counts as gone only if a new listing of its directory, to the end, has nothing of it.
 *
 * Life cycle: gc_look_begin() -> gc_look_list() -> gc_retain() -> gc_look_read() -> gc_look_again() ->
 * gc_look_end().
 */
#ifndef DREY_RUN_GC_LOOK_H
#define DREY_RUN_GC_LOOK_H

#include "run/gc/gc_facts.h"
#include "run/gc/gc_refs.h"
#include "store/store_identity.h"
#include "store/stores.h"

struct gc_look_dir {
	enum snapshot_kind kind;
	char *uri;
	struct store_identity identity; /* zeroed: it is not known */
};

struct gc_look {
	const struct gc_facts_ask *ask;
	struct gc *gc;
	struct stores stores;
	struct gc_look_dir *dirs; /* with snapshots */
	size_t dir_count;
	bool later; /* the snapshots are listed again: what is new stays */
	bool news;  /* something new was found, or has gone */
	size_t told;
	/* Each reference of the snapshot that is read, `reading`. Set by gc_look_begin(): gc_refer() of those to
	 * files outside of its directory. */
	struct gc_body body;
	gc_refs_fn *refer;
	void *refer_ctx;
	const char *reading; /* borrowed from gc */
};

/* The ask is borrowed until gc_look_end(). */
void gc_look_begin(struct gc_look *look, const struct gc_facts_ask *ask, struct gc *gc);
void gc_look_end(struct gc_look *look);

void gc_look_list(struct gc_look *look);
/* What the retained ones refer to, as far as it was not read yet. */
void gc_look_read(struct gc_look *look);
/* List and read again until nothing is new, at most GC_FACTS_ROUNDS times. */
void gc_look_again(struct gc_look *look);

/* Is this one of the checkpoint directories that are listed, however it is called? */
bool gc_look_lists(const struct gc_look *look, const char *uri);

/* It cannot be read: nothing may be deleted. */
void gc_look_fail(struct gc_look *look, const char *what, const struct err *err);
/* -1: the caller of gc_facts() wants to end. */
int gc_look_tell(struct gc_look *look, const char *what, size_t done, struct err *err);

#endif
