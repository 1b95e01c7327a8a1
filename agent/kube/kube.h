/*
 * kube - requests to the API server, one at a time: for lanes, never for the main loop.
 *
 * Life cycle: kube_open() or kube_new() -> kube_do()... -> kube_free(). A handle is used by one thread at a
 * time; each part that needs one has its own, and all of them share a client (kube_client.h). Only
 * kube_stop() may be called from another thread: to end a lane, kube_stop(), then lane_free(), then
 * kube_free().
 *
 * What it does itself, so that callers need not:
 *   - rereads the token (kube_token.h), and after a 401 once more immediately: if the token has
 *     changed, the request is repeated, whatever it is (a 401 comes before any change);
 *   - rereads certificate files for each connection;
 *   - retries, up to KUBE_ATTEMPTS times and within timeout_ms, with growing pauses or as
 *     Retry-After says: after a 429 always (nothing was done), after a refused connection always,
 *     after any other ERR_RETRY only for GET and for requests marked as repeatable;
 *   - limits the rate of its client: KUBE_BURST requests, then KUBE_PER_SECOND;
 *   - uses a kept-alive connection only for what may arrive twice (a dead one makes libcurl send
 *     again): a GET, a `repeatable` and a `compared` change; never follows a redirect, uses no proxy unless the kubeconfig names one, speaks HTTP/1.1, and names itself
 *     "drey/VERSION (linux/amd64)" (the API server indents its JSON for browsers and curl).
 */
#ifndef DREY_KUBE_KUBE_H
#define DREY_KUBE_KUBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "kube/kube_client.h"
#include "kube/kube_status.h"
#include "kube/kube_target.h"

#define KUBE_TIMEOUT_MS         40000 /* the server itself limits a change to 34 s */
#define KUBE_ATTEMPT_TIMEOUT_MS 10000 /* of one attempt of a repeatable request */
#define KUBE_MAX_BYTES          (8u << 20)
#define KUBE_ATTEMPTS           4
#define KUBE_PAUSE_MS           200 /* before the second attempt; doubles, with jitter */
/* Reading 200 names (kube_get_many()) every 30 s never waits for the rate limit. */
#define KUBE_BURST      1024
#define KUBE_PER_SECOND 8
#define KUBE_IN_FLIGHT  4 /* of kube_get_many() */

#define KUBE_MERGE_PATCH     "application/merge-patch+json"           /* RFC 7386: null deletes */
#define KUBE_STRATEGIC_PATCH "application/strategic-merge-patch+json" /* not for custom resources */
#define KUBE_APPLY_PATCH     "application/apply-patch+yaml" /* server-side apply; JSON is YAML */

struct kube;

struct kube *kube_open(struct kube_client *client); /* keeps the client alive */
/* With a client of its own, as kube_client_new(). NULL: ERR_CONFIG. */
struct kube *kube_new(const struct kube_target *config, struct err *err);
void kube_free(struct kube *kube); /* NULL is allowed */

/* From any thread, permanently, of this handle only: a call under way ends within 100 ms with ERR_RETRY "stopped", even
 * during a name lookup or a pause. */
void kube_stop(struct kube *kube);

const char *kube_namespace(const struct kube *kube); /* borrowed */

struct kube_request {
	const char *method;       /* NULL is GET */
	const char *path;         /* "/api/v1/namespaces/x/configmaps/y?..." */
	const char *content_type; /* NULL: application/json, when there is a body */
	const struct json *body;  /* NULL: none */
	int64_t timeout_ms;       /* of all attempts and pauses together; 0 is KUBE_TIMEOUT_MS */
	size_t max_bytes;         /* of the answer; 0 is KUBE_MAX_BYTES */
	/* A change that may be made twice without harm (server-side apply, a merge patch without a
	 * resourceVersion); a GET always is. */
	bool repeatable;
	/* A change with a resourceVersion: a second one is answered with a 409. It is not repeated
	 * here, because only the caller can look whose change came first; but libcurl may send it
	 * again when the kept-alive connection turns out to be dead. */
	bool compared;
};

/*
 * 0 only for a 2xx with a JSON object. -1, the message names verb, path and the server's message:
 *   ERR_ABSENT  404 of the object (or of its namespace)
 *   ERR_DENIED  401, 403, an untrusted server, no readable token. A server answers 403 to
 *               everything for some seconds after its start, and after a Role was created: not
 *               final
 *   ERR_BUSY    409: answer->reason tells "Conflict" from "AlreadyExists"
 *   ERR_RETRY   429, 5xx, network, time-out, stopped; 410, with the reason "Expired" or "Gone".
 *               The outcome of a change is unknown when answer->maybe_done.
 *   ERR_FORMAT  nonsense, or larger than max_bytes (.sys is EFBIG)
 *   ERR_CONFIG  the request is invalid and will be refused again; or answer->path_unknown; or a CA
 *               or certificate that cannot be used
 * *answer is filled in both cases (zeroed before the first use; its previous content is released):
 * kube_answer_release().
 */
int kube_do(struct kube *kube, const struct kube_request *request, struct kube_answer *answer,
	    struct err *err);

/*
 * Many GETs, KUBE_IN_FLIGHT at a time, each as if by kube_do(); they share timeout_ms (0 is
 * KUBE_TIMEOUT_MS). each() is called once for every path, in any order: `why` is NULL, or the error
 * that kube_do() would give; `answer` is borrowed for the call. -1 with *err set ends the whole
 * call.
 */
typedef int kube_each_fn(void *ctx, size_t index, struct kube_answer *answer, const struct err *why,
			 struct err *err);
int kube_get_many(struct kube *kube, const char *const *paths, size_t count, int64_t timeout_ms,
		  kube_each_fn *each, void *ctx, struct err *err);

/* Sleep; -1 (ERR_RETRY) if stopped before or meanwhile. */
int kube_pause(struct kube *kube, int64_t pause_ms, struct err *err);

/* ---- paths ---- */

/* RFC 1123 subdomain, as in most object names: safe in a path. ERR_CONFIG if not. */
int kube_check_name(const char *name, struct err *err);

#endif
