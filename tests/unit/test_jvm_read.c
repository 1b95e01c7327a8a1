/* The line of a process that plays a JVM: a copy of this program called `java`, with a thread. */
#include "flink/jvm_read.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tap.h"

#define ENTRY "org.apache.flink.container.entrypoint.StandaloneApplicationClusterEntryPoint"

struct world {
	char dir[64];
	char *java, *script, *conf, *conf_file, *lib, *jar, *class_path;
	char *launched_argv[5], *launched_env[2];
	struct flink_exec launched;
	struct jvm_launch launch;
	int pid;
};

static void write_file(const char *path, const char *text)
{
	CHECK_INT(fs_write_atomic(path, text, strlen(text), 0700, NULL), ==, 0);
}

static void copy_self(const char *path)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	CHECK_INT(fs_read("/proc/self/exe", (size_t)64 << 20, &bytes, NULL), ==, 0);
	CHECK_INT(fs_write_atomic(path, bytes.data, bytes.len_bytes, 0700, NULL), ==, 0);
}

/* Times of processes are hundredths of a second. */
static void wait_a_tick(void)
{
	int64_t until_ms = clock_mono_ms() + 30;

	while (clock_mono_ms() < until_ms)
		usleep(1000);
}

static void world_begin(struct world *w)
{
	*w = (struct world){.dir = "/tmp/test_jvm_read.XXXXXX"};
	CHECK(mkdtemp(w->dir) != NULL);
	w->java = xasprintf("%s/java", w->dir);
	w->script = xasprintf("%s/start.sh", w->dir);
	w->conf = xasprintf("%s/conf", w->dir);
	w->conf_file = xasprintf("%s/conf/config.yaml", w->dir);
	w->lib = xasprintf("%s/lib", w->dir);
	w->jar = xasprintf("%s/lib/a.jar", w->dir);
	w->class_path = xasprintf("%s:%s/*::", w->jar, w->lib);
	CHECK(mkdir(w->conf, 0700) == 0 && mkdir(w->lib, 0700) == 0);
	write_file(w->conf_file, "a: b\n");
	write_file(w->jar, "jar");
	write_file(w->script, "#!/bin/sh\n");
	copy_self(w->java);
	w->launched_argv[0] = w->script;
	w->launched_argv[1] = "standalone-job";
	w->launched_argv[2] = "--job-id";
	w->launched_argv[3] = "0123";
	w->launched_env[0] = "PATH=/bin";
	w->launched = (struct flink_exec){.argv = w->launched_argv,
					  .env = w->launched_env,
					  .argc = 4,
					  .envc = 1,
					  .command_argc = 2};
	wait_a_tick();
}

static void world_end(struct world *w)
{
	cleanup_free char *remove = xasprintf("rm -rf %s", w->dir);

	if (w->pid > 0) {
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
	}
	CHECK_INT(system(remove), ==, 0);
	free(w->java);
	free(w->script);
	free(w->conf);
	free(w->conf_file);
	free(w->lib);
	free(w->jar);
	free(w->class_path);
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, world_begin, world_end)

/* What a script of the user does before it becomes java. */
enum odd {
	ODD_NOTHING,
	ODD_UMASK,
	ODD_OUTPUT,
	ODD_DIRECTORY,
	ODD_LIMIT,
	ODD_PRIORITY,
	ODD_PRIVILEGES
};

static void do_odd(enum odd odd)
{
	int fd;

	switch (odd) {
	case ODD_NOTHING:
		break;
	case ODD_UMASK:
		umask(0077);
		break;
	case ODD_OUTPUT:
		fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
		if (fd < 0 || dup2(fd, 1) < 0)
			_exit(3);
		break;
	case ODD_DIRECTORY:
		if (chdir("/") < 0)
			_exit(3);
		break;
	case ODD_LIMIT:
		if (setrlimit(RLIMIT_CORE, &(struct rlimit){0, 1}) < 0)
			_exit(3);
		break;
	case ODD_PRIORITY:
		if (nice(1) < 0)
			_exit(3);
		break;
	case ODD_PRIVILEGES:
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(3);
		break;
	}
}

