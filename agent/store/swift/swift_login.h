/*
 * swift_login - one sign-in to Swift: its kind, its request, the meaning of its answer. Part of
 * swift_auth.c, which sends it and keeps the result.
 */
#ifndef DREY_STORE_SWIFT_LOGIN_H
#define DREY_STORE_SWIFT_LOGIN_H

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/http.h"
#include "store/store_config.h"
#include "store/store_http.h"

struct swift_login {
	enum {
		SWIFT_LOGIN_NONE, /* address and token are given */
		SWIFT_LOGIN_V1,
		SWIFT_LOGIN_PASSWORD, /* Keystone */
		SWIFT_LOGIN_APPLICATION,
	} kind;
	const struct swift_config *config; /* borrowed */
	char *url;                         /* of the sign-in; NULL for NONE */
	char *shown;                       /* the URL and where it is from, for messages */
	struct buf body;                   /* holds the password while the call is under way */
};

/* The result of a sign-in. */
struct swift_grant {
	char *storage_url; /* no slash at the end */
	char *token;
	int64_t life_ms; /* -1: not said */
};

/* Choose the kind and check that its settings are complete. ERR_CONFIG. */
int swift_login_init(struct swift_login *login, const struct swift_config *config, struct err *err);
void swift_login_release(struct swift_login *login);

/* For SWIFT_LOGIN_NONE. */
void swift_login_given(const struct swift_login *login, struct swift_grant *ret);

/* The request. The body stays with `login` until swift_login_sent(). */
void swift_login_call(struct swift_login *login, struct store_call *ret_call);
void swift_login_sent(struct swift_login *login);

/* STORE_DONE: *ret is filled, the caller frees both texts (swift_login_wipe() the token). */
enum store_verdict swift_login_judge(const struct swift_login *login,
				     const struct http_response *response, struct swift_grant *ret,
				     struct err *err);

/* Overwrite a secret and free it; NULL is allowed. */
void swift_login_wipe(char *secret);

#endif
