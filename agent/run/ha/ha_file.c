#include "run/ha/ha_file.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

static int cannot(struct err *err, const char *what, const char *path)
{
	int sys = errno;

	return err_set(err, err_kind_of_errno(sys), sys, "%s %s", what, path);
}

/* The last name, without slashes behind it. Caller frees. */
static char *name_of(const char *path)
{
	size_t end = strlen(path), start;

	while (end > 1 && path[end - 1] == '/')
		end--;
	for (start = end; start > 0 && path[start - 1] != '/'; start--)
		;
	return xstrndup(path + start, end - start);
}

static int read_key(struct ha_map *map, const char *dir, const char *key, struct err *err)
{
	cleanup_free char *path = xasprintf("%s/%s", dir, key);
	cleanup_buf struct buf text = BUF_INIT;
	struct stat st;

	if (stat(path, &st) < 0)
		return cannot(err, "stat", path);
	if (!S_ISREG(st.st_mode))
		return 0;
	if (fs_read(path, HA_FILE_KEY_MAX_BYTES, &text, err) < 0)
		return -1;
	/* A line end that a copy by hand has added does no harm. */
	while (text.len_bytes && text.data[text.len_bytes - 1] == '\n')
		text.len_bytes--;
	ha_map_put(map, key, buf_str(&text), text.len_bytes);
	return 0;
}

static int read_directory(const char *path, struct ha_maps *maps, struct err *err)
{
	cleanup_free char *name = name_of(path);
	DIR *dir = opendir(path);
	const struct dirent *item;
	struct ha_map *map;
	int keys = 0, rc = 0;

	if (!dir)
		return cannot(err, "open", path);
	map = ha_maps_add(maps, name);
	if (map->kind == HA_MAP_OTHER) { /* mounted under a name that a person chose */
		free(map->name);
		map->name = NULL;
	}
	while (!rc) {
		errno = 0;
		item = readdir(dir);
		if (!item) {
			rc = errno ? cannot(err, "list", path) : 0;
			break;
		}
		if (item->d_name[0] == '.') /* "..data" and its like belong to the mount */
			continue;
		if (++keys > HA_FILE_MAX_KEYS)
			rc = err_set(err, ERR_FORMAT, 0,
				     "%s: more than %d files are not ConfigMaps", path,
				     HA_FILE_MAX_KEYS);
		else
			rc = read_key(map, path, item->d_name, err);
	}
	closedir(dir);
	return rc;
}

static int read_file(const char *path, struct ha_maps *maps, struct err *err)
{
	bool input = !strcmp(path, "-");
	cleanup_buf struct buf text = BUF_INIT;
	int rc = input ? fs_read_fd(STDIN_FILENO, "standard input", HA_MAPS_MAX_BYTES, &text, err)
		       : fs_read(path, HA_MAPS_MAX_BYTES, &text, err);

	if (rc < 0)
		return -1;
	if (ha_maps_parse(maps, buf_str(&text), text.len_bytes, err) < 0)
		return err_wrap(err, "%s", input ? "standard input" : path);
	return 0;
}

int ha_file_load(const char *path, struct ha_maps *maps, struct err *err)
{
	cleanup_ha_maps struct ha_maps found = {0};
	struct stat st;
	int rc;

	if (strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		rc = read_directory(path, &found, err);
	else
		rc = read_file(path, &found, err);
	if (!rc)
		ha_maps_join(maps, &found);
	return rc;
}
