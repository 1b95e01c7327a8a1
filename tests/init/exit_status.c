/* What drey-init exits with, and that it notices. */
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "rig.h"

static int status_of(const char *const *argv)
{
	struct rig rig = {0};

	return rig_start(&rig, NULL, NULL, argv) ? rig_wait(&rig) : -2;
}
#define STATUS_OF(...) status_of((const char *const[]){__VA_ARGS__, NULL})

TEST(passes_on_all_256_exit_statuses)
{
	char number[8];

	for (int i = 0; i < 256; i++) {
		snprintf(number, sizeof(number), "%d", i);
		CHECK_INT(STATUS_OF("--", rig_puppet(), "exit", number), ==, i);
	}
}

TEST(adds_128_to_the_signal_that_killed_the_command)
{
	static const int signos[] = {SIGTERM, SIGKILL, SIGSEGV, SIGABRT, SIGHUP, SIGPIPE, 40, 64};
	char number[8];

	for (size_t i = 0; i < sizeof(signos) / sizeof(signos[0]); i++) {
		snprintf(number, sizeof(number), "%d", signos[i]);
		CHECK_INT(STATUS_OF("--", rig_puppet(), "raise", number), ==, 128 + signos[i]);
	}
}

TEST(remaps_the_named_statuses_to_0_and_no_others)
{
	CHECK_INT(STATUS_OF("-e", "143", "-e7", "--", rig_puppet(), "raise", "15"), ==, 0);
	CHECK_INT(STATUS_OF("-e", "143", "-e7", "--", rig_puppet(), "exit", "7"), ==, 0);
	CHECK_INT(STATUS_OF("-e", "143", "-e7", "--", rig_puppet(), "exit", "8"), ==, 8);
	CHECK_INT(STATUS_OF("--remap=143", "--", rig_puppet(), "exit", "143"), ==, 0);
}

static int fails_with(const char *message, const char *command)
{
	struct rig rig = {0};
	int status;

	if (!RIG_START(&rig, "--", command))
		return -2;
	status = rig_wait(&rig);
	CHECK_HAS(rig.text, message);
	CHECK_INT(rig_count(&rig, "\n"), ==, 1);
	return status;
}

static void write_file(const char *path, const char *text, mode_t mode)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);

	CHECK_INT(write(fd, text, strlen(text)), ==, strlen(text));
	close(fd);
}

TEST(a_command_that_cannot_be_found_is_127)
{
	CHECK_INT(fails_with("/no/such: No such file", "/no/such"), ==, 127);
	CHECK_INT(fails_with("no-such-program: No such file", "no-such-program"), ==, 127);
	CHECK_INT(fails_with("/etc/passwd/x: Not a directory", "/etc/passwd/x"), ==, 127);
	write_file("/tmp/drey-bad-interpreter", "#!/no/such/interpreter\n", 0755);
	CHECK_INT(fails_with("No such file", "/tmp/drey-bad-interpreter"), ==, 127);
	unlink("/tmp/drey-bad-interpreter");
	CHECK_INT(fails_with("No such file", ""), ==, 127);
}

TEST(a_command_that_cannot_be_executed_is_126)
{
	CHECK_INT(fails_with("/etc: Permission denied", "/etc"), ==, 126);
	CHECK_INT(fails_with("Permission denied", "/etc/passwd"), ==, 126);
	setenv("PATH", "/no/such:/tmp/drey-path", 1);
	mkdir("/tmp/drey-path", 0755);
	write_file("/tmp/drey-path/locked", "#!/bin/sh\n", 0644);
	CHECK_INT(fails_with("locked: Permission denied", "locked"), ==, 126);
	unlink("/tmp/drey-path/locked");
	rmdir("/tmp/drey-path");
	setenv("PATH", "/usr/bin:/bin", 1);
}

TEST(a_file_that_is_no_program_is_126_and_not_given_to_a_shell)
{
	write_file("/tmp/drey-garbage", "echo this came from a shell\n", 0755);
	CHECK_INT(fails_with("/tmp/drey-garbage: Exec format error", "/tmp/drey-garbage"), ==, 126);
	unlink("/tmp/drey-garbage");
}

