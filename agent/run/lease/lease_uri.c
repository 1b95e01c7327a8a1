#include "run/lease/lease_uri.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "store/store_identity.h"

/* The keys that an old s3a://KEY:SECRET@bucket has are nobody's business in a shared object. */
static const char *bucket_of(const char *uri)
{
	const char *authority = strstr(uri, "://") + strlen("://");
	const char *user = memrchr(authority, '@', strcspn(authority, "/"));

	return user ? user + 1 : authority;
}

int lease_uri(const char *uri, char ret_uri[LEASE_URI_BYTES], struct err *err)
{
	cleanup_store_identity struct store_identity identity = {0};
	cleanup_free char *plain = NULL;

	/* a file would be looked at */
	if (strncmp(uri, "s3", 2) != 0)
		return err_set(err, ERR_CONFIG, 0, "it is not in S3");
	if (store_identity(uri, &identity, err) < 0)
		return -1;
	plain = xasprintf("%.*s://%s", (int)strcspn(identity.uri, ":"), identity.uri,
			  bucket_of(identity.uri));
	if (strlen(plain) >= LEASE_URI_BYTES)
		return err_set(err, ERR_CONFIG, 0, "it is longer than %d bytes",
			       LEASE_URI_BYTES - 1);
	for (const char *p = plain; *p; p++)
		if ((unsigned char)*p < ' ')
			return err_set(err, ERR_CONFIG, 0, "it has a control character");
	snprintf(ret_uri, LEASE_URI_BYTES, "%s", plain);
	return 0;
}
