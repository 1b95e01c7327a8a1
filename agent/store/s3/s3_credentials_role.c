/* Roles: STS exchanges a token, which the platform writes to a file, or other keys for those of the role. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/percent.h"
#include "store/s3/s3_credentials_internal.h"

#define SESSION_NAME    "drey"
#define DURATION_MIN_S  900
#define DURATION_MAX_S  43200
#define DURATION_DIGITS 5

static void add_field(struct buf *form, const char *name, const char *value)
{
	buf_addf(form, "&%s=", name);
	percent_encode(form, value, false);
}

static void add_role(struct buf *form, const char *action, const struct s3_role *role)
{
	buf_addf(form, "Action=%s&Version=2011-06-15", action);
	add_field(form, "RoleArn", role->arn);
	add_field(form, "RoleSessionName", role->session_name ? role->session_name : SESSION_NAME);
}

static int web_identity_keys(struct s3_source_context *context, const struct s3_role *role,
			     struct s3_keys *ret_keys, struct err *err)
{
	cleanup_wipe char *token = NULL;
	cleanup_wipe_buf struct buf form = BUF_INIT;
	struct s3_sts_call call = {&form, role->region, role->arn, NULL};

	if (s3_token_read(role->token_file, &token, err) < 0)
		return err_wrap(err, "web identity token");
	add_role(&form, "AssumeRoleWithWebIdentity", role);
	add_field(&form, "WebIdentityToken", token);
	return s3_sts_keys(context, &call, ret_keys, err) < 0 ? s3_hide(err, token) : 0;
}

static int check_duration(const char *text, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	long seconds = digits && digits <= DURATION_DIGITS && !text[digits] ? atol(text) : 0;

	if (seconds >= DURATION_MIN_S && seconds <= DURATION_MAX_S)
		return 0;
	return err_set(err, ERR_CONFIG, 0, "duration_seconds is not a number from %d to %d",
		       DURATION_MIN_S, DURATION_MAX_S);
}

/* A server may repeat what it received. */
static int hide_keys(const struct s3_keys *keys, struct err *err)
{
	s3_hide(err, keys->secret_key);
	return s3_hide(err, keys->session_token);
}

int s3_role_keys(struct s3_source_context *context, const struct s3_role *role,
		 struct s3_keys *ret_keys, struct err *err)
{
	cleanup_buf struct buf form = BUF_INIT;
	struct s3_sts_call call = {&form, role->region, role->arn, role->keys};

	if (role->token_file)
		return web_identity_keys(context, role, ret_keys, err);
	add_role(&form, "AssumeRole", role);
	if (role->external_id)
		add_field(&form, "ExternalId", role->external_id);
	if (role->duration_seconds) {
		if (check_duration(role->duration_seconds, err) < 0)
			return -1;
		add_field(&form, "DurationSeconds", role->duration_seconds);
	}
	return s3_sts_keys(context, &call, ret_keys, err) < 0 ? hide_keys(role->keys, err) : 0;
}

int s3_source_web_identity(struct s3_source_context *context, struct s3_keys *ret_keys,
			   struct err *err)
{
	cleanup_free char *file = s3_variable(context, "AWS_WEB_IDENTITY_TOKEN_FILE");
	cleanup_free char *role = s3_variable(context, "AWS_ROLE_ARN");
	cleanup_free char *session = s3_variable(context, "AWS_ROLE_SESSION_NAME");
	struct s3_role identity = {.arn = role, .session_name = session, .token_file = file};

	if (!file)
		return 0; /* other tools use AWS_ROLE_ARN alone, too */
	if (!role)
		return err_set(err, ERR_CONFIG, 0,
			       "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
	return s3_role_keys(context, &identity, ret_keys, err) < 0 ? -1 : 1;
}
