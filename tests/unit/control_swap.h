/*
 * control_swap - changes a directory as the kubelet changes a mounted ConfigMap: a new directory with
 * all files, `..data_tmp` renamed over `..data`, the links next to it, and the old directory deleted.
 */
#ifndef DREY_TESTS_CONTROL_SWAP_H
#define DREY_TESTS_CONTROL_SWAP_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

struct swap {
	char dir[64];
	int version;
};

static inline void swap_begin(struct swap *swap)
{
	*swap = (struct swap){.dir = "/tmp/drey-control.XXXXXX"};
	CHECK(mkdtemp(swap->dir) != NULL);
}

static inline void swap_end(const struct swap *swap)
{
	cleanup_free char *command = xasprintf("rm -rf '%s'", swap->dir);

	CHECK_INT(system(command), ==, 0);
}

static inline void swap_delete(const char *dir)
{
	DIR *list = opendir(dir);
	const struct dirent *entry;

	while (list && (entry = readdir(list)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
	rmdir(dir);
}

/* `files`: a list of "name=content" that ends with NULL. */
static inline void swap_files(struct swap *swap, const char *const *files)
{
	cleanup_free char *old = xasprintf("%s/..v%d", swap->dir, swap->version);
	cleanup_free char *target = xasprintf("..v%d", ++swap->version);
	cleanup_free char *dir = xasprintf("%s/%s", swap->dir, target);
	cleanup_free char *link = xasprintf("%s/..data", swap->dir);
	cleanup_free char *link_tmp = xasprintf("%s/..data_tmp", swap->dir);

	CHECK_INT(mkdir(dir, 0755), ==, 0);
	for (; *files; files++) {
		cleanup_free char *name = xstrndup(*files, strcspn(*files, "="));
		const char *content = *files + strlen(name) + 1;
		cleanup_free char *path = xasprintf("%s/%s", dir, name);
		cleanup_free char *visible = xasprintf("%s/%s", swap->dir, name);
		cleanup_free char *to = xasprintf("..data/%s", name);
		FILE *file = fopen(path, "w");

		fwrite(content, 1, strlen(content), file);
		fclose(file);
		(void)!symlink(to, visible);
	}
	CHECK_INT(symlink(target, link_tmp), ==, 0);
	CHECK_INT(rename(link_tmp, link), ==, 0);
	swap_delete(old);
}
#define SWAP(swap, ...) swap_files((swap), (const char *const[]){__VA_ARGS__, NULL})

/* One file, as a person writes it into a plain directory. */
static inline void swap_write(const struct swap *swap, const char *name, const char *content)
{
	cleanup_free char *path = xasprintf("%s/%s", swap->dir, name);
	FILE *file = fopen(path, "w");

	fwrite(content, 1, strlen(content), file);
	fclose(file);
}

#endif
