#include "kube/configmap.h"

#include "kube_stub.h"
#include "tap.h"

#define KUBE_TEST(name) TEST_WITH(name, struct kube_stub, stub, kube_stub_start, kube_stub_stop)

KUBE_TEST(a_map_is_read_whole)
{
	struct configmap map = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.body = KUBE_MAP("m", "7", "\"k\":\"v\"")});
	CHECK_INT(configmap_get(stub->kube, "m", &map, NULL, &err), ==, 0);
	CHECK_STR(stub->asked[0], "GET /api/v1/namespaces/team-a/configmaps/m");
	CHECK_STR(map.name, "m");
	CHECK_STR(map.uid, "u-1");
	CHECK_STR(map.resource_version, "7");
	CHECK_STR(configmap_value(&map, "k"), "v");
	CHECK(!configmap_value(&map, "other"));
	CHECK_STR(json_str(map.labels, "app"), "x");
	CHECK(!map.annotations && !map.owners && !map.deleting && !map.immutable);
	CHECK_INT(map.created_unix_ms, ==, INT64_C(1772366400000));
	configmap_release(&map);
}

KUBE_TEST(only_a_404_of_the_map_is_absence)
{
	static const enum err_kind kinds[] = {ERR_ABSENT, ERR_CONFIG, ERR_CONFIG, ERR_FORMAT,
					      ERR_FORMAT, ERR_FORMAT, ERR_FORMAT, ERR_FORMAT,
					      ERR_FORMAT, ERR_FORMAT};
	struct configmap map = {0};

	KUBE_SAY(stub,
		 {.status = 404,
		  .body = KUBE_STATUS(404, "NotFound", "configmaps \\\"m\\\" not found",
				      "\"name\":\"m\",\"kind\":\"configmaps\"")},
		 {.status = 404, .body = "404 page not found\n"},
		 {.status = 404, .body = KUBE_STATUS(404, "NotFound", "no", "")},
		 {.status = 404, .body = "{}"}, {.status = 404, .body = "no route"},
		 {.status = 404, .body = KUBE_NOT_FOUND("configmaps", "another")},
		 {.status = 404, .body = KUBE_NOT_FOUND("secrets", "m")},
		 {.status = 404, .body = KUBE_NOT_FOUND("configmaps", "team-a")},
		 {.status = 404, .body = KUBE_NOT_FOUND("configmaps", "")},
		 {.status = 404, .body = KUBE_STATUS(404, "NotFound", "no", "\"name\":\"m\"")});
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
		struct kube_answer answer = {0};
		struct err err = {0};

		CHECK_INT(configmap_get(stub->kube, "m", &map, &answer, &err), ==, -1);
		CHECK_INT(err.kind, ==, kinds[i]);
		CHECK_INT(answer.path_unknown, ==, kinds[i] == ERR_CONFIG);
		CHECK_HAS(err.msg, i == 0                   ? "configmaps \"m\" not found"
				   : kinds[i] == ERR_CONFIG ? "does not have this path"
							    : "HTTP 404");
		kube_answer_release(&answer);
	}
	CHECK_INT(kube_stub_asked(stub), ==, 10);
}

