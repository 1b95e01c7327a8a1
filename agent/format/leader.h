/*
 * leader - the leader of a Flink cluster on Kubernetes: the leader record and the leader keys of
 * <cluster-id>-cluster-config-map.
 *
 * The record is the annotation LEADER_ANNOTATION, JSON written by Flink's Kubernetes client
 * (fabric8,
 * io.fabric8.kubernetes.client.extended.leaderelection.resourcelock.LeaderElectionRecord):
 *   {"holderIdentity":"<uuid of one JVM>","leaseDuration":15.000000000,"acquireTime":"...",
 *    "renewTime":"...","leaderTransitions":3}
 * Flink 1.20 and older write the duration as a number of seconds, 2.0 and later as "PT15S". A
 * record without a holder, or with an empty one, means a released lock.
 *
 * A key org.apache.flink.k8s.leader.<component> names a session of the leader, "<uuid>,<address>";
 * components are resourcemanager, dispatcher, restserver and job-<job id>. Source:
 * org.apache.flink.kubernetes.utils.Constants, KubernetesUtils.parseLeaderInformation.
 *
 * Errors: ERR_FORMAT.
 */
#ifndef DREY_FORMAT_LEADER_H
#define DREY_FORMAT_LEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define LEADER_ANNOTATION "control-plane.alpha.kubernetes.io/leader"
#define LEADER_KEY_PREFIX "org.apache.flink.k8s.leader."
#define LEADER_MAX_BYTES  (16 * 1024) /* of the record */
#define LEADER_HOST_BYTES 256

struct leader {
	char *holder;            /* "" = none */
	char *renew_time;        /* as written; "" = not given */
	int64_t duration_ms;     /* of the lease; -1 = not given */
	bool iso;                /* the duration was written as "PT15S" */
	int64_t acquire_unix_ms; /* by the writer's clock; -1 = not given */
	int64_t renew_unix_ms;   /* idem */
	int64_t transitions;     /* 0 = not given */
};

/* The text of the annotation. Release with leader_release(). */
int leader_parse(const char *text, size_t len_bytes, struct leader *ret, struct err *err);
void leader_release(struct leader *leader); /* NULL and zeroed are allowed */

/*
 * The address of a session: the value of a leader key. The address is a URL of REST
 * ("http://10.0.0.7:8081") or of Pekko or Akka
 * ("pekko.tcp://flink@10.0.0.7:6123/user/rpc/dispatcher_1"); an IPv6 address comes without its
 * brackets.
 */
int leader_session_parse(const char *value, char ret_host[LEADER_HOST_BYTES], int *ret_port,
			 struct err *err);

#endif
