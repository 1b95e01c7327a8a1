#include "run/inputs/control_watch.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"
#include "control_swap.h"

#define LIMIT_MS 20000

struct rig {
	struct swap swap;
	struct loop *loop;
	struct workers *workers;
	struct lane *lane;
	struct control_watch *watch;
	int readings, failures;
	char nonce[64];
};

static void on_reading(void *arg, const struct desired *desired, const struct err *why)
{
	struct rig *rig = arg;
	const char *nonce = desired ? desired->text[DESIRED_KEY_SAVEPOINT_NONCE] : NULL;

	rig->readings++;
	rig->failures += !desired;
	CHECK(desired || why->kind);
	snprintf(rig->nonce, sizeof(rig->nonce), "%s", nonce ? nonce : "");
}

static void rig_begin(struct rig *rig, int64_t poll_ms)
{
	memset(rig, 0, sizeof(*rig));
	swap_begin(&rig->swap);
	rig->loop = loop_new(NULL);
	rig->workers = workers_new(rig->loop, NULL);
	rig->lane = lane_new(rig->workers, "test");
	rig->watch =
		control_watch_new(rig->loop, rig->lane, rig->swap.dir, poll_ms, on_reading, rig);
}

static void rig_end(struct rig *rig)
{
	lane_free(rig->lane, LIMIT_MS);
	control_watch_free(rig->watch);
	workers_free(rig->workers);
	loop_free(rig->loop);
	swap_end(&rig->swap);
}

static bool until_nonce(struct rig *rig, const char *nonce)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while ((!rig->readings || strcmp(rig->nonce, nonce) != 0) && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	return strcmp(rig->nonce, nonce) == 0;
}

static bool until_readings(struct rig *rig, int count)
{
	int64_t end_ms = clock_mono_ms() + LIMIT_MS;

	while (rig->readings < count && clock_mono_ms() < end_ms)
		loop_step(rig->loop, 20, NULL);
	return rig->readings >= count;
}

TEST(every_swap_is_noticed_without_a_poll)
{
	struct rig rig;
	char file[64];

	rig_begin(&rig, 0);
	CHECK(until_readings(&rig, 1));
	CHECK(control_watch_has_inotify(rig.watch));
	for (int i = 1; i <= 5; i++) {
		snprintf(file, sizeof(file), "savepoint-nonce=n%d", i);
		SWAP(&rig.swap, file);
		CHECK(until_nonce(&rig, strchr(file, '=') + 1));
	}
	CHECK_INT(rig.failures, ==, 0);
	rig_end(&rig);
}

TEST(a_file_that_a_person_writes_is_noticed)
{
	struct rig rig;

	rig_begin(&rig, 0);
	CHECK(until_readings(&rig, 1));
	swap_write(&rig.swap, "savepoint-nonce", "a\n");
	CHECK(until_nonce(&rig, "a"));
	swap_write(&rig.swap, "savepoint-nonce", "b\n");
	CHECK(until_nonce(&rig, "b"));
	rig_end(&rig);
}

TEST(an_idle_directory_is_not_read_again)
{
	struct rig rig;
	int64_t end_ms;

	rig_begin(&rig, 0);
	CHECK(until_readings(&rig, 1));
	end_ms = clock_mono_ms() + 500;
	while (clock_mono_ms() < end_ms)
		loop_step(rig.loop, 50, NULL);
	CHECK_INT(rig.readings, ==, 1);
	rig_end(&rig);
}

TEST(what_inotify_watches_is_polled_rarely)
{
	enum { POLL_MS = 100 };
	struct rig rig;
	int64_t start_ms;

	rig_begin(&rig, POLL_MS);
	CHECK(until_readings(&rig, 1));
	start_ms = clock_mono_ms();
	CHECK(until_readings(&rig, 2));
	if (control_watch_sees_all(rig.watch))
		CHECK_INT(clock_mono_ms() - start_ms, >=, CONTROL_POLL_LOCAL * POLL_MS - 20);
	else
		tap_note("no local file system: %s", rig.swap.dir);
	rig_end(&rig);
}

TEST(without_inotify_the_poll_finds_the_change)
{
	struct rig rig;
	struct rlimit old, few;
	struct loop *loop = loop_new(NULL);
	struct workers *workers = workers_new(loop, NULL);
	struct lane *lane = lane_new(workers, "test");
	int fd;

	memset(&rig, 0, sizeof(rig));
	swap_begin(&rig.swap);
	rig.loop = loop;
	rig.workers = workers;
	rig.lane = lane;
	getrlimit(RLIMIT_NOFILE, &old);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	few = (struct rlimit){(rlim_t)fd, old.rlim_max};
	close(fd);
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &few), ==, 0);
	rig.watch = control_watch_new(loop, lane, rig.swap.dir, 50, on_reading, &rig);
	CHECK(until_readings(&rig, 1));
	CHECK(!control_watch_has_inotify(rig.watch));
	CHECK_INT(setrlimit(RLIMIT_NOFILE, &old), ==, 0);
	SWAP(&rig.swap, "savepoint-nonce=a");
	CHECK(until_nonce(&rig, "a"));
	SWAP(&rig.swap, "savepoint-nonce=b");
	CHECK(until_nonce(&rig, "b"));
	rig_end(&rig);
}

TEST(a_directory_that_was_replaced_is_watched_again)
{
	struct rig rig;
	cleanup_free char *aside = NULL;
	cleanup_free char *remove = NULL;

	rig_begin(&rig, 0);
	CHECK(until_readings(&rig, 1));
	aside = xasprintf("%s.aside", rig.swap.dir);
	remove = xasprintf("rm -rf '%s'", aside);
	CHECK_INT(rename(rig.swap.dir, aside), ==, 0);
	CHECK(until_readings(&rig, 2));
	CHECK_INT(rig.failures, >=, 1);
	CHECK_INT(mkdir(rig.swap.dir, 0755), ==, 0);
	swap_write(&rig.swap, "savepoint-nonce", "a");
	CHECK(until_nonce(&rig, "a"));
	swap_write(&rig.swap, "savepoint-nonce", "b");
	CHECK(until_nonce(&rig, "b"));
	CHECK_INT(system(remove), ==, 0);
	rig_end(&rig);
}
