/*
 * launch_dir - a directory for the temporary files of one launch (tmp_dirs.h names it): made before
 * the launch, removed with all that is in it when the launch is dead.
 *
 * A directory that launch_dir_make() has made has a symbolic link in it, LAUNCH_DIR_MARK, whose target
 * identifies flink.lock: who owns that very file knows that the process of this launch is dead. A
 * directory without it, or with another one, is never used and never removed.
 *
 * Nothing here follows a symbolic link below `parent`, leaves the file system of the directory, or
 * removes what belongs to another user. All functions may block.
 */
#ifndef DREY_FLINK_LAUNCH_DIR_H
#define DREY_FLINK_LAUNCH_DIR_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/err.h"

#define LAUNCH_DIR_MARK       ".drey"
#define LAUNCH_DIR_MARK_BYTES 48

/* The target of the mark, from stat() of flink.lock. */
void launch_dir_mark(const struct stat *lock, char ret_mark[LAUNCH_DIR_MARK_BYTES]);

/* Make parent/name, for us alone; `parent` exists. One that is already ours is fine. ERR_BUSY: it
 * exists, and is not. */
int launch_dir_make(const char *parent, const char *name, const char *mark, struct err *err);

/* Is there such a directory, with this mark, and ours? */
bool launch_dir_is_ours(const char *parent, const char *name, const char *mark);

/* Remove parent/name, if it is ours. Nothing there, or nothing of ours, is success. The mark goes
 * last, so that one that could not be removed completely is found again. */
int launch_dir_remove(const char *parent, const char *name, const char *mark, struct err *err);

#endif
