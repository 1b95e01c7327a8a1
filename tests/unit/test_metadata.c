#include "format/metadata.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/buf.h"
#include "base/mem.h"
#include "metadata_writer.h"
#include "tap.h"

#define FIXTURES   "tests/fixtures/metadata/"
#define SAVEPOINT  "org.apache.flink.runtime.checkpoint.SavepointType"
#define CHECKPOINT "org.apache.flink.runtime.checkpoint.CheckpointType"

static void read_fixture(const char *name, struct buf *to)
{
	cleanup_free char *path = xasprintf(FIXTURES "%s", name);
	FILE *file = fopen(path, "rb");
	char part[4096];
	size_t got;

	if (!CHECK(file != NULL))
		return;
	while ((got = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(to, part, got);
	fclose(file);
}

/* One byte at a time and no length, as a slow pipe would. */
struct drip {
	const char *at, *end;
};

static int read_drip(void *ctx, void *buf, size_t len, size_t *ret_len, struct err *err)
{
	struct drip *drip = ctx;

	(void)len;
	(void)err;
	*ret_len = drip->at < drip->end;
	if (*ret_len)
		*(char *)buf = *drip->at++;
	return 0;
}

static int load(const void *bytes, size_t len, struct metadata *ret, struct err *err)
{
	struct source *src = source_new_bytes(bytes, len);
	int rc = metadata_load(src, ret, err);

	source_free(src);
	return rc;
}

static int load_drip(const char *bytes, size_t len, struct metadata *ret, struct err *err)
{
	struct drip drip = {bytes, bytes + len};
	struct source *src = source_new(read_drip, &drip, -1);
	int rc = metadata_load(src, ret, err);

	source_free(src);
	return rc;
}

static int load_buf(const struct buf *buf, struct metadata *ret, struct err *err)
{
	return load(buf->data, buf->len_bytes, ret, err);
}

static const struct metadata_kept *find(const struct metadata *metadata, const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < metadata->file_count; i++)
		if (!strcmp(metadata_file(metadata, i, &text).path, path))
			return &metadata->files[i];
	return NULL;
}

/* ---- the state of gates ---- */

static const char *gates_in(const char *fixture, bool old_jar)
{
	static const char mark[] = "drey-gate-holds";
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata metadata;
	const char *name;
	char *at;

	read_fixture(fixture, &bytes);
	/* as of drey 0.2, whose gates did not say it */
	while (old_jar && (at = memmem(bytes.data, bytes.len_bytes, mark, strlen(mark))))
		memcpy(at, "drey-gate-other", strlen(mark));
	if (!CHECK_INT(load_buf(&bytes, &metadata, NULL), ==, 0))
		return NULL;
	name = metadata_gates_name(metadata.tail.gates);
	metadata_release(&metadata);
	return name;
}

TEST(what_gates_held_back_is_in_the_file)
{
	CHECK(!gates_in("2.3.0-hashmap-chk", false));
	CHECK_STR(gates_in("2.3.0-gate-open-sp", false), "open");
	CHECK_STR(gates_in("2.3.0-gate-counting-sp", false), "open");
	CHECK_STR(gates_in("2.3.0-gate-holding-sp", false), "holding");
	CHECK_STR(gates_in("2.3.0-gate-open-sp", true), "open");
	CHECK_STR(gates_in("2.3.0-gate-counting-sp", true), "transition");
	CHECK_STR(gates_in("2.3.0-gate-holding-sp", true), "transition");
}

/* ---- files that Flink has written ---- */

struct golden {
	char name[80];
	struct metadata metadata;
	size_t refs;
	int64_t biggest[64]; /* the largest reference to each file */
};

static void end_golden(struct golden *golden)
{
	if (!golden->name[0])
		return;
	for (size_t i = 0; i < golden->metadata.file_count; i++)
		CHECK_INT(golden->metadata.files[i].size_bytes, ==, golden->biggest[i]);
	metadata_release(&golden->metadata);
	*golden = (struct golden){0};
}

static void check_meta_line(struct golden *golden, char **cell)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct err err = {0};
	const char *format;

	end_golden(golden);
	snprintf(golden->name, sizeof(golden->name), "%s", cell[1]);
	read_fixture(cell[1], &bytes);
	if (!CHECK_INT(load_buf(&bytes, &golden->metadata, &err), ==, 0))
		tap_note("%s: %s", cell[1], err.msg);
	CHECK_INT(golden->metadata.header.version, ==, atoi(cell[2]));
	CHECK_INT(golden->metadata.header.checkpoint_id, ==, atoi(cell[3]));
	CHECK_STR(metadata_flavour_name(golden->metadata.tail.flavour), cell[4]);
	format = metadata_format_name(golden->metadata.tail.format);
	CHECK_STR(format ? format : "-", cell[5]);
	CHECK_INT(golden->metadata.operator_count, ==, 3);
}

