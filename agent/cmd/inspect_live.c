#include "cmd/inspect_live.h"

#include "base/mem.h"
#include "run/config/setup.h"
#include "run/ha/ha_observe.h"
#include "run/journal/journal_store.h"

/* The journal; an empty one if there is none. NULL: it cannot be read, so the maps of all names are
 * read. */
static struct journal *inspect_read_journal(const struct setup *setup, struct journal *journal)
{
	struct err err = {0};
	struct journal_store *store = journal_store_open(&setup->config, &setup->kube);
	int result;

	journal_store_guard_reader(store, &setup->kube);
	result = journal_store_read(store, journal, &err);
	journal_store_free(store);
	if (result == 0)
		return journal;
	journal_init(journal, setup->config.application);
	return err.kind == ERR_ABSENT ? journal : NULL;
}

static int read_maps(const struct setup *setup, struct ha_maps *ret_maps, char **ret_held,
		     struct err *err)
{
	cleanup_journal struct journal journal = {0};
	cleanup_observe_plan struct observe_plan plan = {0};
	int rc = 0;

	ha_observe_once(setup, inspect_read_journal(setup, &journal), &plan);
	if (plan.ha_state != SOURCE_PRESENT) {
		rc = err_set(err, ERR_RETRY, 0, "%s",
			     plan.ha_detail ? plan.ha_detail : "not all of them could be read");
	} else {
		*ret_maps = plan.ha;
		plan.ha = (struct ha_maps){0};
		*ret_held = plan.lock_held;
		plan.lock_held = NULL;
	}
	return rc;
}

int inspect_live_read(const struct cli *cli, struct ha_maps *ret_maps, char **ret_held,
		      struct err *err)
{
	cleanup_setup struct setup setup = {0};
	struct err why = {0};
	int rc;

	if (setup_load(cli_config_path(cli), &setup, &why) < 0)
		return err_set(err, ERR_CONFIG, 0, "%s", why.msg);
	if (setup.ha.on)
		rc = read_maps(&setup, ret_maps, ret_held, err);
	else
		rc = err_set(
			err, ERR_CONFIG, 0,
			"Flink's configuration has no high availability: set high-availability.type, or pass FILE");
	return rc;
}
