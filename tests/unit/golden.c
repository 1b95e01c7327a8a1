#include "tests/unit/golden.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/fs.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

void golden_check(const char *name, const char *text)
{
	cleanup_free char *path = xasprintf("tests/golden/%s", name);
	cleanup_buf struct buf want = BUF_INIT;
	FILE *file;

	if (getenv("DREY_RENEW_GOLDEN")) {
		file = fopen(path, "w");
		CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
		return;
	}
	if (!CHECK(fs_read(path, 1 << 20, &want, NULL) == 0))
		tap_note("%s is not there; `make golden` writes it", path);
	if (!CHECK_STR(text, buf_str(&want)))
		tap_note("%s; `make golden` accepts it", path);
}