static void check_ref_line(struct golden *golden, char **cell)
{
	const struct metadata_kept *file = find(&golden->metadata, cell[3]);
	int64_t size = atoll(cell[4]);

	CHECK_STR(golden->name, cell[1]);
	if (!CHECK(file != NULL))
		return;
	golden->refs++;
	CHECK_INT(file->relative, ==, !strcmp(cell[2], "rel"));
	CHECK_INT(file->lower_bound, ==, !strcmp(cell[2], "log") || !strcmp(cell[2], "seg"));
	CHECK_INT(file->size_bytes, >=, size);
	if (file->size_bytes == size)
		golden->biggest[file - golden->metadata.files] = size;
}

TEST(reads_every_golden_file_as_its_manifest_says)
{
	FILE *file = fopen(FIXTURES "MANIFEST.tsv", "r");
	struct golden golden = {0};
	char line[1024];
	size_t lines = 0;

	if (!CHECK(file != NULL))
		return;
	while (fgets(line, sizeof(line), file)) {
		char *cell[8] = {0}, *rest = line;

		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#')
			continue;
		for (size_t i = 0; i < ARRAY_LEN(cell) && rest; i++)
			cell[i] = strsep(&rest, "\t");
		if (!strcmp(cell[0], "meta"))
			check_meta_line(&golden, cell);
		else
			check_ref_line(&golden, cell);
		lines++;
	}
	end_golden(&golden);
	fclose(file);
	CHECK_INT(lines, >, 100);
}

TEST(names_operators_of_version_6)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata metadata = {0};
	const char *joined = "";

	read_fixture("2.3.0-rocksdb-inc-chk", &bytes);
	CHECK_INT(load_buf(&bytes, &metadata, NULL), ==, 0);
	for (size_t i = 0; i < metadata.operator_count; i++) {
		const struct metadata_operator *op = &metadata.operators[i];

		CHECK_INT(strlen(op->id), ==, 32);
		CHECK_INT(op->parallelism, ==, 1);
		CHECK_INT(op->max_parallelism, ==, 128);
		if (!strcmp(op->id, "625ad02990404768d0fe54d086cab2a6"))
			joined = op->name;
	}
	CHECK(joined && strlen(joined) > 0);
	metadata_release(&metadata);
}

TEST(knows_what_is_shared)
{
	cleanup_buf struct buf bytes = BUF_INIT, path = BUF_INIT;
	struct metadata metadata = {0};
	int shared = 0, exclusive = 0;

	read_fixture("1.20.5-rocksdb-inc-chk", &bytes);
	CHECK_INT(load_buf(&bytes, &metadata, NULL), ==, 0);
	for (size_t i = 0; i < metadata.file_count; i++) {
		const struct metadata_file file = metadata_file(&metadata, i, &path);

		CHECK_INT(file.shared, ==, strstr(file.path, "/shared/") != NULL);
		shared += file.shared;
		exclusive += !file.shared;
	}
	CHECK_INT(shared, ==, 7);
	CHECK_INT(exclusive, ==, 2);
	metadata_release(&metadata);
}

/* ---- damage ---- */

static const char *const to_damage[] = {
	"1.20.5-changelog-chk",
	"1.20.5-filemerging-rocksdb-chk",
	"1.20.5-rocksdb-inc-sp-native",
	"2.3.0-unaligned-chk",
	"2.3.0-forst-chk",
	"2.3.0-hashmap-chk",
};

TEST(refuses_a_file_that_is_cut_at_any_byte)
{
	for (size_t i = 0; i < ARRAY_LEN(to_damage); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		size_t bad = 0;

		read_fixture(to_damage[i], &bytes);
		for (size_t len = 0; len < bytes.len_bytes; len++) {
			/* A copy, so that a read behind the end is seen. */
			cleanup_free char *copy = xcalloc(len + 1, 1);
			struct metadata metadata = {0};
			struct err err = {0}, drip = {0};

			memcpy(copy, bytes.data, len);
			copy = xreallocarray(copy, len ? len : 1, 1);
			bad += load(copy, len, &metadata, &err) != -1;
			bad += err.kind != ERR_FORMAT || !strstr(err.msg, "byte ");
			bad += metadata.file_count || metadata.operator_count;
			if (len % 7)
				continue;
			bad += load_drip(copy, len, &metadata, &drip) != -1;
			bad += drip.kind != ERR_FORMAT;
		}
		CHECK_INT(bad, ==, 0);
	}
}

