#include "store/store_file_object.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "store/store_file_dir.h"

static void tag(const struct buf *body, char ret_etag[STORE_ETAG_BYTES])
{
	char hex[SHA256_HEX_BYTES];

	sha256_hex(body->data ? body->data : "", body->len_bytes, hex);
	snprintf(ret_etag, STORE_ETAG_BYTES, "\"%s\"", hex);
}

int store_file_object_read(struct store *store, const struct uri *uri, int64_t timeout_ms,
			   struct store_object *ret, struct err *err)
{
	struct buf body = BUF_INIT;

	(void)store;
	(void)timeout_ms;
	if (fs_read(uri->path, STORE_OBJECT_MAX_BYTES, &body, err) < 0) {
		buf_release(&body);
		return -1;
	}
	tag(&body, ret->etag);
	ret->body = body;
	return 0;
}

/* Is what is there now what `etag` names; "": is there nothing? */
static int check_unchanged(const struct uri *uri, const char *etag, struct err *err)
{
	struct store_object now = {.body = BUF_INIT};
	struct err why = {0};
	bool same;

	if (store_file_object_read(NULL, uri, 0, &now, &why) < 0) {
		same = why.kind == ERR_ABSENT && !*etag;
		/* what cannot be read is replaced only where its content does not matter */
		if (why.kind != ERR_ABSENT)
			return err_pass(err, &why);
	} else {
		same = !strcmp(now.etag, etag);
	}
	buf_release(&now.body);
	return same ? 0 : err_set(err, ERR_BUSY, 0, "%s: it is not as required", uri->path);
}

static int make_directories(const char *path, size_t kept, struct err *err)
{
	const char *last = strrchr(path, '/');
	cleanup_free char *dir = xstrndup(path, last ? (size_t)(last - path) : 0);
	cleanup_free char *base = xstrndup(path, kept);
	struct stat st;

	if (*base && stat(base, &st) < 0) {
		if (errno == ENOENT)
			return err_set(
				err, ERR_RETRY, 0,
				"%s does not exist; create it, or mount the volume that holds it",
				base);
		return store_file_fail(err, "stat", base);
	}
	return fs_mkdirs(dir, 0755, err);
}

int store_file_object_put(struct store *store, const struct uri *uri, size_t kept,
			  const struct store_object *object, int64_t timeout_ms,
			  char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	(void)store;
	(void)timeout_ms;
	if (make_directories(uri->path, kept, err) < 0 ||
	    check_unchanged(uri, object->etag, err) < 0 ||
	    fs_write_atomic(uri->path, object->body.data, object->body.len_bytes, 0644, err) < 0)
		return -1;
	tag(&object->body, ret_etag);
	return 0;
}