TEST(an_answer_that_is_not_the_map_is_refused)
{
	static const char *const bodies[] = {
		KUBE_MAP("another", "7", ""),
		"{\"kind\":\"Secret\",\"metadata\":{\"name\":\"m\"}}",
		"{\"kind\":\"ConfigMap\"}",
		"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\",\"uid\":\"u\"}}",
		"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\",\"uid\":\"u\","
		"\"resourceVersion\":\"1\"},\"data\":{\"k\":1}}",
		"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m\",\"uid\":\"u\","
		"\"resourceVersion\":\"1\"},\"data\":[]}",
		"{\"kind\":\"ConfigMap\",\"metadata\":{\"name\":",
		"[]",
		"",
		"<html>hello</html>",
		KUBE_NOT_FOUND("configmaps", "m"),
	};

	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct kube_stub stub;
		struct configmap map = {0};
		struct err err = {0};

		kube_stub_start(&stub);
		KUBE_SAY(&stub, {.body = bodies[i]});
		CHECK_INT(configmap_get(stub.kube, "m", &map, NULL, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_HAS(err.msg, "configmaps/m");
		kube_stub_stop(&stub);
	}
}

KUBE_TEST(a_name_that_could_lead_elsewhere_is_refused)
{
	static const char *const names[] = {"",    "a/b",  "..", "a..b", "A",
					    "a?b", "a%2f", "-a", ".a",   "a b"};
	struct configmap map = {0};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		struct err err = {0};

		CHECK_INT(configmap_get(stub->kube, names[i], &map, NULL, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
	}
	CHECK_INT(kube_stub_asked(stub), ==, 0);
}

KUBE_TEST(a_map_is_created)
{
	struct configmap map = {.name = (char *)"m"}, made = {0};
	struct kube_answer answer = {0};
	struct err err = {0};

	map.data = json_object();
	json_add_str(map.data, "k", "v");
	map.resource_version = (char *)"stale";
	KUBE_SAY(stub, {.status = 201, .body = KUBE_MAP("m", "1", "\"k\":\"v\"")},
		 {.status = 409,
		  .body = KUBE_STATUS(409, "AlreadyExists", "there", "\"name\":\"m\"")});
	CHECK_INT(configmap_create(stub->kube, &map, &made, NULL, &err), ==, 0);
	CHECK_STR(stub->asked[0], "POST /api/v1/namespaces/team-a/configmaps");
	CHECK_STR(stub->bodies[0],
		  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
		  "\"name\":\"m\",\"namespace\":\"team-a\"},\"data\":{\"k\":\"v\"}}");
	CHECK_STR(made.resource_version, "1");
	CHECK_INT(configmap_create(stub->kube, &map, NULL, &answer, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_STR(answer.reason, "AlreadyExists");
	CHECK(!answer.object && !answer.maybe_done);
	configmap_release(&made);
	json_free(map.data);
	kube_answer_release(&answer);
}

KUBE_TEST(a_deletion_names_what_it_means)
{
	struct err err = {0};

	KUBE_SAY(stub,
		 {.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}"},
		 {.body = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}"},
		 {.status = 409,
		  .body = KUBE_STATUS(409, "Conflict", "Precondition failed", "\"name\":\"m\"")});
	CHECK_INT(configmap_delete(stub->kube, "m", "u-1", "7", NULL, &err), ==, 0);
	CHECK_STR(stub->asked[0], "DELETE /api/v1/namespaces/team-a/configmaps/m");
	CHECK_HAS(stub->bodies[0], "\"preconditions\":{\"uid\":\"u-1\",\"resourceVersion\":\"7\"}");
	CHECK_INT(configmap_delete(stub->kube, "m", NULL, NULL, NULL, &err), ==, 0);
	CHECK(!strstr(stub->bodies[1], "preconditions"));
	CHECK_INT(configmap_delete(stub->kube, "m", "u-2", NULL, NULL, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
}

KUBE_TEST(a_patch_is_sent_again_only_when_that_is_harmless)
{
	struct json *patch = json_object();
	struct kube_answer answer = {0};
	struct err err = {0};

	json_add_str(json_add_object(patch, "data"), "k", "v");
	KUBE_SAY(stub, {.status = 500, .body = "busy"}, {.body = KUBE_MAP("m", "8", "\"k\":\"v\"")},
		 {.status = 500, .body = "busy"}, {.body = KUBE_MAP("m", "9", "\"k\":\"v\"")});
	CHECK_INT(configmap_patch(stub->kube, "m", patch, NULL, NULL, &err), ==, 0);
	CHECK_INT(kube_stub_asked(stub), ==, 2);
	CHECK_HAS(stub->heads[1], "Content-Type: application/merge-patch+json\r\n");
	CHECK_STR(stub->bodies[1], "{\"data\":{\"k\":\"v\"}}");
	json_add_str(json_add_object(patch, "metadata"), "resourceVersion", "8");
	CHECK_INT(configmap_patch(stub->kube, "m", patch, NULL, &answer, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK(answer.maybe_done);
	CHECK_INT(kube_stub_asked(stub), ==, 3);
	json_free(patch);
	kube_answer_release(&answer);
}

/* A journal is written once a minute: a connection of its own would be a TLS handshake each time. */
KUBE_TEST(a_patch_with_a_version_uses_the_connection_that_is_kept)
{
	struct json *patch = json_object();
	struct err err = {0};

	json_add_str(json_add_object(patch, "metadata"), "resourceVersion", "8");
	KUBE_SAY(stub, {.body = KUBE_MAP("m", "8", "")}, {.body = KUBE_MAP("m", "9", "")},
		 {.body = KUBE_MAP("m", "9", "")});
	CHECK_INT(configmap_get(stub->kube, "m", NULL, NULL, &err), ==, 0);
	CHECK_INT(configmap_patch(stub->kube, "m", patch, NULL, NULL, &err), ==, 0);
	CHECK_INT(configmap_get(stub->kube, "m", NULL, NULL, &err), ==, 0);
	CHECK_INT(http_stub_counts(stub->http).connections, ==, 1);
	json_free(patch);
}

/* ---- lists ---- */

#define ITEM(name) "{\"metadata\":{\"name\":\"" name "\",\"uid\":\"u\",\"resourceVersion\":\"1\"}}"
#define PAGE(more, items)                                                                          \
	"{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"     \
	"\"9\",\"continue\":\"" more "\"},\"items\":[" items "]}"

struct seen {
	char names[200];
	int count, fail_at;
};

static int see(void *ctx, const struct configmap *map, struct err *err)
{
	struct seen *seen = ctx;

	if (++seen->count == seen->fail_at)
		return err_set(err, ERR_SYS, 0, "enough");
	strcat(strcat(seen->names, map->name), " ");
	return 0;
}

KUBE_TEST(a_list_is_read_page_by_page)
{
	struct seen seen = {0};
	struct err err = {0};

	KUBE_SAY(stub, {.body = PAGE("a&b", ITEM("one") "," ITEM("two"))},
		 {.body = PAGE("", ITEM("three"))});
	CHECK_INT(configmap_list(stub->kube, "app=x,type=y", see, &seen, &err), ==, 0);
	CHECK_STR(seen.names, "one two three ");
	CHECK_STR(stub->asked[0],
		  "GET /api/v1/namespaces/team-a/configmaps?limit=100&labelSelector="
		  "app%3Dx%2Ctype%3Dy");
	CHECK_STR(stub->asked[1],
		  "GET /api/v1/namespaces/team-a/configmaps?limit=100&labelSelector="
		  "app%3Dx%2Ctype%3Dy&continue=a%26b");
}

TEST(a_broken_page_voids_the_list)
{
	static const struct kube_stub_says broken[] = {
		{.body = PAGE("", ITEM("three") ",{}")},
		{.body = PAGE("more", "")},
		{.body = "{\"kind\":\"ConfigMapList\",\"metadata\":{}}"},
		{.body = "{\"kind\":\"ConfigMapList\",\"items\":[]}"},
		{.body = "{\"kind\":\"PodList\",\"metadata\":{},\"items\":[]}"},
		{.body = PAGE("", ""), .cut_at_bytes = 20},
		{.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")},
	};

	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		struct kube_stub stub;
		struct seen seen = {0};
		struct err err = {0};

		kube_stub_start(&stub);
		KUBE_SAY(&stub, {.body = PAGE("c", ITEM("one"))}, broken[i]);
		CHECK_INT(configmap_list(stub.kube, NULL, see, &seen, &err), ==, -1);
		CHECK_INT(seen.count, ==, 0);
		CHECK_INT(err.kind, ==, i == 5 ? ERR_RETRY : i == 6 ? ERR_DENIED : ERR_FORMAT);
		kube_stub_stop(&stub);
	}
}

TEST(a_list_that_grew_too_old_is_begun_anew)
{
	static const char expired[] = KUBE_STATUS(410, "Expired", "too old", "");
	struct kube_stub stub;
	struct seen seen = {0};
	struct err err = {0};

	kube_stub_start(&stub);
	KUBE_SAY(&stub, {.body = PAGE("c", ITEM("one"))}, {.status = 410, .body = expired},
		 {.body = PAGE("", ITEM("two"))});
	CHECK_INT(configmap_list(stub.kube, NULL, see, &seen, &err), ==, 0);
	CHECK_STR(seen.names, "two ");
	kube_stub_stop(&stub);

	kube_stub_start(&stub);
	KUBE_SAY(&stub, {.status = 410, .body = expired});
	CHECK_INT(configmap_list(stub.kube, NULL, see, &seen, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	CHECK_INT(kube_stub_asked(&stub), ==, 3);
	kube_stub_stop(&stub);
}

TEST(a_page_that_is_too_large_is_asked_for_in_parts)
{
	struct kube_stub stub;
	struct seen seen = {0};
	struct err err = {0};
	char *large = xcalloc(1, KUBE_MAX_BYTES + 2);

	memset(large, ' ', KUBE_MAX_BYTES + 1);
	kube_stub_start(&stub);
	KUBE_SAY(&stub, {.body = large}, {.body = large}, {.body = PAGE("", ITEM("one"))});
	CHECK_INT(configmap_list(stub.kube, NULL, see, &seen, &err), ==, 0);
	CHECK_STR(seen.names, "one ");
	CHECK_HAS(stub.asked[1], "limit=25");
	CHECK_HAS(stub.asked[2], "limit=6");
	KUBE_SAY(&stub, {.body = large});
	CHECK_INT(configmap_list(stub.kube, NULL, see, &seen, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	kube_stub_stop(&stub);
	free(large);
}

KUBE_TEST(a_callback_ends_the_list)
{
	struct seen seen = {.fail_at = 2};
	struct err err = {0};

	KUBE_SAY(stub, {.body = PAGE("", ITEM("one") "," ITEM("two") "," ITEM("three"))});
	CHECK_INT(configmap_list(stub->kube, NULL, see, &seen, &err), ==, -1);
	CHECK_STR(err.msg, "enough");
	CHECK_INT(seen.count, ==, 2);
}

/* ---- by name ---- */

static int see_named(void *ctx, size_t index, struct configmap *map, const struct err *why,
		     struct err *err)
{
	struct seen *seen = ctx;

	if (++seen->count == seen->fail_at)
		return err_set(err, ERR_SYS, 0, "enough");
	/* the order is not said */
	seen->names[index] = map                       ? 'y'
			     : why->kind == ERR_ABSENT ? 'n'
			     : why->kind == ERR_DENIED ? 'd'
						       : '?';
	return 0;
}

/* m0 is there, m1 is not, m2 is denied, m3 is another one, m4 fails twice, m5 is busy for good. */
static void answer_by_name(void *ctx, const struct http_stub_request *request,
			   struct http_stub_answer *answer)
{
	static const char *const answers[] = {
		KUBE_MAP("m0", "1", ""),
		KUBE_NOT_FOUND("configmaps", "m1"),
		KUBE_STATUS(403, "Forbidden", "no", ""),
		KUBE_MAP("m33", "1", ""),
		KUBE_MAP("m4", "1", ""),
		"busy",
	};
	static const int statuses[] = {200, 404, 403, 200, 200, 503};
	int i = request->target[strlen(request->target) - 1] - '0';
	int *failures = ctx;

	answer->status = statuses[i];
	answer->reset = i == 4 && (*failures)++ < 2;
	buf_addstr(&answer->body, answers[i]);
}

TEST(many_are_read_at_a_time_and_each_has_its_own_end)
{
	static const char *const names[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m0"};
	int failures = 0;
	struct http_stub *http = http_stub_new(answer_by_name, &failures);
	struct kube_target config = {.server =
					     xasprintf("http://127.0.0.1:%d", http_stub_port(http)),
				     .namespace = (char *)"team-a"};
	struct kube *kube = kube_new(&config, NULL);
	struct seen seen = {0};
	struct err err = {0};

	CHECK_INT(configmap_get_many(kube, names, ARRAY_LEN(names), see_named, &seen, &err), ==, 0);
	CHECK_STR(seen.names, "ynd?y?y");
	CHECK_INT(seen.count, ==, ARRAY_LEN(names));
	CHECK_INT(failures, ==, 3);
	/* m4 twice more, m5 as often as kube_do() asks */
	CHECK_INT(http_stub_counts(http).requests, ==, ARRAY_LEN(names) + 2 + KUBE_ATTEMPTS);
	CHECK_INT(http_stub_counts(http).most_open, >, 1);
	CHECK_INT(http_stub_counts(http).most_open, <=, KUBE_IN_FLIGHT);
	CHECK_INT(configmap_get_many(kube, names, 0, see_named, &seen, &err), ==, 0);
	seen = (struct seen){.fail_at = 2};
	CHECK_INT(configmap_get_many(kube, names, ARRAY_LEN(names), see_named, &seen, &err), ==,
		  -1);
	CHECK_STR(err.msg, "enough");
	CHECK_INT(seen.count, ==, 2);
	CHECK_INT(configmap_get_many(kube, (const char *const[]){"m0", "a/b"}, 2, see_named, &seen,
				     &err),
		  ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	kube_stop(kube);
	CHECK_INT(configmap_get_many(kube, names, ARRAY_LEN(names), see_named, &seen, &err), ==,
		  -1);
	CHECK_INT(err.kind, ==, ERR_RETRY);
	kube_free(kube);
	http_stub_free(http);
	free(config.server);
}
