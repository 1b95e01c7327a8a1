/*
 * journal_file - the journal in a file, for use without Kubernetes, and the lock that keeps a
 * second drey out of the same state directory.
 *
 * <dir>/journal.json holds the document; it is replaced as a whole (temporary file, fsync, rename,
 * fsync of the directory), so a crash or a power cut leaves the old or the new one.
 *
 * Life cycle: journal_file_init() -> read() once -> write() ... -> journal_file_release(). One
 * writer at a time per struct; the calls block on the disk and belong on a lane.
 */
#ifndef DREY_RUN_JOURNAL_FILE_H
#define DREY_RUN_JOURNAL_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "core/journal/journal.h"

#define JOURNAL_FILE_NAME         "journal.json"
#define JOURNAL_FILE_LOCK_WAIT_MS 2000

struct journal_file {
	char *dir;
	int64_t sequence; /* of the document as last read or written here; 0 = there was none */
};

void journal_file_init(struct journal_file *file, const char *dir); /* dir is copied */
void journal_file_release(struct journal_file *file);

/*
 * Read it. On success the caller releases *ret_journal. Failures, told apart by kind:
 *   ERR_ABSENT  there is none: file or directory proven not to exist
 *   ERR_DENIED  not for us         ERR_FORMAT  damaged
 *   ERR_CONFIG  of a newer drey    ERR_RETRY, ERR_SYS  could not be read
 */
int journal_file_read(struct journal_file *file, struct journal *ret_journal, struct err *err);

/*
 * Replace it by `text`, an encoded journal with this sequence and writer; the sequence is higher
 * than that of the last write: compare-and-swap. What is in the file must be what this struct last
 * read or wrote, something newer that bears `writer` (a write of ours whose answer was lost), or an
 * earlier state of this journal (journal_is_backup()). A file that has disappeared is written
 * again. After a failure the old document is still there (or the new one, if only the last fsync
 * failed; the same write can then be repeated):
 *   ERR_BUSY    another drey has written; the message names the writer. Stop acting.
 *   ERR_FORMAT, ERR_CONFIG  the existing content cannot be understood and is therefore not
 *                           overwritten
 *   ERR_RETRY   another process owns the write lock    others: the disk
 */
int journal_file_put(struct journal_file *file, const char *text, size_t len_bytes,
		     int64_t sequence, const char *writer, struct err *err);

/* Does it still exist? 1: proven not to, write it again; -1: unknown for now. Foreign writes are
 * detected by the next write: the lock of the state directory keeps every other drey out. */
int journal_file_check(const struct journal_file *file, struct err *err);

/*
 * Create the state directory if needed and take it for the life of this process (or until *ret_fd
 * is closed). ERR_BUSY: another drey owns it; the message names its pid and the directory.
 */
int state_lock_take(const char *dir, int *ret_fd, struct err *err);

/* May other users enter the state directory? What they can do there: replace the journal and the locks, or reach the
 * control socket, which asks for the uid. */
bool state_dir_is_open(const char *dir);

#endif
