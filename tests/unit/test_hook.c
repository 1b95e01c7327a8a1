#include "run/outputs/hook.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

struct rig {
	char dir[64];
	struct buf input;
	struct hook_call call;
	struct hook_result result;
};

static void rig_begin(struct rig *rig, enum hook_event event)
{
	memset(rig, 0, sizeof(*rig));
	snprintf(rig->dir, sizeof(rig->dir), "/tmp/drey-hook.XXXXXX");
	CHECK(mkdtemp(rig->dir) != NULL);
	buf_addstr(&rig->input, "{\"hook\":1}\n");
	rig->call = (struct hook_call){.directory = rig->dir,
				       .event = event,
				       .application = "orders",
				       .input = &rig->input,
				       .timeout_ms = 20000,
				       .abort_fd = -1};
}

static void rig_end(struct rig *rig)
{
	cleanup_free char *command = xasprintf("rm -rf '%s'", rig->dir);

	hook_result_release(&rig->result);
	buf_release(&rig->input);
	CHECK_INT(system(command), ==, 0);
	/* whatever was started has been reaped */
	CHECK_INT(waitpid(-1, NULL, WNOHANG), ==, -1);
}

static void script(const struct rig *rig, const char *name, const char *body)
{
	cleanup_free char *path = xasprintf("%s/%s", rig->dir, name);
	cleanup_free char *parent = xstrndup(path, (size_t)(strrchr(path, '/') - path));
	cleanup_free char *text = xasprintf("#!/bin/sh\n%s\n", body);

	mkdir(parent, 0755);
	CHECK_INT(fs_write_atomic(path, text, strlen(text), 0755, NULL), ==, 0);
	CHECK_INT(chmod(path, 0755), ==, 0);
}

static const char *run(struct rig *rig)
{
	hook_result_release(&rig->result);
	hook_run(&rig->call, &rig->result);
	return rig->result.failure;
}

TEST(nothing_there_is_nothing_to_do)
{
	struct rig rig;

	rig_begin(&rig, HOOK_PRE_LAUNCH);
	script(&rig, "post-launch", "exit 1");
	CHECK(!run(&rig));
	CHECK_INT(rig.result.count, ==, 0);
	rig_end(&rig);
}

TEST(a_hook_gets_the_document_and_its_name)
{
	static const char *const more[] = {"COLOUR=blue", NULL};
	struct rig rig;

	rig_begin(&rig, HOOK_POST_SAVEPOINT);
	rig.call.environment = more;
	script(&rig, "post-savepoint",
	       "cat\necho \"$DREY_HOOK $DREY_APPLICATION $COLOUR\" >&2\nenv | grep -c SECRET");
	setenv("DREY_SECRET", "hush", 1);
	CHECK(run(&rig) == NULL || strstr(rig.result.failure, "exit status 1"));
	unsetenv("DREY_SECRET");
	CHECK_INT(rig.result.count, ==, 1);
	CHECK_STR(buf_str(&rig.result.output), "post-savepoint: {\"hook\":1}\n"
					       "post-savepoint: post-savepoint orders blue\n"
					       "post-savepoint: 0\n");
	rig_end(&rig);
}

TEST(the_time_zone_of_the_savepoints_is_not_that_of_hooks)
{
	static const char *const own[] = {"TZ=America/Lima", "LANG=tlh", NULL};
	cleanup_free char *before = xstrdup(getenv("TZ"));
	struct rig rig;

	rig_begin(&rig, HOOK_POST_LAUNCH);
	script(&rig, "post-launch", "echo \"TZ=${TZ-none}\"; env | grep -c -e ^TZ= -e ^LANG=tlh");
	setenv("TZ", "Europe/Berlin", 1);
	rig.call.zone = "Asia/Tokyo";
	run(&rig);
	CHECK_STR(buf_str(&rig.result.output), "post-launch: TZ=Asia/Tokyo\npost-launch: 1\n");
	rig.call.zone = NULL;
	run(&rig);
	CHECK_STR(buf_str(&rig.result.output), "post-launch: TZ=none\npost-launch: 0\n");
	rig.call.zone = "Asia/Tokyo";
	rig.call.environment = own; /* what is configured replaces what is inherited */
	run(&rig);
	CHECK_STR(buf_str(&rig.result.output), "post-launch: TZ=America/Lima\npost-launch: 2\n");
	if (before)
		setenv("TZ", before, 1);
	else
		unsetenv("TZ");
	rig_end(&rig);
}

