/* saved_journal - the journal as it is stored, for commands that need no running drey. Changes nothing. */
#ifndef DREY_CMD_SAVED_JOURNAL_H
#define DREY_CMD_SAVED_JOURNAL_H

#include "base/err.h"
#include "core/journal/journal.h"
#include "run/config/config.h"

/*
 * Read it from the ConfigMap or the file that the configuration names. The caller releases *ret_journal,
 * and frees *ret_place ("ConfigMap shop/orders-drey-journal"), which is set on failure, too, if it is
 * known. ERR_ABSENT: there is none; ERR_CONFIG and others: as setup_kube() and journal_store_read().
 */
int saved_journal_read(const struct config *config, struct journal *ret_journal, char **ret_place,
		       struct err *err);

#endif
