/*
 * broken_disk - a disk that fails, for a program that is started with this library: as long as the file $BROKEN_DISK is there, whatever
 * opens, lists, looks at or changes something below a directory of $BROKEN_DISK_UNDER ("DIR:DIR") gets EIO. What is open already goes on.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* With errno set. */
static int fails(const char *path)
{
	const char *flag = getenv("BROKEN_DISK"), *dir = getenv("BROKEN_DISK_UNDER");
	int before = errno;

	while (path && flag && dir && *dir) {
		size_t length = strcspn(dir, ":");

		if (length && !strncmp(path, dir, length) &&
		    (path[length] == '/' || !path[length]) && !access(flag, F_OK)) {
			errno = EIO;
			return 1;
		}
		dir += length + (dir[length] == ':');
	}
	errno = before;
	return 0;
}

#define REAL(name, type) ((type)dlsym(RTLD_NEXT, #name))

/* Functions that have an argument `path`. */
#define BROKEN(result, failure, name, parameters, types, arguments)                                \
	result name parameters                                                                     \
	{                                                                                          \
		return fails(path) ? failure : REAL(name, result(*) types) arguments;              \
	}

/* The mode may not be there: then it has no meaning. */
#define BROKEN_OPEN(name, parameters, types, arguments)                                            \
	int name parameters                                                                        \
	{                                                                                          \
		va_list more;                                                                      \
		mode_t mode;                                                                       \
                                                                                                   \
		va_start(more, flags);                                                             \
		mode = va_arg(more, mode_t);                                                       \
		va_end(more);                                                                      \
		if (fails(path))                                                                   \
			return -1;                                                                 \
		return REAL(name, int(*) types) arguments;                                         \
	}

BROKEN_OPEN(open, (const char *path, int flags, ...), (const char *, int, ...), (path, flags, mode))
BROKEN_OPEN(open64, (const char *path, int flags, ...), (const char *, int, ...),
	    (path, flags, mode))
BROKEN_OPEN(openat, (int dir, const char *path, int flags, ...), (int, const char *, int, ...),
	    (dir, path, flags, mode))
BROKEN_OPEN(openat64, (int dir, const char *path, int flags, ...), (int, const char *, int, ...),
	    (dir, path, flags, mode))
BROKEN(DIR *, NULL, opendir, (const char *path), (const char *), (path))
BROKEN(FILE *, NULL, fopen, (const char *path, const char *how), (const char *, const char *),
       (path, how))
BROKEN(FILE *, NULL, fopen64, (const char *path, const char *how), (const char *, const char *),
       (path, how))
BROKEN(int, -1, mkdir, (const char *path, mode_t mode), (const char *, mode_t), (path, mode))
BROKEN(int, -1, rmdir, (const char *path), (const char *), (path))
BROKEN(int, -1, unlink, (const char *path), (const char *), (path))
BROKEN(int, -1, rename, (const char *path, const char *to), (const char *, const char *),
       (path, to))
BROKEN(int, -1, stat, (const char *path, struct stat *to), (const char *, struct stat *),
       (path, to))
BROKEN(int, -1, stat64, (const char *path, struct stat64 *to), (const char *, struct stat64 *),
       (path, to))
BROKEN(int, -1, lstat, (const char *path, struct stat *to), (const char *, struct stat *),
       (path, to))
BROKEN(int, -1, lstat64, (const char *path, struct stat64 *to), (const char *, struct stat64 *),
       (path, to))
BROKEN(int, -1, fstatat, (int dir, const char *path, struct stat *to, int flags),
       (int, const char *, struct stat *, int), (dir, path, to, flags))
BROKEN(int, -1, fstatat64, (int dir, const char *path, struct stat64 *to, int flags),
       (int, const char *, struct stat64 *, int), (dir, path, to, flags))
BROKEN(int, -1, statx, (int dir, const char *path, int flags, unsigned mask, struct statx *to),
       (int, const char *, int, unsigned, struct statx *), (dir, path, flags, mask, to))
