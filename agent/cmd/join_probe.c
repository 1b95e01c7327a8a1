#include "cmd/join_probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "cmd/join_ask.h"
#include "core/handover/join.h"

struct probe {
	struct loop *loop;
	bool ready;
	char why_not[ERR_MSG_BYTES + 320]; /* with the name */
};

static void probe_answered(void *arg, const char *from, const struct http_get_answer *answer,
			   const struct err *why)
{
	struct probe *probe = arg;

	if (answer && join_is_ready(answer->status, answer->body, answer->body_len_bytes)) {
		probe->ready = true;
		loop_stop(probe->loop);
	} else if (!answer && !*probe->why_not) {
		snprintf(probe->why_not, sizeof(probe->why_not), "%s: %s", from, why->msg);
	}
}

static void probe_done(void *arg)
{
	struct probe *probe = arg;

	loop_stop(probe->loop);
}

static int probe_ask(struct probe *probe, const struct join_wanted *wanted, struct err *err)
{
	struct join_ask_call call = {probe_answered, probe_done, probe};
	struct join_ask *ask;
	int failed = -1;

	probe->loop = loop_new(err);
	if (!probe->loop)
		return -1;
	ask = join_ask_new(probe->loop, wanted->services, wanted->service_count, wanted->port,
			   wanted->target, JOIN_ANSWER_BYTES, &call, err);
	if (ask) {
		join_ask_begin(ask);
		failed = loop_run(probe->loop, err);
	}
	join_ask_free(ask);
	loop_free(probe->loop);
	return failed;
}

/* Only a regular file counts. */
static bool is_marked(const char *file)
{
	struct stat st;

	return lstat(file, &st) == 0 && S_ISREG(st.st_mode);
}

static int mark_ready(const char *file, struct err *err)
{
	cleanup_close int fd =
		open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);

	if (fd >= 0 || (errno == EEXIST && is_marked(file)))
		return 0;
	return err_set(err, err_kind_of_errno(errno), errno, "create %s", file);
}

int join_probe_run(const struct cli *cli, const struct join_wanted *wanted)
{
	struct probe probe = {0};
	struct err err = {0};

	if (is_marked(wanted->file))
		return CLI_OK;
	if (probe_ask(&probe, wanted, &err) < 0)
		return cli_fail(cli, CLI_FAILED, "%s", err.msg);
	if (!probe.ready)
		return cli_fail(cli, CLI_FAILED, "the job of generation %s does not run%s%s",
				wanted->generation, *probe.why_not ? ": " : "", probe.why_not);
	if (mark_ready(wanted->file, &err) < 0)
		cli_fail(cli, CLI_OK, "%s; the next probe asks again", err.msg);
	return CLI_OK;
}