TEST(survives_a_flipped_bit_in_any_byte)
{
	size_t refused = 0, accepted = 0;

	for (size_t i = 0; i < ARRAY_LEN(to_damage); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;

		read_fixture(to_damage[i], &bytes);
		for (size_t bit = 0; bit < 8 * bytes.len_bytes; bit += 7) {
			struct metadata metadata = {0};

			bytes.data[bit / 8] ^= (char)(1 << bit % 8);
			if (load_buf(&bytes, &metadata, NULL))
				refused++;
			else
				accepted++;
			metadata_release(&metadata);
			bytes.data[bit / 8] ^= (char)(1 << bit % 8);
		}
	}
	tap_note("%zu refused, %zu read (inline state, ids, names)", refused, accepted);
	CHECK_INT(refused, >, 1000);
}

TEST(refuses_bytes_behind_the_end)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata metadata;
	struct err err = {0};

	read_fixture("1.20.5-rocksdb-inc-chk", &bytes);
	buf_addch(&bytes, '\0');
	CHECK_INT(load_buf(&bytes, &metadata, &err), ==, -1);
	CHECK_HAS(err.msg, "byte 2018: expected the end, more follows");
}

TEST(refuses_a_newer_and_an_older_version_by_name)
{
	for (int version = 0; version < 12; version++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		struct metadata_header header;
		struct err err = {0};

		wr_head(&bytes, version, 5);
		if (version >= 2 && version <= 7) {
			CHECK_INT(metadata_peek(bytes.data, 16, &header, &err), ==, 0);
			CHECK_INT(header.version, ==, version);
			CHECK_INT(header.checkpoint_id, ==, 5);
			continue;
		}
		CHECK_INT(metadata_peek(bytes.data, 16, &header, &err), ==, -1);
		CHECK_INT(err.kind, ==, version > 7 ? ERR_CONFIG : ERR_FORMAT);
		CHECK_HAS(err.msg, version > 7 ? "written by a Flink newer than 2.4"
					       : "written by Flink 1.2 or older");
	}
}

TEST(names_what_is_no_metadata_file)
{
	struct metadata metadata;
	struct err err = {0};

	CHECK_INT(load("PK\3\4 a zip file", 15, &metadata, &err), ==, -1);
	CHECK_HAS(err.msg, "byte 0: not a Flink _metadata file");
	CHECK_INT(load("", 0, &metadata, &err), ==, -1);
	CHECK_HAS(err.msg, "found the end after 0");
}

TEST(refuses_counts_that_cannot_be)
{
	static const int32_t counts[] = {-1, INT32_MIN, 2, INT32_MAX};

	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		struct metadata metadata;
		struct err err = {0};

		wr_head(&bytes, 3, 5);
		wr_i32(&bytes, 0);
		wr_i32(&bytes, counts[i]);
		wr_operator(&bytes, 3, "", "", 1);
		wr_i32(&bytes, 0);
		CHECK_INT(load_buf(&bytes, &metadata, &err), ==, -1);
		CHECK_HAS(err.msg, "byte 20: expected the number of operators");
		CHECK_INT(load_drip(bytes.data, bytes.len_bytes, &metadata, &err), ==, -1);
	}
}

TEST(refuses_handles_nested_without_end)
{
	cleanup_buf struct buf deep = BUF_INIT, keyed = BUF_INIT, list = BUF_INIT;
	struct metadata metadata;
	struct err err = {0};

	wr_u8(&keyed, 3);
	wr_groups(&keyed);
	for (int i = 0; i < 100000; i++) {
		wr_u8(&keyed, 3);
		wr_groups(&keyed);
	}
	wr_snapshot(&deep, 6, 1, &keyed);
	CHECK_INT(load_buf(&deep, &metadata, &err), ==, -1);
	CHECK_HAS(err.msg, "nested more than 16 deep");
	buf_clear(&deep);
	for (int i = 0; i < 100000; i++) {
		wr_u8(&list, 8);
		wr_i32(&list, 0);
		wr_i32(&list, 1);
		wr_i64(&list, 1);
		wr_i32(&list, 1);
	}
	wr_snapshot(&deep, 6, 1, &list);
	CHECK_INT(load_buf(&deep, &metadata, &err), ==, -1);
	CHECK_HAS(err.msg, "nested more than 16 deep");
}

