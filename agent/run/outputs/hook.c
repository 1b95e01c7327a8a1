#include "run/outputs/hook.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/words.h"

#define LAST_LINE_BYTES 300
#define POLL_MS         20 /* without a pidfd: how often we look whether it has ended */

/* One executable that runs. */
struct run {
	const struct hook_call *call;
	const char *name; /* as people see it: "pre-launch.d/10-check" */
	pid_t pid;
	int pid_fd; /* -1: the kernel has none */
	int in_fd, out_fd;
	size_t sent_bytes;
	struct buf output;
	bool timed_out, aborted;
};

WORDS(hook_event_name, enum hook_event, "?", "pre-launch", "post-launch", "post-savepoint",
      "pre-stop", "on-failure", "on-terminal");

enum hook_event hook_event_of(const struct notice *notice)
{
	switch (notice->type) {
	case NOTICE_RESTORE_VERIFIED:
		return HOOK_POST_LAUNCH;
	case NOTICE_OPERATION: /* one that failed may have left a savepoint, too */
		return notice->path && notice->kind != OPERATION_CHECKPOINT ? HOOK_POST_SAVEPOINT
									    : HOOK_EVENTS;
	case NOTICE_ATTEMPT_FAILED:
		return HOOK_ON_FAILURE;
	case NOTICE_ENDED:
		return HOOK_ON_TERMINAL;
	case NOTICE_PHASE:
	case NOTICE_PROVEN:
	case NOTICE_FENCED:
	case NOTICE_HANDOVER:
	case NOTICE_PREPARED:
	case NOTICE_TRANSITION:
	case NOTICE_CAUGHT_UP:
	case NOTICE_CHECKPOINTS:
	case NOTICE_SETTINGS:
	case NOTICE_STATE_LOST:
	case NOTICE_REVIEW:
	case NOTICE_COUNT:
		break;
	}
	return HOOK_EVENTS;
}

void hook_result_release(struct hook_result *result)
{
	free(result->failure);
	buf_release(&result->output);
	*result = (struct hook_result){0};
}

static void fail(struct hook_result *result, const char *name, const char *why)
{
	if (!result->failure)
		result->failure = xasprintf("%s: %s", name, why);
}

/* ---- start ---- */

/* Whether one of the entries, "NAME=value", is about this name. */
static bool names(const char *const *entries, const char *name)
{
	size_t len = strlen(name);

	for (; entries && *entries; entries++)
		if (strncmp(*entries, name, len) == 0 && (*entries)[len] == '=')
			return true;
	return false;
}

/* Only what a script needs; nothing of ours, which could be a secret. */
static char **make_environment(const struct hook_call *call)
{
	const struct {
		const char *name, *value;
	} given[] = {{"PATH", getenv("PATH")},
		     {"HOME", getenv("HOME")},
		     {"LANG", getenv("LANG")},
		     {"TZ", call->zone},
		     {"DREY_HOOK", hook_event_name(call->event)},
		     {"DREY_APPLICATION", call->application}};
	const char *const *more = call->environment;
	size_t count = 0, extra = 0;
	char **env;

	while (more && more[extra])
		extra++;
	env = xcalloc(ARRAY_LEN(given) + extra + 1, sizeof(*env));
	for (size_t i = 0; i < ARRAY_LEN(given); i++)
		if (given[i].value && !names(more, given[i].name))
			env[count++] = xasprintf("%s=%s", given[i].name, given[i].value);
	for (size_t i = 0; i < extra; i++)
		env[count++] = xstrdup(more[i]);
	return env;
}

static void free_environment(char **env)
{
	for (size_t i = 0; env[i]; i++)
		free(env[i]);
	free(env);
}

/* Ours are close-on-exec; those of a library may not be. */
static void close_others(posix_spawn_file_actions_t *actions)
{
#ifdef __GLIBC__
	posix_spawn_file_actions_addclosefrom_np(actions, STDERR_FILENO + 1);
#else /* musl has no such function, and does not mind a descriptor that is gone meanwhile */
	DIR *all = opendir("/proc/self/fd");
	struct dirent *entry;

	while (all && (entry = readdir(all))) {
		int fd = atoi(entry->d_name);

		if (fd > STDERR_FILENO)
			posix_spawn_file_actions_addclose(actions, fd);
	}
	if (all)
		closedir(all);
#endif
}

/* posix_spawn: no code of ours runs between fork and exec, so threads and their locks do not matter. */
static int spawn(pid_t *ret_pid, const char *path, char *const *env, int in_fd, int out_fd)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	char *const argv[] = {(char *)path, NULL};
	sigset_t all, none;
	int sys;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in_fd, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out_fd, STDERR_FILENO);
	close_others(&actions);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setpgroup(&attr, 0);
	posix_spawnattr_setsigdefault(&attr, &all);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF |
						POSIX_SPAWN_SETSIGMASK);
	sys = posix_spawn(ret_pid, path, &actions, &attr, argv, env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&actions);
	return sys;
}

