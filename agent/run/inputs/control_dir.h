/*
 * control_dir - the desired state as files: a mounted ConfigMap or a directory on this machine.
 *
 * One file per key, named as in `desired_keys`; its content is the value, without surrounding white
 * space. Kubernetes swaps all of them atomically: the files are links into `..data`, itself a link
 * that is replaced by rename(2). So all keys are read through one target of `..data`, and again if
 * it has changed meanwhile.
 */
#ifndef DREY_RUN_CONTROL_DIR_H
#define DREY_RUN_CONTROL_DIR_H

#include "core/desired.h"

#define CONTROL_FILES_MAX 1000 /* in the directory */

/*
 * Read all keys and judge them; blocks: for a lane. -1: the directory cannot be read (no directory:
 * ERR_ABSENT), or changes faster than it can be read (ERR_RETRY). Release *ret_desired with
 * desired_release().
 */
int control_dir_read(const char *path, struct desired *ret_desired, struct err *err);

#endif