TEST(all_are_run_in_the_order_of_their_names)
{
	struct rig rig;

	rig_begin(&rig, HOOK_ON_FAILURE);
	script(&rig, "on-failure.d/20-b", "echo b");
	script(&rig, "on-failure.d/10-a", "echo a; exit 3");
	script(&rig, "on-failure.d/.hidden", "echo hidden");
	script(&rig, "on-failure.d/30-c~", "echo backup");
	script(&rig, "on-failure", "echo first");
	CHECK_STR(run(&rig), "on-failure.d/10-a: exit status 3: a");
	CHECK_INT(rig.result.count, ==, 3);
	CHECK_STR(buf_str(&rig.result.output),
		  "on-failure: first\non-failure.d/10-a: a\non-failure.d/20-b: b\n");
	rig_end(&rig);
}

TEST(the_first_pre_launch_hook_that_fails_is_the_last)
{
	struct rig rig;

	rig_begin(&rig, HOOK_PRE_LAUNCH);
	script(&rig, "pre-launch.d/10-a", "echo checking; echo 'no license left'; echo; exit 1");
	script(&rig, "pre-launch.d/20-b", "echo b");
	CHECK_STR(run(&rig), "pre-launch.d/10-a: exit status 1: no license left");
	CHECK_INT(rig.result.count, ==, 1);
	rig_end(&rig);
}

TEST(what_cannot_be_executed_is_a_failure)
{
	struct rig rig;
	cleanup_free char *path = NULL;

	if (tap_valgrind()) {
		tap_skip("under valgrind posix_spawn() cannot say why: vfork() is fork() there");
		return;
	}
	rig_begin(&rig, HOOK_PRE_LAUNCH);
	script(&rig, "pre-launch", "exit 0");
	path = xasprintf("%s/pre-launch", rig.dir);
	CHECK_INT(chmod(path, 0644), ==, 0);
	CHECK_HAS(run(&rig), "pre-launch: it is not executable");
	CHECK_INT(fs_write_atomic(path, "no program\n", 11, 0755, NULL), ==, 0);
	CHECK_INT(chmod(path, 0755), ==, 0);
	CHECK_HAS(run(&rig), "pre-launch: Exec format error");
	rig.call.directory = "/tmp/drey-no-such-directory";
	CHECK_HAS(run(&rig), "No such file");
	rig_end(&rig);
}

TEST(one_that_takes_too_long_is_killed_with_its_children)
{
	struct rig rig;
	int64_t start_ms = clock_mono_ms();
	cleanup_free char *body = NULL;
	char line[32];
	cleanup_free char *path = NULL;
	cleanup_fclose FILE *file = NULL;

	rig_begin(&rig, HOOK_PRE_STOP);
	rig.call.timeout_ms = 300;
	body = xasprintf("trap '' TERM\nsleep 1000 &\necho $! >%s/child\necho waiting\nwait\n"
			 "while :; do sleep 1; done",
			 rig.dir);
	script(&rig, "pre-stop", body);
	CHECK_STR(run(&rig), "pre-stop: timed out after 300 ms: waiting");
	CHECK_INT(clock_mono_ms() - start_ms, <, 20000);
	path = xasprintf("%s/child", rig.dir);
	file = fopen(path, "r");
	CHECK(file && fgets(line, sizeof(line), file));
	for (int i = 0; i < 200 && kill(atoi(line), 0) == 0; i++)
		usleep(50000); /* a zombie until init has reaped it */
	path[0] = '\0';
	rig_end(&rig);
}

TEST(one_that_runs_can_be_given_up)
{
	struct rig rig;
	int64_t start_ms = clock_mono_ms();
	int fds[2];

	rig_begin(&rig, HOOK_ON_FAILURE);
	CHECK_INT(pipe(fds), ==, 0);
	CHECK_INT(write(fds[1], "x", 1), ==, 1);
	rig.call.abort_fd = fds[0];
	script(&rig, "on-failure", "sleep 1000");
	script(&rig, "on-failure.d/10-a", "echo a");
	CHECK(!run(&rig)); /* not even begun */
	CHECK_INT(rig.result.count, ==, 0);
	close(fds[0]);
	close(fds[1]);
	CHECK_INT(pipe(fds), ==, 0);
	rig.call.abort_fd = fds[0];
	if (fork() == 0) {
		usleep(200000);
		_exit(write(fds[1], "x", 1) != 1);
	}
	CHECK_STR(run(&rig), "on-failure: aborted because drey is exiting");
	CHECK_INT(rig.result.count, ==, 1);
	CHECK_INT(clock_mono_ms() - start_ms, <, 15000);
	wait(NULL);
	close(fds[0]);
	close(fds[1]);
	rig_end(&rig);
}

