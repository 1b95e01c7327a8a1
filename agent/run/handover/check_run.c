#include "run/handover/check_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/child_output.h"
#include "base/mem.h"

#define SELF         "/proc/self/exe"
#define OUTPUT_BYTES 65536 /* what is kept of its output */

static char *copy_line(const char *line)
{
	size_t len = strcspn(line, "\n");

	return len ? xstrndup(line, len) : NULL;
}

/* The line of the command itself: what it reports on standard output comes when it ends. */
static const char *line_of_command(const char *output)
{
	static const char prefix[] = "drey check: ";

	for (const char *at = output; at; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (!strncmp(at, prefix, sizeof(prefix) - 1))
			return at + sizeof(prefix) - 1;
	}
	return NULL;
}

char *check_reason(const char *output)
{
	const char *found = line_of_command(output);

	return copy_line(found ? found : child_last_line(output));
}

void check_run(const char *config_file, int64_t timeout_ms, struct check_result *ret_result)
{
	char *const argv[] = {"drey", "check", "--config", (char *)(uintptr_t)config_file, NULL};
	const struct child_call call = {
		.path = SELF, .argv = argv, .timeout_ms = timeout_ms, .keep_bytes = OUTPUT_BYTES};
	cleanup_buf struct buf output = BUF_INIT;
	struct err err = {0};
	int status = 0;

	*ret_result = (struct check_result){0};
	if (child_output(&call, &output, &status, &err) < 0) {
		ret_result->why =
			err.kind == ERR_RETRY
				? xstrdup("the check was ended before it had a result")
				: xasprintf("the check could not be started: %s", err.msg);
		return;
	}
	ret_result->ok = status == 0;
	if (!ret_result->ok)
		ret_result->why = check_reason(buf_str(&output));
	if (!ret_result->ok && !ret_result->why)
		ret_result->why = xasprintf("the check ended with status %d", status);
}

void check_result_release(struct check_result *result)
{
	free(result->why);
	*result = (struct check_result){0};
}
