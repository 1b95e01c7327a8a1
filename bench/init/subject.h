/*
 * subject - the inits that are compared, how one of them is run, and the table that comes out.
 */
#ifndef DREY_BENCH_INIT_SUBJECT_H
#define DREY_BENCH_INIT_SUBJECT_H

#include <stddef.h>
#include <sys/types.h>

#define SUBJECTS_MAX 12
#define ARGS_MAX     24
#define ROWS_MAX     40
#define CELL_BYTES   64

struct subject {
	char name[40];
	char *argv[ARGS_MAX];
	int argc;
};

/* What all of a comparison shares. */
struct bench {
	struct subject subjects[SUBJECTS_MAX];
	int n; /* of subjects */
	const char *puppet, *self;
	char cells[ROWS_MAX][SUBJECTS_MAX][CELL_BYTES];
	const char *labels[ROWS_MAX];
	int rows;
};

struct run {
	pid_t pid;
	int out; /* standard output and error of everything below it; end of file = all are gone */
};

/* NAME=COMMAND, split at spaces in place. */
void add_subject(struct bench *bench, char *spec);

/* A new row of the table; its label is borrowed. */
int row(struct bench *bench, const char *label);
#define CELL(b, r, s, ...) snprintf((b)->cells[r][s], CELL_BYTES, __VA_ARGS__)
void print_table(const struct bench *bench);

double now_us(void);

/* Sorts what it is given. */
double quantile(double *v, int n, double q);

/*
 * Starts `subject -- command...`, as PID 1 of a namespace if wanted; without a subject the bare command.
 * `prepare` is called in the new process; NULL: nothing is.
 */
struct run start(const struct subject *subject, int pid1, void (*prepare)(void),
		 const char *const *command);
#define START(s, pid1, ...) start(s, pid1, NULL, (const char *const[]){__VA_ARGS__, NULL})

/* Reads until the output holds `word`: 1. 0: it ended, or the limit was reached. */
int says(struct run run, const char *word, int limit_ms, char *text, size_t text_bytes);

/* The exit status, 128 + n for a signal; -1: it was still there at the limit and has been killed. */
int wait_for(struct run run, int limit_ms);

long number_after(const char *text, const char *label);

/* A file of /proc/PID, empty if it cannot be read. */
void read_proc(pid_t pid, const char *file, char *text, size_t text_bytes);

/* hop.c: how fast a SIGTERM goes through; and the command and the agent for that, which are this very program. */
void hop(struct bench *bench, int hops);
int hop_child(const char *path, int with_orphans);
int hop_agent(const char *self, const char *path);

/* faults.c: what they do when things go wrong. */
void faults(struct bench *bench);

#endif
