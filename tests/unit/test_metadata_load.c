/* What metadata_load() keeps, where there is much or odd of it. */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "format/metadata.h"
#include "metadata_writer.h"
#include "tap.h"

#define CHECKPOINT_TYPE "org.apache.flink.runtime.checkpoint.CheckpointType"

static int load(const struct buf *bytes, struct metadata *ret, struct err *err)
{
	struct source *src = source_new_bytes(bytes->data, bytes->len_bytes);
	int rc = metadata_load(src, ret, err);

	source_free(src);
	return rc;
}

/* References to files 0 .. count - 1, each three times: absolute twice with other sizes, relative. */
static void many_files(struct buf *bytes, int count)
{
	cleanup_buf struct buf keyed = BUF_INIT;
	char path[64];

	wr_u8(&keyed, 5);
	wr_i64(&keyed, 1);
	wr_utf(&keyed, "backend");
	wr_i64(&keyed, 0);
	wr_u8(&keyed, 0);
	wr_i32(&keyed, 0);
	wr_i32(&keyed, 3 * count);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < count; i++) {
			snprintf(path, sizeof(path), "s3://bucket/shared/%d", i);
			wr_utf(&keyed, "");
			if (round == 2)
				wr_relative(&keyed, path, 7);
			else
				wr_file(&keyed, path, i + round);
		}
	wr_snapshot(bytes, 6, 1, &keyed);
}

TEST(every_file_is_kept_once_however_many_there_are)
{
	static const int counts[] = {1, 47, 48, 49, 1000, 50000};

	for (size_t c = 0; c < ARRAY_LEN(counts); c++) {
		cleanup_buf struct buf bytes = BUF_INIT, text = BUF_INIT;
		struct metadata metadata = {0};
		struct metadata_file file;
		int count = counts[c], wrong = 0;
		char path[64];

		many_files(&bytes, count);
		CHECK_INT(load(&bytes, &metadata, NULL), ==, 0);
		if (CHECK_INT(metadata.file_count, ==, 2 * count))
			for (int i = 0; i < count; i++) {
				snprintf(path, sizeof(path), "s3://bucket/shared/%d", i);
				file = metadata_file(&metadata, (size_t)i, &text);
				wrong += strcmp(file.path, path) != 0 || file.relative ||
					 file.size_bytes != i + 1;
				file = metadata_file(&metadata, (size_t)(count + i), &text);
				wrong += strcmp(file.path, path) != 0 || !file.relative;
			}
		CHECK_INT(wrong, ==, 0);
		metadata_release(&metadata);
	}
}

/* A file with these operator names; caller releases. */
static int load_names(const char *const *names, int count, struct metadata *ret, struct err *err)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	wr_head(&bytes, 6, 1);
	wr_i32(&bytes, 0);
	wr_i32(&bytes, count);
	for (int i = 0; i < count; i++) {
		wr_operator(&bytes, 6, names[i], "uid", i + 1);
		wr_i32(&bytes, 0);
	}
	wr_tail(&bytes, 6, NULL);
	return load(&bytes, ret, err);
}

TEST(the_longest_names_are_kept_whole)
{
	cleanup_free char *zeros = xcalloc(1, 65535), *plain = xcalloc(1, 65536);
	const char *names[] = {"short", plain, zeros, plain, "last"};
	struct metadata metadata = {0};

	memset(plain, 'p', 65535);
	for (int i = 0; i < 65534; i += 2)
		memcpy(zeros + i, "\xc0\x80", 2); /* U+FFFD takes three bytes */
	CHECK_INT(load_names(names, 5, &metadata, NULL), ==, 0);
	CHECK_STR(metadata.operators[0].name, "short");
	CHECK_INT(strlen(metadata.operators[1].name), ==, 65535);
	CHECK_INT(strlen(metadata.operators[2].name), ==, 65534 / 2 * 3);
	CHECK(!memcmp(metadata.operators[2].name, "\xef\xbf\xbd\xef\xbf\xbd", 6));
	CHECK_INT(strlen(metadata.operators[3].name), ==, 65535);
	CHECK_STR(metadata.operators[4].name, "last");
	CHECK_STR(metadata.operators[4].uid, "uid");
	metadata_release(&metadata);
}

