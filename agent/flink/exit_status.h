/*
 * exit_status - what the wait status of a JobManager can mean.
 *
 * It never decides alone: the same 2 stands for a broken start, a fatal error and a job that
 * succeeded while the result of its savepoint was not read; 0 does not tell FINISHED from CANCELED;
 * and 1.20 and 2.3 use different numbers for the same event. The REST API and the journal tell what
 * happened; this gives the words, and a first guess when nothing else is known. Source:
 * ApplicationStatus, ClusterEntrypoint and observations of 1.20.5 and 2.3.0.
 */
#ifndef DREY_FLINK_EXIT_STATUS_H
#define DREY_FLINK_EXIT_STATUS_H

#include <stdbool.h>

enum flink_exit_kind {
	FLINK_EXIT_ENDED, /* 0: finished, cancelled, stopped, or there was nothing to do */
	/* 163: the application failed (2.x: also in main() or while restoring) */
	FLINK_EXIT_FAILED,
	FLINK_EXIT_UNKNOWN,   /* 165: ended with an unknown state */
	FLINK_EXIT_STARTUP,   /* 1: did not start: arguments, configuration, class, port */
	FLINK_EXIT_FATAL,     /* 2: fatal error; 1.x: main() threw or could not restore */
	FLINK_EXIT_SAFEGUARD, /* 239: halted by Flink's own safeguard */
	/* ended by SIGTERM, SIGINT or SIGHUP (143, 130, 129): job suspended */
	FLINK_EXIT_TERMINATED,
	FLINK_EXIT_KILLED,  /* SIGKILL or 137 */
	FLINK_EXIT_OOM,     /* killed while the memory limit was hit, or Java ran out of heap (3) */
	FLINK_EXIT_CRASHED, /* any other signal: the JVM itself broke */
	FLINK_EXIT_NOT_RUN, /* 126, 127: the command could not be executed */
	FLINK_EXIT_OTHER,   /* any other status */
};

struct flink_exit {
	enum flink_exit_kind kind;
	int status;         /* exit status, or 128 + signal number as a shell gives it */
	int signo;          /* 0: ended by exit(2) */
	char sentence[200]; /* for people: "exit status 163: the application failed" */
};

/* wait_status: as waitpid(2) gave it. oom_killed: the kernel OOM-killed a process in this container
 * during the life of this one (it turns a SIGKILL into FLINK_EXIT_OOM). */
struct flink_exit flink_exit_explain(int wait_status, bool oom_killed);

/* A short stable word: "ended", "failed", "oom" ... */
const char *flink_exit_kind_name(enum flink_exit_kind kind);

#endif
