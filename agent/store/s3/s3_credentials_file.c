/* Profiles of the shared AWS files: keys, a program, or a role and where the keys for it come from. */
#include <string.h>

#include "base/mem.h"
#include "store/s3/s3_credentials_internal.h"

/* The profile that is looked at, and those that have led to it. */
struct trail {
	const struct trail *before;
	const struct s3_profile *profile;
	int roles; /* so far */
};

static bool has(const struct s3_profile *profile, enum s3_profile_key key)
{
	return profile->values[key];
}

static int refuse(enum s3_profile_key key, const char *why, struct err *err)
{
	return err_set(err, ERR_CONFIG, 0, "it has %s, %s", s3_profile_key_name(key), why);
}

/* For what needs a person at a browser or a keyboard. */
static int refuse_sign_in(enum s3_profile_key key, struct err *err)
{
	return refuse(
		key,
		"but drey signs in to nothing by hand: give keys in the environment or in a file (aws configure export-credentials prints them), or use a web identity",
		err);
}

/* ---- where the keys for a role come from ---- */

static int keys_of(struct s3_source_context *context, const char *name, const struct trail *before,
		   struct s3_keys *ret_keys, struct err *err);

static int from_source(struct s3_source_context *context, const char *given,
		       struct s3_keys *ret_keys, struct err *err)
{
	static const struct {
		const char *name;
		s3_source_fn keys;
		const char *needs;
	} sources[] = {
		{"Environment", s3_source_environment,
		 "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"},
		{"Ec2InstanceMetadata", s3_source_metadata,
		 "instance metadata does not answer, or AWS_EC2_METADATA_DISABLED is true"},
		{"EcsContainer", s3_source_container,
		 "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_CONTAINER_CREDENTIALS_FULL_URI are not set"},
	};

	for (size_t i = 0; i < ARRAY_LEN(sources); i++) {
		int result;

		if (strcmp(given, sources[i].name) != 0)
			continue;
		result = sources[i].keys(context, ret_keys, err);
		if (result > 0)
			return 0;
		if (result == 0)
			err_set(err, ERR_CONFIG, 0, "%s%s%s", sources[i].needs,
				context->passed_over ? ": " : "",
				context->passed_over ? context->passed_over : "");
		return err_wrap(err, "credential_source %s", given);
	}
	return err_set(
		err, ERR_CONFIG, 0,
		"its credential_source is none of Environment, Ec2InstanceMetadata, EcsContainer");
}

static int from_profile(struct s3_source_context *context, const char *name,
			const struct trail *trail, struct s3_keys *ret_keys, struct err *err)
{
	const struct s3_profile *profile = trail->profile;
	bool leads_back = false;

	for (const struct trail *step = trail; step; step = step->before)
		leads_back |= strcmp(step->profile->name, name) == 0;
	/* as in the SDKs, a profile may have a role and the keys for it */
	if (leads_back &&
	    (strcmp(profile->name, name) != 0 || !has(profile, S3_PROFILE_ACCESS_KEY)))
		return err_set(
			err, ERR_CONFIG, 0,
			"its source_profile '%s' leads back to itself; name a profile that has keys",
			name);
	if (trail->roles > S3_MAX_ROLES)
		return err_set(err, ERR_CONFIG, 0, "more than %d roles in a row", S3_MAX_ROLES);
	if (keys_of(context, name, trail, ret_keys, err) < 0)
		return err_wrap(err, "source_profile '%s'", name);
	return 0;
}

static int source_keys(struct s3_source_context *context, const struct trail *trail,
		       struct s3_keys *ret_keys, struct err *err)
{
	const struct s3_profile *profile = trail->profile;
	const char *source = profile->values[S3_PROFILE_CREDENTIAL_SOURCE];
	const char *name = profile->values[S3_PROFILE_SOURCE_PROFILE];

	if (source)
		return from_source(context, source, ret_keys, err);
	return from_profile(context, name, trail, ret_keys, err);
}

static int role_of(struct s3_source_context *context, const struct trail *trail,
		   struct s3_keys *ret_keys, struct err *err)
{
	const struct s3_profile *profile = trail->profile;
	struct s3_keys keys = {0};
	struct s3_role role = {
		.arn = profile->values[S3_PROFILE_ROLE_ARN],
		.session_name = profile->values[S3_PROFILE_ROLE_SESSION_NAME],
		.region = profile->values[S3_PROFILE_REGION],
		.token_file = profile->values[S3_PROFILE_WEB_IDENTITY_TOKEN_FILE],
		.keys = &keys,
		.external_id = profile->values[S3_PROFILE_EXTERNAL_ID],
		.duration_seconds = profile->values[S3_PROFILE_DURATION_SECONDS],
	};
	int count = has(profile, S3_PROFILE_SOURCE_PROFILE) +
		    has(profile, S3_PROFILE_CREDENTIAL_SOURCE) + (role.token_file != NULL);
	int result;

