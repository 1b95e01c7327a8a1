/*
 * failover - may the leader lock of a dead Flink be released, so that its successor need not wait
 * until the lease expires (15 s)?
 *
 * Flink's Kubernetes HA has one lock for a cluster: the leader record on
 * <cluster-id>-cluster-config-map (format/leader.h). A JVM holds it under a random UUID generated
 * at its start. After kill -9 the record stays, and a successor waits; leftover session keys can
 * stall a successor's ResourceManager for 30 s more. drey-init has reaped that very process, so
 * drey can know that the lock will not be renewed: it writes the record that a clean exit would
 * have written, and removes the session keys.
 *
 * Being wrong here would let two Flinks write the same checkpoints, because Flink does not check
 * the lock when it writes the map of a job. So: only after waitpid has reported the death, only the
 * holder recorded while that process was alive, only by compare-and-swap on the version that was
 * judged. In doubt the lock is left alone, which costs only the 15 s.
 *
 * Life cycle of the watch, a pure record of what was read:
 *   failover_watch_begin() before the process starts -> failover_watch_see() for every reading of
 *   the map while it is alive -> failover_decide() once it was reaped -> failover_watch_release()
 */
#ifndef DREY_CORE_FAILOVER_H
#define DREY_CORE_FAILOVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/snapshot.h"

/* One session key, and the address in it. */
struct failover_session {
	char *key;   /* "org.apache.flink.k8s.leader.dispatcher" */
	char *value; /* "<uuid>,<address>" */
	char *host;  /* of the address; NULL = it could not be read */
	int port;
};

/* The cluster's map as it was read once. All owned; failover_lock_release(). */
struct failover_lock {
	bool present;                           /* false: no such map (proven by a 404) */
	bool deleting;                          /* it has a deletion timestamp */
	bool recorded;                          /* it has a leader record */
	bool understood;                        /* and it could be decoded */
	char *resource_version;                 /* NULL = not given */
	char *holder;                           /* "" or NULL = none */
	char *renew_time;                       /* as it was written */
	int64_t renew_unix_ms, acquire_unix_ms; /* -1 = not given */
	/* the last change of the map, by the API server's clock; 0 or less = not given. The other two are by
	 * that of the holder's node */
	int64_t changed_unix_ms;
	int64_t duration_ms; /* -1 = not given */
	bool iso;            /* the spelling of durations: "PT15S" instead of a number */
	int64_t transitions;
	struct failover_session *sessions;
	size_t session_count;
};

void failover_lock_release(struct failover_lock *lock); /* NULL and zeroed are allowed */

/* Append; everything is copied. */
void failover_lock_add_session(struct failover_lock *lock, const char *key, const char *value,
			       const char *host, int port);

struct failover_watch {
	char launch_id[JOB_ID_BYTES]; /* the process that is watched; "" = none */
	/* an address that no other machine has, where that process serves; NULL = not known: no
	 * holder is ever recognised */
	char *host;
	int rpc_port;
	int64_t started_unix_ms;
	char *before;       /* the value of the dispatcher's session before the process started */
	bool before_known;  /* the map was read then */
	char *first_holder; /* seen once: is it renewed? */
	char *first_renew;
	struct failover_lock seen; /* as last read, once the holder is proven to be ours */
	bool proven;
	char why[160]; /* why it is not proven yet */
};

/* `before`: the map as it was read before the start, NULL = it was not read. */
void failover_watch_begin(struct failover_watch *watch, const char *launch_id, const char *host,
			  int rpc_port, const struct failover_lock *before, int64_t now_unix_ms);

/*
 * The map as read while that process was alive; the reading must have begun and ended in its
 * lifetime. Takes ownership of *lock.
 *
 * A holder is that process when two readings with different renewTime show the same holder, and its
 * dispatcher's session is a new one at our own address.
 */
void failover_watch_see(struct failover_watch *watch, struct failover_lock *lock);

void failover_watch_release(struct failover_watch *watch); /* zeroed is allowed */

enum failover_kind {
	FAILOVER_RELEASE, /* apply the patch */
	FAILOVER_NOTHING, /* the lock is already free */
	FAILOVER_DO_NOT,  /* leave it alone; the successor waits for the lease */
};

struct failover_verdict {
	enum failover_kind kind;
	char reason[256];
	/* RELEASE: a merge patch (RFC 7386) of the map, which carries its resourceVersion; owned */
	char *patch;
};

/* launch_id: the launch whose death is in question; reaped: waitpid has reported it. `lock` is the
 * map as read after the death. The caller frees ret_verdict->patch. */
void failover_decide(const struct failover_watch *watch, const char *launch_id, bool reaped,
		     const struct failover_lock *lock, int64_t now_unix_ms,
		     struct failover_verdict *ret_verdict);

/*
 * Is the lock free of any live holder? Released, or expired by the API server's clock
 * (server_unix_ms, 0 = not known) and not written for the length of the lease by that clock, or
 * not renewed for that long while we watched (unchanged_ms). False with *ret_why (the caller frees) when it is owned, and in every doubt.
 */
bool failover_lock_is_free(const struct failover_lock *lock, int64_t server_unix_ms,
			   int64_t unchanged_ms, char **ret_why);

/*
 * Would a Flink of this machine wait longer than the lease? Its client compares the date of the last renewal with its own clock
 * (now_unix_ms): where that of the holder was an hour ahead, the next Flink waits for an hour, and the holder may be dead.
 */
bool failover_lock_is_ahead(const struct failover_lock *lock, int64_t now_unix_ms);

/* What releases such a lock, if it is free: as the patch of RELEASE. The caller frees. */
char *failover_lock_patch(const struct failover_lock *lock, int64_t now_unix_ms);

#endif
