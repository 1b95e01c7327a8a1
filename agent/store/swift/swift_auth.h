/*
 * swift_auth - signs in to OpenStack Swift: gets an address for the objects and a token for it.
 *
 * Three ways, first one that is configured wins:
 *   storage_url and token   as they are, no sign-in; a refused token cannot be renewed
 *   tempauth (v1)           an auth_url that ends in /v1 or /v1.0, or has no version while `user`
 *                           is "account:user" and no project is set: X-Auth-User, X-Auth-Key
 *   Keystone (v3)           any other; "/v3" is added if missing: an application credential
 *                           if one is set, else user, password, project and their domains
 * A storage_url without a token replaces the address that the sign-in gives.
 *
 * Life cycle: swift_auth_new() -> swift_auth_get() before each request, swift_auth_refused() when
 * the store answers 401 -> swift_auth_free(). One thread at a time. No secret is ever part of a
 * message; tokens and request bodies are overwritten when they are freed.
 *
 * A failed sign-in is remembered for a few seconds: a listing of many files must not repeat it so
 * often that the account is locked.
 *
 * Source: Object Storage "Auth v1"; Identity API v3, POST /v3/auth/tokens.
 */
#ifndef DREY_STORE_SWIFT_AUTH_H
#define DREY_STORE_SWIFT_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/http.h"
#include "store/store_config.h"

#define SWIFT_AUTH_RENEW_MS        60000 /* before its expiry; at most a tenth of its lifetime */
#define SWIFT_AUTH_AGAIN_MS        5000  /* a failure is remembered; a denial or a mistake ... */
#define SWIFT_AUTH_DENIED_AGAIN_MS 60000 /* ... longer */

struct swift_auth;

struct swift_session {
	const char *storage_url; /* no slash at the end */
	const char *token;
	unsigned number; /* counts the sign-ins, from 1 */
};

/* config and http are borrowed. now_ms: a monotonic clock; NULL is clock_mono_ms(). ERR_CONFIG when
 * the configuration cannot work; no request is made yet. */
struct swift_auth *swift_auth_new(const struct swift_config *config, struct http *http,
				  int64_t (*now_ms)(void), struct err *err);
void swift_auth_free(struct swift_auth *auth); /* NULL is allowed */

/*
 * The session, signed in or renewed when needed; borrowed until the next call on `auth`. ERR_DENIED
 * wrong user or password, ERR_CONFIG no such address, project or region, ERR_RETRY no answer,
 * ERR_FORMAT an invalid answer.
 */
int swift_auth_get(struct swift_auth *auth, struct swift_session *ret, struct err *err);

/* The storage URL of the last session and where it is from, for messages: "https://host/v1/AUTH_a (...)"; NULL before
 * the first one. Borrowed until the next swift_auth_get(). */
const char *swift_auth_shown(const struct swift_auth *auth);

/* The store has answered 401 in session `number`: sign in again at the next get, unless that was
 * done already. False if no other token can be obtained. */
bool swift_auth_refused(struct swift_auth *auth, unsigned number);

#endif
