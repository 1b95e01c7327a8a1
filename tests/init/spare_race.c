/*
 * The activation of a spare, 1,000 times, raced with an ordinary launch, with SIGKILL and SIGSTOP, with answers about as
 * late as the limit, and with a rival that takes the lock whenever it can: two jobs never run at the same time, and none
 * runs without the lock. Each job proves that itself (puppet.c, job).
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "spare_rig.h"

#define TURNS 1000

struct race {
	struct spare_rig s;
	unsigned seed;
	int asked; /* launches without an answer, or whose end has not come */
	int from_spare, ordinary, refused, killed;
	pid_t spare, rival;
};

static unsigned pick(struct race *r, unsigned below)
{
	r->seed = r->seed * 1103515245 + 12345;
	return (r->seed >> 16) % below;
}

/* Another drey on the same state directory: it runs its job if it gets the lock. */
static pid_t start_rival(const struct spare_rig *s)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		int fd = open(s->lock, O_RDWR), alone = open(s->counter, O_WRONLY | O_APPEND);

		if (!flock(fd, LOCK_EX | LOCK_NB)) {
			if (flock(alone, LOCK_EX | LOCK_NB) < 0 || write(alone, "r", 1) != 1)
				_exit(1);
			usleep(200);
		}
		close(alone);
		close(fd);
		usleep(1500);
	}
}

static int lock_again(const struct spare_rig *s, bool patient)
{
	int fd = spare_rig_open(s->lock);

	while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (!patient) {
			close(fd);
			return -1;
		}
		usleep(100);
	}
	return fd;
}

static void launch(struct race *r, const char *id, bool into, int fd)
{
	struct link_msg msg = {.type = LINK_LAUNCH, .spare_id = "spare-1", .spare_argc = 1};

	strcpy(msg.launch_id, id);
	msg.flags = into ? LINK_INTO_SPARE : 0;
	rig_send_packed(&r->s.rig, &msg, fd,
			(const char *const[]){rig_puppet(), "job", r->s.lock, r->s.counter, NULL});
	r->asked++;
}

static void on_packet(struct race *r, const struct link_msg *msg)
{
	switch (msg->type) {
	case LINK_STARTED:
		if (msg->flags & LINK_FROM_SPARE) {
			r->from_spare++;
			kill(r->spare, SIGCONT); /* if it was stopped after its answer */
		} else {
			r->ordinary++;
		}
		break;
	case LINK_EXITED:
		if (msg->wait_status == SIGKILL)
			r->killed++;
		else
			CHECK_INT(msg->wait_status, ==, 0);
		r->asked--;
		break;
	case LINK_LAUNCH_FAILED:
		CHECK(msg->sys_errno == EBUSY || msg->sys_errno == EWOULDBLOCK);
		r->refused++;
		r->asked--;
		break;
	case LINK_SPARE_GONE:
		r->spare = 0;
		break;
	default:
		CHECK_INT(msg->type, ==, LINK_SPARE_GONE);
	}
}

static void turn(struct race *r)
{
	static const char *const naps[] = {"nap 0",  "nap 0",  "nap 1",  "nap 3",
					   "nap 20", "nap 37", "nap 39", "nap 60"};
	struct link_msg msg = {0};
	unsigned what = pick(r, 6);
	int fd, other = -1;

	spare_rig_start(
		&r->s, "spare-1", 0,
		(const char *const[]){"ready", "args", naps[pick(r, 8)], "go", "main", NULL});
	if (!CHECK(rig_expect(&r->s.rig, LINK_SPARE_READY, &msg)))
		exit(1);
	r->spare = msg.pid;
	fd = lock_again(&r->s, true);
	if (what == 0)
		launch(r, "job-2", false, fd); /* first */
	launch(r, "job-1", true, fd);
	if (what == 1)
		launch(r, "job-2", false, fd); /* right behind it */
	usleep(pick(r, 4) ? pick(r, 3000) : pick(r, 45000));
	if (what == 2)
		kill(r->spare, SIGKILL);
	if (what == 3)
		kill(r->spare, SIGSTOP);
	if (what == 4 && (other = lock_again(&r->s, false)) >= 0)
		launch(r, "job-2", false, other);
	while (r->asked && CHECK(rig_recv(&r->s.rig, &msg)))
		on_packet(r, &msg);
	close(fd);
	if (other >= 0)
		close(other);
	if (what == 0 && r->spare && CHECK(rig_expect(&r->s.rig, LINK_SPARE_GONE, &msg)))
		r->spare = 0;
}

TEST(an_activation_that_is_raced_never_runs_two_jobs)
{
	struct race r = {.seed = (unsigned)getpid()};
	char *jobs = calloc(1, 1 << 20);
	int fd, ran = 0, status;

	spare_rig_begin(&r.s);
	r.rival = start_rival(&r.s);
	tap_note("seed %u", r.seed);
	for (int i = 0; i < TURNS; i++)
		turn(&r);
	CHECK_INT(waitpid(r.rival, &status, WNOHANG), ==, 0); /* it would have exited with 1 */
	kill(r.rival, SIGKILL);
	waitpid(r.rival, &status, 0);
	fd = spare_rig_open(r.s.counter);
	CHECK_INT(read(fd, jobs, (1 << 20) - 1), >, 0);
	close(fd);
	for (const char *at = jobs; *at; at++)
		ran += *at == '.';
	tap_note("%d from the spare, %d ordinary, %d refused, %d killed, %zu of the rival",
		 r.from_spare, r.ordinary, r.refused, r.killed, strlen(jobs) - (size_t)ran);
	CHECK_INT(ran, <=, r.from_spare + r.ordinary);
	CHECK_INT(ran, >=, r.from_spare + r.ordinary - r.killed);
	CHECK_INT(r.from_spare, >, TURNS / 10);
	CHECK_INT(r.ordinary, >, TURNS / 10);
	CHECK_INT(spare_rig_end(&r.s), ==, 0);
	free(jobs);
}