TEST(a_status_of_127_from_the_command_is_no_exec_failure)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--", rig_puppet(), "exit", "127"));
	CHECK_INT(rig_wait(&rig), ==, 127);
	CHECK_STR(rig.text, "");
}

TEST(bad_usage_is_112_says_why_and_starts_nothing)
{
	static const char *const bad[][4] = {
		{"--no-such-option", "--", "x"},
		{"-q", "--", "x"},
		{"--grace", "soon", "x"},
		{"--grace=-1", "x"},
		{"--grace=1.2.3", "x"},
		{"--grace=99999999999", "x"},
		{"--remap", "256", "x"},
		{"-e", "1x", "x"},
		{"--grace"},
		{"--"},
		{"--agent"},
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct rig rig = {0};

		CHECK(rig_start(&rig, NULL, NULL, bad[i]));
		CHECK_INT(rig_wait(&rig), ==, 112);
		CHECK_HAS(rig.text, "drey-init: ");
		CHECK(!strstr(rig.text, "cannot execute"));
	}
	setenv("DREY_GRACE_SECONDS", "a while", 1);
	CHECK_INT(STATUS_OF("--", rig_puppet(), "exit", "0"), ==, 112);
	unsetenv("DREY_GRACE_SECONDS");
}

TEST(help_and_version_are_0_and_on_standard_output)
{
	struct rig rig = {0};

	CHECK(RIG_START(&rig, "--help"));
	CHECK_INT(rig_wait(&rig), ==, 0);
	CHECK_HAS(rig.text, "Usage: drey-init");
	CHECK(RIG_START(&rig, "--version"));
	CHECK_INT(rig_wait(&rig), ==, 0);
	CHECK_HAS(rig.text, "drey-init ");
}

TEST(notices_the_end_of_the_command_among_coalesced_deaths)
{
	for (int i = 0; i < 200; i++)
		CHECK_INT(STATUS_OF("--", rig_puppet(), "burst"), ==, 3);
}

TEST(a_stopped_command_is_not_a_dead_one)
{
	struct rig rig = {0};
	pid_t pid;

	CHECK(RIG_START(&rig, "--", rig_puppet(), "wait"));
	CHECK(rig_says(&rig, "ready "));
	pid = (pid_t)rig_number(&rig, "ready ");
	for (int i = 0; i < 20; i++) {
		kill(pid, SIGSTOP);
		CHECK(rig_state(pid, 'T'));
		kill(pid, SIGCONT);
		CHECK(rig_state(pid, 'S'));
	}
	kill(pid, SIGKILL);
	CHECK_INT(rig_wait(&rig), ==, 137);
}

static const char *with_termination_log(void *arg)
{
	if (unshare(CLONE_NEWNS) < 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("none", "/dev", "tmpfs", 0, NULL) < 0)
		return "mounting in a namespace needs root";
	mknod("/dev/null", S_IFCHR | 0666, makedev(1, 3));
	close(open("/dev/termination-log", O_WRONLY | O_CREAT, 0666));
	return mount(arg, "/dev/termination-log", NULL, MS_BIND, NULL) < 0 ? "cannot bind a file"
									   : NULL;
}

static void read_back(const char *path, char *text, size_t text_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, text, text_bytes - 1);

	text[n > 0 ? n : 0] = '\0';
	close(fd);
}

TEST(writes_the_termination_log_unless_somebody_has)
{
	char path[64], text[300];
	struct rig rig = {0};

	snprintf(path, sizeof(path), "/tmp/drey-termination-%d", (int)getpid());
	write_file(path, "", 0644);
	if (!RIG_START_IN(&rig, with_termination_log, path, "--", rig_puppet(), "raise", "9"))
		return;
	CHECK_INT(rig_wait(&rig), ==, 137);
	read_back(path, text, sizeof(text));
	CHECK_HAS(text, "was killed by signal 9");
	write_file(path, "mine", 0644);
	CHECK(RIG_START_IN(&rig, with_termination_log, path, "--", rig_puppet(), "raise", "9"));
	CHECK_INT(rig_wait(&rig), ==, 137);
	read_back(path, text, sizeof(text));
	CHECK_STR(text, "mine");
	unlink(path);
}
