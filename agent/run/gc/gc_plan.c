#include "run/gc/gc_plan.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/mem.h"

static void plan_sum(struct json *to, const char *name, int64_t files, int64_t bytes)
{
	struct json *sum = json_add_object(to, name);

	json_add_i64(sum, "files", files);
	json_add_i64(sum, "bytes", bytes);
}

static void plan_reasons(const struct gc *gc, struct json *doc)
{
	struct json *to = json_add_object(doc, "reasons");

	for (int i = 0; i < GC_REASON_COUNT; i++)
		if (gc_reason_verdict((enum gc_reason)i) == GC_DELETE && gc->sums[i].files)
			plan_sum(to, gc_reason_name((enum gc_reason)i), gc->sums[i].files,
				 gc->sums[i].bytes);
}

static void plan_directories(const struct gc *gc, struct json *doc)
{
	struct json *list = json_add_array(doc, "directories");
	int64_t named = 0, left_out = 0;

	for (size_t t = 0; t < gc->tree_count; t++) {
		struct gc_sum sum = gc_tree_total(&gc->trees[t], GC_DELETE);
		struct json *row;

		if (!sum.files)
			continue;
		if (named == GC_PLAN_DIRS) {
			left_out++;
			continue;
		}
		row = json_add_object(list, NULL);
		json_add_str(row, "directory", gc->trees[t].dir);
		json_add_str(row, "jobId", gc->trees[t].job_id);
		json_add_i64(row, "files", sum.files);
		json_add_i64(row, "bytes", sum.bytes);
		named++;
	}
	json_add_i64(doc, "directoriesLeftOut", left_out);
}

int gc_plan_write(const struct gc_plan *plan, struct err *err)
{
	cleanup_json struct json *doc = json_object();
	cleanup_free char *path = xasprintf("%s/%s", plan->state_dir, GC_PLAN_NAME);
	struct gc_sum sum = gc_total(plan->gc, GC_DELETE);
	cleanup_buf struct buf text = BUF_INIT;

	json_add_i64(doc, "schema", GC_PLAN_VERSION);
	json_add_i64(doc, "writtenUnixMs", clock_unix_ms());
	json_add_i64(doc, "firstReadingUnixMs", plan->first_unix_ms);
	json_add_i64(doc, "secondReadingUnixMs", plan->gc->now_unix_ms);
	plan_sum(doc, "planned", sum.files, sum.bytes);
	plan_reasons(plan->gc, doc);
	plan_directories(plan->gc, doc);
	if (plan->deleted) {
		plan_sum(doc, "deleted", plan->deleted->files, plan->deleted->bytes);
		json_add_i64(doc, "failed", plan->deleted->failed);
		json_add_str(doc, "ended", plan->ended->kind ? plan->ended->msg : NULL);
	}
	json_print_pretty(doc, &text);
	buf_addch(&text, '\n');
	if (fs_mkdirs(plan->state_dir, 0700, err) < 0 ||
	    fs_write_atomic(path, text.data, text.len_bytes, 0600, err) < 0)
		return err_wrap(err, "the plan of the deletion cannot be written");
	return 0;
}