TEST(a_letter_that_is_not_ascii_may_stand_anywhere)
{
	for (int len = 1; len < 40; len++)
		for (int at = 0; at < len; at++) {
			char name[64], want[64];
			const char *names[] = {name};
			struct metadata metadata = {0};
			struct err err = {0};

			memset(name, 'x', (size_t)len);
			memcpy(name + at, "\xc0\x80", 2);
			memset(name + at + 2, '\x01', (size_t)(len - at));
			name[len + 2] = '\0';
			snprintf(want, sizeof(want), "%.*s\xef\xbf\xbd%s", at, name, name + at + 2);
			if (load_names(names, 1, &metadata, &err) ||
			    strcmp(metadata.operators[0].name, want) != 0) {
				CHECK_STR(metadata.operator_count ? metadata.operators[0].name
								  : err.msg,
					  want);
				return;
			}
			metadata_release(&metadata);
			name[at] = '\xff'; /* no letter at all */
			if (!load_names(names, 1, &metadata, &err)) {
				CHECK(!"taken");
				return;
			}
		}
	CHECK(true);
}

/* One subtask, with one file of keyed state and some inline; or with none. */
static void add_operator(struct buf *bytes, int id, bool has_state)
{
	wr_operator(bytes, 6, "Map", "", id);
	wr_i32(bytes, 1);
	wr_subtask(bytes, 6, 0);
	if (has_state) {
		wr_u8(bytes, 5);
		wr_i64(bytes, 1);
		wr_utf(bytes, "backend");
		wr_i64(bytes, 0);
		wr_bytes(bytes, 12);
		wr_i32(bytes, 0);
		wr_i32(bytes, 1);
		wr_utf(bytes, "");
		wr_file(bytes, "s3://bucket/sp/a", 5000);
	} else {
		wr_u8(bytes, 0);
	}
	wr_u8(bytes, 0);
	wr_subtask_end(bytes, 6);
}

TEST(each_operator_has_the_size_of_its_own_state)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata metadata = {0};

	wr_head(&bytes, 6, 1);
	wr_i32(&bytes, 0);
	wr_i32(&bytes, 3);
	add_operator(&bytes, 1, true);
	add_operator(&bytes, 2, false);
	add_operator(&bytes, 3, true);
	wr_tail(&bytes, 6, "org.apache.flink.runtime.checkpoint.CheckpointType");
	CHECK_INT(load(&bytes, &metadata, NULL), ==, 0);
	if (!CHECK_INT(metadata.operator_count, ==, 3))
		return;
	CHECK(metadata.operators[0].has_state);
	CHECK_INT(metadata.operators[0].state_bytes, ==, 5012);
	CHECK(!metadata.operators[1].has_state);
	CHECK_INT(metadata.operators[1].state_bytes, ==, 0);
	CHECK(metadata.operators[2].has_state);
	CHECK_INT(metadata.operators[2].state_bytes, ==, 5012); /* the same file again */
	CHECK_INT(metadata.size_bytes, ==, 5024);
	metadata_release(&metadata);
}

/* ---- regional checkpoints ---- */

/* `id`: what a subtask refers to; 0 = nothing. */
static void write_reference(struct buf *to, int index, int marker, int64_t id)
{
	wr_subtask(to, 7, index);
	wr_u8(to, 0);
	wr_u8(to, 0);
	wr_i32(to, 0);
	wr_i32(to, 0);
	wr_u8(to, marker);
	if (id)
		wr_i64(to, id);
}

/* Flink 2.4, MetadataV7Serializer: one byte behind each subtask, and if it is 1 the checkpoint id that its state is of. */
TEST(of_the_checkpoints_that_a_regional_one_refers_to_the_oldest_counts)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct metadata metadata = {0};
	struct err err = {0};

	wr_head(&bytes, 7, 50);
	wr_i32(&bytes, 0);
	wr_i32(&bytes, 1);
	wr_operator(&bytes, 7, "Map", "", 1);
	wr_i32(&bytes, 4);
	write_reference(&bytes, 0, 1, 44);
	write_reference(&bytes, 1, 1, 42);
	write_reference(&bytes, 2, 0, 0);
	write_reference(&bytes, 3, 1, 47);
	wr_tail(&bytes, 7, CHECKPOINT_TYPE);
	CHECK_INT(load(&bytes, &metadata, &err), ==, 0);
	CHECK_INT(metadata.tail.ref_checkpoint_id, ==, 42);
	CHECK_INT(metadata.operators[0].subtasks, ==, 4);
	metadata_release(&metadata);

	buf_clear(&bytes);
	wr_head(&bytes, 7, 50);
	wr_i32(&bytes, 0);
	wr_i32(&bytes, 1);
	wr_operator(&bytes, 7, "Map", "", 1);
	wr_i32(&bytes, 1);
	write_reference(&bytes, 0, 2, 44);
	wr_tail(&bytes, 7, CHECKPOINT_TYPE);
	CHECK_INT(load(&bytes, &metadata, &err), ==, -1);
	CHECK_HAS(err.msg, "expected whether a subtask refers to a checkpoint, found 2");
}