static int start(struct run *run, const char *path)
{
	char **env = make_environment(run->call);
	int in[2] = {-1, -1}, out[2] = {-1, -1};
	int sys = 0;

	if (pipe2(in, O_CLOEXEC) < 0 || pipe2(out, O_CLOEXEC) < 0)
		sys = errno;
	if (!sys)
		sys = spawn(&run->pid, path, env, in[0], out[1]);
	free_environment(env);
	if (in[0] >= 0)
		close(in[0]);
	if (out[1] >= 0)
		close(out[1]);
	run->in_fd = in[1];
	run->out_fd = out[0];
	if (sys)
		return sys;
	fcntl(run->in_fd, F_SETFL, O_NONBLOCK);
	fcntl(run->out_fd, F_SETFL, O_NONBLOCK);
	run->pid_fd = (int)syscall(SYS_pidfd_open, run->pid, 0);
	return 0;
}

/* ---- while it runs ---- */

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void feed(struct run *run)
{
	const struct buf *input = run->call->input;
	ssize_t sent = 0;

	if (run->sent_bytes < input->len_bytes)
		sent = write(run->in_fd, input->data + run->sent_bytes,
			     input->len_bytes - run->sent_bytes);
	if (sent > 0)
		run->sent_bytes += (size_t)sent;
	if ((sent < 0 && errno != EAGAIN && errno != EINTR) || run->sent_bytes == input->len_bytes)
		close_fd(&run->in_fd); /* it need not read it */
}

/* All that is there; what is too much is thrown away, so that it does not block either. */
static void drain(struct run *run)
{
	char chunk[4096];
	ssize_t got;

	while ((got = read(run->out_fd, chunk, sizeof(chunk))) > 0) {
		size_t room = HOOK_OUTPUT_BYTES - run->output.len_bytes;

		buf_add(&run->output, chunk, (size_t)got < room ? (size_t)got : room);
		if ((size_t)got > room || !room)
			break; /* one piece at a time: a flood does not hide the deadline */
	}
	if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
		close_fd(&run->out_fd);
}

