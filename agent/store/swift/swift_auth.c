#include "store/swift/swift_auth.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/store_http.h"
#include "store/swift/swift_login.h"

struct swift_auth {
	struct http *http;
	int64_t (*now_ms)(void);
	struct swift_login login;

	struct swift_grant session; /* token NULL: none */
	char *shown;                /* of the last session, also when that was refused */
	unsigned number;
	int64_t renew_at_ms, ends_at_ms; /* INT64_MAX: never */

	struct err failure; /* kind ERR_NONE: the last sign-in succeeded */
	int64_t failure_ends_ms;
};

struct swift_auth *swift_auth_new(const struct swift_config *config, struct http *http,
				  int64_t (*now_ms)(void), struct err *err)
{
	struct swift_login login;
	struct swift_auth *auth;

	if (swift_login_init(&login, config, err))
		return NULL;
	auth = xcalloc(1, sizeof(*auth));
	auth->http = http;
	auth->now_ms = now_ms ? now_ms : clock_mono_ms;
	auth->login = login;
	return auth;
}

static void forget(struct swift_auth *auth)
{
	swift_login_wipe(auth->session.token);
	free(auth->session.storage_url);
	auth->session = (struct swift_grant){0};
}

void swift_auth_free(struct swift_auth *auth)
{
	if (!auth)
		return;
	forget(auth);
	free(auth->shown);
	swift_login_release(&auth->login);
	free(auth);
}

/* ---- one sign-in ---- */

static int swift_auth_prepare(void *ctx, size_t index, struct store_call *ret_call, struct err *err)
{
	struct swift_auth *auth = ctx;

	(void)index;
	(void)err;
	swift_login_call(&auth->login, ret_call);
	return 0;
}

/* The configured storage URL, or the one that the sign-in has given. */
static char *show(const struct swift_login *login, const char *storage_url)
{
	const struct swift_config *config = login->config;
	cleanup_free char *given = NULL;

	if (config->storage_url)
		return store_config_shown(storage_url, config->storage_url_from);
	given = config->auth_url_from ? xasprintf("from the sign-in, %s", config->auth_url_from)
				      : xstrdup("from the sign-in");
	return store_config_shown(storage_url, given);
}

const char *swift_auth_shown(const struct swift_auth *auth)
{
	return auth->shown;
}

static void begin_session(struct swift_auth *auth, const struct swift_grant *grant)
{
	int64_t early_ms = SWIFT_AUTH_RENEW_MS;

	forget(auth);
	auth->session = *grant;
	free(auth->shown);
	auth->shown = show(&auth->login, grant->storage_url);
	auth->number++;
	auth->ends_at_ms = auth->renew_at_ms = INT64_MAX;
	if (grant->life_ms < 0)
		return;
	if (grant->life_ms / 10 < early_ms)
		early_ms = grant->life_ms / 10;
	auth->ends_at_ms = auth->now_ms() + grant->life_ms;
	auth->renew_at_ms = auth->ends_at_ms - early_ms;
}

static enum store_verdict swift_auth_judge(void *ctx, size_t index,
					   const struct http_response *response, struct err *err)
{
	struct swift_auth *auth = ctx;
	struct swift_grant grant;
	enum store_verdict verdict = swift_login_judge(&auth->login, response, &grant, err);

	(void)index;
	if (verdict == STORE_DONE)
		begin_session(auth, &grant);
	return verdict;
}

static int sign_in(struct swift_auth *auth, struct err *err)
{
	static const struct store_http_ops ops = {.prepare = swift_auth_prepare,
						  .judge = swift_auth_judge};
	struct swift_grant given;

	if (auth->login.kind == SWIFT_LOGIN_NONE) {
		swift_login_given(&auth->login, &given);
		begin_session(auth, &given);
		return 0;
	}
	if (auth->failure.kind == ERR_NONE || auth->now_ms() >= auth->failure_ends_ms) {
		auth->failure = (struct err){0};
		if (store_http_one(auth->http, &ops, auth, &auth->failure)) {
			bool passing = auth->failure.kind == ERR_RETRY;

			auth->failure_ends_ms =
				auth->now_ms() +
				(passing ? SWIFT_AUTH_AGAIN_MS : SWIFT_AUTH_DENIED_AGAIN_MS);
		}
		swift_login_sent(&auth->login);
	}
	if (auth->failure.kind == ERR_NONE)
		return 0;
	err_pass(err, &auth->failure);
	return err_wrap(err, "sign in to Swift");
}

/* ---- the session ---- */

int swift_auth_get(struct swift_auth *auth, struct swift_session *ret, struct err *err)
{
	struct err why = {0};

	if ((!auth->session.token || auth->now_ms() >= auth->renew_at_ms) && sign_in(auth, &why) &&
	    /* the old token stays valid until it expires */
	    (!auth->session.token || auth->now_ms() >= auth->ends_at_ms))
		return err_pass(err, &why);
	*ret = (struct swift_session){
		.storage_url = auth->session.storage_url,
		.token = auth->session.token,
		.number = auth->number,
	};
	return 0;
}

bool swift_auth_refused(struct swift_auth *auth, unsigned number)
{
	if (auth->login.kind == SWIFT_LOGIN_NONE)
		return false;
	if (number == auth->number)
		forget(auth);
	return true;
}
