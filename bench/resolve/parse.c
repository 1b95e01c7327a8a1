/*
 * parse - how fast a `_metadata` file is read, and in how much memory.
 *
 *   parse make inline|files|spread|operators KB >FILE
 *           so many kilobytes of state inside the file; or of references to state files, as an
 *           incremental checkpoint in an object store has them, in one directory or in many of ten
 *           files each; or of small operators
 *   parse read|load FILE
 *           `read` looks at everything, `load` keeps it. One line: megabytes per second, files,
 *           peak memory of this process. On a busy machine the seconds of CPU tell more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "base/mem.h"
#include "format/metadata.h"
#include "store/store.h"
#include "tests/unit/metadata_writer.h"

enum { VERSION = 6, PART_BYTES = 1 << 20, HANDLES = 1000, FILE_BYTES = 141 };

static void put(struct buf *part)
{
	if (fwrite(part->data, 1, part->len_bytes, stdout) != part->len_bytes) {
		perror("write");
		exit(1);
	}
	buf_clear(part);
}

static void begin_keyed(struct buf *part, int subtask)
{
	wr_subtask(part, VERSION, subtask);
}

static void end_keyed(struct buf *part)
{
	wr_u8(part, 0);
	wr_subtask_end(part, VERSION);
}

/* Up to a mebibyte of state in one handle. */
static void put_inline(struct buf *part, int subtask, int32_t part_bytes)
{
	static const char zeros[PART_BYTES];

	begin_keyed(part, subtask);
	wr_u8(part, 3);
	wr_groups(part);
	wr_u8(part, 1);
	wr_utf(part, "inline");
	wr_i32(part, part_bytes);
	buf_add(part, zeros, (size_t)part_bytes);
	end_keyed(part);
	put(part);
}

/* The shared files of one subtask. */
static void put_files(struct buf *part, int subtask, int handles, bool spread)
{
	char path[200], name[40], dir[16] = "shared";

	begin_keyed(part, subtask);
	wr_u8(part, 5);
	wr_i64(part, 1);
	wr_utf(part, "f81d4fae-7dec-11d0-a765-00a0c91e6bf6");
	wr_i64(part, 0);
	wr_u8(part, 0);
	wr_i32(part, handles);
	for (int i = 0; i < handles; i++) {
		snprintf(name, sizeof(name), "%06d.sst", i);
		if (spread)
			snprintf(dir, sizeof(dir), "%02x/%02x", subtask & 0xFF, (unsigned)i / 10);
		snprintf(path, sizeof(path),
			 "s3://bucket/checkpoints/4f0c8d2e9a1b4c7d8e5f60718293a4b5/%s/"
			 "%08x-7dec-41d0-a765-%012x",
			 dir, (unsigned)subtask * 2654435761U, (unsigned)i);
		wr_utf(part, name);
		wr_file(part, path, 67108864);
	}
	wr_i32(part, 0);
	end_keyed(part);
	put(part);
}

static void make(const char *kind, int64_t size_bytes)
{
	bool spread = !strcmp(kind, "spread"), files = spread || !strcmp(kind, "files");
	bool operators = !strcmp(kind, "operators");
	struct buf part = BUF_INIT;
	/* a file of one name, its path and the rest; an operator of a name, an id and no state */
	int64_t one = files ? FILE_BYTES : operators ? 60 : 1;
	int64_t most = files ? HANDLES : operators ? 1 : PART_BYTES;
	int32_t in_each = (int32_t)(size_bytes < most * one ? size_bytes / one : most);
	int32_t count = (int32_t)(size_bytes / (in_each * one));

	wr_head(&part, VERSION, 1);
	wr_i32(&part, 0);
	wr_i32(&part, operators ? count : 1);
	for (int32_t i = 0; operators && i < count; i++) {
		wr_operator(&part, VERSION, "Source: kafka -> Map", "", i + 1);
		wr_i32(&part, 0);
		put(&part);
	}
	if (!operators) {
		wr_operator(&part, VERSION, "Map", "map-uid", 7);
		wr_i32(&part, count);
		put(&part);
	}
	for (int32_t i = 0; !operators && i < count; i++)
		if (files)
			put_files(&part, i, in_each, spread);
		else
			put_inline(&part, i, in_each);
	wr_tail(&part, VERSION, "org.apache.flink.runtime.checkpoint.CheckpointType");
	put(&part);
	buf_release(&part);
}

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int count_file(void *ctx, const struct metadata_file *file, struct err *err)
{
	size_t *files = ctx;

	(void)file;
	(void)err;
	++*files;
	return 0;
}

static int take(const char *how, struct source *src, size_t *files, struct err *err)
{
	struct metadata_visitor counter = {.ctx = files, .file = count_file};
	struct metadata metadata = {0};
	int rc;

	if (!strcmp(how, "read"))
		return metadata_parse(src, &counter, err);
	rc = metadata_load(src, &metadata, err);
	*files = metadata.file_count;
	metadata_release(&metadata);
	return rc;
}

static int measure(const char *how, const char *path)
{
	cleanup_free char *full = realpath(path, NULL);
	struct store_stream *stream;
	struct store *store;
	struct source *src;
	struct rusage usage;
	struct err err = {0};
	size_t files = 0;
	double start, start_cpu, took, cpu, mb;

	if (!full || store_open(NULL, full, &store, &err) ||
	    store_read_open(store, full, 0, &stream, &err)) {
		fprintf(stderr, "parse: %s\n", full ? err.msg : path);
		return 1;
	}
	mb = (double)store_read_size(stream) / 1e6;
	start = seconds(CLOCK_MONOTONIC);
	start_cpu = seconds(CLOCK_PROCESS_CPUTIME_ID);
	src = source_new(store_read, stream, store_read_size(stream));
	if (take(how, src, &files, &err)) {
		fprintf(stderr, "parse: %s\n", err.msg);
		return 1;
	}
	took = seconds(CLOCK_MONOTONIC) - start;
	cpu = seconds(CLOCK_PROCESS_CPUTIME_ID) - start_cpu;
	source_free(src);
	store_read_close(stream);
	store_close(store);
	getrusage(RUSAGE_SELF, &usage);
	printf("%s: %.6g MB in %.6f s; %.6f s of CPU, %.0f MB/s; %zu files, peak memory %.1f MB\n",
	       how, mb, took, cpu, mb / cpu, files, (double)usage.ru_maxrss * 1024 / 1e6);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make"))
		make(argv[2], atoll(argv[3]) * 1000);
	else if (argc == 3 && (!strcmp(argv[1], "read") || !strcmp(argv[1], "load")))
		return measure(argv[1], argv[2]);
	else
		return fprintf(stderr, "usage: parse make KIND KB | parse read|load FILE\n"), 2;
	return fflush(stdout) != 0;
}