/* ---- every tag, every version ---- */

struct want {
	const char *path;
	int64_t size;
	bool relative, shared, lower_bound;
};

struct tag_case {
	const char *name;
	int first_version;
	void (*write)(struct buf *to); /* a keyed handle */
	int64_t inline_bytes;
	struct want want[4];
};

static void k0(struct buf *to)
{
	wr_u8(to, 0);
}

static void k3_s1(struct buf *to)
{
	wr_u8(to, 3);
	wr_groups(to);
	wr_bytes(to, 300);
}

static void k3_s2(struct buf *to)
{
	wr_u8(to, 3);
	wr_groups(to);
	wr_file(to, "s3://b/ck/x/chk-42/f", 77);
}

static void k3_s2_elsewhere(struct buf *to)
{
	wr_u8(to, 3);
	wr_groups(to);
	wr_file(to, "s3://b/ck/y/f", 77);
}

static void k3_s2_unknown(struct buf *to)
{
	wr_u8(to, 3);
	wr_groups(to);
	wr_file(to, "s3://b/ck/x/chk-42/f", -1);
}

static void k3_s3_s6(struct buf *to)
{
	wr_u8(to, 3);
	wr_groups(to);
	wr_u8(to, 3);
	wr_groups(to);
	wr_relative(to, "rel", 9);
}

static void k7(struct buf *to)
{
	wr_u8(to, 7);
	wr_groups(to);
	wr_relative(to, "rel", 8);
}

static void k12(struct buf *to)
{
	wr_u8(to, 12);
	wr_groups(to);
	wr_relative(to, "rel", 7);
	wr_utf(to, "handle-id");
}

static void k12_s16(struct buf *to)
{
	wr_u8(to, 12);
	wr_groups(to);
	wr_u8(to, 16);
	wr_utf(to, "handle-id");
}

static void incremental(struct buf *to, bool second)
{
	wr_u8(to, second ? 11 : 5);
	wr_i64(to, 1);
	wr_utf(to, "backend");
	wr_i32(to, 0);
	wr_i32(to, 128);
	if (second)
		wr_i64(to, 100);
	wr_relative(to, "meta", 10);
	wr_i32(to, 2);
	wr_utf(to, "000001.sst");
	wr_file(to, "file:/ck/shared/a", 1000);
	wr_utf(to, "000002.sst");
	wr_segment(to, "file:/ck/shared/b", 50, 60, 1);
	wr_i32(to, 1);
	wr_utf(to, "MANIFEST");
	wr_relative(to, "private", 20);
	if (second)
		wr_utf(to, "handle-id");
}

static void k5(struct buf *to)
{
	incremental(to, false);
}

/* Paths with an entropy key are absolute also inside the directory of the snapshot. */
static void k5_own(struct buf *to)
{
	wr_u8(to, 5);
	wr_i64(to, 1);
	wr_utf(to, "backend");
	wr_i64(to, 0);
	wr_u8(to, 0);
	wr_i32(to, 1);
	wr_utf(to, "000001.sst");
	wr_file(to, "s3://b/x/chk-42/sst", 7);
	wr_i32(to, 1);
	wr_utf(to, "MANIFEST");
	wr_file(to, "s3://b/x/chk-42/own", 8);
}

static void k3_s15(struct buf *to)
{
	wr_u8(to, 3);
	wr_groups(to);
	wr_segment(to, "file:/ck/taskowned/x", 3, 4, 0);
}

static void k11(struct buf *to)
{
	incremental(to, true);
}

static void changelog_files(struct buf *to, bool second)
{
	wr_u8(to, second ? 13 : 10);
	wr_i32(to, 0);
	wr_i32(to, 128);
	wr_i32(to, 2);
	wr_i64(to, 1);
	wr_file(to, "file:/dstl/a", 100);
	wr_i64(to, 2);
	wr_file(to, "file:/dstl/a", 200);
	wr_i64(to, 300);
	wr_i64(to, 300);
	wr_utf(to, "handle-id");
	if (second)
		wr_utf(to, "filesystem");
}

