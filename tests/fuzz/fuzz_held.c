/* Any bytes as what a JVM has written about its held main(). */
#include "flink/held.h"

#include "must.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	struct held_main main = {0};
	struct err err = {0};

	if (held_parse((const char *)data, len_bytes, &main, &err) < 0) {
		must(err.kind == ERR_FORMAT && err.msg[0]);
		must(!main.class_name);
		return 0;
	}
	must(err.kind == ERR_NONE && main.class_name);
	held_main_release(&main);
	return 0;
}
