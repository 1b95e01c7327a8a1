/*
 * err - one error, by value, no allocation: usable after fork and out of memory.
 *
 * Contract, everywhere in this tree:
 *   - a function that can fail returns 0 (or a count) on success, -1 on failure;
 *   - on success *err is not touched; on failure the ret_* out-parameters are not touched;
 *   - the place of the failure calls err_set(), and every caller may add its context with
 *     err_wrap(): "load drey.yaml: line 3, column 5: unknown key 'intervall'";
 *   - library code never logs an error, it returns it.
 *
 * `err` may be NULL: the caller then only learns that it failed.
 */
#ifndef DREY_BASE_ERR_H
#define DREY_BASE_ERR_H

#define ERR_MSG_BYTES 512

/* What the caller can do about it. Kinds drive behaviour, messages are for people. */
enum err_kind {
	ERR_NONE = 0,
	ERR_SYS,    /* a system call failed; .sys is errno */
	ERR_ABSENT, /* proven not to exist (ENOENT, 404): the only kind that means absence */
	ERR_DENIED, /* access denied (EACCES, 401, 403) */
	ERR_RETRY,  /* may be temporary: timeout, 5xx, connection refused, EIO */
	ERR_FORMAT, /* invalid bytes: truncated, damaged, too new */
	ERR_CONFIG, /* the user must change something */
	ERR_BUSY,   /* owned by another process: lock, port, second copy */
	/* two answers for the same decision exclude each other: it could not be read. Never absence; try
	 * again with new eyes */
	ERR_CONTRADICTED,
};

struct err {
	enum err_kind kind;
	int sys; /* errno for ERR_SYS and wherever known, else 0 */
	char msg[ERR_MSG_BYTES];
};

/* Set *err; always returns -1, so that `return err_set(...)` is the whole error path. With sys != 0
 * ": <strerror>" is appended. A message that does not fit is cut, never overrun. */
int err_set(struct err *err, enum err_kind kind, int sys, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/* Put "<context>: " in front of the message. Returns -1. */
int err_wrap(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The caller's error is this one, as it is. Returns -1. */
int err_pass(struct err *err, const struct err *why);

#ifdef __clang_analyzer__
/* What the analyzer cannot see: after `return err_set(...)` no caller continues as if it had
 * succeeded. */
#define err_set(...)  ((err_set)(__VA_ARGS__), -1)
#define err_wrap(...) ((err_wrap)(__VA_ARGS__), -1)
#define err_pass(...) ((err_pass)(__VA_ARGS__), -1)
#endif

/* ERR_ABSENT for ENOENT/ENOTDIR, ERR_DENIED for EACCES/EPERM, ERR_RETRY for EIO/ESTALE/ETIMEDOUT
 * and the like, else ERR_SYS. */
enum err_kind err_kind_of_errno(int sys);

/* A short stable word for logs and JSON: "absent", "denied", ... */
const char *err_kind_name(enum err_kind kind);

#endif