TEST(a_child_that_is_left_behind_does_not_keep_us)
{
	struct rig rig;
	int64_t start_ms = clock_mono_ms();

	rig_begin(&rig, HOOK_POST_LAUNCH);
	script(&rig, "post-launch", "sleep 1000 &\necho done");
	CHECK(!run(&rig));
	CHECK_STR(buf_str(&rig.result.output), "post-launch: done\n");
	CHECK_INT(clock_mono_ms() - start_ms, <, 15000);
	rig_end(&rig);
}

TEST(a_flood_of_output_is_cut_and_does_not_block)
{
	struct rig rig;

	rig_begin(&rig, HOOK_POST_LAUNCH);
	script(&rig, "post-launch", "head -c 3000000 /dev/zero | tr '\\0' x | fold -w 99; exit 4");
	CHECK_HAS(run(&rig), "exit status 4");
	CHECK_INT(rig.result.output.len_bytes, <, 3 * HOOK_OUTPUT_BYTES);
	CHECK_HAS(buf_str(&rig.result.output), "further output omitted");
	rig_end(&rig);
}

TEST(large_input_that_nobody_reads_does_not_block)
{
	struct rig rig;

	rig_begin(&rig, HOOK_POST_LAUNCH);
	for (int i = 0; i < 300000; i++)
		buf_addstr(&rig.input, "0123456789");
	script(&rig, "post-launch", "exit 0");
	CHECK(!run(&rig));
	script(&rig, "post-launch", "wc -c");
	CHECK(!run(&rig));
	CHECK_HAS(buf_str(&rig.result.output), "3000011");
	rig_end(&rig);
}

TEST(it_inherits_neither_descriptors_nor_signals)
{
	struct rig rig;
	int fd = dup2(STDERR_FILENO, 77); /* on purpose without O_CLOEXEC */
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	rig_begin(&rig, HOOK_POST_LAUNCH);
	/* glibc leaves its own signals 32 and 33 ignored */
	script(&rig, "post-launch",
	       "[ -e /proc/$$/fd/77 ] || echo closed\n"
	       "grep -qE '^SigBlk:.0{16}$' /proc/self/status && echo nothing blocked\n"
	       "grep -E '^SigIgn:.0{7}[01][08]0{7}$' /proc/self/status >/dev/null && "
	       "echo nothing ignored\n"
	       "[ \"$(ps -o pgid= -p $$ | tr -d ' ')\" = $$ ] && echo leader");
	CHECK(!run(&rig));
	sigprocmask(SIG_SETMASK, &old, NULL);
	CHECK_STR(buf_str(&rig.result.output),
		  "post-launch: closed\npost-launch: nothing blocked\n"
		  "post-launch: nothing ignored\npost-launch: leader\n");
	close(fd);
	rig_end(&rig);
}

/* The name of the hook that is told of it; "?" = none. */
static const char *hook_of(struct notice notice)
{
	return hook_event_name(hook_event_of(&notice));
}

TEST(what_has_happened_has_its_hook)
{
	struct notice operation = {.type = NOTICE_OPERATION, .ok = true, .path = "file:/sp/1"};

	CHECK_STR(hook_of((struct notice){.type = NOTICE_RESTORE_VERIFIED}), "post-launch");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_ATTEMPT_FAILED}), "on-failure");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_ENDED}), "on-terminal");
	CHECK_STR(hook_of(operation), "post-savepoint");
	operation.ok = false; /* the stop failed after its savepoint was complete */
	CHECK_STR(hook_of(operation), "post-savepoint");
}

TEST(what_has_no_hook_is_not_told)
{
	CHECK_STR(hook_of((struct notice){.type = NOTICE_OPERATION, .ok = true}), "?");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_OPERATION,
					  .kind = OPERATION_CHECKPOINT,
					  .ok = true,
					  .path = "file:/cp/chk-1"}),
		  "?");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_PHASE, .phase = PHASE_FAILED}), "?");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_PROVEN}), "?");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_FENCED}), "?");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_HANDOVER}), "?");
	CHECK_STR(hook_of((struct notice){.type = NOTICE_PREPARED}), "?");
}

TEST(our_descriptors_are_all_closed_again)
{
	struct rig rig;
	int before = open("/dev/null", O_RDONLY | O_CLOEXEC), after;

	rig_begin(&rig, HOOK_POST_LAUNCH);
	script(&rig, "post-launch", "exit 0");
	for (int i = 0; i < 20; i++)
		run(&rig);
	after = open("/dev/null", O_RDONLY | O_CLOEXEC);
	CHECK_INT(after, ==, before + 1);
	close(before);
	close(after);
	rig_end(&rig);
}

int main(int argc, char **argv)
{
	signal(SIGPIPE, SIG_IGN);
	return tap_main(argc, argv);
}
