/*
 * kube_driver - the Kubernetes room of drey on the command line, for tests/api/test_client.sh.
 *
 *   kube_driver KUBECONFIG|pod:DIR [NAMESPACE]    reads commands, one a line, and answers each with a line of JSON
 *
 *     get NAME | create NAME KEY VALUE | set NAME KEY VALUE    read; create; read and patch
 *     cas NAME VERSION KEY VALUE     patch what is not as it was read
 *     patch NAME JSON                merge patch
 *     delete NAME [UID]              list [SELECTOR]
 *     call METHOD PATH [TYPE JSON]     anything
 *     append NAME KEY WORD...        each word behind the value, by compare-and-swap, exactly once
 *     gets N NAME%d...               N reads in a row
 *     many N NAME%d...               the same, several at a time
 *     timeout MS                     of the following `call`
 *   kube_driver watch KUBECONFIG|pod:DIR COLLECTION NAME STALL_MS    "changed" for each wake-up until a line comes;
 *                                    then how long it took to end
 *
 * pod:DIR is a pod whose service account is in DIR. KEY and VALUE are one word. Exit status: 0, 2 usage or configuration.
 */
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "kube/configmap.h"
#include "kube/kube_find.h"
#include "kube/kube_watch.h"

#define WORDS 64

struct run {
	struct kube *kube;
	char *word[WORDS];
	int words;
	int64_t timeout_ms;
	struct kube_answer answer;
	struct configmap map;
	struct err err;
	struct json *said; /* what is printed */
};

static int load(const char *from, struct kube_target *config, struct err *err)
{
	struct kube_world world = {.get = getenv, .service_account_dir = KUBE_SERVICE_ACCOUNT_DIR};

	if (strncmp(from, "pod:", 4) != 0)
		return kube_find(&world, from, config, err);
	world.service_account_dir = from + 4;
	return kube_find(&world, NULL, config, err);
}

static const char *arg(const struct run *run, int i)
{
	return i < run->words ? run->word[i] : "";
}

/* ---- commands; each gives the 0 or -1 of the call ---- */

static int get(struct run *run)
{
	configmap_release(&run->map);
	return configmap_get(run->kube, arg(run, 1), &run->map, &run->answer, &run->err);
}

static int create(struct run *run)
{
	struct configmap made = {0};
	int rc;

	configmap_release(&run->map);
	run->map.name = xstrdup(arg(run, 1));
	run->map.data = json_object();
	json_add_str(run->map.data, arg(run, 2), arg(run, 3));
	rc = configmap_create(run->kube, &run->map, &made, &run->answer, &run->err);
	configmap_release(&run->map);
	run->map = made;
	return rc;
}

/* Put the value into the map that was read, if it is still of that version. */
static int put_back(struct run *run, const char *version, const char *key, const char *value)
{
	cleanup_json struct json *body = json_object();
	cleanup_free char *name = xstrdup(run->map.name);
	struct configmap now = {0};

	json_add_str(json_add_object(body, "metadata"), "resourceVersion", version);
	json_add_str(json_add_object(body, "data"), key, value);
	if (configmap_patch(run->kube, name, body, &now, &run->answer, &run->err))
		return -1;
	configmap_release(&run->map);
	run->map = now;
	return 0;
}

static int set(struct run *run)
{
	if (get(run))
		return -1;
	return put_back(run, run->map.resource_version, arg(run, 2), arg(run, 3));
}

static int cas(struct run *run)
{
	if (get(run))
		return -1;
	return put_back(run, arg(run, 2), arg(run, 3), arg(run, 4));
}

static int patch(struct run *run)
{
	const char *text = arg(run, 2);
	cleanup_json struct json *body = json_parse(text, strlen(text), 8u << 20, &run->err);
	struct configmap now = {0};

	if (!body || configmap_patch(run->kube, arg(run, 1), body, &now, &run->answer, &run->err))
		return -1;
	configmap_release(&run->map);
	run->map = now;
	return 0;
}

static int delete (struct run *run)
{
	return configmap_delete(run->kube, arg(run, 1), run->words > 2 ? arg(run, 2) : NULL, NULL,
				&run->answer, &run->err);
}

static int list_one(void *ctx, const struct configmap *map, struct err *err)
{
	(void)err;
	json_add_str(ctx, NULL, map->name);
	return 0;
}

static int list(struct run *run)
{
	return configmap_list(run->kube, run->words > 1 ? arg(run, 1) : NULL, list_one,
			      json_add_array(run->said, "names"), &run->err);
}

