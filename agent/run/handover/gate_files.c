#include "run/handover/gate_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/log_seldom.h"
#include "base/mem.h"
#include "core/snapshot.h"

#define LOOK_MS     250
#define WRITE_MS    500  /* between two writes */
#define AGAIN_MS    1000 /* after a write that has failed */
#define WRITTEN_MS  1000 /* until the gates have seen it, and said so */
#define PATIENCE_MS 500

/* What the gates of one launch are told. */
struct told {
	char launch_id[JOB_ID_BYTES]; /* "" = nothing */
	enum side side;
	char *transition;
	struct gate_order order;
};

struct gate_files {
	struct gate_files_config config;
	struct lane *lane;
	struct loop_timer *timer;
	char *directory;
	struct told told;
	bool unwritten; /* it is not in the file yet */
	bool busy, again;
	int64_t write_ms; /* the next write not before */
	int64_t written_unix_ms;
	struct log_seldom ignored;
	char *seen; /* the text of the last report that was passed on, of this launch */
	enum err_kind write_trouble, read_trouble; /* that was logged last */
};

struct look {
	struct gate_files *files;
	struct told told;
	bool writes, reads;
	bool has_report;
	struct buf text;
	struct gate_file_report report;
	struct err write_err, read_err;
};

char *gate_files_directory(const char *state_directory)
{
	return xasprintf("%s/gate", state_directory);
}

static bool same_told(const struct told *a, const struct told *b)
{
	return !strcmp(a->launch_id, b->launch_id) && a->side == b->side &&
	       xstrsame(a->transition, b->transition) && gate_same_order(&a->order, &b->order);
}

/* ---- on the lane ---- */

static int write_order(const struct look *look, const struct gate_file_job *job, struct err *err)
{
	const struct told *told = &look->told;
	cleanup_free char *path = xasprintf("%s/order.json", look->files->directory);
	cleanup_buf struct buf text = BUF_INIT;

	if (gate_file_order(job, told->transition, &told->order, &text, err) < 0 ||
	    fs_mkdirs(look->files->directory, 0755, err) < 0)
		return -1;
	return fs_write_atomic(path, text.data, text.len_bytes, 0644, err);
}

static int read_report(struct look *look, const struct gate_file_job *job, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/report.json", look->files->directory);

	if (fs_read(path, GATE_FILE_MAX_BYTES, &look->text, err) < 0)
		return -1;
	return gate_file_parse(job, look->text.data, look->text.len_bytes, &look->report, err);
}

static void look_work(void *arg)
{
	struct look *look = arg;
	const struct gate_file_job job = {.launch = look->told.launch_id, .side = look->told.side};

	if (look->writes)
		write_order(look, &job, &look->write_err);
	if (look->reads)
		look->has_report = read_report(look, &job, &look->read_err) == 0;
}

/* ---- on the loop ---- */

static void arm(struct gate_files *files)
{
	int64_t write_in_ms = files->write_ms - clock_mono_ms();

	if (!*files->told.launch_id)
		return;
	if (files->unwritten)
		loop_timer_set(files->timer, write_in_ms);
	else if (files->told.transition)
		loop_timer_set_early(files->timer, LOOK_MS, LOOK_MS / 2);
	else
		loop_timer_stop(files->timer);
}

static void wrote(struct gate_files *files, const struct look *look)
{
	const struct err *err = &look->write_err;

	files->write_ms = clock_mono_ms() + (err->kind ? AGAIN_MS : WRITE_MS);
	files->written_unix_ms = clock_unix_ms();
	if (!err->kind && same_told(&look->told, &files->told))
		files->unwritten = false;
	if (err->kind && err->kind != files->write_trouble)
		log_warn(files->config.log,
			 "the order for the gates of the job cannot be written, and is tried again",
			 LOG_ERR(err));
	files->write_trouble = err->kind;
}

