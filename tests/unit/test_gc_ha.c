/* What Flink's HA keeps, and whose it is: real content, and an API server that says what it is told to. */
#include "run/gc/gc_ha.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "core/job_id.h"
#include "ha_writer.h"
#include "kube/kube_client.h"
#include "kube_stub.h"
#include "store_dir.h"

#define CLUSTER "orders-cluster-config-map"
#define LABELS  "{\"app\":\"orders\",\"type\":\"flink-native-kubernetes\"}"
#define MAP(name, data)                                                                            \
	"{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"" name             \
	"\",\"uid\":\"u-1\",\"resourceVersion\":\"7\",\"labels\":" LABELS "},\"data\":{" data "}}"
#define LIST(maps)                                                                                 \
	"{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"     \
	"\"9\"},\"items\":[" maps "]}"
#define NO_MAP(name)                                                                               \
	{                                                                                          \
		.of = name, .status = 404,                                                         \
		.body = KUBE_STATUS(404, "NotFound", "not found",                                  \
				    "\"name\":\"" name "\",\"kind\":\"configmaps\"")               \
	}

#define DEAD                                                                                       \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01" /* of tests/fixtures/metadata/completed-checkpoint */
#define GRAPH "4d62d4542043097dd3d99742b9cee249" /* submitted-job-graph */
#define PLAN  "31c24aa1992a79c667399dac2ab24fbe" /* submitted-execution-plan */
#define LAST  "cccccccccccccccccccccccccccccccc"

#define CHECKPOINT "completedCheckpoint0123456789ab"
#define JOB_GRAPH  "submittedJobGraph0123456789ab"
#define EXEC_PLAN  "submittedExecutionPlan0123456789ab"

struct world {
	struct kube_stub stub;
	struct setup setup;
	struct journal journal;
	struct gc gc;
	char *top;
};

static void add_launch(struct world *w, const char *job_id, const char *cluster_id)
{
	struct launch *launch = journal_add_launch(&w->journal);

	memcpy(launch->job_id, job_id, JOB_ID_BYTES);
	launch->ha_cluster_id = xstrdup(cluster_id);
}

static void put_fixture(struct world *w, const char *name, const char *fixture)
{
	cleanup_free char *path = xasprintf("ha/orders/%s", name);
	cleanup_buf struct buf bytes = BUF_INIT;

	ha_read(fixture, &bytes);
	dir_put(w->top, path, bytes.data, bytes.len_bytes);
}

static void begin(struct world *w)
{
	memset(w, 0, sizeof(*w));
	kube_stub_start(&w->stub);
	w->top = dir_new();
	w->setup.settings.ha_storage_dir = xasprintf("%s/ha", w->top);
	w->setup.settings.ha_cluster_id = "/orders";
	w->setup.settings.kubernetes_cluster_id = "orders";
	w->setup.kube.on = true;
	w->setup.kube.client = kube_client_new(&w->stub.config, NULL);
	journal_init(&w->journal, "app");
	add_launch(w, DEAD, "orders");
	add_launch(w, GRAPH, "orders");
	add_launch(w, PLAN, "orders");
	add_launch(w, LAST, "orders");
	put_fixture(w, CHECKPOINT, "completed-checkpoint");
	put_fixture(w, JOB_GRAPH, "submitted-job-graph");
	put_fixture(w, EXEC_PLAN, "submitted-execution-plan");
	KUBE_SAY(&w->stub, NO_MAP(CLUSTER), {.body = LIST("")});
}

static void end(struct world *w)
{
	gc_release(&w->gc);
	journal_release(&w->journal);
	kube_client_free(w->setup.kube.client);
	kube_stub_stop(&w->stub);
	free((char *)w->setup.settings.ha_storage_dir);
	dir_removep(&w->top);
}

#define HA_TEST(name) TEST_WITH(name, struct world, w, begin, end)

static void look(struct world *w)
{
	gc_ha_read(&(struct gc_ha_ask){.setup = &w->setup, .journal = &w->journal}, &w->gc);
}

