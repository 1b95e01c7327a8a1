#include "run/config/setup_overlap.h"

#include <stdlib.h>

#include "base/mem.h"
#include "core/overlap.h"
#include "store/store_identity.h"

static const char *uri_of(const struct setup *setup, enum overlap_role role)
{
	switch (role) {
	case OVERLAP_CHECKPOINTS:
		return setup->places.checkpoint_dir;
	case OVERLAP_SAVEPOINTS:
		return setup->places.savepoint_dir;
	case OVERLAP_RESULTS:
		return setup->config.flink.result_store_directory;
	case OVERLAP_HA:
		return setup->settings.ha_storage_dir;
	case OVERLAP_ROLES:
		break;
	}
	return NULL;
}

static enum overlap_relation relation_of(const char *a, const char *b)
{
	static const enum overlap_relation relations[] = {
		[STORE_APART] = OVERLAP_APART,
		[STORE_SAME] = OVERLAP_SAME,
		[STORE_INSIDE] = OVERLAP_INSIDE,
		[STORE_AROUND] = OVERLAP_AROUND,
	};
	struct store_identity left = {0}, right = {0};
	enum overlap_relation relation = OVERLAP_APART;

	if (store_identity(a, &left, NULL) == 0 && store_identity(b, &right, NULL) == 0)
		relation = relations[store_relate(&left, &right)];
	store_identity_release(&left);
	store_identity_release(&right);
	return relation;
}

char *setup_overlap(const struct setup *setup)
{
	for (enum overlap_role a = 0; a < OVERLAP_ROLES; a++)
		for (enum overlap_role b = a + 1; b < OVERLAP_ROLES; b++) {
			const char *one = uri_of(setup, a), *other = uri_of(setup, b);

			if (one && other && overlap_is_refused(a, b, relation_of(one, other)))
				return xasprintf(
					"%s (%s) and %s (%s) are one directory: set another one for %s",
					overlap_key(a), one, overlap_key(b), other,
					overlap_key(OVERLAP_RESULTS));
		}
	return NULL;
}
