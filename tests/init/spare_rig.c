#include "spare_rig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ARGS_MAX 64

static void make_files(struct spare_rig *s)
{
	*s = (struct spare_rig){.lock_fd = -1};
	strcpy(s->lock, "/tmp/drey-lock-XXXXXX");
	strcpy(s->counter, "/tmp/drey-jobs-XXXXXX");
	close(mkstemp(s->lock));
	close(mkstemp(s->counter));
}

void spare_rig_begin(struct spare_rig *s)
{
	make_files(s);
	CHECK(RIG_AGENT(&s->rig, NULL));
	CHECK(rig_expect(&s->rig, LINK_HELLO, NULL));
}

void spare_rig_begin_pid1(struct spare_rig *s)
{
	make_files(s);
	if (rig_agent(&s->rig, NULL, NULL, true, NULL))
		CHECK(rig_expect(&s->rig, LINK_HELLO, NULL));
	else
		s->rig.pid = 0;
}

int spare_rig_end(struct spare_rig *s)
{
	int status;

	if (s->lock_fd >= 0)
		close(s->lock_fd);
	unlink(s->lock);
	unlink(s->counter);
	rig_send(&s->rig, LINK_EXIT, 0, 0, 0);
	rig_tell_agent(&s->rig, "exit 0");
	status = rig_wait(&s->rig);
	free(s->rig.text);
	return status;
}

int spare_rig_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);

	CHECK_INT(fd, >=, 0);
	return fd;
}

/* The puppet, one word more, and the rest. */
static void fill(const char **argv, const char *first, const char *const *rest)
{
	int n = 0;

	argv[n++] = rig_puppet();
	if (first)
		argv[n++] = first;
	while (*rest && n < ARGS_MAX - 1)
		argv[n++] = *rest++;
	argv[n] = NULL;
}

void spare_rig_start(struct spare_rig *s, const char *id, int64_t until_ms,
		     const char *const *steps)
{
	struct link_msg msg = {.type = LINK_SPARE, .until_ms = until_ms};
	const char *argv[ARGS_MAX];
	int fd = spare_rig_open(s->lock);

	snprintf(msg.launch_id, sizeof(msg.launch_id), "%s", id);
	fill(argv, "spare", steps);
	rig_send_packed(&s->rig, &msg, fd, argv);
	close(fd);
}

pid_t spare_rig_ready(struct spare_rig *s, const char *const *steps)
{
	struct link_msg msg = {0};

	spare_rig_start(s, "spare-1", 0, steps);
	CHECK(rig_expect(&s->rig, LINK_SPARE_READY, &msg));
	CHECK_STR(msg.launch_id, "spare-1");
	return msg.pid;
}

void spare_rig_launch(struct spare_rig *s, const char *into, const char *const *args)
{
	struct link_msg msg = {.type = LINK_LAUNCH, .launch_id = "job-1"};
	const char *argv[ARGS_MAX];

	if (s->lock_fd >= 0)
		close(s->lock_fd);
	s->lock_fd = spare_rig_open(s->lock);
	CHECK_INT(flock(s->lock_fd, LOCK_EX | LOCK_NB), ==, 0);
	if (into) {
		msg.flags = LINK_INTO_SPARE;
		msg.spare_argc = 1;
		snprintf(msg.spare_id, sizeof(msg.spare_id), "%s", into);
	}
	fill(argv, NULL, args);
	rig_send_packed(&s->rig, &msg, s->lock_fd, argv);
}

void spare_rig_launch_job(struct spare_rig *s, const char *into)
{
	spare_rig_launch(s, into, (const char *const[]){"job", s->lock, s->counter, NULL});
	s->jobs++;
}

void spare_rig_job_done(struct spare_rig *s)
{
	struct link_msg msg = {0};
	struct stat st;
	int again;

	CHECK(rig_expect(&s->rig, LINK_EXITED, &msg));
	CHECK_INT(msg.wait_status, ==, 0);
	CHECK_STR(msg.launch_id, "job-1");
	CHECK_INT(stat(s->counter, &st), ==, 0);
	CHECK_INT(st.st_size, ==, s->jobs);
	close(s->lock_fd);
	s->lock_fd = -1;
	again = spare_rig_open(s->lock);
	CHECK_INT(flock(again, LOCK_EX | LOCK_NB), ==, 0);
	close(again);
}

int spare_rig_gone(struct spare_rig *s, int why)
{
	struct link_msg msg = {0};

	CHECK(rig_expect(&s->rig, LINK_SPARE_GONE, &msg));
	CHECK_INT(msg.sys_errno, ==, why);
	return msg.wait_status;
}