/* The job of the tree that has this file. */
static const char *job_of(const struct world *w, const char *name)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t t = 0; t < w->gc.tree_count; t++)
		for (size_t i = 0; i < w->gc.trees[t].count; i++) {
			const struct gc_tree *tree = &w->gc.trees[t];

			if (strcmp(gc_name(&w->gc, &w->gc.files[tree->first + i], &text), name) !=
			    0)
				continue;
			CHECK_INT(tree->kind, ==, GC_TREE_HA);
			CHECK_HAS(tree->dir, "/ha/orders");
			return tree->job_id;
		}
	return "not there";
}

static void nobody_is_known(struct world *w)
{
	look(w);
	CHECK(!w->gc.unreadable);
	CHECK_STR(job_of(w, CHECKPOINT), "");
	CHECK_STR(job_of(w, JOB_GRAPH), "");
	CHECK_STR(job_of(w, EXEC_PLAN), "");
}

HA_TEST(the_content_tells_the_job)
{
	look(w);
	CHECK(!w->gc.unreadable);
	CHECK_STR(job_of(w, CHECKPOINT), DEAD);
	CHECK_STR(job_of(w, JOB_GRAPH), GRAPH);
	CHECK_STR(job_of(w, EXEC_PLAN), PLAN);
	CHECK(!gc_is_referred(&w->gc, CHECKPOINT));
	CHECK_INT(kube_stub_asked(&w->stub), ==, 2);
}

HA_TEST(what_a_map_names_is_referred_to)
{
	cleanup_buf struct buf value = BUF_INIT;
	cleanup_free char *list = NULL;

	ha_value_write(&value, "s3://elsewhere/ha/orders/" CHECKPOINT, 10, false);
	list = xasprintf(LIST(MAP("orders-" DEAD "-config-map",
				  "\"checkpointID-0000000000000000003\":\"%s\"")),
			 buf_str(&value));
	KUBE_SAY(&w->stub, NO_MAP(CLUSTER), {.body = list});
	look(w);
	CHECK(gc_is_referred(&w->gc, CHECKPOINT));
	CHECK_STR(job_of(w, CHECKPOINT), "");
	CHECK_STR(job_of(w, JOB_GRAPH), GRAPH);
}

HA_TEST(so_is_what_is_marked_for_deletion)
{
	cleanup_buf struct buf value = BUF_INIT;
	cleanup_free char *map = NULL;

	ha_value_write(&value, "file:/ha/orders/" JOB_GRAPH, 10, true);
	map = xasprintf(MAP(CLUSTER, "\"jobGraph-" GRAPH "\":\"%s\""), buf_str(&value));
	KUBE_SAY(&w->stub, {.of = CLUSTER, .body = map}, {.body = LIST("")});
	look(w);
	CHECK(gc_is_referred(&w->gc, JOB_GRAPH));
	CHECK_STR(job_of(w, CHECKPOINT), DEAD);
}