static int call(struct run *run)
{
	cleanup_json struct json *body = NULL;
	struct kube_request request = {
		.method = arg(run, 1), .path = arg(run, 2), .timeout_ms = run->timeout_ms};

	if (run->words > 4) {
		request.content_type = arg(run, 3);
		body = json_parse(arg(run, 4), strlen(arg(run, 4)), 8u << 20, &run->err);
		request.body = body;
		request.repeatable = !strcmp(request.content_type, KUBE_APPLY_PATCH);
	}
	return kube_do(run->kube, &request, &run->answer, &run->err);
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (text = text ? text : ""; *text; text += strcspn(text, ","), text += *text == ',')
		if (strcspn(text, ",") == len && !strncmp(text, word, len))
			return true;
	return false;
}

/* As the journal does it: a conflict, or an outcome that is not known, is settled by reading. */
static int append_word(struct run *run, const char *word, int *conflicts, int *unknown)
{
	const char *key = arg(run, 2);

	for (int tries = 0; tries < 1000; tries++) {
		cleanup_free char *value = NULL;
		const char *old;

		run->err = (struct err){0};
		if (get(run)) {
			/* a server denies everything for a moment after its start */
			if (run->err.kind != ERR_RETRY && run->err.kind != ERR_FORMAT &&
			    run->err.kind != ERR_DENIED)
				return -1;
			usleep(100000);
			continue;
		}
		old = configmap_value(&run->map, key);
		if (has_word(old, word))
			return 0;
		value = xasprintf("%s%s%s", old ? old : "", old && *old ? "," : "", word);
		if (put_back(run, run->map.resource_version, key, value) == 0)
			return 0;
		*conflicts += run->err.kind == ERR_BUSY;
		*unknown += run->answer.maybe_done;
		if (run->err.kind != ERR_BUSY && run->err.kind != ERR_RETRY &&
		    run->err.kind != ERR_FORMAT && run->err.kind != ERR_DENIED)
			return -1;
		usleep((unsigned)(rand() % 20000));
	}
	return err_set(&run->err, ERR_RETRY, 0, "'%s' was not written in 1000 tries", word);
}

static int append(struct run *run)
{
	int conflicts = 0, unknown = 0, rc = 0;

	for (int i = 3; i < run->words && !rc; i++)
		rc = append_word(run, run->word[i], &conflicts, &unknown);
	json_add_i64(run->said, "conflicts", conflicts);
	json_add_i64(run->said, "unknown", unknown);
	return rc;
}

static int gets(struct run *run)
{
	int count = atoi(arg(run, 1)), found = 0;

	for (int i = 0; i < count; i++) {
		struct configmap map = {0};
		cleanup_free char *name = xasprintf("%s%d", arg(run, 2), i);
		int rc = configmap_get(run->kube, name, &map, &run->answer, &run->err);

		configmap_release(&map);
		if (rc && run->err.kind != ERR_ABSENT)
			return -1;
		found += !rc;
	}
	run->err = (struct err){0};
	json_add_i64(run->said, "found", found);
	return 0;
}

static int found_one(void *ctx, size_t index, struct configmap *map, const struct err *why,
		     struct err *err)
{
	(void)index;
	if (!map && why->kind != ERR_ABSENT) {
		*err = *why;
		return -1;
	}
	*(int *)ctx += map ? 1 : 0;
	return 0;
}

static int many(struct run *run)
{
	int count = atoi(arg(run, 1)), found = 0, rc;
	char **names = xcalloc((size_t)count + 1, sizeof(*names));

	for (int i = 0; i < count; i++)
		names[i] = xasprintf("%s%d", arg(run, 2), i);
	rc = configmap_get_many(run->kube, (const char *const *)names, (size_t)count, found_one,
				&found, &run->err);
	json_add_i64(run->said, "found", found);
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
	return rc;
}

static int timeout(struct run *run)
{
	run->timeout_ms = atoll(arg(run, 1));
	return 0;
}

/* ---- lines ---- */

static const struct {
	const char *name;
	int (*run)(struct run *run);
	bool map; /* run->map is of interest */
} commands[] = {
	{"get", get, true},    {"create", create, true}, {"set", set, true},
	{"cas", cas, true},    {"patch", patch, true},   {"delete", delete, false},
	{"list", list, false}, {"call", call, false},    {"append", append, true},
	{"gets", gets, false}, {"many", many, false},    {"timeout", timeout, false},
};

/* The fifth word of `call` and the third of `patch` may have blanks in it. */
static void split(struct run *run, char *line)
{
	run->words = 0;
	line[strcspn(line, "\n")] = '\0';
	while (*(line += strspn(line, " ")) && run->words < WORDS) {
		run->word[run->words++] = line;
		if (*line == '{' || *line == '[')
			break;
		line += strcspn(line, " ");
		if (*line)
			*line++ = '\0';
	}
}

