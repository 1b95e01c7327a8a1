/*
 * journal_store - where the journal is: a ConfigMap, or a file without Kubernetes. The same calls
 * for both; what was seen of the control inputs is stored next to it.
 *
 * If the ConfigMap does not exist yet, or is empty, as the chart makes it, but the state directory has this application's journal from
 * before Kubernetes was used, that journal is taken over: it is read, and put into the ConfigMap
 * with the first write; the file is then renamed to journal.json.moved.
 *
 * Life cycle: journal_store_open() -> read() once -> put() ... -> journal_store_free(). One thread
 * at a time, the calls block: for a lane. Only journal_store_stop() may come from another thread.
 *
 * In a transition a candidate has a journal of its own, in another ConfigMap (core/journal/journal_adopt.h):
 * never a file, not taken over from one, and removed in the end.
 */
#ifndef DREY_RUN_JOURNAL_STORE_H
#define DREY_RUN_JOURNAL_STORE_H

#include "base/buf.h"
#include "base/err.h"
#include "core/journal/journal.h"
#include "run/config/config.h"
#include "run/config/setup_kube.h"

#define JOURNAL_MOVED_SUFFIX ".moved"

struct journal_store;

/* Does not connect. Both are borrowed. */
struct journal_store *journal_store_open(const struct config *config,
					 const struct setup_kube *kube);
/* The one of a candidate in this ConfigMap; `map` is borrowed, too. */
struct journal_store *journal_store_open_shadow(const struct config *config,
						const struct setup_kube *kube, const char *map);
void journal_store_free(struct journal_store *store); /* NULL is allowed */

/*
 * For the agent, before the first call: where the chart makes the ConfigMap (kubernetes.createMaps: false), it is never
 * created, and what somebody else may have put there is not believed (journal_map_made(), journal_origin.h). `kube` is
 * borrowed. Commands that act through the agent do not need it: it refuses.
 */
void journal_store_guard(struct journal_store *store, const struct setup_kube *kube);

/* The same for a command that decides by the journal, or says what the agent would do, and never writes it: before the chart has
 * made the map there is none. */
void journal_store_guard_reader(struct journal_store *store, const struct setup_kube *kube);

/* From any thread, permanently: calls under way that may block end soon, with ERR_RETRY. */
void journal_store_stop(struct journal_store *store);

/* "ConfigMap shop/orders-drey-journal", "/var/lib/drey/journal.json"; borrowed. */
const char *journal_store_place(const struct journal_store *store);

/* True if it outlives the machine and other processes may write it: if it cannot be read now, drey
 * waits. */
bool journal_store_is_remote(const struct journal_store *store);

/*
 * Read it; a proven absence (ERR_ABSENT) means an application that has never run. On success the
 * caller releases *ret_journal. The message of a failure names the remedy. The journal of another
 * application: ERR_CONFIG; else the kinds of journal_file_read() and journal_map_read().
 */
int journal_store_read(struct journal_store *store, struct journal *ret_journal, struct err *err);

/* Compare-and-swap; as journal_file_put() and journal_map_put(). */
int journal_store_put(struct journal_store *store, const struct buf *text, int64_t sequence,
		      const char *writer, struct err *err);

/* Is it unchanged? As journal_map_check(), or journal_file_check(); of a file from any thread. */
int journal_store_check(struct journal_store *store, const char *writer, struct err *err);

/* Only of a candidate: remove (empty, where the chart makes it) what was read last, unless it has changed (ERR_BUSY). 0 also if it is gone. */
int journal_store_remove(struct journal_store *store, struct err *err);

/* What was seen of the control inputs, after read(). ERR_ABSENT: nothing. */
int journal_store_read_seen(struct journal_store *store, struct buf *text, struct err *err);
int journal_store_save_seen(struct journal_store *store, const struct buf *text, struct err *err);

#endif
