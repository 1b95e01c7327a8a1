/* Any bytes as a value of Flink's HA maps, encoded and decoded, and as a completedCheckpoint file. */
#include <stdlib.h>
#include <string.h>

#include "format/ha_value.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

static void must(int condition)
{
	if (!condition)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct source *as_value = source_new_bytes(data, size_bytes);
	struct source *as_checkpoint = source_new_bytes(data, size_bytes);
	struct completed_checkpoint checkpoint;
	struct ha_value value;
	struct err err = {0};

	if (!ha_value_parse(as_value, &value, NULL)) {
		must(value.uri[0] && strlen(value.uri) <= size_bytes);
		ha_value_release(&value);
	}
	if (!ha_value_decode((const char *)data, size_bytes, &value, NULL))
		ha_value_release(&value);
	if (!completed_checkpoint_parse(as_checkpoint, &checkpoint, &err)) {
		must(checkpoint.external_pointer != NULL);
		must(!checkpoint.job_id[0] || strlen(checkpoint.job_id) == 32);
		completed_checkpoint_release(&checkpoint);
	} else {
		must(err.kind == ERR_FORMAT);
	}
	source_free(as_value);
	source_free(as_checkpoint);
	return 0;
}
