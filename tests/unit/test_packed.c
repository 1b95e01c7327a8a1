/* packed: what comes out is what went in. */
#include "base/packed.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

static const char *const texts[] = {
	"",
	"/",
	"a",
	"/a",
	"a/",
	"s3://bucket/ck/0123/shared/1837b946-1ecb-4012-b47d-c7c170583d29",
	"1837b946-1ecb-4012-b47d-c7c170583d29",
	"shared/1837b946-1ecb-4012-b47d-c7c170583d2",
	"shared/1837b946-1ecb-4012-b47d-c7c170583d290",
	"shared/1837B946-1ECB-4012-B47D-C7C170583D29",
	"shared/1837b946-1ecb-4012-b47d-c7c170583d2g",
	"shared/1837b946-1ecb-4012-b47dec7c170583d29",
	"shared/1837b94601ecb-4012-b47d-c7c170583d29",
	"shared/-837b946-1ecb-4012-b47d-c7c170583d29",
	"shared/00000000-0000-0000-0000-000000000000",
	"shared/ffffffff-ffff-ffff-ffff-ffffffffffff",
	"shared/ffffffff-ffff-ffff-ffff-fffffffffffe",
	"shared/\x01",
	"shared/\x02\xff",
	"chk-7/_metadata",
};

TEST(what_comes_out_is_what_went_in)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct packed packed = {0};
	uint32_t numbers[ARRAY_LEN(texts)];

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		numbers[i] = packed_add(&packed, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		CHECK_STR(packed_get(&packed, numbers[i], &text), texts[i]);
	packed_release(&packed);
}

TEST(a_directory_and_the_hash_of_a_name_are_those_of_the_text)
{
	struct packed packed = {0};
	uint32_t numbers[ARRAY_LEN(texts)];

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		numbers[i] = packed_add(&packed, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *slash = strrchr(texts[i], '/');
		cleanup_free char *dir =
			xstrndup(texts[i], slash ? (size_t)(slash + 1 - texts[i]) : 0);

		CHECK_STR(packed_dir(&packed, numbers[i]), dir);
		CHECK(packed_hash_of(&packed, numbers[i]) ==
		      packed_hash_name(slash ? slash + 1 : texts[i]));
		CHECK(packed_hash_name(texts[i]) != packed_hash_name("another"));
	}
	packed_release(&packed);
}

TEST(only_the_same_text_compares_as_the_same)
{
	struct packed packed = {0};
	uint32_t numbers[ARRAY_LEN(texts)];
	int wrong = 0;

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		numbers[i] = packed_add(&packed, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		CHECK_INT(packed_compare(&packed, numbers[i], packed_add(&packed, texts[i])), ==,
			  0);
		for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
			int there = packed_compare(&packed, numbers[i], numbers[k]);
			int back = packed_compare(&packed, numbers[k], numbers[i]);

			wrong += (i == k) != (there == 0) || (there < 0) != (back > 0);
		}
	}
	CHECK_INT(wrong, ==, 0);
	packed_release(&packed);
}

TEST(a_name_is_found_in_its_directory)
{
	struct packed packed = {0};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *slash = strrchr(texts[i], '/');
		uint32_t number = packed_add(&packed, texts[i]);

		for (size_t k = 0; k < ARRAY_LEN(texts); k++) {
			const char *other = strrchr(texts[k], '/');
			struct packed_name name;
			bool same =
				!strcmp(slash ? slash + 1 : texts[i], other ? other + 1 : texts[k]);

			packed_name_of(other ? other + 1 : texts[k], &name);
			if ((packed_compare_name(&packed, &name, number) == 0) != same)
				CHECK_STR(texts[k], texts[i]);
		}
	}
	CHECK(packed_same_dir(&packed, packed_add(&packed, "x/a"), packed_add(&packed, "x/b")));
	CHECK(!packed_same_dir(&packed, packed_add(&packed, "x/a"), packed_add(&packed, "xx/a")));
	CHECK(!packed_same_dir(&packed, packed_add(&packed, "x/a"), packed_add(&packed, "x/y/a")));
	packed_release(&packed);
}

TEST(a_directory_in_a_directory_is_another_one)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct packed packed = {0};
	char path[401] = "";
	uint32_t numbers[200];

	for (int i = 0; i < 200; i++)
		memcpy(path + 2 * i, "d/", 3);
	for (int i = 199; i >= 0; i--) { /* each has those before it as its beginning */
		path[2 * i] = '\0';
		numbers[i] = packed_add(&packed, path);
	}
	CHECK_INT(packed.dir_count, ==, 200);
	for (size_t i = 0; i < 200; i++)
		if (strlen(packed_get(&packed, numbers[i], &text)) != 2 * i)
			CHECK_INT(strlen(buf_str(&text)), ==, 2 * i);
	packed_release(&packed);
}

static const struct packed *sorted;

static int by_text(const void *a, const void *b)
{
	return packed_compare(sorted, *(const uint32_t *)a, *(const uint32_t *)b);
}

/* A directory for every third, so that all tables grow. */
TEST(a_hundred_thousand_keep_their_order)
{
	enum { COUNT = 100000 };
	cleanup_free uint32_t *numbers = xcalloc(COUNT, sizeof(*numbers));
	cleanup_buf struct buf text = BUF_INIT, before = BUF_INIT;
	struct packed packed = {0};
	int wrong = 0;

	for (unsigned int i = 0; i < COUNT; i++) {
		char path[80];

		snprintf(path, sizeof(path), "s3://b/%x/%08x-1111-2222-3333-%012x", i / 3,
			 i * 2654435761u, i);
		numbers[i] = packed_add(&packed, path);
	}
	for (unsigned int i = 0; i < COUNT; i++) {
		char path[80];

		snprintf(path, sizeof(path), "s3://b/%x/%08x-1111-2222-3333-%012x", i / 3,
			 i * 2654435761u, i);
		wrong += strcmp(packed_get(&packed, numbers[i], &text), path) != 0;
	}
	CHECK_INT(wrong, ==, 0);
	sorted = &packed;
	qsort(numbers, COUNT, sizeof(*numbers), by_text);
	for (size_t i = 1; i < COUNT; i++)
		wrong += strcmp(packed_get(&packed, numbers[i - 1], &before),
				packed_get(&packed, numbers[i], &text)) >= 0;
	CHECK_INT(wrong, ==, 0);
	CHECK_INT(packed.dir_count, ==, COUNT / 3 + 1);
	packed_release(&packed);
}

TEST(a_uuid_takes_eighteen_bytes)
{
	struct packed packed = {0};

	packed_add(&packed, "s3://bucket/ck/0123/shared/1837b946-1ecb-4012-b47d-c7c170583d29");
	packed_add(&packed, "s3://bucket/ck/0123/shared/2837b946-1ecb-4012-b47d-c7c170583d29");
	CHECK_INT(packed.names.len_bytes, ==, 36);
	CHECK_INT(packed.dir_count, ==, 1);
	packed_release(&packed);
}
