#include "store/s3/s3_credentials.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "store/s3/s3_credentials_internal.h"

#define RENEW_BEFORE_MS INT64_C(300000) /* the expiry of the keys */
#define RENEW_PAUSE_MS  INT64_C(30000)  /* between two renewals, whatever the expiry */
#define SLOW_MS         INT64_C(2000)   /* a failure that took so long is not sought again soon */
#define TOKEN_MAX_BYTES ((size_t)64 * 1024)
#define BLANKS          " \t\r\n"

struct s3_credentials {
	struct s3_source_context context;
	const struct source *source; /* NULL before the first keys */
	struct s3_keys keys;
	int64_t renew_unix_ms; /* not before; only for keys that expire */
	bool refused;
	struct err failure; /* the last fetch took long and failed: so do all until then */
	int64_t failed_until_ms;
};

static int source_config(struct s3_source_context *context, struct s3_keys *ret_keys,
			 struct err *err);

static const struct source {
	const char *name;
	s3_source_fn keys;
	bool fixed;     /* asking again returns the same */
	bool anonymous; /* it is no profile, and not asked when storage.s3.profile names one */
} sources[] = {
	{"configuration", source_config, true, false},
	{"environment", s3_source_environment, true, true},
	{"web identity", s3_source_web_identity, false, true},
	{"shared files", s3_source_files, false, false},
	{"container endpoint", s3_source_container, false, true},
	{"instance metadata", s3_source_metadata, false, true},
};

/* ---- shared by the sources ---- */

void s3_keys_release(struct s3_keys *keys)
{
	s3_wipe(&keys->access_key);
	s3_wipe(&keys->secret_key);
	s3_wipe(&keys->session_token);
	keys->expires_unix_ms = 0;
}

static char *trimmed(const char *text)
{
	size_t len;

	text += strspn(text, BLANKS);
	len = strlen(text);
	while (len && strchr(BLANKS, text[len - 1]))
		len--;
	return len ? xstrndup(text, len) : NULL;
}

char *s3_variable(const struct s3_source_context *context, const char *name)
{
	const char *value = context->get(name);

	return value ? trimmed(value) : NULL;
}

int s3_token_read(const char *path, char **ret_token, struct err *err)
{
	cleanup_wipe_buf struct buf text = BUF_INIT;
	struct err why = {0};
	char *token;

	if (fs_read(path, TOKEN_MAX_BYTES, &text, &why) < 0)
		return err_set(err, why.kind == ERR_ABSENT ? ERR_CONFIG : why.kind, 0, "%s",
			       why.msg);
	token = trimmed(buf_str(&text));
	if (!token)
		return err_set(err, ERR_CONFIG, 0, "%s is empty", path);
	*ret_token = token;
	return 0;
}

/* ---- fixed keys ---- */

struct pair {
	const char *access_name, *secret_name;
	const char *access, *secret, *token;
};

/* Both or none. */
static int take_pair(const struct pair *pair, struct s3_keys *ret_keys, struct err *err)
{
	if (!pair->access && !pair->secret)
		return 0;
	if (!pair->access || !pair->secret)
		return err_set(err, ERR_CONFIG, 0, "%s is set, but %s is not",
			       pair->access ? pair->access_name : pair->secret_name,
			       pair->access ? pair->secret_name : pair->access_name);
	if (s3_keys_take(pair->access, pair->secret, pair->token, NULL, ret_keys, err) < 0)
		return -1;
	return 1;
}

static int source_config(struct s3_source_context *context, struct s3_keys *ret_keys,
			 struct err *err)
{
	const struct s3_config *config = context->config;
	struct pair pair = {"the access key", "the secret key", config->access_key,
			    config->secret_key, config->session_token};

	return take_pair(&pair, ret_keys, err);
}

int s3_source_environment(struct s3_source_context *context, struct s3_keys *ret_keys,
			  struct err *err)
{
	cleanup_wipe char *access = s3_variable(context, "AWS_ACCESS_KEY_ID");
	cleanup_wipe char *secret = s3_variable(context, "AWS_SECRET_ACCESS_KEY");
	cleanup_wipe char *token = s3_variable(context, "AWS_SESSION_TOKEN");
	struct pair pair = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", access, secret, token};

	return take_pair(&pair, ret_keys, err);
}

/* ---- the chain ---- */

struct s3_credentials *s3_credentials_new(const struct s3_config *config,
					  const struct s3_credentials_env *env)
{
	struct s3_credentials *credentials = xcalloc(1, sizeof(*credentials));

	credentials->context.config = config;
	credentials->context.get = env && env->get ? env->get : getenv;
	credentials->context.now_unix_ms =
		env && env->now_unix_ms ? env->now_unix_ms : clock_unix_ms;
	credentials->context.process_timeout_ms = env ? env->process_timeout_ms : 0;
	return credentials;
}

