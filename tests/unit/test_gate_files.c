/* The two files between drey and the gates of a job, on a lane. The gate's side is played by this file. */
#include "run/handover/gate_files.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

#define LAUNCH   "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01"
#define OTHER    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa02"
#define LIMIT_MS 20000

struct rig {
	char state[64];
	struct loop *loop;
	struct workers *workers;
	struct log *log;
	int log_fd;
	char *log_path, *order, *report;
	struct gate_files *files;
	int reports;
	struct gate_report last;
	char transition[64];
};

static void reported(void *arg, const char *launch_id, const struct gate_file_report *report)
{
	struct rig *rig = arg;

	CHECK_STR(launch_id, LAUNCH);
	rig->reports++;
	rig->last = report->report;
	snprintf(rig->transition, sizeof(rig->transition), "%s",
		 report->transition ? report->transition : "");
}

static void begin(struct rig *rig)
{
	struct gate_files_config config = {.reported = reported, .arg = rig};

	*rig = (struct rig){.state = "/tmp/drey-gates.XXXXXX"};
	CHECK(mkdtemp(rig->state) != NULL);
	rig->log_path = xasprintf("%s/log", rig->state);
	rig->order = xasprintf("%s/gate/order.json", rig->state);
	rig->report = xasprintf("%s/gate/report.json", rig->state);
	rig->loop = loop_new(NULL);
	rig->workers = workers_new(rig->loop, NULL);
	rig->log_fd = open(rig->log_path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	rig->log = log_new(rig->log_fd, LOG_JSON, LOG_INFO);
	config.loop = rig->loop;
	config.workers = rig->workers;
	config.log = rig->log;
	config.state_directory = rig->state;
	rig->files = gate_files_open(&config);
}

static void end(struct rig *rig)
{
	cleanup_free char *command = xasprintf("rm -rf %s", rig->state);

	gate_files_close(rig->files);
	workers_free(rig->workers);
	loop_free(rig->loop);
	log_free(rig->log);
	close(rig->log_fd);
	CHECK_INT(system(command), ==, 0);
	free(rig->log_path);
	free(rig->order);
	free(rig->report);
}
#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, begin, end)

/* ---- the other side of the files */

struct says {
	const char *launch;
	int number, acked;
	int64_t written_unix_ms;
	const char *ignored; /* as JSON */
};

/* One gate with one subtask that goes by this order. */
static char *report_text(const struct says *says)
{
	return xasprintf(
		"{\"schema\":1,\"launch\":\"%s\",\"side\":\"blue\",\"pid\":1,"
		"\"instance\":\"0edf167f2be0d492\",\"writtenUnixMs\":%" PRId64
		",\"transition\":\"h1-00000001\","
		"\"number\":%d,\"word\":\"open\",\"toggle\":null,\"ignored\":%s,\"ended\":false,"
		"\"gates\":[{\"uid\":\"gate\",\"parallelism\":1,\"running\":1,\"acked\":%d,"
		"\"refused\":0,\"whyRefused\":null,\"minWatermark\":1700000004918,"
		"\"withoutWatermark\":0,\"crossed\":0,\"idle\":0,\"maxSeen\":1700000004985,"
		"\"ahead\":0,\"passedBelow\":9,\"passedAbove\":0,\"withheldBelow\":0,"
		"\"withheldAbove\":0,\"late\":0,\"timeless\":0,\"sumBelow\":\"382c24fbd4add3ed\","
		"\"base\":\"72b2eb79e59123c5\",\"inexact\":0,\"subtasks\":[{\"index\":0,"
		"\"attempt\":0,\"number\":%d,\"state\":\"open\",\"watermark\":1700000004918,"
		"\"passed\":9,\"withheld\":0}],\"snapshots\":[]}]}",
		says->launch, says->written_unix_ms, says->number, says->ignored, says->acked,
		says->acked ? says->number : 0);
}

static void put(struct rig *rig, const char *text)
{
	struct err err = {0};

	if (CHECK_INT(fs_write_atomic(rig->report, text, strlen(text), 0644, &err), ==, 0) == 0)
		tap_note("%s", err.msg);
}

static void put_says(struct rig *rig, struct says says)
{
	cleanup_free char *text = report_text(&says);

	put(rig, text);
}

static void put_report(struct rig *rig, const char *launch, int number, int acked)
{
	put_says(rig, (struct says){launch, number, acked, 1, "null"});
}

static void step_for(struct rig *rig, int64_t for_ms)
{
	int64_t end_ms = clock_mono_ms() + for_ms;

	while (clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
}

static bool file_has(const char *path, const char *part)
{
	cleanup_buf struct buf text = BUF_INIT;

	return fs_read(path, 1 << 20, &text, NULL) == 0 && strstr(buf_str(&text), part);
}

#define AWAIT(rig, what)                                                                           \
	do {                                                                                       \
		int64_t until_ms = clock_mono_ms() + LIMIT_MS;                                     \
                                                                                                   \
		while (!(what) && clock_mono_ms() < until_ms)                                      \
			loop_step((rig)->loop, 20, NULL);                                          \
		CHECK(what);                                                                       \
	} while (0)

static void tell(struct rig *rig, const char *transition, int64_t number)
{
	const struct gate_file_job job = {.launch = LAUNCH, .side = SIDE_BLUE};
	const struct gate_order order = {.number = number, .word = GATE_OPEN};

	gate_files_tell(rig->files, &job, transition, &order);
}

static ino_t inode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_ino : 0;
}

/* ---- */

RIG_TEST(an_order_is_written_once)
{
	ino_t first;

	tell(rig, NULL, 1);
	AWAIT(rig, file_has(rig->order, "\"number\":1,"));
	CHECK(file_has(rig->order, "\"launch\":\"" LAUNCH "\""));
	CHECK(file_has(rig->order, "\"side\":\"blue\""));
	CHECK(file_has(rig->order, "\"transition\":null"));
	first = inode_of(rig->order);
	tell(rig, NULL, 1);
	step_for(rig, 700);
	CHECK_INT(inode_of(rig->order), ==, first);
}

/* Four in a row: the last one is in the file, and most of them never were. */
RIG_TEST(at_most_two_orders_are_written_in_a_second)
{
	ino_t last = 0;
	int writes = 0;

	for (int i = 1; i <= 4; i++) {
		int64_t end_ms = clock_mono_ms() + 100;

		tell(rig, "h1-00000001", i);
		while (clock_mono_ms() < end_ms) {
			loop_step(rig->loop, 5, NULL);
			writes += inode_of(rig->order) != last;
			last = inode_of(rig->order);
		}
	}
	CHECK_INT(writes, ==, 1);
	AWAIT(rig, file_has(rig->order, "\"number\":4,"));
}

RIG_TEST(a_write_that_fails_is_tried_again)
{
	cleanup_free char *directory = gate_files_directory(rig->state);
	int fd = open(directory, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	CHECK_INT(fd, >=, 0);
	close(fd);
	tell(rig, NULL, 1);
	AWAIT(rig, file_has(rig->log_path, "the order for the gates of the job cannot be written"));
	CHECK_INT(unlink(directory), ==, 0);
	AWAIT(rig, file_has(rig->order, "\"number\":1,"));
}

RIG_TEST(reports_are_read_in_a_transition_and_told_when_they_change)
{
	tell(rig, "h1-00000001", 3);
	AWAIT(rig, file_has(rig->order, "\"number\":3,"));
	put_report(rig, LAUNCH, 3, 0);
	AWAIT(rig, rig->reports == 1);
	CHECK_INT(rig->last.acked, ==, 0);
	step_for(rig, 700);
	CHECK_INT(rig->reports, ==, 1);
	put_report(rig, LAUNCH, 3, 1);
	AWAIT(rig, rig->reports == 2);
	CHECK_INT(rig->last.acked, ==, 1);
	CHECK_INT(rig->last.order.number, ==, 3);
	CHECK_STR(rig->transition, "h1-00000001");
}

RIG_TEST(at_rest_nothing_is_read)
{
	tell(rig, NULL, 1);
	AWAIT(rig, file_has(rig->order, "\"number\":1,"));
	put_report(rig, LAUNCH, 3, 1);
	step_for(rig, 700);
	CHECK_INT(rig->reports, ==, 0);
}

RIG_TEST(a_damaged_report_or_that_of_another_launch_says_nothing)
{
	tell(rig, "h1-00000001", 3);
	AWAIT(rig, file_has(rig->order, "\"number\":3,"));
	put_report(rig, OTHER, 3, 1);
	step_for(rig, 700);
	CHECK_INT(rig->reports, ==, 0);
	CHECK(!file_has(rig->log_path, "cannot be read"));
	put(rig, "{\"schema\":1,");
	AWAIT(rig, file_has(rig->log_path, "the report of the gates of the job cannot be read"));
	CHECK_INT(rig->reports, ==, 0);
	put_report(rig, LAUNCH, 3, 1);
	AWAIT(rig, rig->reports == 1);
}

RIG_TEST(an_order_that_somebody_else_has_damaged_is_written_again)
{
	static const char half[] = "{\"schema\":1,";

	tell(rig, "h1-00000001", 3);
	AWAIT(rig, file_has(rig->order, "\"number\":3,"));
	CHECK_INT(fs_write_atomic(rig->order, half, strlen(half), 0644, NULL), ==, 0);
	/* of the file that was there before */
	put_says(rig, (struct says){LAUNCH, 3, 1, 1, "\"it is of launch x\""});
	AWAIT(rig, rig->reports == 1);
	step_for(rig, 700);
	CHECK(!file_has(rig->order, "\"number\":3,"));
	put_says(rig, (struct says){LAUNCH, 3, 1, clock_unix_ms() + 60000, "\"it is not JSON\""});
	AWAIT(rig, file_has(rig->order, "\"number\":3,"));
	CHECK(file_has(rig->log_path, "the gates of the job ignore their order"));
	CHECK(file_has(rig->log_path, "it is not JSON"));
}

/* Read was only the report: what was told meanwhile is not in the file because of that. */
RIG_TEST(an_order_that_is_told_while_a_report_is_read_is_written)
{
	tell(rig, "h1-00000001", 3);
	AWAIT(rig, file_has(rig->order, "\"number\":3,"));
	step_for(rig, 50);
	usleep(300000); /* the next look is due */
	CHECK_INT(unlink(rig->order), ==, 0);
	loop_step(rig->loop, 0, NULL); /* it begins */
	usleep(50000);                 /* and has read */
	tell(rig, "h1-00000001", 4);
	tell(rig, "h1-00000001", 3);
	AWAIT(rig, file_has(rig->order, "\"number\":3,"));
}