/* It has ended, and is still a zombie: its pid and its group cannot be anybody else's. */
static bool has_ended(const struct run *run)
{
	siginfo_t info = {0};

	return waitid(P_PID, (id_t)run->pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == run->pid;
}

static void wait_a_little(struct run *run, int64_t until_ms)
{
	int64_t wait_ms = until_ms - clock_mono_ms();
	struct pollfd fds[4] = {{run->pid_fd, POLLIN, 0},
				{run->in_fd, POLLOUT, 0},
				{run->out_fd, POLLIN, 0},
				{run->aborted ? -1 : run->call->abort_fd, POLLIN, 0}};

	if (wait_ms < 0)
		wait_ms = 0;
	if (run->pid_fd < 0 && wait_ms > POLL_MS)
		wait_ms = POLL_MS;
	if (poll(fds, ARRAY_LEN(fds), (int)wait_ms) <= 0)
		return;
	if (fds[3].revents) {
		run->aborted = true;
		kill(-run->pid, SIGKILL);
	}
	if (fds[1].revents)
		feed(run);
	if (fds[2].revents)
		drain(run);
}

/* Returns the wait status. */
static int supervise(struct run *run)
{
	int64_t deadline_ms = clock_mono_ms() + run->call->timeout_ms;
	int wait_status = 0;

	while (!has_ended(run)) {
		if (clock_mono_ms() >= deadline_ms) {
			kill(-run->pid, run->timed_out ? SIGKILL : SIGTERM);
			run->timed_out = true;
			deadline_ms = clock_mono_ms() + HOOK_TERM_MS;
		}
		wait_a_little(run, deadline_ms);
	}
	if (run->out_fd >= 0)
		drain(run);
	kill(-run->pid, SIGKILL);
	while (waitpid(run->pid, &wait_status, 0) < 0 && errno == EINTR)
		;
	return wait_status;
}

/* ---- what came of it ---- */

/* Its last line that is not empty: what a script says before it gives up. */
static char *last_line(const struct buf *output)
{
	const char *text = buf_str(output);
	size_t end = strlen(text), begin;

	while (end && strchr(" \t\r\n", text[end - 1]))
		end--;
	for (begin = end; begin && text[begin - 1] != '\n'; begin--)
		;
	return xstrndup(text + begin,
			end - begin < LAST_LINE_BYTES ? end - begin : LAST_LINE_BYTES);
}

static void hook_judge(const struct run *run, int wait_status, struct hook_result *result)
{
	cleanup_free char *line = last_line(&run->output);
	cleanup_free char *why = NULL;

	if (run->aborted)
		why = xstrdup("aborted because drey is exiting");
	else if (run->timed_out)
		why = xasprintf("timed out after %lld ms", (long long)run->call->timeout_ms);
	else if (WIFSIGNALED(wait_status))
		why = xasprintf("killed by signal %d", WTERMSIG(wait_status));
	else if (WEXITSTATUS(wait_status))
		why = xasprintf("exit status %d", WEXITSTATUS(wait_status));
	if (why && *line) {
		cleanup_free char *both = xasprintf("%s: %s", why, line);

		fail(result, run->name, both);
	} else if (why) {
		fail(result, run->name, why);
	}
}

static void collect(const struct run *run, struct hook_result *result)
{
	const char *at = buf_str(&run->output);

	while (*at) {
		size_t len = strcspn(at, "\n");

		if (len)
			buf_addf(&result->output, "%s: %.*s\n", run->name, (int)len, at);
		at += len + (at[len] == '\n');
	}
	if (run->output.len_bytes >= HOOK_OUTPUT_BYTES)
		buf_addf(&result->output, "%s: (further output omitted)\n", run->name);
}

static void run_one(const struct hook_call *call, const char *name, struct hook_result *result)
{
	cleanup_free char *path = xasprintf("%s/%s", call->directory, name);
	struct run run = {.call = call, .name = name, .pid_fd = -1, .in_fd = -1, .out_fd = -1};
	int sys = start(&run, path);

	result->count++;
	if (sys == 0)
		hook_judge(&run, supervise(&run), result);
	else
		fail(result, name,
		     sys == EACCES ? "it is not executable (mode 0755 is needed)" : strerror(sys));
	collect(&run, result);
	close_fd(&run.in_fd);
	close_fd(&run.out_fd);
	close_fd(&run.pid_fd);
	buf_release(&run.output);
}

/* ---- which ones ---- */

static int is_wanted(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && entry->d_name[len - 1] != '~';
}

static bool is_aborted(const struct hook_call *call)
{
	struct pollfd fd = {call->abort_fd, POLLIN, 0};

	return call->abort_fd >= 0 && poll(&fd, 1, 0) > 0;
}

static bool goes_on(const struct hook_call *call, const struct hook_result *result)
{
	if (is_aborted(call))
		return false;
	return !result->failure || call->event != HOOK_PRE_LAUNCH;
}

static void run_directory(const struct hook_call *call, struct hook_result *result)
{
	cleanup_free char *name = xasprintf("%s.d", hook_event_name(call->event));
	cleanup_free char *path = xasprintf("%s/%s", call->directory, name);
	struct dirent **entries = NULL;
	int count = scandir(path, &entries, is_wanted, alphasort);

	if (count < 0 && errno != ENOENT)
		fail(result, name, strerror(errno));
	if (count > HOOK_MAX_FILES)
		fail(result, name, "too many files");
	for (int i = 0; i < count; i++) {
		cleanup_free char *file = xasprintf("%s/%s", name, entries[i]->d_name);

		if (count <= HOOK_MAX_FILES && goes_on(call, result))
			run_one(call, file, result);
		free(entries[i]);
	}
	free(entries);
}

void hook_run(const struct hook_call *call, struct hook_result *ret_result)
{
	const char *name = hook_event_name(call->event);
	cleanup_free char *path = xasprintf("%s/%s", call->directory, name);
	struct stat st;

	*ret_result = (struct hook_result){0};
	if (stat(call->directory, &st) < 0)
		fail(ret_result, call->directory, strerror(errno));
	else if (stat(path, &st) < 0 && errno != ENOENT)
		fail(ret_result, name, strerror(errno));
	else if (stat(path, &st) == 0 && goes_on(call, ret_result))
		run_one(call, name, ret_result);
	if (goes_on(call, ret_result))
		run_directory(call, ret_result);
}

static char *cannot_execute(const char *path)
{
	if (!access(path, X_OK) || errno == ENOENT)
		return NULL;
	return xasprintf("hooks.directory: %s: %s", path,
			 errno == EACCES ? "it is not executable (mode 0755 is needed)"
					 : strerror(errno));
}

char *hook_obstacle(const char *directory)
{
	cleanup_free char *file = NULL, *many = NULL;
	struct dirent **entries = NULL;
	char *why = NULL;
	struct stat st;
	int count;

	if (!directory)
		return NULL;
	if (stat(directory, &st) < 0)
		return xasprintf("hooks.directory: %s: %s", directory, strerror(errno));
	file = xasprintf("%s/%s", directory, hook_event_name(HOOK_PRE_LAUNCH));
	many = xasprintf("%s.d", file);
	why = cannot_execute(file);
	count = scandir(many, &entries, is_wanted, alphasort);
	for (int i = 0; i < count; i++) {
		cleanup_free char *path = xasprintf("%s/%s", many, entries[i]->d_name);

		if (!why)
			why = cannot_execute(path);
		free(entries[i]);
	}
	free(entries);
	return why;
}
