/*
 * cgroup - how much memory the container has left. Pure reading of small files of /sys/fs/cgroup, of
 * version 2 and 1; never blocks for long.
 */
#ifndef DREY_BASE_CGROUP_H
#define DREY_BASE_CGROUP_H

#include <stdint.h>

/*
 * Limit minus working set, in bytes: what is used without the files that the kernel gives up first
 * (inactive_file), as the kubelet counts it. Negative: more than the limit is used. INT64_MAX: there is
 * no limit, or nothing tells it. `root` is where the cgroups are mounted, with a slash at its end;
 * NULL = /sys/fs/cgroup/ and the cgroup of this process.
 */
int64_t cgroup_headroom_bytes(const char *root);

#endif
