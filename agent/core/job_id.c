#include "core/job_id.h"

#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "base/sha256.h"

char *job_id_space(const char *namespace, const char *application, const char *salt)
{
	return xasprintf("%s/%s/%s", namespace, application, salt);
}

void job_id_name(const char *space, int64_t number, char ret_id[JOB_ID_BYTES])
{
	cleanup_free char *text = xasprintf("%s/%" PRId64, space, number);
	char hex[SHA256_HEX_BYTES];

	sha256_hex(text, strlen(text), hex);
	memcpy(ret_id, hex, JOB_ID_BYTES - 1);
	ret_id[JOB_ID_BYTES - 1] = '\0';
}
