#include "run/config/setup_kube.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "run/config/config_scale.h"
#include "store_dir.h"

#define HEAD "application: orders\nstateDirectory: /s\nflink: {command: [java]}\nkubernetes: "

static struct config config;
static struct err err;
static char *top; /* what a pod has mounted */
static const char *const *environment;

static const char *const nothing[] = {NULL};
static const char *const pod[] = {"KUBERNETES_SERVICE_HOST",
				  "10.0.0.1",
				  "KUBERNETES_SERVICE_PORT",
				  "443",
				  "POD_NAME",
				  "orders-0",
				  "POD_NAMESPACE",
				  "shop",
				  "POD_UID",
				  "aaaa-bbbb",
				  NULL};

static char *get(const char *name)
{
	for (const char *const *e = environment; *e; e += 2)
		if (!strcmp(*e, name))
			return (char *)(uintptr_t)e[1];
	return NULL;
}

/* Release `config` after the result has been used. */
static int read_keys(const char *const *env, const char *section, struct setup_kube *ret)
{
	cleanup_free char *text = xasprintf("%s{%s}\n", HEAD, section);
	cleanup_free char *dir = xasprintf("%s/account", top);
	struct kube_world world = {.get = get, .service_account_dir = dir};

	environment = env;
	err = (struct err){0};
	config = (struct config){0};
	if (config_parse(text, strlen(text), &config, &err) < 0)
		return -1;
	return setup_kube_in(&config, &world, ret, &err);
}

static void put_text(const char *name, const char *text)
{
	dir_put(top, name, text, strlen(text));
}

static void done(struct setup_kube *kube)
{
	setup_kube_release(kube);
	config_release(&config);
}

static void kubeconfig(const char *name)
{
	put_text(name, "current-context: c\n"
		       "contexts: [{name: c, context: {cluster: k, user: u, namespace: there}}]\n"
		       "clusters: [{name: k, cluster: {server: 'https://10.1.1.1:6443'}}]\n"
		       "users: [{name: u, user: {token: t}}]\n");
}

TEST(a_target_that_was_found_is_not_looked_for)
{
	struct setup_kube kube;
	struct kube_target *target = xcalloc(1, sizeof(*target));

	environment = pod;
	config = (struct config){.application = xstrdup("orders")};
	target->server = xstrdup("https://10.2.2.2:6443");
	target->token = xstrdup("t");
	target->namespace = xstrdup("mine");
	config.kubernetes.target = target;
	CHECK_INT(setup_kube_in(&config,
				&(struct kube_world){.get = get, .service_account_dir = "/"}, &kube,
				&err),
		  ==, 0);
	CHECK(kube.on);
	CHECK_STR(kube.config.server, "https://10.2.2.2:6443");
	CHECK_STR(kube.config.namespace, "mine"); /* and not that of this pod */
	CHECK_STR(kube.journal, "orders-drey-journal");
	done(&kube);
	CHECK(!config.kubernetes.target);
}

TEST(outside_of_a_pod_there_is_none)
{
	cleanup_free char *path = xasprintf("%s/kubeconfig", top);
	const char *const with_kubeconfig[] = {"KUBECONFIG", path, NULL};
	cleanup_free char *given = xasprintf("kubeconfig: '%s'", path);
	struct setup_kube kube;

	kubeconfig("kubeconfig");
	CHECK_INT(read_keys(nothing, "", &kube), ==, 0);
	CHECK(!kube.on && !kube.journal && !kube.control && !kube.resource && !kube.id_space);
	done(&kube);
	/* a KUBECONFIG that somebody has for other things is not taken by itself */
	CHECK_INT(read_keys(with_kubeconfig, "", &kube), ==, 0);
	CHECK(!kube.on);
	done(&kube);
	CHECK_INT(read_keys(with_kubeconfig, "enabled: true", &kube), ==, 0);
	CHECK(kube.on && !kube.pod_name);
	CHECK_STR(kube.config.namespace, "there");
	CHECK_STR(kube.id_space, "there/orders/");
	done(&kube);
	CHECK_INT(read_keys(nothing, given, &kube), ==, 0);
	CHECK(kube.on);
	CHECK_STR(kube.config.server, "https://10.1.1.1:6443");
	done(&kube);
}

