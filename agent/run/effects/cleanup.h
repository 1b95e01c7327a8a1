/*
 * cleanup - has Flink, whose job has ended, done what it does after that? Storage shows it:
 *
 *   - The job result store of the launch has the entry <job id>.json, and no <job id>_DIRTY.json.
 *     Flink (1.15 to 2.3, Dispatcher) writes the dirty entry after it has archived the job, and
 *     turns it into the clean one after all of this: the JobMaster has ended, which waits until the
 *     checkpoints that are not retained are discarded; the job's HA ConfigMap is deleted, and its
 *     entry in the cluster's map; its blobs are deleted.
 *   - <checkpoints>/<job id>/shared has no file. Those are deleted by a pool of threads for which
 *     that JobMaster does not wait (SharedStateRegistryImpl.scheduleAsyncDelete).
 *
 * What is not asked about, because nothing needs it after that: files in io.tmp.dirs, and Flink
 * 2.3's record of the application, which belongs to this launch alone. If the user has configured a
 * directory of archives (jobmanager.archive.fs.dir), Flink 2.3 adds the summary of the application
 * to it when main() has returned, which nothing shows: then the answer is CLEANUP_UNKNOWN instead of
 * DONE. So it is when s3.entropy.key scatters the shared files, and when the leader lock could not
 * be released after a kill.
 *
 * Life cycle: cleanup_ask_init() on the loop -> cleanup_look(), blocking -> cleanup_ask_release().
 */
#ifndef DREY_RUN_EFFECTS_CLEANUP_H
#define DREY_RUN_EFFECTS_CLEANUP_H

#include "core/lifecycle/lifecycle.h"
#include "run/driver_internal.h"

struct cleanup_ask {
	bool not_all_shown;
	char *result_dir; /* NULL = Flink records nothing */
	char *shared_dir; /* NULL = the job has completed no checkpoint */
	char job_id[JOB_ID_BYTES];
};

/* About the current launch. Everything is copied. */
void cleanup_ask_init(struct cleanup_ask *ask, const struct driver *driver);
void cleanup_ask_release(struct cleanup_ask *ask); /* zeroed is allowed */

/* One or two listings. An error counts as PENDING: it is asked again. */
enum cleanup cleanup_look(const struct cleanup_ask *ask, const struct store_config *storage);

#endif
