/* drey inspect: decode a Flink file. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/commands.h"
#include "cmd/inspect_copy.h"
#include "cmd/inspect_live.h"
#include "cmd/inspect_map.h"
#include "cmd/output.h"
#include "cmd/text.h"
#include "format/ha_value.h"
#include "format/metadata.h"
#include "run/config/setup_storage.h"
#include "store/snapshots.h"
#include "store/store.h"
#include "store/uri.h"

#define HEAD_BYTES       512
#define MAX_BASE64_BYTES (HA_VALUE_MAX_BYTES / 3 * 4 + 4)

enum inspect_exit {
	EXIT_UNDECODABLE = 1,
	EXIT_UNREADABLE = 4,
};

enum kind {
	KIND_UNKNOWN,
	KIND_METADATA,
	KIND_HA_VALUE,
	KIND_HA_HANDLE, /* the same, already decoded from Base64 */
	KIND_COMPLETED_CHECKPOINT,
	KIND_HA_MAP, /* ConfigMaps, as kubectl prints them */
	KIND_JOURNAL_COPY,
};

/* The input: its first bytes, which determine the kind, and the rest. */
struct input {
	struct store_config storage;
	struct store *store;
	struct store_stream *stream; /* NULL: standard input */
	char head[HEAD_BYTES];
	size_t head_len, head_pos;
};

/* ---- reading ---- */

static int read_rest(struct input *in, void *buf, size_t len, size_t *ret_len, struct err *err)
{
	ssize_t got;

	if (in->stream)
		return store_read(in->stream, buf, len, ret_len, err);
	do
		got = read(STDIN_FILENO, buf, len);
	while (got < 0 && errno == EINTR);
	if (got < 0)
		return err_set(err, err_kind_of_errno(errno), errno, "read standard input");
	*ret_len = (size_t)got;
	return 0;
}

static int read_input(void *ctx, void *buf, size_t len, size_t *ret_len, struct err *err)
{
	struct input *in = ctx;
	size_t left = in->head_len - in->head_pos;

	if (!left)
		return read_rest(in, buf, len, ret_len, err);
	*ret_len = left < len ? left : len;
	memcpy(buf, in->head + in->head_pos, *ret_len);
	in->head_pos += *ret_len;
	return 0;
}

static int open_uri(struct input *in, const char *uri, struct err *err)
{
	cleanup_free char *inner = uri_join(uri, METADATA_NAME);
	struct err why = {0};

	if (store_open(&in->storage, uri, &in->store, err))
		return -1;
	if (!store_read_open(in->store, uri, 0, &in->stream, &why) ||
	    !store_read_open(in->store, inner, 0, &in->stream, NULL))
		return 0;
	return err_pass(err, &why);
}

/* Open and read the head. */
static int open_input(struct input *in, const char *name, struct err *err)
{
	size_t got = 1;

	setup_storage_environment(&in->storage);
	if (strcmp(name, "-")) {
		cleanup_free char *uri = uri_of_argument(name);

		if (open_uri(in, uri, err))
			return -1;
	}
	while (got && in->head_len < sizeof(in->head)) {
		if (read_rest(in, in->head + in->head_len, sizeof(in->head) - in->head_len, &got,
			      err))
			return -1;
		in->head_len += got;
	}
	return 0;
}

static void close_input(struct input *in)
{
	store_read_close(in->stream);
	store_close(in->store);
	store_config_release(&in->storage);
}

static bool head_has(const struct input *in, size_t at, const char *bytes, size_t len)
{
	return in->head_len >= at + len && !memcmp(in->head + at, bytes, len);
}

/* A Kubernetes object: JSON, or YAML with one of the members that every object has. */
static bool is_document(const struct input *in)
{
	static const char *const members[] = {"apiVersion:", "kind:", "items:", "data:", "---"};
	size_t at = 0;

	while (at < in->head_len && strchr(" \t\r\n", in->head[at]) && in->head[at])
		at++;
	if (head_has(in, at, "{", 1))
		return true;
	for (size_t i = 0; i < ARRAY_LEN(members); i++)
		if (head_has(in, at, members[i], strlen(members[i])))
			return true;
	return false;
}

