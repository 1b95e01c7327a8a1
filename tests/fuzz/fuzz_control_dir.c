/*
 * Any bytes as the files of the control directory: the values of `desired_keys` in their order, a
 * byte 0x1e between two; an empty one is an empty file, what is not there is no file. Each reading
 * is refused in words that begin with the key, or taken; a refused one does nothing but set
 * do-not-restart; what was seen is no change any more, also when it was saved and loaded.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "must.h"
#include "run/inputs/control_dir.h"
#include "run/inputs/control_seen.h"

#define SEPARATOR 0x1e

struct place {
	char *directory;
};

static struct place *made(void)
{
	static struct place place;

	return &place;
}

static void clear(void)
{
	for (int i = 0; i < DESIRED_KEYS; i++) {
		cleanup_free char *path = xasprintf("%s/%s", made()->directory, desired_keys[i]);

		unlink(path);
	}
	rmdir(made()->directory);
	free(made()->directory);
}

/* Once a process, in memory; the files of one input replace those of the one before. */
static const struct place *place(void)
{
	struct place *place = made();

	if (place->directory)
		return place;
	place->directory = xasprintf("%s/drey-fuzz-control.XXXXXX",
				     access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	must(mkdtemp(place->directory) != NULL && atexit(clear) == 0);
	return place;
}

static void put(const char *directory, const char *name, const uint8_t *data, size_t size_bytes)
{
	cleanup_free char *path = xasprintf("%s/%s", directory, name);
	cleanup_close int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	must(fd >= 0 && write(fd, data, size_bytes) == (ssize_t)size_bytes);
}

static void put_all(const char *directory, const uint8_t *data, size_t size_bytes)
{
	const uint8_t *end = size_bytes ? data + size_bytes : NULL;

	for (int i = 0; i < DESIRED_KEYS; i++) {
		const uint8_t *stop = data ? memchr(data, SEPARATOR, (size_t)(end - data)) : NULL;
		cleanup_free char *path = xasprintf("%s/%s", directory, desired_keys[i]);

		if (data)
			put(directory, desired_keys[i], data, (size_t)((stop ? stop : end) - data));
		else
			unlink(path);
		data = stop ? stop + 1 : NULL;
	}
}

static void check_message(const struct err *bad)
{
	bool named = false;

	for (int i = 0; i < DESIRED_KEYS; i++)
		named = named || !strncmp(bad->msg, desired_keys[i], strlen(desired_keys[i]));
	must(named);
}

/* A do-not-restart cannot be lost by what else is wrong. */
static void check_event(const struct desired *desired, const struct event *event)
{
	must(event->type == EVENT_CONTROL && event->control.fields);
	if (!desired->bad.kind)
		return;
	must(event->control.fields == CONTROL_DO_NOT_RESTART);
	must(event->control.intent.do_not_restart);
}

static void check_saved(const struct desired_seen *seen)
{
	cleanup_buf struct buf text = BUF_INIT, again = BUF_INIT;
	struct desired_seen loaded = {0};

	control_seen_encode(seen, &text);
	must(control_seen_decode(buf_str(&text), text.len_bytes, &loaded, NULL) == 0);
	control_seen_encode(&loaded, &again);
	must(!strcmp(buf_str(&text), buf_str(&again)));
	desired_seen_release(&loaded);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	static const struct lifecycle_config config;
	static const struct lifecycle life = {.config = &config};
	struct desired_seen seen = {.known = size_bytes & 1};
	struct desired desired;
	struct event event;
	struct desired_refusal refused;

	put_all(place()->directory, size_bytes ? data : NULL, size_bytes);
	must(control_dir_read(place()->directory, &desired, NULL) == 0);
	if (desired.bad.kind)
		check_message(&desired.bad);
	else
		must(!desired.restore.token == (desired.restore.kind == RESTORE_NONE));
	if (desired_compare(&desired, &seen, &life, true, &event, &refused))
		check_event(&desired, &event);
	desired_seen_update(&seen, &desired);
	must(!desired_compare(&desired, &seen, &life, false, &event, &refused));
	must(!desired_seen_update(&seen, &desired));
	check_saved(&seen);
	desired_seen_release(&seen);
	desired_release(&desired);
	return 0;
}