/* Returns when it has its thread. */
static void start_jvm(struct world *w, enum odd odd)
{
	char *argv[] = {w->java, "-classpath", w->class_path, ENTRY, "--configDir",
			w->conf, "--job-id",   "0123",        NULL};
	int ends[2];
	char byte;

	CHECK_INT(pipe(ends), ==, 0);
	w->pid = fork();
	if (w->pid == 0) {
		close(ends[0]);
		dup2(ends[1], 7);
		do_odd(odd);
		execve(w->java, argv, w->launched_env);
		_exit(3);
	}
	close(ends[1]);
	CHECK_INT(read(ends[0], &byte, 1), ==, 1);
	close(ends[0]);
	w->launch = (struct jvm_launch){.pid = w->pid,
					.started_unix_ms = clock_unix_ms(),
					.launched = &w->launched,
					.shape = &w->launched,
					.flink_home = w->dir};
}

static void reads(struct world *w, struct jvm_origin *ret_origin)
{
	struct err err = {0};

	CHECK_INT(jvm_read(&w->launch, ret_origin, &err), ==, 0);
	CHECK_STR(err.msg, "");
}

static void refuses(struct world *w, const char *why)
{
	struct jvm_origin origin = {0};
	struct err err = {0};

	CHECK_INT(jvm_read(&w->launch, &origin, &err), ==, -1);
	CHECK_HAS(err.msg, why);
	CHECK(!origin.roots);
}

WORLD_TEST(the_line_of_a_running_jvm_is_read)
{
	struct jvm_origin origin = {0};
	char again[SHA256_HEX_BYTES];

	start_jvm(w, ODD_NOTHING);
	reads(w, &origin);
	CHECK_INT(origin.line.argc, ==, 6);
	CHECK_STR(origin.line.argv[3], ENTRY);
	CHECK_STR(origin.line.env[0], "PATH=/bin");
	CHECK_INT(jvm_fingerprint(&origin, &w->launched, again, NULL), ==, 0);
	CHECK_STR(again, origin.fingerprint);
	jvm_origin_release(&origin);
}

/* After `change` of a file the fingerprint is another one, and the JVM cannot be read again. */
static void notices(struct world *w, const char *change, const char *file)
{
	cleanup_free char *command = xasprintf("cd %s && %s", w->dir, change);
	struct jvm_origin origin = {0};
	char now[SHA256_HEX_BYTES];

	start_jvm(w, ODD_NOTHING);
	reads(w, &origin);
	wait_a_tick();
	CHECK_INT(system(command), ==, 0);
	CHECK_INT(jvm_fingerprint(&origin, &w->launched, now, NULL), ==, 0);
	CHECK(strcmp(now, origin.fingerprint) != 0);
	jvm_origin_release(&origin);
	refuses(w, file);
}

WORLD_TEST(a_changed_configuration_is_noticed)
{
	notices(w, "echo a: c >conf/config.yaml", "config.yaml has changed since");
}

WORLD_TEST(contents_count_even_when_size_and_mtime_are_the_same)
{
	notices(w,
		"cp -p conf/config.yaml x && echo a: c >conf/config.yaml && touch -r x conf/config.yaml",
		"config.yaml has changed since");
}

WORLD_TEST(a_new_file_of_the_configuration_is_noticed)
{
	notices(w, "echo a: c >conf/flink-conf.yaml", "has changed since");
}

WORLD_TEST(a_replaced_jar_is_noticed)
{
	notices(w, "echo jar2 >x && mv x lib/a.jar", "has changed since");
}

WORLD_TEST(a_new_jar_is_noticed)
{
	notices(w, "echo jar2 >lib/b.jar", "has changed since");
}

WORLD_TEST(a_changed_script_is_noticed)
{
	notices(w, "echo true >>start.sh", "start.sh has changed since");
}