static void changelog(struct buf *to, bool second)
{
	wr_u8(to, second ? 14 : 8);
	wr_i32(to, 0);
	wr_i32(to, 128);
	wr_i64(to, 100);
	wr_i32(to, 1);
	wr_u8(to, 3);
	wr_groups(to);
	wr_file(to, "file:/ck/taskowned/m", 5);
	wr_i32(to, 1);
	changelog_files(to, second);
	wr_i64(to, 4);
	if (second)
		wr_i64(to, 1);
	wr_utf(to, "handle-id");
}

static void k8_k10(struct buf *to)
{
	changelog(to, false);
}

static void k14_k13(struct buf *to)
{
	changelog(to, true);
}

static void k10(struct buf *to)
{
	changelog_files(to, false);
}

static void k9(struct buf *to)
{
	wr_u8(to, 9);
	wr_i32(to, 0);
	wr_i32(to, 128);
	wr_i64(to, 1);
	wr_i64(to, 3);
	wr_i32(to, 2);
	for (int i = 0; i < 2; i++) {
		wr_i32(to, i);
		wr_i32(to, 5);
		buf_add(to, "abcde", 5);
	}
	wr_utf(to, "handle-id");
}

static const struct tag_case tag_cases[] = {
	{"keyed 0", 2, k0, 0, {{0}}},
	{"keyed 3, inline", 2, k3_s1, 300, {{0}}},
	{"keyed 3, file", 2, k3_s2, 0, {{"s3://b/ck/x/chk-42/f", 77, 0, 0, 0}}},
	{"keyed 3, file elsewhere", 2, k3_s2_elsewhere, 0, {{"s3://b/ck/y/f", 77, 0, 1, 0}}},
	{"keyed 3, file of unknown size",
	 2,
	 k3_s2_unknown,
	 0,
	 {{"s3://b/ck/x/chk-42/f", -1, 0, 0, 0}}},
	{"keyed 3, stream 3, relative", 2, k3_s3_s6, 0, {{"rel", 9, 1, 0, 0}}},
	{"keyed 7", 3, k7, 0, {{"rel", 8, 1, 0, 0}}},
	{"keyed 12", 3, k12, 0, {{"rel", 7, 1, 0, 0}}},
	{"keyed 12, empty segment", 4, k12_s16, 0, {{0}}},
	{"keyed 5",
	 2,
	 k5,
	 0,
	 {{"meta", 10, 1, 0, 0},
	  {"private", 20, 1, 0, 0},
	  {"file:/ck/shared/a", 1000, 0, 1, 0},
	  {"file:/ck/shared/b", 110, 0, 1, 1}}},
	{"keyed 5, shared file of this snapshot",
	 2,
	 k5_own,
	 0,
	 {{"s3://b/x/chk-42/sst", 7, 0, 1, 0}, {"s3://b/x/chk-42/own", 8, 0, 0, 0}}},
	{"keyed 3, exclusive segment", 4, k3_s15, 0, {{"file:/ck/taskowned/x", 7, 0, 0, 1}}},
	{"keyed 11",
	 3,
	 k11,
	 0,
	 {{"meta", 10, 1, 0, 0},
	  {"private", 20, 1, 0, 0},
	  {"file:/ck/shared/a", 1000, 0, 1, 0},
	  {"file:/ck/shared/b", 110, 0, 1, 1}}},
	{"keyed 8 and 10",
	 3,
	 k8_k10,
	 0,
	 {{"file:/ck/taskowned/m", 5, 0, 1, 0}, {"file:/dstl/a", 200, 0, 1, 1}}},
	{"keyed 14 and 13",
	 4,
	 k14_k13,
	 0,
	 {{"file:/ck/taskowned/m", 5, 0, 1, 0}, {"file:/dstl/a", 200, 0, 1, 1}}},
	{"keyed 10", 3, k10, 0, {{"file:/dstl/a", 200, 0, 1, 1}}},
	{"keyed 9", 3, k9, 10, {{0}}},
};

