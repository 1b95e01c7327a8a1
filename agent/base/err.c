#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/words.h"

#undef err_set /* err.h has macros for the analyzer */
#undef err_wrap
#undef err_pass

int err_set(struct err *err, enum err_kind kind, int sys, const char *fmt, ...)
{
	va_list ap;
	int len;

	if (!err)
		return -1;
	err->kind = kind;
	err->sys = sys;
	va_start(ap, fmt);
	len = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (sys && len >= 0 && (size_t)len < sizeof(err->msg)) {
		int before = errno;

		/* %m is safe with threads everywhere; strerror_r() is another function in each C library */
		errno = sys;
		snprintf(err->msg + len, sizeof(err->msg) - (size_t)len, ": %m");
		errno = before;
	}
	return -1;
}

int err_wrap(struct err *err, const char *fmt, ...)
{
	char inner[ERR_MSG_BYTES];
	va_list ap;
	int len;

	if (!err)
		return -1;
	memcpy(inner, err->msg, sizeof(inner));
	va_start(ap, fmt);
	len = vsnprintf(err->msg, sizeof(err->msg), fmt, ap);
	va_end(ap);
	if (len >= 0 && (size_t)len < sizeof(err->msg)) {
		size_t room = sizeof(err->msg) - (size_t)len;

		/* truncation is fine, and using the result tells the compiler so */
		if (snprintf(err->msg + len, room, ": %s", inner) < 0)
			err->msg[len] = '\0';
	}
	return -1;
}

int err_pass(struct err *err, const struct err *why)
{
	if (err)
		*err = *why;
	return -1;
}

enum err_kind err_kind_of_errno(int sys)
{
	switch (sys) {
	case ENOENT:
	case ENOTDIR:
		return ERR_ABSENT;
	case EACCES:
	case EPERM:
		return ERR_DENIED;
	case EIO:
	case ESTALE:
	case ETIMEDOUT:
	case EAGAIN:
	case EINTR:
	case ECONNREFUSED:
	case ECONNRESET:
	case EHOSTUNREACH:
	case ENETUNREACH:
		return ERR_RETRY;
	case EBUSY:
	case EADDRINUSE:
		return ERR_BUSY;
	default:
		return ERR_SYS;
	}
}

WORDS(err_kind_name, enum err_kind, "unknown", "none", "system", "absent", "denied", "retry",
      "format", "config", "busy", "contradicted");
