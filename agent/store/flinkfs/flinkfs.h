/*
 * flinkfs - Flink's own file systems, for every scheme that drey does not speak itself (gs, abfs,
 * hdfs, oss, ...): a JVM with Flink's class path, plugins and configuration (java/files) lists and reads
 * for drey.
 *
 * It is started when it is first needed, serves all stores of a configuration, one request at a time,
 * and is ended FLINKFS_IDLE_MS after the last one: one decision needs one JVM, and at rest there is
 * none. A JVM that does not answer, ends, or answers something else is killed; the request then fails
 * with ERR_RETRY, which never means absence, and the next one starts another JVM.
 *
 * Life cycle: flinkfs_new() -> flinkfs_ask() from any thread ... -> flinkfs_free(). A thread exists as
 * long as the JVM: the kernel kills the JVM when that thread, or drey, ends.
 *
 * Limits: FLINKFS_SILENCE_MS without a frame, FLINKFS_ANSWER_MAX of an answer.
 */
#ifndef DREY_STORE_FLINKFS_H
#define DREY_STORE_FLINKFS_H

#include "base/buf.h"
#include "base/err.h"
#include "store/flinkfs/flinkfs_wire.h"

#define FLINKFS_IDLE_MS    5000
#define FLINKFS_START_MS   60000  /* until it has loaded Flink's plugins */
#define FLINKFS_SILENCE_MS 120000 /* file systems retry themselves */
#define FLINKFS_REFUSAL_MS                                                                         \
	3000 /* a start that has failed, and silence, are not repeated for each file */
#define FLINKFS_ANSWER_MAX ((size_t)128 << 20)

/* NULL-terminated; at NULL: empty. */
struct flinkfs_list {
	char **at;
	size_t count;
};

void flinkfs_list_add(struct flinkfs_list *list, char *owned);

/* How to start it. Owns all of it; a zeroed struct is valid. */
struct flinkfs_config {
	char *missing; /* why it cannot be started, with the remedy; NULL: it can */
	struct flinkfs_list argv, env;
	char *conf_dir;                 /* of Flink's configuration; NULL: none */
	struct flinkfs_list properties; /* over it: key, value, key, value, ... */
	struct flinkfs_list plugins; /* that are not in the plugins directory yet: name, jar, ... */
	int64_t idle_ms, start_ms, silence_ms; /* 0: as above */
};

void flinkfs_config_release(struct flinkfs_config *config);

struct flinkfs;

/* Takes all of *config over, which is zeroed. */
struct flinkfs *flinkfs_new(struct flinkfs_config *config);

/* Ends the JVM, and a request that is under way, which then fails. NULL is allowed. */
void flinkfs_free(struct flinkfs *flinkfs);

/* Can it be started, as far as is known without a start? ERR_CONFIG with the remedy. */
int flinkfs_check(const struct flinkfs *flinkfs, struct err *err);

/* One request, to be filled with flinkfs_put_...(). */
struct flinkfs_request {
	struct buf bytes;
	uint32_t number;
	enum flinkfs_names names; /* of the items of the answer */
	uint32_t jvm;             /* only this one (of an answer) can answer it; 0: any */
};

/* Zeroes and begins it. Release `bytes`. */
void flinkfs_begin(struct flinkfs *flinkfs, char type, enum flinkfs_names names,
		   struct flinkfs_request *ret_request);

/* One answer, complete. */
struct flinkfs_answer {
	struct buf items; /* for flinkfs_item_next() */
	struct buf content;
	int64_t item_count, first, second;
	uint32_t jvm; /* that has given it */
};

/*
 * Send the request, and receive all of the answer. Release with flinkfs_answer_release(). Errors: those
 * of the file system, of the kind that the JVM has found out: ERR_ABSENT only where it is proven.
 * ERR_CONFIG: no file system is for this scheme, or the bucket does not exist. ERR_RETRY: there was no
 * answer, or no valid one.
 */
int flinkfs_ask(struct flinkfs *flinkfs, struct flinkfs_request *request,
		struct flinkfs_answer *ret_answer, struct err *err);

void flinkfs_answer_release(struct flinkfs_answer *answer);
#define cleanup_flinkfs_answer __attribute__((cleanup(flinkfs_answer_release)))

#endif