static void check_case(const struct tag_case *want, int version)
{
	cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;
	struct metadata metadata = {0};
	struct err err = {0};
	size_t files = 0;

	want->write(&keyed);
	wr_snapshot(&bytes, version, 42, &keyed);
	if (!CHECK_INT(load_buf(&bytes, &metadata, &err), ==, 0)) {
		tap_note("%s, version %d: %s", want->name, version, err.msg);
		return;
	}
	CHECK_INT(metadata.header.checkpoint_id, ==, 42);
	CHECK_INT(metadata.tail.inline_bytes, ==, want->inline_bytes);
	for (; files < ARRAY_LEN(want->want) && want->want[files].path; files++) {
		const struct want *w = &want->want[files];
		const struct metadata_kept *file = find(&metadata, w->path);

		if (!CHECK(file != NULL))
			continue;
		CHECK_INT(file->size_bytes, ==, w->size);
		CHECK_INT(file->relative, ==, w->relative);
		CHECK_INT(file->shared, ==, w->shared);
		CHECK_INT(file->lower_bound, ==, w->lower_bound);
	}
	CHECK_INT(metadata.file_count, ==, files);
	CHECK_INT(metadata.operator_count, ==, 1);
	CHECK_STR(metadata.operators[0].name, version >= 5 ? "Map" : NULL);
	CHECK_STR(metadata.operators[0].uid, version >= 5 ? "map-uid" : NULL);
	CHECK_STR(metadata.operators[0].id, "0000000000000007fffffffffffffff9");
	CHECK_INT(metadata.tail.flavour, ==,
		  version >= 4 ? METADATA_FLAVOUR_CHECKPOINT : METADATA_FLAVOUR_UNKNOWN);
	for (size_t len = 0; len < bytes.len_bytes; len++)
		if (load(bytes.data, len, &metadata, NULL) != -1)
			CHECK_INT(len, ==, -1);
	metadata_release(&metadata);
}

TEST(reads_every_keyed_tag_in_every_version)
{
	for (int version = 2; version <= 7; version++)
		for (size_t i = 0; i < ARRAY_LEN(tag_cases); i++)
			if (version >= tag_cases[i].first_version)
				check_case(&tag_cases[i], version);
}

/* Operator state, channels, a coordinator and a master state, as far as the version has them. */
static void write_the_rest(struct buf *to, int version)
{
	wr_head(to, version, 3);
	wr_i32(to, 1);
	wr_i32(to, (int32_t)0xC96B1696);
	wr_i32(to, 30);
	buf_add(to, "012345678901234567890123456789", 30);
	wr_i32(to, 1);
	if (version >= 5) {
		wr_utf(to, "");
		wr_utf(to, "");
	}
	wr_i64(to, 1);
	wr_i64(to, 2);
	wr_i32(to, 1);
	wr_i32(to, 128);
	if (version == 2)
		wr_i32(to, 1);
	else
		wr_bytes(to, 6);
	wr_i32(to, 1);
	wr_i32(to, 0);
	if (version == 2) {
		wr_i64(to, -1);
		wr_i32(to, 0);
	}
	for (int raw = 0; raw < 2; raw++) {
		bool merged = raw && version >= 4;

		wr_i32(to, 1);
		wr_u8(to, merged ? 17 : 4);
		wr_i32(to, 2);
		for (int i = 0; i < 2; i++) {
			wr_utf(to, "state");
			wr_u8(to, 1 + i);
			wr_i32(to, 1);
			wr_i64(to, 5);
		}
		if (merged) {
			wr_utf(to, "file:/ck/taskowned");
			wr_utf(to, "file:/ck/shared");
			wr_u8(to, 0);
			wr_segment(to, "file:/ck/taskowned/x", 10, 20, 0);
		} else {
			wr_relative(to, raw ? "raw" : "managed", 33);
		}
	}
	wr_u8(to, 0);
	wr_u8(to, 0);
	for (int output = 0; output < 2 && version >= 3; output++) {
		wr_i32(to, version >= 6 ? 2 : 1);
		if (version >= 6)
			wr_u8(to, 1 + output);
		wr_i32(to, 0);
		wr_i32(to, 1);
		wr_i32(to, 2);
		wr_i32(to, 1);
		wr_i64(to, 4);
		wr_i64(to, 44);
		wr_relative(to, output ? "out" : "in", 44);
		if (version < 6)
			continue;
		wr_u8(to, 3 + output);
		wr_i32(to, 0);
		wr_i64(to, 55);
		wr_relative(to, output ? "out-merged" : "in-merged", 55);
		wr_i32(to, 3);
		buf_add(to, "abc", 3);
	}
	if (version >= 7) {
		wr_u8(to, 1);
		wr_i64(to, 41);
	}
	wr_tail(to, version, SAVEPOINT);
}

