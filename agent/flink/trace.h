/*
 * trace - the useful lines of a Java stack trace.
 *
 * Flink reports failures as whole traces of 10-60 kB. People want one line: the exception, its
 * message, and its cause. Pure; borrowed input, owned output.
 *
 *   java.util.concurrent.CompletionException: org.apache.flink....CheckpointException: IO-problem.
 *           at ...
 *   Caused by: java.io.IOException: Failed to create savepoint directory at file:/proc/nope
 */
#ifndef DREY_FLINK_TRACE_H
#define DREY_FLINK_TRACE_H

#include <stdbool.h>

#define TRACE_LINE_MAX_BYTES 400  /* of a message in one line; longer ones are cut, with "..." */
#define TRACE_TEXT_MAX_BYTES 4096 /* of a shortened trace */

/* The first exception of a trace, without meaningless wrappers (CompletionException,
 * ExecutionException, SerializedThrowable), and the deepest cause. NULL when there is none: no
 * cause, no message. */
struct trace {
	char *class_name;    /* "org.apache.flink.runtime.checkpoint.CheckpointException" */
	char *message;       /* first line of its message; may be NULL */
	char *cause_class;   /* the last "Caused by:" that differs from the first */
	char *cause_message; /* may be NULL */
};

/* Never fails: of text that is not a trace, the first line becomes `message`. Release with
 * trace_release. */
void trace_parse(const char *text, struct trace *ret_trace);
void trace_release(struct trace *trace);
#define cleanup_trace __attribute__((cleanup(trace_release)))

/* "CheckpointException: IO-problem. (IOException: Failed to create ...)"; caller frees. */
char *trace_sentence(const struct trace *trace);

/* The trace with only the first few frames of each exception, at most TRACE_TEXT_MAX_BYTES;
 * caller frees. */
char *trace_shorten(const char *text);

/* Does an exception of this class (simple or full name) occur as the first or as a cause? */
bool trace_mentions(const char *text, const char *class_name);

/* A stop that took its savepoint and then failed shows that only here: the path between "A
 * savepoint has been created at: " and ", but the corresponding job". NULL if absent; caller
 * frees. */
char *trace_saved_path(const char *text);

#endif