TEST(a_pod_has_names_of_its_own)
{
	struct setup_kube kube;

	CHECK_INT(read_keys(pod, "", &kube), ==, 0);
	CHECK(kube.on && kube.fast_failover);
	CHECK_STR(kube.config.namespace, "shop");
	CHECK_STR(kube.config.server, "https://10.0.0.1:443");
	CHECK_STR(kube.journal, "orders-drey-journal");
	CHECK_STR(kube.control, "orders-drey-control");
	CHECK_STR(kube.resource, "orders");
	CHECK_STR(kube.owner, "orders-jobmanager");
	CHECK_INT(kube.owner_kind, ==, WORKLOAD_DEPLOYMENT);
	CHECK_STR(kube.pod_name, "orders-0");
	CHECK_STR(kube.pod_uid, "aaaa-bbbb");
	CHECK_INT(kube.launches, ==, 200);
	CHECK_STR(kube.id_space, "shop/orders/");
	done(&kube);
	CHECK_INT(read_keys(pod, "enabled: false", &kube), ==, 0);
	CHECK(!kube.on);
	done(&kube);
}

TEST(a_pod_knows_its_template)
{
	static const char *const more[] = {"KUBERNETES_SERVICE_HOST",
					   "10.0.0.1",
					   "KUBERNETES_SERVICE_PORT",
					   "443",
					   "POD_NAMESPACE",
					   "shop",
					   "POD_TEMPLATE_HASH",
					   "7c9d",
					   "DREY_CHECKSUM",
					   "c0ffee",
					   NULL};
	struct setup_kube kube;

	CHECK_INT(read_keys(more, "", &kube), ==, 0);
	CHECK_STR(kube.pod_template, "/c0ffee/7c9d");
	done(&kube);
	CHECK_INT(read_keys(more, "}\ngeneration: g17\nhttp: {", &kube), ==, 0);
	CHECK_STR(kube.pod_template, "g17/c0ffee/7c9d");
	done(&kube);
	CHECK_INT(read_keys(pod, "}\ngeneration: g17\nhttp: {", &kube), ==, 0);
	CHECK_STR(kube.pod_template, "g17//");
	done(&kube);
	CHECK_INT(read_keys(nothing, "", &kube), ==, 0);
	CHECK(!kube.pod_template);
	done(&kube);
}

TEST(every_name_can_be_given)
{
	struct setup_kube kube;

	CHECK_INT(read_keys(pod,
			    "enabled: true, namespace: other, journal: none, control: a.b-c, "
			    "resource: none, launches: 0, salt: 2026-11, fastFailover: false",
			    &kube),
		  ==, 0);
	CHECK_STR(kube.config.namespace, "other");
	CHECK(!kube.journal && !kube.resource && !kube.fast_failover);
	CHECK_STR(kube.control, "a.b-c");
	CHECK_INT(kube.launches, ==, 0);
	CHECK(!kube.id_space);
	done(&kube);
	CHECK_INT(read_keys(pod, "launches: 3, salt: 2026-11", &kube), ==, 0);
	CHECK_STR(kube.id_space, "shop/orders/2026-11");
	done(&kube);
}

TEST(a_pod_without_a_service_account_has_none)
{
	char *had = top;
	struct setup_kube kube;

	top = dir_new();
	CHECK_INT(read_keys(pod, "", &kube), ==, 0);
	CHECK(!kube.on);
	done(&kube);
	CHECK_INT(read_keys(pod, "enabled: true", &kube), ==, -1);
	CHECK_HAS(err.msg, "kubernetes.enabled is true, but ");
	CHECK_HAS(err.msg, "automountServiceAccountToken");
	CHECK(err.kind == ERR_CONFIG);
	config_release(&config);
	dir_removep(&top);
	top = had;
}