TEST(reads_operator_channel_coordinator_and_master_state)
{
	for (int version = 2; version <= 7; version++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		struct metadata metadata = {0};
		struct err err = {0};

		write_the_rest(&bytes, version);
		if (!CHECK_INT(load_buf(&bytes, &metadata, &err), ==, 0)) {
			tap_note("version %d: %s", version, err.msg);
			continue;
		}
		CHECK_INT(metadata.tail.inline_bytes, ==, version == 2 ? 30 : 36);
		CHECK_INT(metadata.file_count, ==, version == 2 ? 2 : version < 6 ? 4 : 6);
		CHECK(find(&metadata, "managed") != NULL);
		CHECK((find(&metadata, "raw") != NULL) == (version < 4));
		CHECK((find(&metadata, "file:/ck/taskowned/x") != NULL) == (version >= 4));
		CHECK((find(&metadata, "in") != NULL) == (version >= 3));
		CHECK((find(&metadata, "out-merged") != NULL) == (version >= 6));
		CHECK_INT(metadata.tail.ref_checkpoint_id, ==, version < 7 ? 0 : 41);
		CHECK_STR(metadata.operators[0].name, NULL);
		metadata_release(&metadata);
		for (size_t len = 0; len < bytes.len_bytes; len++)
			if (load(bytes.data, len, &metadata, NULL) != -1)
				CHECK_INT(len, ==, -1);
	}
}

TEST(reads_finished_operators_and_subtasks)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata metadata = {0};

	wr_head(&bytes, 4, 3);
	wr_i32(&bytes, 0);
	wr_i32(&bytes, 2);
	wr_operator(&bytes, 4, "", "", 1);
	wr_i32(&bytes, -1);
	wr_operator(&bytes, 4, "", "", 2);
	wr_i32(&bytes, 2);
	wr_i32(&bytes, -2); /* subtask 1 has finished */
	wr_subtask(&bytes, 4, 0);
	wr_u8(&bytes, 0);
	wr_u8(&bytes, 0);
	wr_subtask_end(&bytes, 4);
	wr_tail(&bytes, 4, NULL);
	CHECK_INT(load_buf(&bytes, &metadata, NULL), ==, 0);
	CHECK_INT(metadata.operator_count, ==, 2);
	CHECK_INT(metadata.operators[0].finished, ==, true);
	CHECK_INT(metadata.operators[0].subtasks, ==, 0);
	CHECK_INT(metadata.operators[1].subtasks, ==, 2);
	CHECK_INT(metadata.tail.flavour, ==, METADATA_FLAVOUR_UNKNOWN);
	metadata_release(&metadata);
}

TEST(refuses_unknown_tags)
{
	for (int tag = 0; tag < 256; tag++) {
		cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;
		struct metadata metadata = {0};
		struct err err = {0};

		if (tag <= 16 && tag != 4 && tag != 1 && tag != 2 && tag != 6 && tag != 15 &&
		    tag != 16)
			continue;
		wr_u8(&keyed, tag);
		wr_snapshot(&bytes, 6, 1, &keyed);
		CHECK_INT(load_buf(&bytes, &metadata, &err), ==, -1);
		CHECK_HAS(err.msg, "expected keyed state, found unknown tag");
		CHECK_HAS(err.msg, "operator 1 of 1: byte ");
	}
}

TEST(keeps_names_that_are_not_ascii)
{
	/* U+1F600 as two surrogates, NUL as two bytes, a lone surrogate. */
	static const char raw[] = "\xc3\xa4\xed\xa0\xbd\xed\xb8\x80\xc0\x80\xed\xa0\xbd.";
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata metadata = {0};

	wr_head(&bytes, 5, 3);
	wr_i32(&bytes, 0);
	wr_i32(&bytes, 1);
	wr_operator(&bytes, 5, raw, "", 1);
	wr_i32(&bytes, -1);
	wr_tail(&bytes, 5, CHECKPOINT);
	CHECK_INT(load_buf(&bytes, &metadata, NULL), ==, 0);
	CHECK_STR(metadata.operators[0].name, "\xc3\xa4\xf0\x9f\x98\x80\xef\xbf\xbd\xef\xbf\xbd.");
	CHECK_STR(metadata.operators[0].uid, NULL);
	metadata_release(&metadata);
}

