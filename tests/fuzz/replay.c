/*
 * replay - the main() that turns a fuzz target into a test: each file of the given directories once,
 * with any compiler. "replay: 312 inputs"; an input that is refused by the target ends it as a crash
 * would, after the name of the file was printed.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes);

enum { MAX_BYTES = 1 << 20 };

static void replay_file(const char *path)
{
	cleanup_fclose FILE *file = fopen(path, "rb");
	cleanup_free uint8_t *room = xcalloc(1, MAX_BYTES), *exact = NULL;
	size_t len;

	if (!file || !room) {
		perror(path);
		exit(1);
	}
	len = fread(room, 1, MAX_BYTES, file);
	/* no byte more than there is: a sanitizer sees what is read behind it */
	exact = xreallocarray(NULL, len ? len : 1, 1);
	memcpy(exact, room, len);
	printf("%s\n", path);
	fflush(stdout);
	LLVMFuzzerTestOneInput(exact, len);
}

static int replay_directory(const char *path)
{
	struct dirent **items;
	int count = scandir(path, &items, NULL, alphasort), files = 0;

	for (int i = 0; i < count; i++) {
		cleanup_free char *file = xasprintf("%s/%s", path, items[i]->d_name);

		if (items[i]->d_name[0] != '.') {
			replay_file(file);
			files++;
		}
		free(items[i]);
	}
	if (count >= 0)
		free(items);
	return files;
}

int main(int argc, char **argv)
{
	int files = 0;

	for (int i = 1; i < argc; i++)
		files += replay_directory(argv[i]);
	printf("replay: %d inputs\n", files);
	return files ? 0 : 1;
}