static enum kind kind_of_bytes(const struct input *in)
{
	static const char checkpoint[] = "org.apache.flink.runtime.checkpoint.CompletedCheckpoint";
	size_t class_name = 8; /* magic, version, object, class descriptor, length */

	if (head_has(in, 0, "\x49\x60\x67\x2d", 4))
		return KIND_METADATA;
	if (head_has(in, 0, "\xac\xed\x00\x05", 4))
		return head_has(in, class_name, checkpoint, sizeof(checkpoint) - 1)
			       ? KIND_COMPLETED_CHECKPOINT
			       : KIND_HA_HANDLE;
	if (head_has(in, 0, "rO0AB", 5)) /* aced0005 in Base64 */
		return KIND_HA_VALUE;
	if (head_has(in, 0, JOURNAL_COPY_BEGIN, strlen(JOURNAL_COPY_BEGIN)))
		return KIND_JOURNAL_COPY;
	return is_document(in) ? KIND_HA_MAP : KIND_UNKNOWN;
}

/* The kind that --kind names; KIND_UNKNOWN if there is none. */
static enum kind kind_of_name(const struct input *in, const char *name)
{
	if (!strcmp(name, "metadata"))
		return KIND_METADATA;
	if (!strcmp(name, "ha-value"))
		return head_has(in, 0, "\xac\xed", 2) ? KIND_HA_HANDLE : KIND_HA_VALUE;
	if (!strcmp(name, "completed-checkpoint"))
		return KIND_COMPLETED_CHECKPOINT;
	if (!strcmp(name, "journal-copy"))
		return KIND_JOURNAL_COPY;
	return strcmp(name, "ha-map") ? KIND_UNKNOWN : KIND_HA_MAP;
}

/* ---- printing ---- */

static void print_doc(const struct cli *cli, struct json *doc)
{
	output_document(cli, doc);
	json_free(doc);
}

static void add_operator(struct json *operators, const struct metadata_operator *op)
{
	struct json *item = json_add_object(operators, NULL);

	json_add_str(item, "id", op->id);
	json_add_str(item, "name", op->name);
	json_add_str(item, "uid", op->uid);
	json_add_i64(item, "parallelism", op->parallelism);
	json_add_i64(item, "maxParallelism", op->max_parallelism);
	json_add_i64(item, "subtasks", op->subtasks);
}

static void metadata_json(const struct cli *cli, const struct metadata *metadata)
{
	struct json *doc = json_object(), *list;
	cleanup_buf struct buf path = BUF_INIT;

	json_add_str(doc, "kind", "metadata");
	json_add_i64(doc, "version", metadata->header.version);
	json_add_i64(doc, "checkpointId", metadata->header.checkpoint_id);
	json_add_str(doc, "flavour", metadata_flavour_name(metadata->tail.flavour));
	if (metadata->tail.gates)
		json_add_str(doc, "gates", metadata_gates_name(metadata->tail.gates));
	if (metadata->tail.ref_checkpoint_id)
		json_add_i64(doc, "refCheckpointId", metadata->tail.ref_checkpoint_id);
	list = json_add_array(doc, "operators");
	for (size_t i = 0; i < metadata->operator_count; i++)
		add_operator(list, &metadata->operators[i]);
	list = json_add_array(doc, "files");
	for (size_t i = 0; i < metadata->file_count; i++) {
		const struct metadata_file file = metadata_file(metadata, i, &path);
		struct json *item = json_add_object(list, NULL);

		json_add_str(item, "path", file.path);
		json_add_i64(item, "sizeBytes", file.size_bytes);
		json_add_bool(item, "relative", file.relative);
		json_add_str(item, "scope", file.shared ? "shared" : "exclusive");
	}
	json_add_i64(doc, "inlineBytes", metadata->tail.inline_bytes);
	json_add_i64(doc, "sizeBytes", metadata->size_bytes);
	print_doc(cli, doc);
}