/* Right after a launch there is none, or the one before's. Anything else says nothing about the gates. */
static void read_failed(struct gate_files *files, const struct err *err)
{
	bool expected = err->kind == ERR_ABSENT || err->kind == ERR_BUSY;

	if (!expected && err->kind != files->read_trouble)
		log_warn(files->config.log,
			 "the report of the gates of the job cannot be read, and is ignored",
			 LOG_ERR(err));
	files->read_trouble = err->kind;
}

/*
 * The gates keep the order that they have, but who starts again finds only the file. What they say
 * of one that was written a moment before may be about the one before it.
 */
static void look_at_ignored(struct gate_files *files, const struct gate_file_report *report)
{
	const char *why = report->ignored;

	if (files->unwritten ||
	    (why && report->written_unix_ms < files->written_unix_ms + WRITTEN_MS))
		return;
	if (log_seldom_due(&files->ignored, why, clock_mono_ms()))
		log_warn(files->config.log,
			 "the gates of the job ignore their order, which is written again",
			 LOG_STR("reason", why));
	/* MUT: an order that another process has damaged stays in the file */
	files->unwritten = why != NULL;
}

static void pass_on(struct gate_files *files, struct look *look)
{
	const char *text = buf_str(&look->text);

	files->read_trouble = ERR_NONE;
	if (xstrsame(text, files->seen) || strcmp(look->told.launch_id, files->told.launch_id) != 0)
		return;
	xstrset(&files->seen, text);
	look_at_ignored(files, &look->report);
	arm(files);
	files->config.reported(files->config.arg, look->told.launch_id, &look->report);
}

static void has_looked(void *arg, bool ran)
{
	struct look *look = arg;
	struct gate_files *files = look->files;

	files->busy = false;
	if (ran && look->writes)
		wrote(files, look);
	/* before the callback, which may tell something else */
	arm(files);
	if (ran && look->reads && look->has_report)
		pass_on(files, look);
	else if (ran && look->reads)
		read_failed(files, &look->read_err);
	if (look->has_report)
		gate_file_release(&look->report);
	buf_release(&look->text);
	free(look->told.transition);
	free(look);
}

static void look_now(void *arg)
{
	struct gate_files *files = arg;
	struct look *look;

	if (files->busy)
		return;
	look = xcalloc(1, sizeof(*look));
	look->files = files;
	look->told = files->told;
	look->told.transition = xstrdup(files->told.transition);
	look->writes = files->unwritten && clock_mono_ms() >= files->write_ms;
	look->reads = files->told.transition != NULL;
	files->busy = true;
	lane_submit(files->lane, look_work, has_looked, look);
}

void gate_files_tell(struct gate_files *files, const struct gate_file_job *job,
		     const char *transition, const struct gate_order *order)
{
	struct told told = {.side = job->side, .order = *order};

	snprintf(told.launch_id, sizeof(told.launch_id), "%s", job->launch);
	told.transition = xstrdup(transition);
	if (same_told(&told, &files->told)) {
		free(told.transition);
		return;
	}
	if (strcmp(told.launch_id, files->told.launch_id) != 0)
		xstrset(&files->seen, NULL);
	free(files->told.transition);
	files->told = told;
	files->unwritten = true;
	arm(files);
}

/* ---- life ---- */

struct gate_files *gate_files_open(const struct gate_files_config *config)
{
	struct gate_files *files = xcalloc(1, sizeof(*files));

	files->config = *config;
	files->directory = gate_files_directory(config->state_directory);
	files->lane = lane_new(config->workers, "drey-gates");
	files->timer = loop_timer_new(config->loop, look_now, files);
	return files;
}

static void nothing(void *arg, const char *launch_id, const struct gate_file_report *report)
{
	(void)arg, (void)launch_id, (void)report;
}

void gate_files_close(struct gate_files *files)
{
	if (!files)
		return;
	files->config.reported = nothing;
	loop_timer_stop(files->timer);
	if (!lane_free(files->lane, PATIENCE_MS))
		return; /* the job that hangs has it */
	loop_timer_free(files->timer);
	free(files->told.transition);
	free(files->seen);
	log_seldom_release(&files->ignored);
	free(files->directory);
	free(files);
}