WORLD_TEST(another_java_is_noticed)
{
	struct jvm_origin origin = {0};
	char now[SHA256_HEX_BYTES];

	start_jvm(w, ODD_NOTHING);
	reads(w, &origin);
	CHECK_INT(unlink(w->java), ==, 0);
	copy_self(w->java);
	CHECK_INT(jvm_fingerprint(&origin, &w->launched, now, NULL), ==, 0);
	CHECK(strcmp(now, origin.fingerprint) != 0);
	jvm_origin_release(&origin);
	refuses(w, "is another program than");
}

WORLD_TEST(another_command_or_environment_is_noticed)
{
	char *argv[] = {w->script, "standalone-job", "-D", "a=b", NULL}, *env[] = {"PATH=/x", NULL};
	struct flink_exec other = w->launched;
	struct jvm_origin origin = {0};
	char now[SHA256_HEX_BYTES];

	start_jvm(w, ODD_NOTHING);
	reads(w, &origin);
	other.argv = argv;
	CHECK_INT(jvm_fingerprint(&origin, &other, now, NULL), ==, 0);
	CHECK(strcmp(now, origin.fingerprint) != 0);
	other = w->launched;
	other.env = env;
	CHECK_INT(jvm_fingerprint(&origin, &other, now, NULL), ==, 0);
	CHECK(strcmp(now, origin.fingerprint) != 0);
	jvm_origin_release(&origin);
}

WORLD_TEST(a_file_that_cannot_be_read_is_no_fingerprint)
{
	struct jvm_origin origin = {0};
	char now[SHA256_HEX_BYTES] = "same";
	struct err err = {0};
	cleanup_free char *loop = xasprintf("%s/loop", w->conf);

	CHECK_INT(symlink(".", loop), ==, 0);
	wait_a_tick();
	start_jvm(w, ODD_NOTHING);
	CHECK_INT(jvm_read(&w->launch, &origin, &err), ==, -1);
	CHECK_HAS(err.msg, "too many files");
	CHECK_INT(unlink(loop), ==, 0);
	CHECK_STR(now, "same");
}

WORLD_TEST(a_stepped_clock_is_noticed)
{
	start_jvm(w, ODD_NOTHING);
	w->launch.started_unix_ms -= 60000;
	refuses(w, "the clock was changed");
}

WORLD_TEST(a_process_that_is_not_as_drey_init_starts_them_is_refused)
{
	static const struct {
		enum odd odd;
		const char *why;
	} odds[] = {
		{ODD_UMASK, "changed Umask"},           {ODD_OUTPUT, "redirected Flink's output"},
		{ODD_DIRECTORY, "changed cwd"},         {ODD_LIMIT, "changed a limit"},
		{ODD_PRIVILEGES, "changed NoNewPrivs"}, {ODD_PRIORITY, "changed Flink's priority"}};

	for (size_t i = 0; i < ARRAY_LEN(odds); i++) {
		/* nobody is nicer than that */
		if (odds[i].odd == ODD_PRIORITY && getpriority(PRIO_PROCESS, 0) == 19)
			continue;
		start_jvm(w, odds[i].odd);
		refuses(w, odds[i].why);
		kill(w->pid, SIGKILL);
		waitpid(w->pid, NULL, 0);
		w->pid = 0;
	}
}

WORLD_TEST(a_process_that_has_ended_is_refused)
{
	start_jvm(w, ODD_NOTHING);
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
	refuses(w, "/proc/");
	w->pid = 0;
}

/* ---- the process that plays ---- */

/* drey-init has not given it up, and starts the next one. */
WORLD_TEST(what_the_agent_has_given_up_a_jvm_may_have)
{
	struct jvm_origin origin = {0};
	struct err err = {0};
	int status = -1;
	pid_t agent;

	start_jvm(w, ODD_NOTHING);
	agent = fork();
	if (agent == 0) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			_exit(3);
		_exit(jvm_read(&w->launch, &origin, &err) < 0);
	}
	CHECK_INT(waitpid(agent, &status, 0), ==, agent);
	CHECK_INT(status, ==, 0);
}

static void *sleep_on(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static int play_jvm(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, sleep_on, NULL) != 0 || write(7, "x", 1) != 1)
		return 3;
	sleep_on(NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc > 3 && strcmp(argv[3], ENTRY) == 0)
		return play_jvm();
	return tap_main(argc, argv);
}