static void operator_text(const struct cli *cli, const struct metadata_operator *op)
{
	out_put(cli->out, "  %s  parallelism %" PRId32 " of %" PRId32 ", ", op->id, op->parallelism,
		op->max_parallelism);
	if (op->finished)
		out_put(cli->out, "finished");
	else
		out_put(cli->out, "%" PRId32 " subtask%s", op->subtasks,
			op->subtasks == 1 ? "" : "s");
	if (op->name) {
		out_put(cli->out, "  %s", op->name);
	}
	if (op->uid) {
		out_put(cli->out, " (uid %s)", op->uid);
	}
	out_put(cli->out, "\n");
}

static void metadata_text(const struct cli *cli, const struct metadata *metadata)
{
	const char *flavour = metadata_flavour_name(metadata->tail.flavour);
	const char *format = metadata_format_name(metadata->tail.format);
	char size[TEXT_SIZE_BYTES], inner[TEXT_SIZE_BYTES];
	cleanup_buf struct buf path = BUF_INIT;

	out_put(cli->out, "%s%s%s %" PRId64 ", _metadata version %d\n", format ? format : "",
		format ? " " : "", flavour ? flavour : "snapshot", metadata->header.checkpoint_id,
		metadata->header.version);
	out_put(cli->out, "%s of state, %s of it inside the _metadata\n",
		text_size(metadata->size_bytes, size),
		text_size(metadata->tail.inline_bytes, inner));
	if (metadata->tail.gates)
		out_put(cli->out, "gates %s\n", metadata_gates_name(metadata->tail.gates));
	if (metadata->tail.ref_checkpoint_id)
		out_put(cli->out, "refers to checkpoint %" PRId64 " and newer ones\n",
			metadata->tail.ref_checkpoint_id);
	out_put(cli->out, "\n%zu operators\n", metadata->operator_count);
	for (size_t i = 0; i < metadata->operator_count; i++)
		operator_text(cli, &metadata->operators[i]);
	out_put(cli->out, "\n%zu files\n", metadata->file_count);
	for (size_t i = 0; i < metadata->file_count; i++) {
		const struct metadata_file file = metadata_file(metadata, i, &path);

		out_put(cli->out, "  %-9s  %s%9s  %s\n", file.shared ? "shared" : "exclusive",
			file.lower_bound ? ">=" : "  ",
			file.size_bytes < 0 ? "?" : text_size(file.size_bytes, size), file.path);
	}
}

static int inspect_metadata(const struct cli *cli, struct source *src, struct err *err)
{
	cleanup_metadata struct metadata metadata = {0};

	if (metadata_load(src, &metadata, err))
		return -1;
	if (cli_has(cli, "json"))
		metadata_json(cli, &metadata);
	else
		metadata_text(cli, &metadata);
	return 0;
}

static void print_value(const struct cli *cli, const struct ha_value *value)
{
	if (cli_has(cli, "json")) {
		struct json *doc = json_object();

		json_add_str(doc, "kind", "ha-value");
		json_add_bool(doc, "deleted", value->deleted);
		json_add_str(doc, "uri", value->uri);
		json_add_i64(doc, "sizeBytes", value->size_bytes);
		print_doc(cli, doc);
		return;
	}
	out_put(cli->out, "high-availability value");
	if (value->deleted)
		out_put(cli->out, ", marked for deletion (Flink treats it as absent)");
	out_put(cli->out, "\nfile  %s", value->uri);
	out_put(cli->out, "\nsize  %" PRId64 " bytes\n", value->size_bytes);
}

static int inspect_handle(const struct cli *cli, struct source *src, struct err *err)
{
	struct ha_value value;

	if (ha_value_parse(src, &value, err))
		return -1;
	print_value(cli, &value);
	ha_value_release(&value);
	return 0;
}

/* All of it, but little more than max_bytes. */
static int inspect_read_all(struct input *in, size_t max_bytes, struct buf *text, struct err *err)
{
	char part[4096];
	size_t got = 1;

	while (got && text->len_bytes <= max_bytes) {
		if (read_input(in, part, sizeof(part), &got, err))
			return -1;
		buf_add(text, part, got);
	}
	return 0;
}

