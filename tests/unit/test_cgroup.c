/* How much memory the container has left, from files as the kernel writes them. */
#include "base/cgroup.h"

#include <stdio.h>

#include "base/fs.h"
#include "store_dir.h"

#define MIB (INT64_C(1) << 20)

struct rig {
	char *dir, *root;
};

static void rig_begin(struct rig *rig)
{
	rig->dir = dir_new();
	rig->root = xasprintf("%s/", rig->dir);
}

static void rig_end(struct rig *rig)
{
	free(rig->root);
	dir_removep(&rig->dir);
}

static void put(const struct rig *rig, const char *name, const char *text)
{
	dir_put(rig->dir, name, text, strlen(text));
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, rig_begin, rig_end)

RIG_TEST(files_that_the_kernel_gives_up_first_do_not_count_as_used)
{
	put(rig, "memory.max", "1073741824\n");
	put(rig, "memory.current", "943718400\n");
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, 124 * MIB);
	put(rig, "memory.stat",
	    "anon 1000\nfile 2000\nactive_file 99\ninactive_file 104857600\nslab 7\n");
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, 224 * MIB);
	put(rig, "memory.current", "2147483648\n");
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, -924 * MIB);
}

RIG_TEST(version_1_has_other_files)
{
	cleanup_free char *below = xasprintf("%s/memory", rig->dir);

	CHECK(fs_mkdirs(below, 0700, NULL) == 0);
	put(rig, "memory/memory.limit_in_bytes", "1073741824\n");
	put(rig, "memory/memory.usage_in_bytes", "1073741824\n");
	put(rig, "memory/memory.stat", "inactive_file 1\ntotal_inactive_file 10485760\n");
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, 10 * MIB);
	put(rig, "memory/memory.limit_in_bytes", "9223372036854771712\n");
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, INT64_MAX);
}

RIG_TEST(without_a_limit_there_is_room)
{
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, INT64_MAX);
	put(rig, "memory.max", "max\n");
	put(rig, "memory.current", "943718400\n");
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, INT64_MAX);
	put(rig, "memory.max", "1073741824\n");
	put(rig, "memory.current", "");
	CHECK_INT(cgroup_headroom_bytes(rig->root), ==, INT64_MAX);
}

TEST(the_cgroup_of_this_process_can_be_asked)
{
	CHECK_INT(cgroup_headroom_bytes(NULL), >, 0);
}
