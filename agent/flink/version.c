#include "flink/version.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

/* Read a number of at most four digits; false when there is none. */
static bool read_number(const char **text, int *ret_number)
{
	char *end;
	long number;

	if (!isdigit((unsigned char)**text))
		return false;
	number = strtol(*text, &end, 10);
	if (end - *text > 4)
		return false;
	*ret_number = (int)number;
	*text = end;
	return true;
}

int flink_version_parse(const char *text, struct flink_version *ret_version, struct err *err)
{
	struct flink_version version = {0};
	const char *at = text;

	if (!read_number(&at, &version.major) || *at++ != '.' || !read_number(&at, &version.minor))
		goto bad;
	if (*at == '.') {
		at++;
		if (!read_number(&at, &version.patch))
			goto bad;
	}
	if (*at != '\0' && (*at != '-' || at[1] == '\0'))
		goto bad;
	if (version.major == 0)
		goto bad;
	*ret_version = version;
	return 0;
bad:
	return err_set(err, ERR_FORMAT, 0, "'%.40s' is not a Flink version such as 2.3.0", text);
}

bool flink_version_known(struct flink_version version)
{
	return version.major > 0;
}

int flink_version_compare(struct flink_version a, struct flink_version b)
{
	if (a.major != b.major)
		return a.major < b.major ? -1 : 1;
	if (a.minor != b.minor)
		return a.minor < b.minor ? -1 : 1;
	return (a.patch > b.patch) - (a.patch < b.patch);
}

bool flink_version_at_least(struct flink_version version, int major, int minor)
{
	struct flink_version least = {major, minor, 0};

	return flink_version_known(version) && flink_version_compare(version, least) >= 0;
}

const char *flink_version_print(struct flink_version version, char text[FLINK_VERSION_TEXT_BYTES])
{
	if (!flink_version_known(version))
		snprintf(text, FLINK_VERSION_TEXT_BYTES, "unknown");
	else
		snprintf(text, FLINK_VERSION_TEXT_BYTES, "%d.%d.%d", version.major, version.minor,
			 version.patch);
	return text;
}

/* ---- features ---- */

bool flink_version_is_of_known_line(struct flink_version version)
{
	if (!flink_version_known(version))
		return true;
	if (version.major == 1)
		return version.minor == 19 || version.minor == 20;
	return version.major == 2 && version.minor <= 4;
}

int flink_version_metadata_max(struct flink_version version)
{
	if (!flink_version_known(version))
		return 0;
	if (flink_version_at_least(version, 2, 4))
		return 7;
	if (flink_version_at_least(version, 2, 1))
		return 6;
	if (flink_version_at_least(version, 2, 0))
		return 5;
	return flink_version_at_least(version, 1, 16) ? 4 : 3;
}

bool flink_version_has_jars_option(struct flink_version version)
{
	return !flink_version_known(version) || flink_version_at_least(version, 1, 19);
}

bool flink_version_has_applications(struct flink_version version)
{
	return !flink_version_known(version) || flink_version_at_least(version, 2, 3);
}

bool flink_version_native_loses_claimed(struct flink_version version)
{
	return !flink_version_at_least(version, 2, 4);
}

bool flink_version_has_legacy_claim(struct flink_version version)
{
	return !flink_version_at_least(version, 2, 0);
}

bool flink_version_new_dir_keys(struct flink_version version)
{
	return !flink_version_known(version) || flink_version_at_least(version, 1, 20);
}

bool flink_version_old_dir_keys(struct flink_version version)
{
	return !flink_version_at_least(version, 1, 20);
}

bool flink_version_has_host_option(struct flink_version version)
{
	return flink_version_known(version) && version.major < 2;
}