static int inspect_value(const struct cli *cli, struct input *in, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct ha_value value;

	if (inspect_read_all(in, MAX_BASE64_BYTES, &text, err))
		return -1;
	/* Ignore a line end that an editor or echo has added. */
	while (text.len_bytes && strchr("\r\n \t", text.data[text.len_bytes - 1]))
		text.len_bytes--;
	if (ha_value_decode(buf_str(&text), text.len_bytes, &value, err))
		return -1;
	print_value(cli, &value);
	ha_value_release(&value);
	return 0;
}

static int inspect_map(const struct cli *cli, struct input *in, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	cleanup_ha_maps struct ha_maps maps = {0};

	if (inspect_read_all(in, HA_MAPS_MAX_BYTES, &text, err) ||
	    ha_maps_parse(&maps, buf_str(&text), text.len_bytes, err))
		return -1;
	if (cli_has(cli, "json"))
		print_doc(cli, inspect_map_document(&maps));
	else
		inspect_map_print(&maps, cli->out);
	return 0;
}

static int inspect_copy(const struct cli *cli, struct input *in, struct err *err)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct journal_copy *copy = NULL;

	if (inspect_read_all(in, JOURNAL_COPY_MAX_BYTES, &text, err) ||
	    journal_copy_decode(buf_str(&text), text.len_bytes, &copy, err))
		return -1;
	if (cli_has(cli, "json"))
		print_doc(cli, inspect_copy_document(copy));
	else
		inspect_copy_print(copy, cli->out);
	journal_copy_free(copy);
	return 0;
}

static int inspect_checkpoint(const struct cli *cli, struct source *src, struct err *err)
{
	struct completed_checkpoint cp;

	if (completed_checkpoint_parse(src, &cp, err))
		return -1;
	if (cli_has(cli, "json")) {
		struct json *doc = json_object();

		json_add_str(doc, "kind", "completed-checkpoint");
		json_add_i64(doc, "checkpointId", cp.checkpoint_id);
		json_add_str(doc, "jobId", cp.job_id[0] ? cp.job_id : NULL);
		json_add_i64(doc, "timestampUnixMs", cp.timestamp_unix_ms);
		json_add_i64(doc, "completedUnixMs", cp.completed_unix_ms);
		json_add_str(doc, "externalPointer", cp.external_pointer);
		print_doc(cli, doc);
	} else {
		out_put(cli->out, "completed checkpoint %" PRId64 "\njob        %s\n",
			cp.checkpoint_id, cp.job_id[0] ? cp.job_id : "unknown");
		out_put(cli->out,
			"triggered  %" PRId64 " (unix ms%s)\ncompleted  %" PRId64 "\npath       ",
			cp.timestamp_unix_ms,
			cp.timestamp_unix_ms ? "" : ": the job was restored from it",
			cp.completed_unix_ms);
		out_put(cli->out, "%s\n", cp.external_pointer);
	}
	completed_checkpoint_release(&cp);
	return 0;
}

static int inspect(const struct cli *cli, struct input *in, enum kind kind, struct err *err)
{
	int64_t total = in->stream ? store_read_size(in->stream) : -1;
	struct source *src;
	int rc;

	if (kind == KIND_UNKNOWN)
		return err_set(
			err, ERR_FORMAT, 0,
			"unknown kind of file: neither _metadata, high-availability value, high-availability map, CompletedCheckpoint nor copy of a journal; if it is damaged, name its kind with --kind");
	if (kind == KIND_HA_VALUE)
		return inspect_value(cli, in, err);
	if (kind == KIND_JOURNAL_COPY)
		return inspect_copy(cli, in, err);
	if (kind == KIND_HA_MAP)
		return inspect_map(cli, in, err);
	src = source_new(read_input, in, total);
	if (kind == KIND_METADATA)
		rc = inspect_metadata(cli, src, err);
	else if (kind == KIND_HA_HANDLE)
		rc = inspect_handle(cli, src, err);
	else
		rc = inspect_checkpoint(cli, src, err);
	source_free(src);
	return rc;
}

