#include "cmd/saved_journal.h"

#include "base/mem.h"
#include "run/config/setup_kube.h"
#include "run/journal/journal_store.h"

int saved_journal_read(const struct config *config, struct journal *ret_journal, char **ret_place,
		       struct err *err)
{
	cleanup_setup_kube struct setup_kube kube = {0};
	struct journal_store *store;
	int result;

	*ret_place = NULL;
	if (setup_kube(config, &kube, err) < 0)
		return -1;
	store = journal_store_open(config, &kube);
	*ret_place = xstrdup(journal_store_place(store));
	result = journal_store_read(store, ret_journal, err);
	journal_store_free(store);
	return result;
}
