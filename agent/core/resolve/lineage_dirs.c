#include "core/resolve/lineage_dirs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Where "/chk-<n>" begins, at the end of the path; NULL: it does not end so. */
static const char *name_of_checkpoint(const char *path)
{
	const char *name = path ? strrchr(path, '/') : NULL;

	if (!name || strncmp(name, "/chk-", 5) != 0 || !name[5] ||
	    strspn(name + 5, "0123456789") != strlen(name + 5))
		return NULL;
	return name;
}

char *lineage_dir_of_checkpoint(const char *path, const char *job_id)
{
	const char *name = name_of_checkpoint(path);
	size_t id_len = strlen(job_id), len;

	if (!name || !id_len)
		return NULL;
	len = (size_t)(name - path);
	if (len < id_len + 2 || path[len - id_len - 1] != '/' ||
	    memcmp(path + len - id_len, job_id, id_len) != 0)
		return NULL;
	return xstrndup(path, len - id_len - 1);
}

char *lineage_dir_flat(const char *path)
{
	const char *name = name_of_checkpoint(path);

	return name && name > path ? xstrndup(path, (size_t)(name - path)) : NULL;
}

bool lineage_dir_is_hidden(const struct launch *launch)
{
	cleanup_free char *dir =
		lineage_dir_of_checkpoint(launch->last_checkpoint_path, launch->job_id);

	return launch->last_checkpoint_path && !dir;
}

static bool is_there(const struct lineage_dirs *dirs, enum snapshot_kind kind, const char *dir)
{
	for (size_t i = 0; i < dirs->count; i++) {
		const struct lineage_dir *there = &dirs->list[i];

		if (there->kind == kind && snapshot_same_path(there->dir, dir))
			return true;
	}
	return false;
}

/* `configured`: is listed anyway. */
static void add(struct lineage_dirs *dirs, enum snapshot_kind kind, const char *dir, bool only_ours,
		const char *configured)
{
	struct lineage_dir *to;

	if (!dir || (configured && snapshot_same_path(dir, configured)) ||
	    is_there(dirs, kind, dir))
		return;
	if (dirs->count == LINEAGE_DIRS_MAX) {
		dirs->left_out++;
		return;
	}
	to = &dirs->list[dirs->count++];
	*to = (struct lineage_dir){.kind = kind, .dir = xstrdup(dir), .only_ours = only_ours};
}

/* In a directory that the launch was given, all snapshots count as in the configured ones. In one
 * that the job's own code chose, other applications may write as well. */
static void add_launch(struct lineage_dirs *dirs, const struct launch *launch,
		       const char *checkpoint_dir, const char *savepoint_dir)
{
	char *seen = lineage_dir_of_checkpoint(launch->last_checkpoint_path, launch->job_id);

	/* MUT: a directory without the job id is not listed */
	if (!seen)
		seen = lineage_dir_flat(launch->last_checkpoint_path);
	add(dirs, SNAPSHOT_CHECKPOINT, launch->checkpoint_dir, false, checkpoint_dir);
	add(dirs, SNAPSHOT_SAVEPOINT, launch->savepoint_dir, false, savepoint_dir);
	add(dirs, SNAPSHOT_CHECKPOINT, seen, true, checkpoint_dir);
	free(seen);
}

/* What a person has chosen, or what drey has gone back to, may be damaged later: then what its job has left before that counts.
 * It is read in its directory anyway. (Once the launch is proven, that directory may be gone.) */
static void add_origin(struct lineage_dirs *dirs, const struct journal *journal,
		       const struct launch *launch, const char *checkpoint_dir)
{
	const char *path = launch->restore_path;
	char *dir = NULL;

	for (size_t i = 0; path && i < journal->launch_count && !dir; i++)
		dir = lineage_dir_of_checkpoint(path, journal->launches[i].job_id);
	add(dirs, SNAPSHOT_CHECKPOINT, dir, true, checkpoint_dir);
	free(dir);
}

void lineage_dirs_find(const struct journal *journal, const char *checkpoint_dir,
		       const char *savepoint_dir, struct lineage_dirs *ret_dirs)
{
	const struct operation *operation = &journal->operation;
	const struct launch *proven = NULL;

	*ret_dirs = (struct lineage_dirs){0};
	if (operation->kind == OPERATION_SAVEPOINT || operation->kind == OPERATION_STOP)
		add(ret_dirs, SNAPSHOT_SAVEPOINT, operation_directory(operation), false,
		    savepoint_dir);
	for (size_t i = journal->launch_count; i-- > 0;) {
		const struct launch *launch = &journal->launches[i];

		if (launch->never_started || launch->mismatched)
			continue;
		/* MUT: one job writes to one directory */
		if (proven && strcmp(proven->job_id, launch->job_id) != 0)
			return;
		add_launch(ret_dirs, launch, checkpoint_dir, savepoint_dir);
		if (launch->proven_unix_ms)
			proven = launch;
		/* MUT: the directory that an unproven launch was started from is not listed */
		if (!proven)
			add_origin(ret_dirs, journal, launch, checkpoint_dir);
		if (launch->request_token)
			return;
	}
}

size_t lineage_ha_clusters(const struct journal *journal, const char *current,
			   const char *ret_ids[LINEAGE_HA_MAX])
{
	size_t count = 0;

	for (size_t i = journal->launch_count; i-- > 0 && count < LINEAGE_HA_MAX;) {
		const struct launch *launch = &journal->launches[i];
		bool known = xstrsame(launch->ha_cluster_id, current) || !launch->ha_cluster_id;

		for (size_t k = 0; k < count && !known; k++)
			known = !strcmp(ret_ids[k], launch->ha_cluster_id);
		if (launch->never_started)
			continue;
		/* an ended job leaves nothing there that could be newer */
		if (!known && !launch->job_ended)
			ret_ids[count++] = launch->ha_cluster_id;
		if (launch->proven_unix_ms || launch->request_token)
			break;
	}
	return count;
}

bool lineage_dir_is_another(const struct launch *launch, const char *told, char **ret_dir)
{
	char *dir;

	if (launch->checkpoint_dir)
		told = launch->checkpoint_dir;
	if (!told || !launch->last_checkpoint_path)
		return false;
	dir = lineage_dir_of_checkpoint(launch->last_checkpoint_path, launch->job_id);
	if (dir && snapshot_same_path(dir, told)) {
		free(dir);
		return false;
	}
	*ret_dir = dir;
	return true;
}

void lineage_dirs_release(struct lineage_dirs *dirs)
{
	if (!dirs)
		return;
	for (size_t i = 0; i < dirs->count; i++)
		free(dirs->list[i].dir);
	*dirs = (struct lineage_dirs){0};
}
