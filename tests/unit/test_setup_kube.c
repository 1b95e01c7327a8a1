#include "run/config/setup_kube.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tests/unit/tap.h"

#define HEAD "application: orders\nstateDirectory: /s\nflink: {command: [java]}\nkubernetes: "

static struct config config;
static struct err err;

static void bare(void)
{
	static const char *const all[] = {"KUBERNETES_SERVICE_HOST",
					  "KUBERNETES_SERVICE_PORT",
					  "KUBECONFIG",
					  "POD_NAME",
					  "POD_NAMESPACE",
					  "POD_UID"};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		unsetenv(all[i]);
}

static void in_a_pod(void)
{
	bare();
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	setenv("POD_NAME", "orders-0", 1);
	setenv("POD_NAMESPACE", "shop", 1);
	setenv("POD_UID", "aaaa-bbbb", 1);
}

/* Release `config` after the result has been used. */
static int read_keys(const char *section, struct setup_kube *ret)
{
	cleanup_free char *text = xasprintf("%s{%s}\n", HEAD, section);

	err = (struct err){0};
	config = (struct config){0};
	if (config_parse(text, strlen(text), &config, &err) < 0)
		return -1;
	return setup_kube(&config, ret, &err);
}

static void outside_of_a_pod_there_is_none(void)
{
	struct setup_kube kube;

	bare();
	CHECK_INT(read_keys("", &kube), ==, 0);
	CHECK(!kube.on && !kube.journal && !kube.control && !kube.resource && !kube.launches);
	config_release(&config);
	/* a KUBECONFIG that somebody has for other things is not taken by itself */
	setenv("KUBECONFIG", "/home/someone/.kube/config", 1);
	CHECK_INT(read_keys("", &kube), ==, 0);
	CHECK(!kube.on);
	config_release(&config);
	CHECK_INT(read_keys("enabled: true", &kube), ==, 0);
	CHECK(kube.on && !kube.kubeconfig && !kube.namespace && !kube.pod_name);
	setup_kube_release(&kube);
	config_release(&config);
	bare();
	CHECK_INT(read_keys("kubeconfig: /k", &kube), ==, 0);
	CHECK(kube.on);
	CHECK_STR(kube.kubeconfig, "/k");
	setup_kube_release(&kube);
	config_release(&config);
}

static void a_pod_has_names_of_its_own(void)
{
	struct setup_kube kube;

	in_a_pod();
	CHECK_INT(read_keys("", &kube), ==, 0);
	CHECK(kube.on && kube.fast_failover);
	CHECK_STR(kube.namespace, "shop");
	CHECK_STR(kube.journal, "orders-drey-journal");
	CHECK_STR(kube.control, "orders-drey-control");
	CHECK_STR(kube.resource, "orders");
	CHECK_STR(kube.pod_name, "orders-0");
	CHECK_STR(kube.pod_uid, "aaaa-bbbb");
	CHECK_INT(kube.launches, ==, 200);
	CHECK_STR(kube.id_space, "shop/orders/");
	setup_kube_release(&kube);
	config_release(&config);
	CHECK_INT(read_keys("enabled: false", &kube), ==, 0);
	CHECK(!kube.on);
	config_release(&config);
}

static void every_name_can_be_given(void)
{
	struct setup_kube kube;

	in_a_pod();
	CHECK_INT(read_keys("enabled: true, namespace: other, journal: none, control: a.b-c, "
			    "resource: none, launches: 0, salt: 2026-11, fastFailover: false",
			    &kube),
		  ==, 0);
	CHECK_STR(kube.namespace, "other");
	CHECK(!kube.journal && !kube.resource && !kube.fast_failover);
	CHECK_STR(kube.control, "a.b-c");
	CHECK_INT(kube.launches, ==, 0);
	CHECK(!kube.id_space);
	setup_kube_release(&kube);
	config_release(&config);
	CHECK_INT(read_keys("launches: 3, salt: 2026-11", &kube), ==, 0);
	CHECK_STR(kube.id_space, "shop/orders/2026-11");
	setup_kube_release(&kube);
	config_release(&config);
}

static void what_makes_no_sense_is_refused_by_its_key(void)
{
	static const struct {
		const char *section, *says;
	} cases[] = {
		{"enabled: maybe", "line 4, column 23: 'kubernetes.enabled' must be one of auto"},
		{"enabled: true", "kubernetes.enabled is true, but this is no pod"},
		{"journal: Orders", "'kubernetes.journal' must be the name of a Kubernetes object"},
		{"journal: 'a..b'", "'kubernetes.journal' must be the name"},
		{"journal: 'a.-b'", "'kubernetes.journal' must be the name"},
		{"journal: ''", "'kubernetes.journal' is empty"},
		{"launches: -1", "'kubernetes.launches' must be between 0 and 1000"},
		{"namespace: a.b", "'kubernetes.namespace' must be 1 to 63"},
		{"kubeconfig: k", "'kubernetes.kubeconfig' must be an absolute path"},
		{"jurnal: j", "unknown key 'kubernetes.jurnal'; did you mean 'journal'?"},
		{"kubeconfig: /k, journal: j, control: j", "are the same ConfigMap 'j'"},
	};

	bare();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct setup_kube kube = {0};

		if (!CHECK_INT(read_keys(cases[i].section, &kube), ==, -1))
			tap_note("%s", cases[i].section);
		CHECK_HAS(err.msg, cases[i].says);
		CHECK(err.kind == ERR_CONFIG);
		CHECK(!kube.journal);
		config_release(&config);
	}
}

int main(void)
{
	TEST(outside_of_a_pod_there_is_none);
	TEST(a_pod_has_names_of_its_own);
	TEST(every_name_can_be_given);
	TEST(what_makes_no_sense_is_refused_by_its_key);
	return tap_done();
}
