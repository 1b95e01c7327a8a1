/*
 * fs - files read whole, written so that a crash leaves the old or the new content, and locks.
 *
 * Errors contain the path and have the kind of err_kind_of_errno(): only ERR_ABSENT means that
 * something does not exist.
 */
#ifndef DREY_BASE_FS_H
#define DREY_BASE_FS_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

/* Append the content of a regular file (or a FIFO, or /dev/stdin). Larger than max_bytes:
 * ERR_FORMAT; on failure `buf` is as it was. */
int fs_read(const char *path, size_t max_bytes, struct buf *buf, struct err *err);
int fs_read_fd(int fd, const char *name, size_t max_bytes, struct buf *buf, struct err *err);

/*
 * Replace or create a file: temporary file next to it, fsync, rename, fsync of the directory. If it
 * returns 0, the content survives a power cut. On failure the old content remains (after a failed
 * fsync of the directory, either does).
 */
int fs_write_atomic(const char *path, const void *bytes, size_t len_bytes, mode_t mode,
		    struct err *err);

/* mkdir -p; an existing directory is fine. */
int fs_mkdirs(const char *path, mode_t mode, struct err *err);

/*
 * Take the lock file (created with our pid in it, mode 0600; never deleted). Owned until *ret_fd is closed or
 * the process dies; not inherited by exec. Owned by another process: ERR_BUSY, the message has its
 * pid.
 */
int fs_lock(const char *path, int *ret_fd, struct err *err);

/* Write everything, even after EINTR and short writes. */
int fs_write_all(int fd, const void *bytes, size_t len_bytes, struct err *err);

/* Random bytes from the kernel. */
int fs_random(void *ret_bytes, size_t len_bytes, struct err *err);

/* Lower-case hex with a NUL: text has 2 * len_bytes + 1 bytes. */
void fs_hex(const void *bytes, size_t len_bytes, char *text);

/* The directory of `program`, NULL: of this one. NULL = not known; the caller frees it. */
char *fs_program_dir(const char *program);

#endif
