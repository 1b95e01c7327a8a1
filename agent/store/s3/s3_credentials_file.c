#include <string.h>

#include "base/mem.h"
#include "store/s3/s3_credentials_internal.h"

static const char *const way_out =
	"drey does not support it: give keys in the environment or in a file (aws configure export-credentials prints them), or use a web identity";

static bool has(const struct s3_profile *profile, enum s3_profile_key key)
{
	return profile->values[key];
}

static int refuse_profile(enum s3_profile_key key, struct err *err)
{
	return err_set(err, ERR_CONFIG, 0, "it has %s; %s", s3_profile_key_name(key), way_out);
}

static int assume_role(struct s3_source_context *context, const struct s3_profile *profile,
		       struct s3_keys *ret_keys, struct err *err)
{
	struct s3_web_identity identity = {
		.token_file = profile->values[S3_PROFILE_WEB_IDENTITY_TOKEN_FILE],
		.role_arn = profile->values[S3_PROFILE_ROLE_ARN],
		.session_name = profile->values[S3_PROFILE_ROLE_SESSION_NAME],
		.region = profile->values[S3_PROFILE_REGION],
	};

	if (has(profile, S3_PROFILE_SOURCE_PROFILE))
		return refuse_profile(S3_PROFILE_SOURCE_PROFILE, err);
	if (has(profile, S3_PROFILE_CREDENTIAL_SOURCE))
		return refuse_profile(S3_PROFILE_CREDENTIAL_SOURCE, err);
	if (!identity.token_file)
		return err_set(err, ERR_CONFIG, 0,
			       "it has role_arn, but no web_identity_token_file for the sign-in");
	return s3_web_identity_keys(context, &identity, ret_keys, err) < 0 ? -1 : 1;
}

/* As in the SDKs: a role takes precedence over the keys beside it. */
static int keys_of(struct s3_source_context *context, const struct s3_profile *profile,
		   struct s3_keys *ret_keys, struct err *err)
{
	const char *access = profile->values[S3_PROFILE_ACCESS_KEY];
	const char *secret = profile->values[S3_PROFILE_SECRET_KEY];

	if (has(profile, S3_PROFILE_ROLE_ARN))
		return assume_role(context, profile, ret_keys, err);
	if (has(profile, S3_PROFILE_WEB_IDENTITY_TOKEN_FILE))
		return err_set(err, ERR_CONFIG, 0,
			       "it has web_identity_token_file, but no role_arn");
	if (!access != !secret)
		return err_set(
			err, ERR_CONFIG, 0, "it has %s, but no %s",
			s3_profile_key_name(access ? S3_PROFILE_ACCESS_KEY : S3_PROFILE_SECRET_KEY),
			s3_profile_key_name(access ? S3_PROFILE_SECRET_KEY
						   : S3_PROFILE_ACCESS_KEY));
	if (access) {
		*ret_keys = (struct s3_keys){xstrdup(access), xstrdup(secret),
					     xstrdup(profile->values[S3_PROFILE_SESSION_TOKEN]), 0};
		return 1;
	}
	if (has(profile, S3_PROFILE_SSO_SESSION))
		return refuse_profile(S3_PROFILE_SSO_SESSION, err);
	if (has(profile, S3_PROFILE_SSO_START_URL))
		return refuse_profile(S3_PROFILE_SSO_START_URL, err);
	if (has(profile, S3_PROFILE_CREDENTIAL_PROCESS))
		return refuse_profile(S3_PROFILE_CREDENTIAL_PROCESS, err);
	return 0;
}

int s3_source_files(struct s3_source_context *context, struct s3_keys *ret_keys, struct err *err)
{
	struct s3_profile profile;
	cleanup_free char *asked = s3_variable(context, "AWS_PROFILE");
	int given;

	if (s3_profile_load(context->get, &profile, err) < 0)
		return -1;
	given = keys_of(context, &profile, ret_keys, err);
	if (given < 0)
		err_wrap(err, "profile '%s'", profile.name);
	if (given == 0 && asked)
		given = err_set(err, ERR_CONFIG, 0, "AWS_PROFILE is '%s': %s%s%s%s", asked,
				profile.found ? "the files have no keys in that profile"
					      : "the files have no such profile",
				profile.passed_over ? " (" : "",
				profile.passed_over ? profile.passed_over : "",
				profile.passed_over ? ")" : "");
	if (given == 0 && profile.passed_over)
		xstrset(&context->passed_over, profile.passed_over);
	s3_profile_release(&profile);
	return given;
}