HA_TEST(a_map_that_cannot_be_read_could_name_anything)
{
	KUBE_SAY(&w->stub, NO_MAP(CLUSTER),
		 {.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")});
	nobody_is_known(w);
}

HA_TEST(so_could_the_map_of_the_cluster)
{
	KUBE_SAY(&w->stub,
		 {.of = CLUSTER, .status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")},
		 {.body = LIST("")});
	nobody_is_known(w);
}

HA_TEST(and_an_entry_that_cannot_be_decoded)
{
	KUBE_SAY(&w->stub, {.of = CLUSTER, .body = MAP(CLUSTER, "\"executionPlan-x\":\"x\"")},
		 {.body = LIST("")});
	nobody_is_known(w);
}

HA_TEST(without_an_api_server_nobody_is_known)
{
	w->setup.kube.on = false;
	nobody_is_known(w);
	CHECK_INT(kube_stub_asked(&w->stub), ==, 0);
}

HA_TEST(a_launch_under_another_cluster_id_had_other_maps)
{
	xstrset(&w->journal.launches[0].ha_cluster_id, "orders-green");
	xstrset(&w->journal.launches[1].ha_cluster_id, NULL); /* not known */
	look(w);
	CHECK_STR(job_of(w, CHECKPOINT), "");
	CHECK_STR(job_of(w, JOB_GRAPH), "");
	CHECK_STR(job_of(w, EXEC_PLAN), PLAN);
}

/* The Role names the maps of numbered job ids, and no others. */
HA_TEST(a_map_that_was_not_looked_for_could_name_its_file)
{
	char *names[2], *bodies[2], job_id[JOB_ID_BYTES];

	w->setup.places.id_space = "team-a/orders/";
	w->setup.places.id_count = 2;
	for (int i = 0; i < 2; i++) {
		job_id_name(w->setup.places.id_space, i, job_id);
		names[i] = xasprintf("orders-%s-config-map", job_id);
		bodies[i] = xasprintf(KUBE_STATUS(404, "NotFound", "not found",
						  "\"name\":\"%s\",\"kind\":\"configmaps\""),
				      names[i]);
	}
	KUBE_SAY(&w->stub, NO_MAP(CLUSTER), {.of = names[0], .status = 404, .body = bodies[0]},
		 {.of = names[1], .status = 404, .body = bodies[1]});
	nobody_is_known(w);
	CHECK_INT(kube_stub_asked(&w->stub), ==, 3);
	for (int i = 0; i < 2; i++) {
		free(names[i]);
		free(bodies[i]);
	}
}

HA_TEST(only_files_of_flink_are_listed)
{
	static const char *const others[] = {
		"completedCheckpoint0123456789a",       "completedCheckpoint0123456789abc",
		"completedCheckpoint0123456789aX",      "submitted0123456789ab",
		"completedCheckpoint0123456789ab.tmp",  "xcompletedCheckpoint0123456789ab",
		"blob/completedCheckpoint0123456789ab",
	};

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		put_fixture(w, others[i], "completed-checkpoint");
	put_fixture(w, "submittedApplication0123456789ab", "completed-checkpoint");
	put_fixture(w, "submittedJobGraphffffffffffff", "completed-checkpoint");
	put_fixture(w, "completedCheckpointffffffffffff", "ha-value");
	look(w);
	CHECK_INT(w->gc.file_count, ==, 6);
	CHECK_STR(job_of(w, "submittedApplication0123456789ab"), "");
	CHECK_STR(job_of(w, "submittedJobGraphffffffffffff"), "");
	CHECK_STR(job_of(w, "completedCheckpointffffffffffff"), "");
	CHECK_STR(job_of(w, CHECKPOINT), DEAD);
}

HA_TEST(nobody_is_asked_where_there_is_nothing)
{
	w->setup.settings.ha_cluster_id = "nothing";
	look(w);
	CHECK(!w->gc.unreadable);
	CHECK_INT(w->gc.tree_count, ==, 0);
	CHECK_INT(kube_stub_asked(&w->stub), ==, 0);
}

HA_TEST(a_directory_that_cannot_be_listed_is_not_empty)
{
	cleanup_free char *loop = xasprintf("%s/ha/loop", w->top);

	CHECK_INT(symlink("loop", loop), ==, 0);
	w->setup.settings.ha_cluster_id = "loop";
	look(w);
	CHECK_HAS(w->gc.unreadable, "cannot be read");
}

static int interrupted(void *ctx, const char *what, size_t done)
{
	(void)ctx;
	(void)what;
	return done == 1 ? -1 : 0;
}

HA_TEST(it_ends_when_it_is_told_to)
{
	gc_ha_read(&(struct gc_ha_ask){.setup = &w->setup,
				       .journal = &w->journal,
				       .progress = interrupted},
		   &w->gc);
	CHECK_STR(w->gc.unreadable, "it was interrupted");
}
