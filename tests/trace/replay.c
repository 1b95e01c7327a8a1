/* replay FILE: repeat the trace that `drey status --trace --json` has printed. Exit status 0: it is the same. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "tests/trace/replay.h"

#define MAX_BYTES (4 * 1024 * 1024)

int main(int argc, char **argv)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_json struct json *trace = NULL;
	struct err err = {0};
	size_t count = 0;

	if (argc != 2) {
		fputs("usage: replay FILE\n", stderr);
		return 2;
	}
	if (fs_read(argv[1], MAX_BYTES, &text, &err) < 0 ||
	    !(trace = json_parse(text.data, text.len_bytes, MAX_BYTES, &err))) {
		fprintf(stderr, "replay: %s\n", err.msg);
		return 2;
	}
	if (replay(trace, &count, &err) < 0) {
		printf("%zu steps are the same; step %zu: %s\n", count, count + 1, err.msg);
		return 1;
	}
	printf("%zu steps are the same\n", count);
	return 0;
}
