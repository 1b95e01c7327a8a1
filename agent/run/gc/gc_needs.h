/*
 * gc_needs - do snapshots that stay refer to files of a savepoint that is about to be deleted?
 *
 * A job that claims a native savepoint (claim mode CLAIM) refers to its files from its own checkpoints, and
 * hands these references on to whatever is restored from them. So the same snapshots are read as for
 * `drey gc`: all of the checkpoint and savepoint directories, of the journal and of Flink's HA data; twice, as there.
 * References are compared by the name of the file, relative ones as well: native savepoints make later
 * checkpoints of Flink name files relative to the wrong directory (FLINK-39964). Blocks: for lanes.
 */
#ifndef DREY_RUN_GC_NEEDS_H
#define DREY_RUN_GC_NEEDS_H

#include "run/config/setup.h"

/* 1: *ret_why says which snapshot needs which file, or which directories are one; the caller frees it. 0: none does.
 * -1: not known, because not everything could be read. Its files are those that its _metadata names, which Flink
 * would delete, and those in its directory. */
int gc_needs(const struct setup *setup, const char *savepoint, char **ret_why, struct err *err);

#endif
