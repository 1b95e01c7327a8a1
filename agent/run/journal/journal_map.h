/*
 * journal_map - the journal in a ConfigMap: one JSON document under the key journal.json, replaced by
 * compare-and-swap on metadata.resourceVersion.
 *
 * Next to it, under control-seen.json, is what was seen of the control inputs (control_dir.h): it
 * must outlive the pod as well. The map has no owner: it must outlive the Deployment, a reinstalled
 * release and the custom resource, or the next start would not know the job's past.
 *
 * The chart makes the map empty, with a mark (kube/map_mark.h): that is as if there were none. With
 * journal_map_made() it is never created here, and content without the mark of this very object is not believed.
 *
 * Life cycle: journal_map_new() -> read() once -> put() ... -> journal_map_free(). One thread at a
 * time (a lane), all of it blocks; only journal_map_stop() may come from another thread.
 */
#ifndef DREY_RUN_JOURNAL_MAP_H
#define DREY_RUN_JOURNAL_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/journal/journal.h"
#include "kube/configmap.h"
#include "kube/kube.h"

#define JOURNAL_MAP_KEY      "journal.json"
#define JOURNAL_MAP_SEEN_KEY "control-seen.json"

struct journal_map;

/* Takes ownership of the client. `name` of the ConfigMap and `application` are copied. */
struct journal_map *journal_map_new(struct kube *kube, const char *name, const char *application);
void journal_map_free(struct journal_map *map); /* NULL is allowed */
void journal_map_stop(struct journal_map *map); /* kube_stop() */

/*
 * Content of `map` that nobody has marked: 0 if it is that of a drey from before there were marks; else -1, as
 * map_mark_refuse_foreign(), or the error that keeps it from being known. Of an empty map: 0 if none was written before, else
 * as map_mark_refuse_emptied().
 */
typedef int journal_map_vouch(void *ctx, const struct configmap *map, struct err *err);

/* From now on: the chart makes the map. `vouch` is asked once for each object that has content without a mark, and about an
 * empty one that is read. */
void journal_map_made(struct journal_map *map, journal_map_vouch *vouch, void *ctx);

/* With journal_map_made(), for what never writes: a map that is missing is none yet. */
void journal_map_only_read(struct journal_map *map);

/* Does what was read or written last have the mark of its object? */
bool journal_map_is_marked(const struct journal_map *map);

/* "ConfigMap shop/orders-drey-journal"; borrowed. */
const char *journal_map_place(const struct journal_map *map);

/*
 * Read it. On success the caller releases *ret_journal. Failures, told apart by kind:
 *   ERR_ABSENT  there is none: the API server says so; or it is empty and marked, and was not written before
 *   ERR_DENIED  not for us                  ERR_FORMAT  edited into nonsense
 *   ERR_CONFIG  of a newer drey, or refused ERR_RETRY   could not be read; or there is none, and the chart makes it
 */
int journal_map_read(struct journal_map *map, struct journal *ret_journal, struct err *err);

/*
 * Replace the document by `text`, which has this sequence and writer. The existing content must be
 * what was last read or written here, something newer of this writer (a write whose answer was
 * lost), or an earlier state of `text` (journal_is_backup()); a change of anything else of the map
 * is no conflict. A map that has disappeared is created again, or missed (ERR_RETRY) where the
 * chart makes it. After a failure the map has the old
 * document, or possibly the new one after ERR_RETRY, which the next put() then recognises:
 *   ERR_BUSY    another drey has written; the message names the writer. Stop acting.
 *   ERR_FORMAT, ERR_CONFIG  the existing content cannot be understood and is therefore not
 *                           overwritten; or the server refuses the document
 *   ERR_DENIED  the Role, an admission rule, or a namespace that is being deleted
 *   ERR_RETRY   outcome unknown; or the map is being deleted, and its content would be lost with it
 */
int journal_map_put(struct journal_map *map, const char *text, size_t len_bytes, int64_t sequence,
		    const char *writer, struct err *err);

/* 0: the content is what was last read or written here, or something newer of this writer (a
 * write whose answer was lost). 1: it has disappeared, or is an earlier state: write it again. -1,
 * ERR_BUSY: another drey has written it. Others: unknown. */
int journal_map_check(struct journal_map *map, const char *writer, struct err *err);

/* Delete it, or empty it where the chart makes it, if it is what was read or written here last, else ERR_BUSY. 0 also
 * if there is none. */
int journal_map_remove(struct journal_map *map, struct err *err);

/* What was under JOURNAL_MAP_SEEN_KEY at the last read or write; NULL: nothing. Borrowed. */
const char *journal_map_seen(const struct journal_map *map);

/* Write it there, unless another drey has written the journal meanwhile. Without a map it is
 * written with the next put(). Errors as for put(). */
int journal_map_save_seen(struct journal_map *map, const char *text, struct err *err);

#endif
