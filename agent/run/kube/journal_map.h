/*
 * journal_map - the journal in a ConfigMap: one JSON document under the key journal.json, replaced by
 * compare-and-swap on metadata.resourceVersion.
 *
 * Beside it, under control-seen.json, is what was seen of the control inputs (control_dir.h): it has
 * to outlive the pod as well. The map has no owner: it must outlive the Deployment, a reinstalled
 * release and the custom resource, or the next start would know nothing of the job's past.
 *
 * Life cycle: journal_map_new() -> read() once -> put() ... -> journal_map_free(). One thread at a
 * time (a lane), all of it blocks; only journal_map_stop() may come from another thread.
 */
#ifndef DREY_RUN_JOURNAL_MAP_H
#define DREY_RUN_JOURNAL_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/journal.h"
#include "kube/kube.h"

#define JOURNAL_MAP_KEY      "journal.json"
#define JOURNAL_MAP_SEEN_KEY "control-seen.json"

struct journal_map;

/* Takes the client over. `name` of the ConfigMap and `application` are copied. */
struct journal_map *journal_map_new(struct kube *kube, const char *name, const char *application);
void journal_map_free(struct journal_map *map); /* NULL is allowed */
void journal_map_stop(struct journal_map *map); /* kube_stop() */

/* "ConfigMap shop/orders-drey-journal"; borrowed. */
const char *journal_map_place(const struct journal_map *map);

/*
 * Read it. On success the caller releases *ret_journal. Failures, told apart by kind:
 *   ERR_ABSENT  there is none: the API server says so
 *   ERR_DENIED  not for us                  ERR_FORMAT  edited into nonsense
 *   ERR_CONFIG  of a newer drey, or refused ERR_RETRY   could not be read
 */
int journal_map_read(struct journal_map *map, struct journal *ret_journal, struct err *err);

/*
 * Replace the document by `text`, which bears this sequence and writer. What is there must be what
 * was last read or written here, something newer of this writer (a write whose answer was lost), or an
 * earlier state of `text` (journal_is_backup()); a change of anything else of the map is no conflict.
 * A map that has vanished is created again.
 * Failures; what is there is the old document, or the new one after ERR_RETRY, and then the next
 * put() recognises it:
 *   ERR_BUSY    somebody else has written; the message names the writer. Stop acting.
 *   ERR_FORMAT, ERR_CONFIG  what is there cannot be understood and is therefore not overwritten; or
 *               the server refuses the document
 *   ERR_DENIED  the Role, an admission rule, or a namespace that ends
 *   ERR_RETRY   outcome unknown; or the map is being deleted, and what is in it would go with it
 */
int journal_map_put(struct journal_map *map, const char *text, size_t len_bytes, int64_t sequence,
		    const char *writer, struct err *err);

/* 0: what is there is what was last read or written here, or something newer of this writer (a write whose answer
 * was lost). 1: it has vanished, or is an earlier state of what was: to be written again. -1, ERR_BUSY: somebody
 * else has written. Others: nothing is known. */
int journal_map_check(struct journal_map *map, const char *writer, struct err *err);

/* What was under JOURNAL_MAP_SEEN_KEY at the last read or write; NULL: nothing. Borrowed. */
const char *journal_map_seen(const struct journal_map *map);

/* Put it there, if nobody else has written the journal meanwhile. Where there is no map it goes along
 * with the next put(). Errors as of put(). */
int journal_map_save_seen(struct journal_map *map, const char *text, struct err *err);

#endif
