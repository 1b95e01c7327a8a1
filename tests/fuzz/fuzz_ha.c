/* Any bytes as a value of Flink's HA maps, encoded and decoded. */
#include <stdlib.h>
#include <string.h>

#include "format/ha_value.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct source *as_value = source_new_bytes(data, size_bytes);
	struct ha_value value;

	if (!ha_value_parse(as_value, &value, NULL)) {
		must(value.uri[0] && strlen(value.uri) <= size_bytes);
		ha_value_release(&value);
	}
	if (!ha_value_decode((const char *)data, size_bytes, &value, NULL))
		ha_value_release(&value);
	source_free(as_value);
	return 0;
}
