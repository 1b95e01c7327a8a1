/* Any bytes as a Java stream: refused, or read within the depth that is promised; what is told makes sense. */
#include <stdlib.h>
#include <string.h>

#include "format/java_stream.h"
#include "must.h"

static int visit(void *ctx, const struct java_value *value, struct err *err)
{
	size_t *values = ctx;

	(void)err;
	must(value->depth >= 0 && value->depth <= JAVA_STREAM_MAX_DEPTH);
	must(value->type && strchr("BCDFIJSZL[sec0", value->type));
	must(!strchr("se", value->type) || value->text);
	must(!strchr("L[ec", value->type) || value->class_name);
	must(!value->field || (value->owner && value->depth));
	++*values;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	struct source *src = source_new_bytes(data, size_bytes);
	struct err err = {0};
	size_t values = 0;
	int rc = java_stream_parse(src, visit, &values, &err);

	must(rc == 0 || err.kind == ERR_FORMAT);
	must(rc != 0 || values > 0);
	must(values <= size_bytes);
	must(source_offset(src) <= (int64_t)size_bytes);
	source_free(src);
	return 0;
}
