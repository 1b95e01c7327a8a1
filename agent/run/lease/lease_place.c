#include "run/lease/lease_place.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"

#define BOOT_ID "/proc/sys/kernel/random/boot_id"

void lease_place(const char *directory, const char *pod, char ret_place[LEASE_PLACE_BYTES])
{
	cleanup_buf struct buf boot = BUF_INIT;
	struct stat there;
	int len;

	ret_place[0] = '\0';
	if (fs_read(BOOT_ID, 64, &boot, NULL) < 0 || stat(directory, &there) < 0)
		return;
	len = snprintf(ret_place, LEASE_PLACE_BYTES, "%.*s/%s/%" PRIu64 ":%" PRIu64,
		       (int)strcspn(buf_str(&boot), "\n"), buf_str(&boot), pod ? pod : "",
		       (uint64_t)there.st_dev, (uint64_t)there.st_ino);
	if (len >= LEASE_PLACE_BYTES)
		ret_place[0] = '\0';
}

bool lease_mark_load(const char *directory, const char *place, struct lease_mark *ret_mark)
{
	cleanup_free char *path = xasprintf("%s/%s", directory, LEASE_MARK_NAME);
	cleanup_buf struct buf text = BUF_INIT;

	return fs_read(path, LEASE_MARK_MAX_BYTES, &text, NULL) == 0 &&
	       lease_mark_parse(buf_str(&text), text.len_bytes, place, ret_mark, NULL) == 0;
}

int lease_mark_store(const char *directory, const char *place, const struct lease_mark *mark,
		     struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", directory, LEASE_MARK_NAME);
	cleanup_free char *fresh = xasprintf("%s.new", path);
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_close int fd = open(fresh, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "open %s", fresh);
	lease_mark_print(mark, place, &text);
	if (fs_write_all(fd, text.data, text.len_bytes, err) < 0)
		return err_wrap(err, "write %s", fresh);
	if (rename(fresh, path) < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "rename %s", fresh);
	return 0;
}