TEST(what_makes_no_sense_is_refused_by_its_key)
{
	static const struct {
		const char *section, *says;
	} cases[] = {
		{"enabled: maybe", "line 4, column 23: 'kubernetes.enabled' must be one of auto"},
		{"enabled: true", "kubernetes.enabled is true, but Kubernetes: not in a cluster"},
		{"journal: Orders", "'kubernetes.journal' must be the name of a Kubernetes object"},
		{"journal: 'a..b'", "'kubernetes.journal' must be the name"},
		{"journal: 'a.-b'", "'kubernetes.journal' must be the name"},
		{"journal: ''", "'kubernetes.journal' is empty"},
		{"launches: -1", "'kubernetes.launches' must be between 0 and 1000"},
		{"namespace: a.b", "'kubernetes.namespace' must be 1 to 63"},
		{"kubeconfig: k", "'kubernetes.kubeconfig' must be an absolute path"},
		{"kubeconfig: /none", "kubernetes.kubeconfig: Kubernetes: "},
		{"jurnal: j", "unknown key 'kubernetes.jurnal'; did you mean 'journal'?"},
	};
	struct setup_kube kube = {0};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		if (!CHECK_INT(read_keys(nothing, cases[i].section, &kube), ==, -1))
			tap_note("%s", cases[i].section);
		CHECK_HAS(err.msg, cases[i].says);
		CHECK(err.kind == ERR_CONFIG);
		CHECK(!kube.journal);
		config_release(&config);
	}
	CHECK_INT(read_keys(pod, "journal: j, control: j", &kube), ==, -1);
	CHECK_HAS(err.msg, "are the same ConfigMap 'j'");
	config_release(&config);
	CHECK_INT(read_keys(pod, "scale: tm, journal: none", &kube), ==, -1);
	CHECK_HAS(err.msg, "could not be recorded");
	config_release(&config);
	CHECK_INT(read_keys(pod, "scale: orders-jobmanager", &kube), ==, -1);
	CHECK_HAS(err.msg, "drey would end itself");
	config_release(&config);
	CHECK_INT(
		read_keys(
			pod,
			"scale: [{kind: StatefulSet, name: tm}, {kind: Deployment, name: orders-jobmanager}]",
			&kube),
		==, -1);
	CHECK_HAS(err.msg, "drey would end itself");
	config_release(&config);
	CHECK_INT(read_keys(pod, "scale: [{kind: StatefulSet, name: orders-jobmanager}]", &kube),
		  ==, 0);
	setup_kube_release(&kube);
	config_release(&config);
}

TEST(task_managers_are_scaled_only_if_they_are_named)
{
	struct setup_kube kube;

	CHECK_INT(read_keys(pod, "", &kube), ==, 0);
	CHECK_INT(kube.scale_count, ==, 0);
	done(&kube);
	CHECK_INT(read_keys(pod, "scale: none, journal: none", &kube), ==, 0);
	CHECK_INT(kube.scale_count, ==, 0);
	done(&kube);
	CHECK_INT(read_keys(pod, "scale: []", &kube), ==, 0);
	CHECK_INT(kube.scale_count, ==, 0);
	done(&kube);
	/* the short form is one Deployment */
	CHECK_INT(read_keys(pod, "scale: tm", &kube), ==, 0);
	CHECK_INT(kube.scale_count, ==, 1);
	CHECK_INT(kube.scale[0].kind, ==, KUBE_SCALE_DEPLOYMENT);
	CHECK_STR(kube.scale[0].name, "tm");
	done(&kube);
	CHECK_INT(
		read_keys(
			pod,
			"scale: [{kind: Deployment, name: tm}, {name: tm, kind: StatefulSet}, {kind: StatefulSet, name: tm-large-0}]",
			&kube),
		==, 0);
	CHECK_INT(kube.scale_count, ==, 3);
	CHECK_INT(kube.scale[0].kind, ==, KUBE_SCALE_DEPLOYMENT);
	CHECK_INT(kube.scale[1].kind, ==, KUBE_SCALE_STATEFUL_SET);
	CHECK_STR(kube.scale[1].name, "tm");
	CHECK_STR(kube.scale[2].name, "tm-large-0");
	done(&kube);
}

