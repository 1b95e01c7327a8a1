#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/zone.h"
#include "tests/unit/tap.h"

TEST(a_zone_that_is_not_there_is_refused)
{
	struct err err = {0};

	CHECK_INT(zone_use("Europe/Nowhere", &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "time zone 'Europe/Nowhere' not found here");
	CHECK_HAS(err.msg, "tzdata");
	CHECK_INT(zone_use("../../etc/passwd", &err), ==, -1);
	CHECK_HAS(err.msg, "is not the name of a time zone");
	CHECK_INT(zone_use("/etc/localtime", &err), ==, -1);
}

/* The C library takes whatever it cannot read for UTC, and says nothing. */
TEST(what_is_no_zone_is_refused_and_not_taken_for_UTC)
{
	static const char *const wrong[] = {"", ".", "Europe", "Broken", "Europe/"};
	char dir[] = "/tmp/drey-zone.XXXXXX", folder[64], file[64];
	struct err err = {0};

	CHECK(mkdtemp(dir) != NULL);
	snprintf(folder, sizeof(folder), "%s/Europe", dir);
	snprintf(file, sizeof(file), "%s/Broken", dir);
	CHECK_INT(mkdir(folder, 0700), ==, 0);
	CHECK_INT(fs_write_atomic(file, "PATH", 4, 0600, NULL), ==, 0);
	setenv("TZDIR", dir, 1);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		CHECK_INT(zone_use(wrong[i], &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, wrong[i]);
	}
	unsetenv("TZDIR");
	unlink(file);
	rmdir(folder);
	rmdir(dir);
}

TEST(the_offset_is_that_of_the_moment)
{
	struct err err = {0};

	CHECK_INT(zone_use("UTC", &err), ==, 0);
	CHECK_INT(zone_offset_s(NULL, 1780272000), ==, 0);
	if (access("/usr/share/zoneinfo/Europe/Berlin", R_OK) < 0) {
		tap_note("no tzdata here");
		return;
	}
	CHECK_INT(zone_use("Europe/Berlin", &err), ==, 0);
	CHECK_INT(zone_offset_s(NULL, 1767225600), ==, 3600); /* 2026-01-01 */
	CHECK_INT(zone_offset_s(NULL, 1780272000), ==, 7200); /* 2026-06-01 */
}

TEST(without_a_name_it_is_what_TZ_says)
{
	setenv("TZ", "XYZ-5", 1);
	CHECK_INT(zone_use(NULL, NULL), ==, 0);
	CHECK_INT(zone_offset_s(NULL, 1780272000), ==, 5 * 3600);
}