TEST(counts_a_file_once_with_the_stricter_size)
{
	cleanup_buf struct buf keyed = BUF_INIT, bytes = BUF_INIT;
	struct metadata metadata = {0};

	wr_u8(&keyed, 8);
	wr_i32(&keyed, 0);
	wr_i32(&keyed, 128);
	wr_i64(&keyed, 100);
	wr_i32(&keyed, 1);
	k3_s2(&keyed); /* 77, exact */
	wr_i32(&keyed, 1);
	wr_u8(&keyed, 10);
	wr_i32(&keyed, 0);
	wr_i32(&keyed, 128);
	wr_i32(&keyed, 1);
	wr_i64(&keyed, 1);
	wr_file(&keyed, "s3://b/ck/x/chk-42/f", 70); /* at least 70 */
	wr_i64(&keyed, 300);
	wr_i64(&keyed, 300);
	wr_utf(&keyed, "handle-id");
	wr_i64(&keyed, 4);
	wr_utf(&keyed, "handle-id");
	wr_snapshot(&bytes, 4, 1, &keyed);
	CHECK_INT(load_buf(&bytes, &metadata, NULL), ==, 0);
	CHECK_INT(metadata.file_count, ==, 1);
	CHECK_INT(metadata.files[0].size_bytes, ==, 77);
	CHECK_INT(metadata.files[0].lower_bound, ==, false);
	CHECK_INT(metadata.size_bytes, ==, 77);
	metadata_release(&metadata);
}

static int refuse(void *ctx, const struct metadata_file *file, struct err *err)
{
	(void)ctx;
	return err_set(err, ERR_BUSY, 0, "enough of %s", file->path);
}

TEST(passes_on_what_the_visitor_says)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata_visitor visitor = {.file = refuse};
	struct err err = {0};
	struct source *src;

	read_fixture("1.20.5-rocksdb-inc-chk", &bytes);
	src = source_new_bytes(bytes.data, bytes.len_bytes);
	CHECK_INT(metadata_parse(src, &visitor, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_HAS(err.msg, "enough of ");
	source_free(src);
}

/* ---- size ---- */

/* A head, `zeros` bytes that nobody stores, a tail. */
struct virtual
{
	struct buf head, tail;
	size_t at;
	int64_t zeros;
};

static int read_virtual(void *ctx, void *buf, size_t len, size_t *ret_len, struct err *err)
{
	struct virtual *v = ctx;
	const struct buf *part = v->at < v->head.len_bytes ? &v->head : &v->tail;
	size_t at = part == &v->head ? v->at : v->at - v->head.len_bytes;

	(void)err;
	if (part == &v->tail && v->zeros) {
		*ret_len = (int64_t)len < v->zeros ? len : (size_t)v->zeros;
		memset(buf, 0, *ret_len);
		v->zeros -= (int64_t)*ret_len;
		return 0;
	}
	*ret_len = part->len_bytes - at < len ? part->len_bytes - at : len;
	memcpy(buf, part->data + at, *ret_len);
	v->at += *ret_len;
	return 0;
}

TEST(reads_a_gigabyte_of_inline_state_in_flat_memory)
{
	struct virtual v = {.zeros = 1 << 30};
	struct rusage before, after;
	struct metadata metadata = {0};
	struct timespec start, end;
	struct source *src;
	double seconds;

	wr_head(&v.head, 3, 9);
	wr_i32(&v.head, 0);
	wr_i32(&v.head, 1);
	wr_operator(&v.head, 3, "", "", 1);
	wr_i32(&v.head, 1);
	wr_subtask(&v.head, 3, 0);
	wr_u8(&v.head, 3);
	wr_groups(&v.head);
	wr_u8(&v.head, 1);
	wr_utf(&v.head, "inline");
	wr_i32(&v.head, v.zeros);
	wr_u8(&v.tail, 0);
	wr_subtask_end(&v.tail, 3);
	src = source_new(read_virtual, &v, -1);
	getrusage(RUSAGE_SELF, &before);
	clock_gettime(CLOCK_MONOTONIC, &start);
	CHECK_INT(metadata_load(src, &metadata, NULL), ==, 0);
	clock_gettime(CLOCK_MONOTONIC, &end);
	getrusage(RUSAGE_SELF, &after);
	CHECK_INT(metadata.tail.inline_bytes, ==, 1 << 30);
	CHECK_INT(after.ru_maxrss - before.ru_maxrss, <, 1024);
	seconds = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
	tap_note("%.0f MB/s, %ld kB more", 1073.741824 / seconds,
		 after.ru_maxrss - before.ru_maxrss);
	metadata_release(&metadata);
	source_free(src);
	buf_release(&v.head);
	buf_release(&v.tail);
}
