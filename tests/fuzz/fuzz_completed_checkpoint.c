/* Any bytes as a completedCheckpoint file: refused as what they are, or read with a pointer and an id that is one, and with files that
 * have names. */
#include <stdlib.h>
#include <string.h>

#include "format/ha_value.h"
#include "must.h"

static void read_files(const uint8_t *data, size_t size_bytes)
{
	struct source *src = source_new_bytes(data, size_bytes);
	struct checkpoint_files files = {0};
	struct err err = {0};

	if (!completed_checkpoint_files(src, &files, &err)) {
		must(files.count <= size_bytes);
		for (size_t i = 0; i < files.count; i++)
			must(files.list[i].uri[0]);
		checkpoint_files_release(&files);
	} else {
		must(err.kind == ERR_FORMAT && err.msg[0]);
	}
	source_free(src);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct source *src = source_new_bytes(data, size_bytes);
	struct completed_checkpoint checkpoint;
	struct err err = {0};

	if (!completed_checkpoint_parse(src, &checkpoint, &err)) {
		must(checkpoint.external_pointer != NULL);
		must(!checkpoint.job_id[0] || strlen(checkpoint.job_id) == 32);
		must(strspn(checkpoint.job_id, "0123456789abcdef") == strlen(checkpoint.job_id));
		completed_checkpoint_release(&checkpoint);
	} else {
		must(err.kind == ERR_FORMAT && err.msg[0]);
	}
	source_free(src);
	read_files(data, size_bytes);
	return 0;
}