/* The maps that the API server has now. */
static int run_live(const struct cli *cli)
{
	cleanup_free char *held = NULL;
	cleanup_ha_maps struct ha_maps maps = {0};
	struct err err = {0};

	if (cli->args[0] || cli_has(cli, "kind"))
		return cli_fail(cli, CLI_USAGE, "--ha takes neither FILE nor --kind");
	if (inspect_live_read(cli, &maps, &held, &err))
		return cli_fail(cli, err.kind == ERR_CONFIG ? CLI_USAGE : EXIT_UNREADABLE,
				"Flink's high-availability maps: %s", err.msg);
	if (cli_has(cli, "json")) {
		struct json *doc = inspect_map_document(&maps);

		json_add_str(doc, "lockHeld", held);
		print_doc(cli, doc);
	} else {
		inspect_map_print(&maps, cli->out);
		out_put(cli->out, "\nleader lock: %s\n", held ? held : "free");
	}
	return CLI_OK;
}

static int inspect_run(const struct cli *cli)
{
	const char *name = cli->args[0], *wanted = cli_value(cli, "kind");
	struct input in = {0};
	struct err err = {0};
	int status = CLI_OK;

	if (cli_has(cli, "ha"))
		return run_live(cli);
	if (!name)
		return cli_fail(cli, CLI_USAGE,
				"FILE is missing; pass a file, - for standard input, or --ha");
	if (wanted && kind_of_name(&in, wanted) == KIND_UNKNOWN)
		return cli_fail(
			cli, CLI_USAGE,
			"--kind %s: expected metadata, ha-value, ha-map, completed-checkpoint or journal-copy",
			wanted);
	if (open_input(&in, name, &err))
		status = cli_fail(cli, err.kind == ERR_CONFIG ? CLI_USAGE : EXIT_UNREADABLE, "%s",
				  err.msg);
	else if (inspect(cli, &in, wanted ? kind_of_name(&in, wanted) : kind_of_bytes(&in), &err))
		status = cli_fail(cli, err.kind == ERR_FORMAT ? EXIT_UNDECODABLE : EXIT_UNREADABLE,
				  "%s: %s", name, err.msg);
	close_input(&in);
	return status;
}

static const struct cli_option options[] = {
	{"kind", 'k', "KIND",
	 "metadata, ha-value, ha-map, completed-checkpoint or\njournal-copy; by default detected from the first bytes",
	 false},
	{"ha", 0, NULL, "read Flink's high-availability maps from the API server", false},
	CLI_CONFIG,
	CLI_JSON,
	CLI_END,
};

const struct cli_command cmd_inspect = {
	.name = "inspect",
	.arguments = "[FILE|-]",
	.min_args = 0,
	.max_args = 1,
	.summary = "decode a Flink file",
	.description =
		"FILE is a path, a URI, the directory of a snapshot, or - for standard input. It can be\n"
		"of five kinds: the _metadata of a checkpoint or savepoint; Flink's high-availability\n"
		"ConfigMaps as kubectl prints them (JSON, YAML); one value of such a ConfigMap (Base64);\n"
		"a completedCheckpoint file of the high-availability storage; or the copy of a journal\n"
		"that drey keeps beside the checkpoints. With --ha it reads the maps of the application\n"
		"in drey.yaml from the API server. Changes nothing.\n",
	.options = options,
	.statuses = "0  printed\n"
		    "1  the input is damaged or of an unknown kind\n"
		    "2  wrong usage or configuration, or a kind of storage that is not supported\n"
		    "4  the file, or some of the maps, could not be read\n",
	.example =
		"kubectl get cm my-job-...-config-map -o jsonpath='{.data.checkpointID-...}' |\n"
		"    drey inspect --json -\n"
		"kubectl get cm -l app=my-job,type=flink-native-kubernetes -o yaml | drey inspect -\n"
		"drey inspect --ha --config drey.yaml\n",
	.run = inspect_run,
};
