#include <dirent.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/report/cause.h"
#include "core/report/runbook.h"
#include "tap.h"

#define CAUSE_PAGES    "docs/runbook/"
#define CAUSE_PAGE_END ".md"

/* The tests run from the top of the tree. */

static void read_page(const char *name, struct buf *ret)
{
	char path[256], chunk[4096];
	FILE *file;
	size_t got;

	snprintf(path, sizeof(path), CAUSE_PAGES "%s", name);
	file = fopen(path, "r");
	if (!CHECK(file != NULL)) {
		tap_note("%s is not there", path);
		return;
	}
	while ((got = fread(chunk, 1, sizeof(chunk), file)))
		buf_add(ret, chunk, got);
	fclose(file);
}

TEST(every_cause_has_a_word_of_its_own)
{
	CHECK(cause_name(CAUSE_NONE) == NULL);
	CHECK(cause_name(CAUSE_COUNT) == NULL);
	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		const char *name = cause_name((enum cause)i);

		CHECK(name != NULL);
		if (!name)
			continue;
		/* as Kubernetes wants the reason of a condition */
		CHECK_INT(strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"), ==,
			  strlen(name));
		for (int k = i + 1; k < CAUSE_COUNT; k++)
			CHECK(!xstrsame(name, cause_name((enum cause)k)));
	}
}

/* What somebody who was woken up by it has to find there. */
TEST(every_cause_has_its_page_with_all_its_parts)
{
	static const char *const parts[] = {
		"\n## What you see\n", "\n## What it means\n",  "\n## Which case it is\n",
		"\n## The ways out\n", "\n## What not to do\n",
	};

	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		struct buf page = BUF_INIT;
		char name[64], title[64];

		snprintf(name, sizeof(name), "%s" CAUSE_PAGE_END, cause_name((enum cause)i));
		snprintf(title, sizeof(title), "# %s\n", cause_name((enum cause)i));
		read_page(name, &page);
		if (!CHECK(strncmp(buf_str(&page), title, strlen(title)) == 0))
			tap_note("%s does not begin with its own name", name);
		for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++)
			if (!CHECK(strstr(buf_str(&page), parts[k]) != NULL))
				tap_note("%s lacks: %s", name, parts[k] + 1);
		buf_release(&page);
	}
}

TEST(every_page_is_in_the_binary_as_it_is)
{
	int count = 0;

	for (const struct embedded *page = runbook_pages; page->name; page++)
		count++;
	CHECK_INT(count, ==, CAUSE_COUNT - 1);
	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		const struct embedded *found = runbook_find(cause_name((enum cause)i));
		cleanup_buf struct buf page = BUF_INIT;
		char name[64];

		snprintf(name, sizeof(name), "%s" CAUSE_PAGE_END, cause_name((enum cause)i));
		read_page(name, &page);
		if (!CHECK(found && !strcmp(found->text, buf_str(&page))))
			tap_note("%s is not in the binary as it is in docs/runbook", name);
	}
	CHECK(runbook_find("donotrestart") == runbook_find("DoNotRestart"));
	CHECK(!runbook_find("Nothing"));
}

TEST(the_index_names_every_page)
{
	struct buf index = BUF_INIT;

	read_page("README.md", &index);
	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		const char *name = cause_name((enum cause)i);
		char row[160];

		snprintf(row, sizeof(row), "\n| [`%s`](%s" CAUSE_PAGE_END ") |", name, name);
		if (!CHECK(strstr(buf_str(&index), row) != NULL))
			tap_note("the index has no row for %s", name);
	}
	buf_release(&index);
}

static bool is_known(const char *file)
{
	char name[64];

	if (!strcmp(file, "README.md"))
		return true;
	for (int i = CAUSE_NONE + 1; i < CAUSE_COUNT; i++) {
		snprintf(name, sizeof(name), "%s" CAUSE_PAGE_END, cause_name((enum cause)i));
		if (!strcmp(file, name))
			return true;
	}
	return false;
}

TEST(no_page_is_left_over)
{
	DIR *dir = opendir(CAUSE_PAGES);
	struct dirent *entry;

	CHECK(dir != NULL);
	if (!dir)
		return;
	while ((entry = readdir(dir)))
		if (*entry->d_name != '.' && !CHECK(is_known(entry->d_name)))
			tap_note(CAUSE_PAGES "%s is of no cause", entry->d_name);
	closedir(dir);
}