	if (count != 1) /* the SDKs do not agree which one counts */
		return refuse(
			S3_PROFILE_ROLE_ARN,
			count ? "and more than one of source_profile, credential_source, web_identity_token_file; keep one"
			      : "but none of source_profile, credential_source, web_identity_token_file",
			err);
	if (has(profile, S3_PROFILE_MFA_SERIAL))
		return refuse_sign_in(S3_PROFILE_MFA_SERIAL, err);
	result = role.token_file ? 0 : source_keys(context, trail, &keys, err);
	if (result == 0)
		result = s3_role_keys(context, &role, ret_keys, err);
	s3_keys_release(&keys);
	return result < 0 ? -1 : 1;
}

/* ---- one profile ---- */

static int fixed_keys(const struct s3_profile *profile, struct s3_keys *ret_keys, struct err *err)
{
	const char *access = profile->values[S3_PROFILE_ACCESS_KEY];
	const char *secret = profile->values[S3_PROFILE_SECRET_KEY];

	if (!access && !secret)
		return 0;
	if (!access || !secret)
		return err_set(
			err, ERR_CONFIG, 0, "it has %s, but no %s",
			s3_profile_key_name(access ? S3_PROFILE_ACCESS_KEY : S3_PROFILE_SECRET_KEY),
			s3_profile_key_name(access ? S3_PROFILE_SECRET_KEY
						   : S3_PROFILE_ACCESS_KEY));
	*ret_keys = (struct s3_keys){xstrdup(access), xstrdup(secret),
				     xstrdup(profile->values[S3_PROFILE_SESSION_TOKEN]), 0};
	return 1;
}

/* As in the SDKs: a role takes precedence over the keys beside it, except in a profile that is the source
 * of another one. 0: it has none. */
static int keys_in(struct s3_source_context *context, const struct trail *trail,
		   struct s3_keys *ret_keys, struct err *err)
{
	const struct s3_profile *profile = trail->profile;
	const char *program = profile->values[S3_PROFILE_CREDENTIAL_PROCESS];
	int given;

	if (has(profile, S3_PROFILE_ROLE_ARN) &&
	    !(trail->before && has(profile, S3_PROFILE_ACCESS_KEY)))
		return role_of(context, trail, ret_keys, err);
	if (has(profile, S3_PROFILE_WEB_IDENTITY_TOKEN_FILE))
		return refuse(S3_PROFILE_WEB_IDENTITY_TOKEN_FILE, "but no role_arn", err);
	given = fixed_keys(profile, ret_keys, err);
	if (given)
		return given;
	if (has(profile, S3_PROFILE_SSO_SESSION))
		return refuse_sign_in(S3_PROFILE_SSO_SESSION, err);
	if (has(profile, S3_PROFILE_SSO_START_URL))
		return refuse_sign_in(S3_PROFILE_SSO_START_URL, err);
	if (!program)
		return 0;
	return s3_process_keys(context, program, ret_keys, err) < 0 ? -1 : 1;
}

static int no_keys(const struct s3_profile *profile, struct err *err)
{
	return err_set(err, ERR_CONFIG, 0, "%s%s%s%s",
		       profile->found ? "the files have no keys in that profile"
				      : "the files have no such profile",
		       profile->passed_over ? " (" : "",
		       profile->passed_over ? profile->passed_over : "",
		       profile->passed_over ? ")" : "");
}

/* The keys of a profile that another one names. */
static int keys_of(struct s3_source_context *context, const char *name, const struct trail *before,
		   struct s3_keys *ret_keys, struct err *err)
{
	struct s3_profile profile;
	struct trail trail = {before, &profile, before->roles + 1};
	int given;

	if (s3_profile_load(context->get, name, &profile, err) < 0)
		return -1;
	given = keys_in(context, &trail, ret_keys, err);
	if (given == 0)
		given = no_keys(&profile, err);
	s3_profile_release(&profile);
	return given < 0 ? -1 : 0;
}

int s3_source_files(struct s3_source_context *context, struct s3_keys *ret_keys, struct err *err)
{
	const char *configured = context->config->profile;
	cleanup_free char *variable = s3_variable(context, "AWS_PROFILE");
	struct s3_profile profile;
	struct trail trail = {NULL, &profile, 1};
	int given;

	if (s3_profile_load(context->get, configured, &profile, err) < 0)
		return -1;
	given = keys_in(context, &trail, ret_keys, err);
	if (given < 0)
		err_wrap(err, "profile '%s'", profile.name);
	if (given == 0 && (configured || variable)) {
		given = no_keys(&profile, err);
		err_wrap(err, "%s is '%s'", configured ? "storage.s3.profile" : "AWS_PROFILE",
			 profile.name);
	}
	if (given == 0 && profile.passed_over)
		xstrset(&context->passed_over, profile.passed_over);
	s3_profile_release(&profile);
	return given;
}
