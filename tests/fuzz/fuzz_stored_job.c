/* Any bytes as the file of a job that Flink would start again: refused as what they are, or read with an id that is one. */
#include <string.h>

#include "format/ha_value.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct source *src = source_new_bytes(data, size_bytes);
	struct err err = {0};
	char job_id[33];

	if (!stored_job_parse(src, job_id, &err)) {
		must(strlen(job_id) == 32);
		must(strspn(job_id, "0123456789abcdef") == 32);
	} else {
		must(err.kind == ERR_FORMAT && err.msg[0]);
	}
	source_free(src);
	return 0;
}
