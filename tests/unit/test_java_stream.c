#include "format/java_stream.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "format/ha_value.h"
#include "ha_writer.h"
#include "metadata_writer.h"
#include "tap.h"

#define FIXTURES "tests/fixtures/metadata/"

/* Visitor that writes down what it is told: "depth field=type:value ". */
static int note(void *ctx, const struct java_value *value, struct err *err)
{
	struct buf *to = ctx;

	(void)err;
	buf_addf(to, "%d %s=%c", value->depth, value->field ? value->field : "-", value->type);
	if (value->text)
		buf_addf(to, ":%s", value->text);
	else if (value->class_name)
		buf_addf(to, ":%s", value->class_name);
	else if (value->type != '0')
		buf_addf(to, ":%jd", (intmax_t)value->number);
	buf_addch(to, ' ');
	return value->text && !strcmp(value->text, "stop");
}

static int parse(const struct buf *bytes, struct buf *notes, struct err *err)
{
	struct source *src = source_new_bytes(bytes->data, bytes->len_bytes);
	int rc = java_stream_parse(src, note, notes, err);

	source_free(src);
	return rc;
}

static void start(struct buf *to)
{
	wr_be(to, 0xACED0005, 4);
}

/* A class descriptor up to its fields. */
static void class_head(struct buf *to, const char *name, int flags, int fields)
{
	wr_u8(to, 0x72);
	wr_utf(to, name);
	wr_i64(to, 1);
	wr_u8(to, flags);
	wr_be(to, (uint64_t)fields, 2);
}

static void primitive(struct buf *to, char type, const char *name)
{
	wr_u8(to, type);
	wr_utf(to, name);
}

static void object_field(struct buf *to, const char *name)
{
	wr_u8(to, 'L');
	wr_utf(to, name);
	wr_u8(to, 0x74);
	wr_utf(to, "LX;");
}

static void reference(struct buf *to, int number)
{
	wr_u8(to, 0x71);
	wr_i32(to, 0x7E0000 + number);
}

