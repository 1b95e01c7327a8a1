#include "flink/job_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/child_output.h"
#include "base/fs.h"
#include "base/mem.h"

#define SCHEMA       1
#define OUTPUT_BYTES ((size_t)64 * 1024) /* the end of what Flink and main() have printed */

/* ---- the answer ---- */

static int parse_operator(const struct json *node, struct job_graph_operator *op, struct err *err)
{
	*op = (struct job_graph_operator){.name = ""};
	if (json_need_str(node, "id", &op->id, err) < 0 ||
	    json_opt_str(node, "userId", &op->user_id, err) < 0 ||
	    json_opt_str(node, "name", &op->name, err) < 0 ||
	    json_opt_str(node, "uid", &op->uid, err) < 0 ||
	    json_opt_str(node, "slotGroup", &op->slot_group, err) < 0 ||
	    json_opt_str(node, "gate", &op->gate, err) < 0 ||
	    json_need_i64(node, "parallelism", &op->parallelism, err) < 0 ||
	    json_need_i64(node, "maxParallelism", &op->max_parallelism, err) < 0)
		return -1;
	if (!flink_is_id(op->id) || (op->user_id && !flink_is_id(op->user_id)))
		return err_set(err, ERR_FORMAT, 0, "'%.40s' is not the id of an operator",
			       flink_is_id(op->id) ? op->user_id : op->id);
	return 0;
}

static int parse_checkpoints(const struct json *node, struct job_graph *graph, struct err *err)
{
	graph->knows_checkpoints = node != NULL;
	if (!node)
		return 0;
	if (json_need_i64(node, "intervalMs", &graph->checkpoint_interval_ms, err) < 0)
		return -1;
	return json_need_str(node, "retention", &graph->retention, err);
}

static int parse_graph(const struct json *doc, struct job_graph *graph, struct err *err)
{
	const struct json *list, *node;
	const char *error = NULL;
	int64_t schema;

	if (json_need_i64(doc, "schema", &schema, err) < 0)
		return -1;
	if (schema != SCHEMA)
		return err_set(err, ERR_FORMAT, 0, "its schema is not %d", SCHEMA);
	if (json_opt_str(doc, "error", &error, err) < 0)
		return -1;
	if (error)
		return err_set(err, ERR_CONFIG, 0, "%s", error);
	if (json_opt_str(doc, "name", &graph->name, err) < 0 ||
	    json_need_array(doc, "operators", &list, err) < 0 ||
	    parse_checkpoints(json_get(doc, "checkpoints"), graph, err) < 0)
		return -1;
	graph->operators = xcalloc(json_len(list) + 1, sizeof(*graph->operators));
	json_each (node, list) {
		if (parse_operator(node, &graph->operators[graph->operator_count], err) < 0)
			return -1;
		graph->knows_gates |= json_get(node, "gate") != NULL;
		graph->operator_count++;
	}
	return 0;
}

int job_graph_parse(const char *text, size_t len_bytes, struct job_graph *ret_graph,
		    struct err *err)
{
	struct job_graph graph = {.document =
					  json_parse(text, len_bytes, JOB_GRAPH_MAX_BYTES, err)};

	if (!graph.document)
		return -1;
	if (parse_graph(graph.document, &graph, err) < 0) {
		job_graph_release(&graph);
		return -1;
	}
	*ret_graph = graph;
	return 0;
}

void job_graph_release(struct job_graph *graph)
{
	free(graph->operators);
	json_free(graph->document);
	*graph = (struct job_graph){0};
}

/* ---- the JVM ---- */

/* Of what Java prints: the innermost cause, else the last line. */
static int ended_without(const struct buf *output, int status, struct err *err)
{
	static const char mark[] = "Caused by: ";
	const char *text = buf_str(output), *found = NULL;

	for (const char *at = strstr(text, mark); at; at = strstr(at + 1, mark))
		found = at + sizeof(mark) - 1;
	if (!found)
		found = child_last_line(text);
	return err_set(err, ERR_FORMAT, 0,
		       "Flink ended with status %d before the job was built: %.*s", status,
		       (int)strcspn(found, "\n"), found);
}

static int read_answer(const char *file, const struct buf *output, int status,
		       struct job_graph *ret_graph, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err why = {0};

	if (fs_read(file, JOB_GRAPH_MAX_BYTES, &text, &why) == 0)
		return job_graph_parse(buf_str(&text), text.len_bytes, ret_graph, err);
	if (why.kind == ERR_ABSENT)
		return ended_without(output, status, err);
	*err = why;
	return -1;
}

static int run(const struct flink_exec *exec, const char *dir, int64_t timeout_ms,
	       struct job_graph *ret_graph, struct err *err)
{
	cleanup_free char *file = xasprintf("%s/graph.json", dir);
	cleanup_free char *variable = xasprintf("DREY_GRAPH_FILE=%s", file);
	cleanup_free char **env = xcalloc(exec->envc + 2, sizeof(*env));
	cleanup_buf struct buf output = BUF_INIT;
	struct child_call call = {.path = exec->argv[0],
				  .argv = exec->argv,
				  .env = env,
				  .timeout_ms = timeout_ms,
				  .keep_bytes = OUTPUT_BYTES};
	int status, result;

	memcpy(env, exec->env, exec->envc * sizeof(*env));
	env[exec->envc] = variable;
	if (child_output(&call, &output, &status, err) < 0)
		return -1;
	result = read_answer(file, &output, status, ret_graph, err);
	(void)unlink(file);
	return result;
}

int job_graph_build(const struct flink_exec *exec, int64_t timeout_ms, struct job_graph *ret_graph,
		    struct err *err)
{
	const char *tmp = getenv("TMPDIR");
	cleanup_free char *dir = xasprintf("%s/drey-graph.XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int result;

	if (!mkdtemp(dir))
		return err_set(err, err_kind_of_errno(errno), errno, "create %s", dir);
	result = run(exec, dir, timeout_ms, ret_graph, err);
	(void)rmdir(dir);
	return result;
}
