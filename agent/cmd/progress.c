#include "cmd/progress.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "cmd/age.h"
#include "cmd/flink_ask.h"
#include "cmd/term.h"
#include "cmd/text.h"
#include "flink/checkpoints.h"

#define ERASE "\r\x1b[K"

struct progress {
	const struct cli *cli;
	const char *what;
	int64_t began_ms;
	struct setup setup; /* where the configuration is at hand */
	bool asks, asked;   /* can Flink be asked; has that been tried */
	char *reported;     /* the last line, where lines are not rewritten */
	bool drawn;         /* there is a line to erase */
};

struct progress *progress_new(const struct cli *cli, const char *what)
{
	struct progress *progress = xcalloc(1, sizeof(*progress));

	*progress = (struct progress){.cli = cli, .what = what, .began_ms = clock_mono_ms()};
	return progress;
}

void progress_free(struct progress *progress)
{
	if (!progress)
		return;
	if (progress->drawn)
		out_put(progress->cli->err, ERASE);
	if (progress->asks)
		setup_release(&progress->setup);
	free(progress->reported);
	free(progress);
}

/* ---- the line ---- */

void progress_line(const struct progress_facts *facts, size_t width, struct shown *ret_line)
{
	char age[AGE_TEXT_BYTES], size[TEXT_SIZE_BYTES];
	cleanup_buf struct buf doing = BUF_INIT;

	shown_addf(ret_line, "%s: %s", facts->command, age_text(0, facts->elapsed_ms, age));
	if (facts->subtasks)
		shown_addf(ret_line, ", %" PRId64 " of %" PRId64 " subtasks", facts->acknowledged,
			   facts->subtasks);
	if (facts->size_bytes)
		shown_addf(ret_line, ", %s", text_size(facts->size_bytes, size));
	text_short_ids(facts->doing, &doing);
	shown_addf(ret_line, ", waiting for %s: %s", facts->what, buf_str(&doing));
	if (width)
		shown_cut(ret_line, width);
}

/* ---- what Flink says ---- */

/* The newest snapshot that Flink is taking. */
static void ask_flink(struct progress *progress, const char *job_id, struct progress_facts *facts)
{
	cleanup_flink_checkpoints struct flink_checkpoints checkpoints = {0};

	/* the commands of a laptop do not reach Flink */
	if (!progress->asked && !progress->cli->command->config)
		progress->asks = flink_ask_open(progress->cli, &progress->setup, NULL) == 0;
	progress->asked = true;
	if (!progress->asks ||
	    flink_rest_checkpoints(&progress->setup.rest, job_id, PROGRESS_ASK_MS, &checkpoints,
				   NULL, NULL) != FLINK_OK)
		return;
	for (size_t i = 0; i < checkpoints.history_count; i++) {
		const struct flink_checkpoint *each = &checkpoints.history[i];

		if (each->status != FLINK_CHECKPOINT_IN_PROGRESS)
			continue;
		facts->acknowledged = each->acknowledged;
		facts->subtasks = each->subtasks;
		facts->size_bytes = each->state_size_bytes;
		break;
	}
}

/* ---- showing it ---- */

static void rewrite(struct progress *progress, const struct term *term,
		    const struct progress_facts *facts)
{
	cleanup_shown struct shown line = {0};

	progress_line(facts, (size_t)term->width - 1, &line);
	out_put(progress->cli->err, ERASE "%s", shown_str(&line));
	out_flush(progress->cli->err);
	progress->drawn = true;
}

static void report(struct progress *progress, const char *doing)
{
	struct out err = progress->cli->err;

	if (progress->reported && strcmp(progress->reported, doing) == 0)
		return;
	xstrset(&progress->reported, doing);
	out_put(err, "drey %s: waiting for %s: %s\n", progress->cli->command->name, progress->what,
		doing);
	out_flush(err);
}

void progress_show(struct progress *progress, const struct status_view *view, const char *now,
		   bool lost)
{
	struct progress_facts facts = {.command = progress->cli->command->name,
				       .what = progress->what,
				       .elapsed_ms = clock_mono_ms() - progress->began_ms};
	struct term term = out_term(progress->cli->err);
	cleanup_buf struct buf doing = BUF_INIT;

	if (lost)
		buf_addstr(&doing, "drey does not respond; it may be restarting");
	else if (now)
		buf_addstr(&doing, now);
	else if (*view->operation_kind)
		buf_addf(&doing, "%s: %s (%s) in progress", view->phase, view->operation_kind,
			 view->operation_reason);
	else
		buf_addf(&doing, "%s: %s", view->phase, view->reason);
	if (!term.rewrites && facts.elapsed_ms >= PROGRESS_QUIET_MS)
		report(progress, buf_str(&doing));
	if (!term.rewrites)
		return;
	if (!lost && *view->operation_kind && *view->job_id)
		ask_flink(progress, view->job_id, &facts);
	facts.doing = buf_str(&doing);
	rewrite(progress, &term, &facts);
}