static void check_notes(const struct buf *bytes, const char *want)
{
	cleanup_buf struct buf notes = BUF_INIT;
	struct err err = {0};

	if (!CHECK_INT(parse(bytes, &notes, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_STR(buf_str(&notes), want);
	for (size_t len = 0; len < bytes->len_bytes; len++) {
		struct buf part = {bytes->data, len, 0};

		if (parse(&part, &notes, NULL) != -1)
			CHECK_INT(len, ==, -1);
	}
}

TEST(reads_every_primitive_type)
{
	cleanup_buf struct buf b = BUF_INIT;
	static const char types[] = "BCDFIJSZ";

	start(&b);
	wr_u8(&b, 0x73);
	class_head(&b, "A", 2, 8);
	for (const char *t = types; *t; t++)
		primitive(&b, *t, (const char[]){*t, 0});
	wr_be(&b, 0x7870, 2);
	wr_u8(&b, -1);
	wr_be(&b, 0xFFFF, 2);
	wr_i64(&b, 1);
	wr_i32(&b, 2);
	wr_i32(&b, -3);
	wr_i64(&b, -4);
	wr_be(&b, 0xFFFB, 2);
	wr_u8(&b, 1);
	check_notes(
		&b,
		"0 -=L:A 1 B=B:-1 1 C=C:65535 1 D=D:1 1 F=F:2 1 I=I:-3 1 J=J:-4 1 S=S:-5 1 Z=Z:1 ");
}

TEST(reads_super_classes_first_and_skips_custom_data)
{
	cleanup_buf struct buf b = BUF_INIT;

	start(&b);
	wr_u8(&b, 0x73);
	class_head(&b, "Sub", 2, 1);
	primitive(&b, 'I', "sub");
	wr_u8(&b, 0x78);
	class_head(&b, "Super", 3, 1); /* with writeObject */
	primitive(&b, 'I', "super");
	wr_be(&b, 0x7870, 2);
	wr_i32(&b, 1);
	wr_be(&b, 0x7703, 2); /* three bytes, a long block, a string, end */
	buf_add(&b, "abc", 3);
	wr_u8(&b, 0x7A);
	wr_i32(&b, 300);
	for (int i = 0; i < 300; i++)
		wr_u8(&b, i);
	wr_u8(&b, 0x74);
	wr_utf(&b, "custom");
	wr_u8(&b, 0x78);
	wr_i32(&b, 2);
	check_notes(&b, "0 -=L:Sub 1 super=I:1 1 -=s:custom 1 sub=I:2 ");
}

TEST(follows_back_references)
{
	cleanup_buf struct buf b = BUF_INIT;

	start(&b);
	wr_u8(&b, 0x73);
	class_head(&b, "A", 2, 4); /* handle 0 */
	object_field(&b, "a");     /* 1: the type */
	wr_u8(&b, 'L');
	wr_utf(&b, "b");
	reference(&b, 1); /* the same type */
	wr_u8(&b, 'L');
	wr_utf(&b, "c");
	reference(&b, 1);
	wr_u8(&b, 'L');
	wr_utf(&b, "d");
	reference(&b, 1);
	wr_be(&b, 0x7870, 2); /* 2: the object */
	wr_u8(&b, 0x74);
	wr_utf(&b, "text"); /* 3 */
	reference(&b, 3);
	reference(&b, 2);
	wr_u8(&b, 0x73); /* an object of the class that is known */
	reference(&b, 0);
	for (int i = 0; i < 4; i++)
		wr_u8(&b, 0x70);
	check_notes(&b, "0 -=L:A 1 a=s:text 1 b=s:text 1 c=L:A 1 d=L:A 2 a=0 2 b=0 2 c=0 2 d=0 ");
}

TEST(reads_enums_arrays_and_long_strings)
{
	cleanup_buf struct buf b = BUF_INIT;

	start(&b);
	wr_u8(&b, 0x73);
	class_head(&b, "A", 2, 4);
	object_field(&b, "e");
	object_field(&b, "ints");
	object_field(&b, "objects");
	object_field(&b, "long");
	wr_be(&b, 0x7870, 2);
	wr_u8(&b, 0x7E);
	class_head(&b, "E", 0x12, 0);
	wr_u8(&b, 0x78);
	class_head(&b, "java.lang.Enum", 0x12, 0);
	wr_be(&b, 0x7870, 2);
	wr_u8(&b, 0x74);
	wr_utf(&b, "ONE");
	wr_u8(&b, 0x75);
	class_head(&b, "[I", 2, 0);
	wr_be(&b, 0x7870, 2);
	wr_i32(&b, 2);
	wr_i64(&b, 77);
	wr_u8(&b, 0x75);
	class_head(&b, "[Ljava.lang.String;", 2, 0);
	wr_be(&b, 0x7870, 2);
	wr_i32(&b, 2);
	wr_u8(&b, 0x70);
	wr_u8(&b, 0x74);
	wr_utf(&b, "x");
	wr_u8(&b, 0x7C);
	wr_i64(&b, 4);
	buf_addstr(&b, "long");
	check_notes(
		&b,
		"0 -=L:A 1 e=e:ONE 1 ints=[:[I 1 objects=[:[Ljava.lang.String; 2 -=0 2 -=s:x 1 long=s:long ");
}

TEST(the_visitor_can_end_it)
{
	cleanup_buf struct buf b = BUF_INIT, notes = BUF_INIT;

	start(&b);
	wr_u8(&b, 0x73);
	class_head(&b, "A", 2, 2);
	object_field(&b, "a");
	object_field(&b, "b");
	wr_be(&b, 0x7870, 2);
	wr_u8(&b, 0x74);
	wr_utf(&b, "stop");
	CHECK_INT(parse(&b, &notes, NULL), ==, 1); /* b is not there at all */
}

static void expect_refused(const struct buf *b, const char *why)
{
	cleanup_buf struct buf notes = BUF_INIT;
	struct err err = {0};

	CHECK_INT(parse(b, &notes, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, why);
}

TEST(refuses_what_has_no_end)
{
	cleanup_buf struct buf deep = BUF_INIT, supers = BUF_INIT, loop = BUF_INIT, many = BUF_INIT;

	start(&deep);
	for (int i = 0; i < 100; i++) {
		wr_u8(&deep, 0x73);
		class_head(&deep, "A", 2, 1);
		object_field(&deep, "a");
		wr_be(&deep, 0x7870, 2);
	}
	expect_refused(&deep, "nested too deeply");
	start(&supers);
	wr_u8(&supers, 0x73);
	for (int i = 0; i < 100; i++) {
		class_head(&supers, "A", 2, 0);
		wr_u8(&supers, 0x78);
	}
	expect_refused(&supers, "nested too deeply");
	start(&loop); /* a class that is its own super class */
	wr_u8(&loop, 0x73);
	class_head(&loop, "A", 2, 0);
	wr_u8(&loop, 0x78);
	reference(&loop, 0);
	expect_refused(&loop, "too many super classes");
	start(&many);
	wr_u8(&many, 0x75);
	class_head(&many, "[Ljava.lang.String;", 2, 0);
	wr_be(&many, 0x7870, 2);
	wr_i32(&many, JAVA_STREAM_MAX_HANDLES + 1);
	for (int i = 0; i <= JAVA_STREAM_MAX_HANDLES; i++) {
		wr_u8(&many, 0x74);
		wr_utf(&many, "x");
	}
	expect_refused(&many, "too many objects");
}

TEST(refuses_references_to_nothing_and_odd_tokens)
{
	static const int tokens[] = {0x00, 0x72, 0x77, 0x78, 0x79, 0x7B, 0x7D, 0xFF};
	cleanup_buf struct buf b = BUF_INIT;

	start(&b);
	reference(&b, 0);
	expect_refused(&b, "a back reference to nothing");
	for (size_t i = 0; i < ARRAY_LEN(tokens); i++) {
		buf_clear(&b);
		start(&b);
		wr_u8(&b, tokens[i]);
		wr_i64(&b, 0);
		expect_refused(&b, "unknown token");
	}
	buf_clear(&b);
	wr_be(&b, 0xACED0006, 4);
	expect_refused(&b, "expected a Java serialization stream (aced 0005), found aced 0006");
}

/* ---- HA values ---- */

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

TEST(decodes_values_that_flink_has_written)
{
	cleanup_buf struct buf text = BUF_INIT, marked = BUF_INIT;
	struct ha_value value = {0};

	read_fixture("ha-value", &text);
	CHECK_INT(ha_value_decode(text.data, text.len_bytes, &value, NULL), ==, 0);
	CHECK_INT(value.deleted, ==, false);
	CHECK_INT(value.size_bytes, ==, 12286);
	CHECK_STR(value.uri,
		  "file:/tmp/flink/ha-1.20.5/drey-demo-1-20-5/completedCheckpoint8d0625247076");
	ha_value_release(&value);
	read_fixture("ha-value-deleted", &marked);
	CHECK_INT(ha_value_decode(marked.data, marked.len_bytes, &value, NULL), ==, 0);
	CHECK_INT(value.deleted, ==, true);
	ha_value_release(&value);
}

TEST(refuses_base64_that_is_not)
{
	static const char *const bad[] = {"",     "rO0",       "rO0ABQ==x", "rO0ABX==", "rO0A=XNy",
					  "====", "rO0A\nXNy", "rO0-BXNy",  "rO0ABXN="};
	struct ha_value value;
	struct err err = {0};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		CHECK_INT(ha_value_decode(bad[i], strlen(bad[i]), &value, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, "Base64: ");
	}
}

TEST(refuses_a_value_that_is_cut_or_has_more_behind_it)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct ha_value value;
	size_t bad = 0;

	read_fixture("ha-value", &text);
	for (size_t len = 0; len < text.len_bytes; len++)
		bad += ha_value_decode(text.data, len, &value, NULL) != -1;
	CHECK_INT(bad, ==, 0);
	buf_addstr(&text, "AAAA");
	CHECK_INT(ha_value_decode(text.data, text.len_bytes, &value, NULL), ==, -1);
}

/* The layout of 1.14 and older: the handle without a marker. */
static void write_old_value(struct buf *to, const char *root, const char *uri)
{
	start(to);
	wr_u8(to, 0x73);
	class_head(to, root, 2, 1);
	object_field(to, "wrappedStreamStateHandle");
	wr_be(to, 0x787073, 3);
	class_head(to, "org.apache.flink.runtime.state.filesystem.FileStateHandle", 2, 2);
	primitive(to, 'J', "stateSize");
	object_field(to, "filePath");
	wr_be(to, 0x7870, 2);
	wr_i64(to, 99);
	wr_u8(to, 0x73);
	class_head(to, "org.apache.flink.core.fs.Path", 2, 1);
	object_field(to, "uri");
	wr_be(to, 0x787073, 3);
	class_head(to, "java.net.URI", 3, 1);
	object_field(to, "string");
	wr_be(to, 0x787074, 3);
	wr_utf(to, uri);
	wr_u8(to, 0x78);
}

static int parse_old(const char *root, const char *uri, struct ha_value *ret, struct err *err)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct source *src;
	int rc;

	write_old_value(&bytes, root, uri);
	src = source_new_bytes(bytes.data, bytes.len_bytes);
	rc = ha_value_parse(src, ret, err);
	source_free(src);
	return rc;
}

TEST(reads_the_layout_without_marker_and_decodes_percents)
{
	const char *root = "org.apache.flink.runtime.state.RetrievableStreamStateHandle";
	struct ha_value value = {0};
	struct err err = {0};

	CHECK_INT(parse_old(root, "s3://b/a%20b/%C3%A4%25", &value, &err), ==, 0);
	CHECK_STR(value.uri, "s3://b/a b/\xc3\xa4%");
	CHECK_INT(value.size_bytes, ==, 99);
	CHECK_INT(value.deleted, ==, false);
	ha_value_release(&value);
	CHECK_INT(parse_old(root, "s3://b/a%2", &value, &err), ==, -1);
	CHECK_INT(parse_old(root, "s3://b/a%00", &value, &err), ==, -1);
	CHECK_INT(parse_old(root, "", &value, &err), ==, -1);
	CHECK_INT(parse_old("java.util.HashMap", "s3://b/a", &value, &err), ==, -1);
	CHECK_HAS(err.msg, "expected a state handle, found java.util.HashMap");
	CHECK_INT(parse_old("\x1b[31m", "s3://b/a", &value, &err), ==, -1);
	CHECK_HAS(err.msg, "found another class");
}

/* ---- CompletedCheckpoint ---- */

static int parse_checkpoint(const char *bytes, size_t len, struct completed_checkpoint *ret,
			    struct err *err)
{
	struct source *src = source_new_bytes(bytes, len);
	int rc = completed_checkpoint_parse(src, ret, err);

	source_free(src);
	return rc;
}

TEST(reads_the_beginning_of_a_completed_checkpoint)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct completed_checkpoint cp = {0};
	size_t shortest = 0;

	read_fixture("completed-checkpoint", &bytes);
	CHECK_INT(parse_checkpoint(bytes.data, bytes.len_bytes, &cp, NULL), ==, 0);
	CHECK_INT(cp.checkpoint_id, ==, 3);
	CHECK_INT(cp.timestamp_unix_ms, ==, 1795222437167);
	CHECK_INT(cp.completed_unix_ms, ==, 1795222437354);
	CHECK_STR(cp.job_id, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01");
	CHECK_STR(cp.external_pointer, "file:/srv/flink-sample/run/ha-1.20.5/ck/"
				       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01/chk-3");
	completed_checkpoint_release(&cp);
	while (parse_checkpoint(bytes.data, shortest, &cp, NULL))
		shortest++;
	completed_checkpoint_release(&cp);
	CHECK_INT(shortest, ==, 0x309); /* behind the job id, long before the operator state */
}

static int parse_files(const struct buf *bytes, size_t len, struct checkpoint_files *ret)
{
	struct source *src = source_new_bytes(bytes->data, len);
	int rc = completed_checkpoint_files(src, ret, NULL);

	source_free(src);
	return rc;
}

#define CHK_13 "file:/data/flink/orders/one/two/ck/6399faa40e2451eb06afe7ef2b1fa176/chk-13/"

TEST(names_the_files_that_flink_will_read_from_a_completed_checkpoint)
{
	static const int64_t sizes[] = {265, 5153, 33179};
	cleanup_buf struct buf real = BUF_INIT, bytes = BUF_INIT;
	struct checkpoint_files files = {0};

	/* its state is in the object; the _metadata is none of its files */
	read_fixture("completed-checkpoint", &real);
	CHECK_INT(parse_files(&real, real.len_bytes, &files), ==, 0);
	CHECK_INT(files.count, ==, 0);
	checkpoint_files_release(&files);
	/* that of a job with keyed state and lists, each in a file (Flink 2.3.0) */
	buf_clear(&real);
	read_fixture("completed-checkpoint-files", &real);
	CHECK_INT(parse_files(&real, real.len_bytes, &files), ==, 0);
	CHECK_INT(files.count, ==, 3);
	for (size_t i = 0; i < files.count; i++) {
		CHECK_HAS(files.list[i].uri, CHK_13);
		CHECK_INT(strlen(files.list[i].uri), ==, strlen(CHK_13) + 36);
		CHECK_INT(files.list[i].size_bytes, ==, sizes[i]);
	}
	checkpoint_files_release(&files);
	ha_object_write(&bytes, 3, 5, "file:/cp/chk-3", "file:/cp/sp/a%20b", 77);
	CHECK_INT(parse_files(&bytes, bytes.len_bytes, &files), ==, 0);
	CHECK_INT(files.count, ==, 1);
	CHECK_STR(files.list[0].uri, "file:/cp/sp/a b");
	CHECK_INT(files.list[0].size_bytes, ==, 77);
	checkpoint_files_release(&files);
	for (size_t len = 0; len < bytes.len_bytes; len++)
		CHECK_INT(parse_files(&bytes, len, &files), ==, -1);
}

TEST(knows_the_entry_of_a_restored_snapshot)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct completed_checkpoint cp = {0};

	read_fixture("completed-checkpoint-restored", &bytes);
	CHECK_INT(parse_checkpoint(bytes.data, bytes.len_bytes, &cp, NULL), ==, 0);
	CHECK_INT(cp.checkpoint_id, ==, 5);
	CHECK_INT(cp.timestamp_unix_ms, ==, 0);
	CHECK_INT(cp.completed_unix_ms, ==, 0);
	CHECK_HAS(cp.external_pointer, "/sp/savepoint-aaaaaa-32d572eac0b9");
	completed_checkpoint_release(&cp);
}

TEST(refuses_a_handle_in_place_of_a_checkpoint)
{
	cleanup_buf struct buf bytes = BUF_INIT;
	struct completed_checkpoint cp;
	struct err err = {0};

	write_old_value(&bytes, "X", "s3://b/a");
	CHECK_INT(parse_checkpoint(bytes.data, bytes.len_bytes, &cp, &err), ==, -1);
	CHECK_HAS(err.msg, "expected a CompletedCheckpoint, found X");
}

static int parse_stored(const void *bytes, size_t len, char ret_job_id[33], struct err *err)
{
	struct source *src = source_new_bytes(bytes, len);
	int rc = stored_job_parse(src, ret_job_id, err);

	source_free(src);
	return rc;
}

TEST(reads_which_job_would_be_started_again)
{
	static const struct {
		const char *file, *job_id;
		size_t end; /* of the id */
	} cases[] = {
		{"submitted-job-graph", "4d62d4542043097dd3d99742b9cee249", 3825},
		{"submitted-execution-plan", "31c24aa1992a79c667399dac2ab24fbe", 5889},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		size_t shortest = 0;
		char job_id[33] = "";

		read_fixture(cases[i].file, &bytes);
		CHECK_INT(parse_stored(bytes.data, bytes.len_bytes, job_id, NULL), ==, 0);
		CHECK_STR(job_id, cases[i].job_id);
		while (parse_stored(bytes.data, shortest, job_id, NULL))
			shortest++;
		CHECK_INT(shortest, ==, cases[i].end);
	}
}

TEST(only_a_job_is_taken_for_one)
{
	cleanup_buf struct buf bytes = BUF_INIT, job = BUF_INIT;
	struct completed_checkpoint cp;
	struct err err = {0};
	char job_id[33] = "kept";

	read_fixture("completed-checkpoint", &bytes);
	CHECK_INT(parse_stored(bytes.data, bytes.len_bytes, job_id, &err), ==, -1);
	CHECK_HAS(err.msg, "expected a job, found "
			   "org.apache.flink.runtime.checkpoint.CompletedCheckpoint");
	CHECK_STR(job_id, "kept");
	read_fixture("submitted-job-graph", &job);
	CHECK_INT(parse_checkpoint(job.data, job.len_bytes, &cp, &err), ==, -1);
	CHECK_HAS(err.msg, "expected a CompletedCheckpoint");
}

TEST(survives_flipped_bits)
{
	static const char *const names[] = {"completed-checkpoint", "ha-value"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;
		size_t refused = 0, upto;

		read_fixture(names[i], &bytes);
		upto = bytes.len_bytes < 0x309 ? bytes.len_bytes : 0x309;
		for (size_t bit = 0; bit < 8 * upto; bit++) {
			struct completed_checkpoint cp = {0};
			struct ha_value value = {0};

			bytes.data[bit / 8] ^= (char)(1 << bit % 8);
			if (i)
				refused += ha_value_decode(bytes.data, bytes.len_bytes, &value,
							   NULL) != 0;
			else
				refused += parse_checkpoint(bytes.data, bytes.len_bytes, &cp,
							    NULL) != 0;
			completed_checkpoint_release(&cp);
			ha_value_release(&value);
			bytes.data[bit / 8] ^= (char)(1 << bit % 8);
		}
		CHECK_INT(refused, >, 1000);
	}
}
