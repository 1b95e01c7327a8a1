#include "run/config/setup_overlap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/overlap.h"
#include "store/store_identity.h"
#include "store/uri.h"

#define DIRECTORIES (OVERLAP_ROLES + 4) /* the configured ones, and those of the last launch */

struct directories {
	struct directory {
		enum overlap_role role;
		char *uri;
		struct store_identity identity;
	} list[DIRECTORIES];
	size_t count;
};

/* Takes the URI over; NULL: there is none. */
static int add_directory(struct directories *all, enum overlap_role role, char *uri,
			 struct err *err)
{
	struct directory *directory = &all->list[all->count];

	if (!uri)
		return 0;
	directory->role = role;
	directory->uri = uri;
	all->count++;
	return store_identity(uri, &directory->identity, err);
}

static int add_configured(struct directories *all, const struct setup *setup, struct err *err)
{
	const char *const uris[] = {
		[OVERLAP_CHECKPOINTS] = setup->places.checkpoint_dir,
		[OVERLAP_SAVEPOINTS] = setup->places.savepoint_dir,
		[OVERLAP_RESULTS] = setup->config.flink.result_store_directory,
		[OVERLAP_HA] = setup->settings.ha_storage_dir,
	};

	for (enum overlap_role role = 0; role < OVERLAP_ROLES; role++)
		if (add_directory(all, role, xstrdup(uris[role]), err) < 0)
			return -1;
	return 0;
}

/* Its job has <directory>/<job id>/chk-<n>, and its results have a directory in that of all. */
static int add_launched(struct directories *all, const struct launch *launch, struct err *err)
{
	cleanup_free char *job =
		launch->last_checkpoint_path ? uri_parent(launch->last_checkpoint_path) : NULL;
	char *results = launch->job_result_path ? uri_parent(launch->job_result_path) : NULL;

	if (add_directory(all, OVERLAP_RESULTS, results, err) < 0 ||
	    add_directory(all, OVERLAP_CHECKPOINTS, xstrdup(launch->checkpoint_dir), err) < 0 ||
	    add_directory(all, OVERLAP_SAVEPOINTS, xstrdup(launch->savepoint_dir), err) < 0)
		return -1;
	return add_directory(all, OVERLAP_CHECKPOINTS, job ? uri_parent(job) : NULL, err);
}

static enum overlap_relation relation_of(const struct directory *a, const struct directory *b)
{
	static const enum overlap_relation relations[] = {
		[STORE_APART] = OVERLAP_APART,
		[STORE_SAME] = OVERLAP_SAME,
		[STORE_INSIDE] = OVERLAP_INSIDE,
		[STORE_AROUND] = OVERLAP_AROUND,
	};

	return relations[store_relate(&a->identity, &b->identity)];
}

/* NULL: none. The caller frees it. */
static char *refusal_of(const struct directories *all)
{
	for (size_t i = 0; i < all->count; i++)
		for (size_t k = i + 1; k < all->count; k++) {
			const struct directory *a = &all->list[i], *b = &all->list[k];

			if (overlap_is_refused(a->role, b->role, relation_of(a, b)))
				return xasprintf(
					"%s (%s) and %s (%s) are one directory: set another one for %s",
					overlap_key(a->role), a->uri, overlap_key(b->role), b->uri,
					overlap_key(OVERLAP_RESULTS));
		}
	return NULL;
}

int setup_overlap(const struct setup *setup, const struct journal *journal, char **ret_why,
		  struct err *err)
{
	const struct launch *launch = journal ? journal_launch_const(journal) : NULL;
	struct directories all = {0};
	char *why = NULL;
	int rc = add_configured(&all, setup, err);

	if (rc == 0 && launch)
		rc = add_launched(&all, launch, err);
	if (rc == 0)
		why = refusal_of(&all);
	for (size_t i = 0; i < all.count; i++) {
		store_identity_release(&all.list[i].identity);
		free(all.list[i].uri);
	}
	if (why)
		*ret_why = why;
	return why ? 1 : rc;
}