TEST(objects_to_scale_have_a_kind_and_a_name)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{"{kind: Deployment, name: tm}", "a list of {kind, name}"},
		{"[tm]", "must be a map, such as {kind: StatefulSet"},
		{"[{kind: Job, name: tm}]", "kind must be Deployment or StatefulSet"},
		{"[{kind: [Deployment], name: tm}]", "kind must be Deployment or StatefulSet"},
		{"[{kind: Deployment}]", "an element has no name"},
		{"[{name: tm}]", "an element has no kind"},
		{"[{kind: Deployment, name: A_b}]", "must name a Kubernetes object"},
		{"[{kind: Deployment, name: }]", "a name must be a string"},
		{"[{kind: Deployment, name: tm, replicas: 3}]", "unknown member 'replicas'"},
		{"[{kind: Deployment, name: tm}, {kind: Deployment, name: tm}]",
		 "names the Deployment 'tm' twice"},
		{"''", "must name a Kubernetes object"},
	};
	struct setup_kube kube;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *keys = xasprintf("scale: %s", rows[i].text);

		CHECK_INT(read_keys(pod, keys, &kube), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, "kubernetes.scale");
		CHECK_HAS(err.msg, rows[i].says);
	}
}

/* Each is a request a minute, and its record has a key. */
TEST(there_is_a_limit_of_objects_to_scale)
{
	cleanup_buf struct buf keys = BUF_INIT;
	cleanup_free char *more = NULL;
	char name[CONFIG_SCALE_NAME_MAX + 2];
	struct setup_kube kube;

	buf_addstr(&keys, "scale: [");
	for (int i = 0; i < CONFIG_SCALE_MAX; i++)
		buf_addf(&keys, "{kind: StatefulSet, name: tm-%d}, ", i);
	more = xasprintf("%s{kind: Deployment, name: tm}]", buf_str(&keys));
	buf_addstr(&keys, "]");
	CHECK_INT(read_keys(pod, buf_str(&keys), &kube), ==, 0);
	CHECK_INT(kube.scale_count, ==, CONFIG_SCALE_MAX);
	done(&kube);
	CHECK_INT(read_keys(pod, more, &kube), ==, -1);
	CHECK_HAS(err.msg, "more than 200 objects");
	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	buf_clear(&keys);
	buf_addf(&keys, "scale: %s", name);
	CHECK_INT(read_keys(pod, buf_str(&keys), &kube), ==, -1);
	CHECK_HAS(err.msg, "1 to 200 characters");
}

TEST(an_owner_is_a_kind_and_a_name)
{
	static const char *const bad[] = {"jobs/x", "deployment/", "deployment", "job/A_b", "x"};
	struct setup_kube kube;

	CHECK_INT(read_keys(pod, "owner: job/nightly", &kube), ==, 0);
	CHECK_STR(kube.owner, "nightly");
	CHECK_INT(kube.owner_kind, ==, WORKLOAD_JOB);
	done(&kube);
	CHECK_INT(read_keys(pod, "owner: deployment/jm", &kube), ==, 0);
	CHECK_STR(kube.owner, "jm");
	CHECK_INT(kube.owner_kind, ==, WORKLOAD_DEPLOYMENT);
	done(&kube);
	CHECK_INT(read_keys(pod, "owner: none", &kube), ==, 0);
	CHECK(!kube.owner);
	done(&kube);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		cleanup_free char *section = xasprintf("owner: %s", bad[i]);

		CHECK_INT(read_keys(pod, section, &kube), ==, -1);
		CHECK_HAS(err.msg, "kubernetes.owner");
		config_release(&config);
	}
}

int main(int argc, char **argv)
{
	int status;

	top = dir_new();
	dir_mkdir(top, "account");
	put_text("account/token", "t");
	put_text("account/ca.crt", "c");
	status = tap_main(argc, argv);
	dir_removep(&top);
	return status;
}
