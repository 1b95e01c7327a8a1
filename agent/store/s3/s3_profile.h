/*
 * s3_profile - one profile of the shared AWS files, ~/.aws/config and ~/.aws/credentials.
 *
 * Life cycle: s3_profile_load() -> s3_profile_release(). A zeroed struct is an empty profile. The
 * strings are wiped when they are freed.
 *
 * Source: "Shared config and credentials files" of the AWS SDKs and Tools Reference Guide, and
 * botocore/configloader.py. A section is [name] in credentials, [profile name] or [default] in
 * config; '#' and ';' begin a comment line, and a comment after a value if preceded by white space;
 * a line indented deeper than the previous setting belongs to that setting and is ignored; a later
 * setting replaces an earlier one. credentials wins over config, and the keys of the two files are
 * never combined. Limit: S3_PROFILE_MAX_BYTES per file.
 */
#ifndef DREY_STORE_S3_PROFILE_H
#define DREY_STORE_S3_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define S3_PROFILE_MAX_BYTES ((size_t)1 << 20)

enum s3_profile_key {
	S3_PROFILE_ACCESS_KEY,
	S3_PROFILE_SECRET_KEY,
	S3_PROFILE_SESSION_TOKEN,
	S3_PROFILE_ROLE_ARN,
	S3_PROFILE_SOURCE_PROFILE,
	S3_PROFILE_CREDENTIAL_SOURCE,
	S3_PROFILE_EXTERNAL_ID,
	S3_PROFILE_DURATION_SECONDS,
	S3_PROFILE_MFA_SERIAL,
	S3_PROFILE_WEB_IDENTITY_TOKEN_FILE,
	S3_PROFILE_ROLE_SESSION_NAME,
	S3_PROFILE_CREDENTIAL_PROCESS,
	S3_PROFILE_SSO_SESSION,
	S3_PROFILE_SSO_START_URL,
	S3_PROFILE_REGION,
	S3_PROFILE_ENDPOINT_URL,
	S3_PROFILE_CA_BUNDLE,
};
#define S3_PROFILE_KEYS 17

struct s3_profile {
	char *name;
	bool found;                    /* one of the files has this section */
	char *values[S3_PROFILE_KEYS]; /* NULL: not set */
	char *passed_over; /* NULL, or a file at its usual path that may not be read, and why */
};

/*
 * Read the profile `name` (NULL: the one that AWS_PROFILE names, else "default") from the files that
 * AWS_SHARED_CREDENTIALS_FILE and AWS_CONFIG_FILE name (else in ~/.aws; `get` is getenv() or a
 * test's own). Missing files give an empty profile, but what a variable names must exist:
 * ERR_CONFIG. A file at its usual path that may not be read is ignored, as by the SDKs: in a
 * container $HOME often belongs to another user. A line that is not a setting: ERR_CONFIG with file
 * and line, never with the line's content.
 */
int s3_profile_load(char *(*get)(const char *name), const char *name,
		    struct s3_profile *ret_profile, struct err *err);

/* Overlay the sections of one file that belong to profile->name. ERR_CONFIG: "line 3: why". */
int s3_profile_parse(struct s3_profile *profile, const char *text, size_t len_bytes, bool is_config,
		     struct err *err);

const char *s3_profile_key_name(enum s3_profile_key key); /* "aws_access_key_id", ... */

void s3_profile_release(struct s3_profile *profile);

#endif