static void say(struct run *run, bool map, int rc, int64_t took_ms)
{
	struct json *said = run->said;
	struct buf line = BUF_INIT;

	json_add_i64(said, "rc", rc);
	json_add_str(said, "kind", rc ? err_kind_name(run->err.kind) : "ok");
	if (rc)
		json_add_str(said, "error", run->err.msg);
	json_add_i64(said, "status", run->answer.status);
	json_add_str(said, "reason", run->answer.reason);
	json_add_bool(said, "maybeDone", run->answer.maybe_done);
	json_add_bool(said, "pathUnknown", run->answer.path_unknown);
	json_add_i64(said, "retryAfterMs", run->answer.retry_after_ms);
	json_add_i64(said, "tookMs", took_ms);
	if (!rc && map) {
		json_add_str(said, "uid", run->map.uid);
		json_add_str(said, "version", run->map.resource_version);
		json_add(said, "data", json_copy(run->map.data));
	} else if (run->answer.object) {
		json_add(said, "object", json_copy(run->answer.object));
	}
	json_print(said, &line);
	puts(buf_str(&line));
	fflush(stdout);
	buf_release(&line);
}

static void run_line(struct run *run, char *line)
{
	int64_t begin_ms = clock_mono_ms();
	size_t i = 0;

	split(run, line);
	if (!run->words)
		return;
	run->said = json_object();
	run->err = (struct err){0};
	kube_answer_release(&run->answer);
	while (i < ARRAY_LEN(commands) && strcmp(commands[i].name, run->word[0]) != 0)
		i++;
	if (i < ARRAY_LEN(commands)) {
		int rc = commands[i].run(run);

		say(run, commands[i].map, rc, clock_mono_ms() - begin_ms);
	} else {
		puts("{\"kind\":\"usage\"}");
		fflush(stdout);
	}
	json_free(run->said);
}

static int serve(const struct kube_target *config)
{
	struct run run = {0};
	struct err err = {0};
	char *line = NULL;
	size_t size = 0;

	run.kube = kube_new(config, &err);
	if (!run.kube) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	while (getline(&line, &size, stdin) > 0)
		run_line(&run, line);
	free(line);
	kube_answer_release(&run.answer);
	configmap_release(&run.map);
	kube_free(run.kube);
	return 0;
}

/* ---- watch ---- */

static void on_change(void *ctx)
{
	(void)ctx;
	puts("changed");
	fflush(stdout);
}

static void on_input(void *ctx, int fd, unsigned events)
{
	(void)fd;
	(void)events;
	loop_stop(ctx);
}

static int watch(const struct kube_target *config, char **argv)
{
	struct kube_watch_target target = {
		.collection = argv[0], .name = argv[1], .stall_ms = atoll(argv[2])};
	struct kube_watch_counts counts;
	struct err err = {0};
	struct loop *loop = loop_new(&err);
	struct loop_fd *input = loop_fd_new(loop, 0, LOOP_READ, on_input, loop, &err);
	struct kube_client *client = kube_client_new(config, &err);
	struct kube_watches *watches = client ? kube_watches_new(client, loop) : NULL;
	struct kube_watch *one =
		watches ? kube_watch_new(watches, &target, on_change, NULL, &err) : NULL;
	int64_t begin_ms;

	if (!one || !input || loop_run(loop, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	counts = kube_watch_counts(one);
	begin_ms = clock_mono_ms();
	kube_watch_free(one);
	kube_watches_free(watches);
	kube_client_free(client);
	printf("{\"endMs\":%lld,\"lists\":%d,\"watches\":%d,\"events\":%d,\"failures\":%d}\n",
	       (long long)(clock_mono_ms() - begin_ms), counts.lists, counts.watches, counts.events,
	       counts.failures);
	loop_fd_free(input);
	loop_free(loop);
	return 0;
}

int main(int argc, char **argv)
{
	bool is_watch = argc == 6 && !strcmp(argv[1], "watch");
	cleanup_kube_target struct kube_target config = {0};
	struct err err = {0};

	if (!is_watch && argc != 2 && argc != 3) {
		fprintf(stderr, "see the head of tests/api/kube_driver.c\n");
		return 2;
	}
	if (load(argv[is_watch ? 2 : 1], &config, &err)) {
		fprintf(stderr, "%s\n", err.msg);
		return 2;
	}
	if (argc == 3)
		xstrset(&config.namespace, argv[2]);
	srand((unsigned)getpid());
	return is_watch ? watch(&config, argv + 3) : serve(&config);
}