void s3_credentials_free(struct s3_credentials *credentials)
{
	if (!credentials)
		return;
	s3_keys_release(&credentials->keys);
	free(credentials->context.passed_over);
	free(credentials);
}

static int none(const struct s3_credentials *credentials, struct err *err)
{
	const char *why = credentials->context.passed_over;

	if (credentials->source)
		return err_set(err, ERR_RETRY, 0, "keys for S3 from %s: it has none any more%s%s",
			       credentials->source->name, why ? ": " : "", why ? why : "");
	return err_set(err, ERR_CONFIG, 0,
		       "no keys for S3 in drey.yaml, AWS_ACCESS_KEY_ID, "
		       "AWS_WEB_IDENTITY_TOKEN_FILE, ~/.aws, "
		       "AWS_CONTAINER_CREDENTIALS_FULL_URI or instance metadata%s%s%s",
		       why ? " (" : "", why ? why : "", why ? ")" : "");
}

/* Ask the sources in order; after the first keys, only the source that gave them: switching to
 * another identity later would be a surprise. */
static int fetch(struct s3_credentials *credentials, struct s3_keys *ret_keys,
		 const struct source **ret_source, struct err *err)
{
	xstrset(&credentials->context.passed_over, NULL);
	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		int given;

		if (credentials->source && credentials->source != &sources[i])
			continue;
		if (credentials->context.config->profile && sources[i].anonymous)
			continue;
		given = sources[i].keys(&credentials->context, ret_keys, err);
		if (given < 0)
			return err_wrap(err, "keys for S3 from %s", sources[i].name);
		if (given == 0)
			continue;
		*ret_source = &sources[i];
		return 0;
	}
	return none(credentials, err);
}

static bool has_keys(const struct s3_credentials *credentials)
{
	return credentials->keys.access_key;
}

/* They are there, and the store accepts them as far as is known. */
static bool are_valid(const struct s3_credentials *credentials, int64_t now_unix_ms)
{
	return has_keys(credentials) && !credentials->refused &&
	       (!credentials->keys.expires_unix_ms ||
		now_unix_ms < credentials->keys.expires_unix_ms);
}

static bool must_fetch(const struct s3_credentials *credentials, int64_t now_unix_ms)
{
	if (!has_keys(credentials) || credentials->refused)
		return true;
	return credentials->keys.expires_unix_ms && now_unix_ms >= credentials->renew_unix_ms;
}

/* fetch(), except that thousands of files do not wait for a program that hangs one after another. */
static int fetch_or_recall(struct s3_credentials *credentials, struct s3_keys *ret_keys,
			   struct err *err)
{
	int64_t begin_ms = clock_mono_ms(), took_ms;

	if (!credentials->context.have_keys && begin_ms < credentials->failed_until_ms) {
		*err = credentials->failure;
		return -1;
	}
	if (fetch(credentials, ret_keys, &credentials->source, err) == 0)
		return 0;
	took_ms = clock_mono_ms() - begin_ms;
	credentials->failed_until_ms = took_ms < SLOW_MS ? 0 : begin_ms + 2 * took_ms;
	credentials->failure = *err;
	return -1;
}

static void plan_renewal(struct s3_credentials *credentials, int64_t now_unix_ms)
{
	credentials->renew_unix_ms = credentials->keys.expires_unix_ms - RENEW_BEFORE_MS;
	/* for keys with a short life or a wrong clock: not at every request */
	if (credentials->renew_unix_ms < now_unix_ms + RENEW_PAUSE_MS)
		credentials->renew_unix_ms = now_unix_ms + RENEW_PAUSE_MS;
}

int s3_credentials_get(struct s3_credentials *credentials, const struct s3_keys **ret_keys,
		       struct err *err)
{
	int64_t now = credentials->context.now_unix_ms();
	struct s3_keys keys = {0};
	struct err why = {0};

	if (!must_fetch(credentials, now)) {
		*ret_keys = &credentials->keys;
		return 0;
	}
	credentials->context.have_keys = are_valid(credentials, now);
	if (fetch_or_recall(credentials, &keys, &why) == 0) {
		s3_keys_release(&credentials->keys);
		credentials->keys = keys;
		credentials->refused = false;
		plan_renewal(credentials, now);
	} else if (!credentials->context.have_keys) {
		return err_pass(err, &why);
	} else {
		credentials->renew_unix_ms = now + RENEW_PAUSE_MS;
	}
	*ret_keys = &credentials->keys;
	return 0;
}

bool s3_credentials_refused(struct s3_credentials *credentials)
{
	if (!credentials->source || credentials->source->fixed)
		return false;
	credentials->refused = true;
	return true;
}

const char *s3_credentials_source(const struct s3_credentials *credentials)
{
	return credentials->source ? credentials->source->name : "";
}
