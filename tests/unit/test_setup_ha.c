#include "run/config/setup_ha.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "tap.h"

/* A configuration that fits, to be spoiled. */
struct world {
	struct config config;
	struct setup_kube kube;
	struct flink_conf conf;
	struct flink_settings settings;
	struct setup_ha ha;
	struct err err;
};

static void begin(struct world *w)
{
	*w = (struct world){0};
	w->kube.on = true;
	w->kube.config.namespace = (char *)"team-a";
	unsetenv("POD_IP");
	flink_conf_set(&w->conf, "high-availability.type", "kubernetes");
	flink_conf_set(&w->conf, "high-availability.storageDir", "s3://b/ha");
	flink_conf_set(&w->conf, "high-availability.cluster-id", "orders");
	flink_conf_set(&w->conf, "kubernetes.cluster-id", "orders");
	flink_conf_set(&w->conf, "kubernetes.namespace", "team-a");
	flink_conf_set(&w->conf, "jobmanager.rpc.address", "127.0.0.1");
}

/* -1, or `ha` filled. */
static int load(struct world *w)
{
	CHECK_INT(flink_conf_settings(&w->conf, &w->settings, NULL), ==, 0);
	return setup_ha(&w->config, &w->kube, &w->conf, &w->settings, &w->ha, &w->err);
}

static void end(struct world *w)
{
	setup_ha_release(&w->ha);
	flink_conf_release(&w->conf);
}

TEST(without_ha_nothing_is_asked)
{
	static const char *const types[] = {NULL, "NONE", "none"};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct world w = {0};

		if (types[i])
			flink_conf_set(&w.conf, "high-availability.type", types[i]);
		CHECK_INT(load(&w), ==, 0);
		CHECK(!w.ha.on);
		end(&w);
	}
}

TEST(a_configuration_that_fits_is_taken)
{
	static const char *const types[] = {
		"kubernetes", "KUBERNETES",
		"org.apache.flink.kubernetes.highavailability.KubernetesHaServicesFactory"};

	for (size_t i = 0; i < ARRAY_LEN(types); i++) {
		struct world w;

		begin(&w);
		flink_conf_set(&w.conf, "high-availability.type", types[i]);
		if (!CHECK_INT(load(&w), ==, 0))
			tap_note("%s", w.err.msg);
		CHECK(w.ha.on);
		CHECK_STR(w.ha.cluster_id, "orders");
		CHECK_STR(w.ha.namespace, "team-a");
		CHECK_STR(w.ha.home, "127.0.0.1");
		CHECK_INT(w.ha.rpc_port, ==, SETUP_HA_RPC_PORT);
		CHECK(w.ha.set_rpc_port);
		end(&w);
	}
}

TEST(what_does_not_fit_is_refused_by_name)
{
	static const struct {
		const char *key, *value, *named;
	} cases[] = {
		{"high-availability.type", "zookeeper", "zookeeper, which drey does not support"},
		{"high-availability.storageDir", NULL, "high-availability.storageDir is not set"},
		{"high-availability.cluster-id", NULL, "would share one directory"},
		{"high-availability.cluster-id", "/default", "would share one directory"},
		{"kubernetes.cluster-id", NULL, "kubernetes.cluster-id is not set"},
		{"kubernetes.namespace", "team-b", "in namespace team-b, but drey is in team-a"},
		{"kubernetes.namespace", NULL, "in namespace default, but drey is in team-a"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		begin(&w);
		for (size_t k = 0; k < w.conf.count && !cases[i].value; k++)
			if (!strcmp(w.conf.entries[k].key, cases[i].key))
				w.conf.entries[k].key[0] = 'x';
		if (cases[i].value)
			flink_conf_set(&w.conf, cases[i].key, cases[i].value);
		CHECK_INT(load(&w), ==, -1);
		CHECK_INT(w.err.kind, ==, ERR_CONFIG);
		CHECK_HAS(w.err.msg, cases[i].named);
		end(&w);
	}
}

#define WORLD_TEST(name) TEST_WITH(name, struct world, w, begin, end)

WORLD_TEST(flinks_ha_needs_dreys_kubernetes)
{
	w->kube.on = false;
	CHECK_INT(load(w), ==, -1);
	CHECK_HAS(w->err.msg, "drey does not use Kubernetes");
}

WORLD_TEST(a_port_of_the_user_is_left)
{
	flink_conf_set(&w->conf, "high-availability.jobmanager.port", "7000");
	CHECK_INT(load(w), ==, 0);
	CHECK_INT(w->ha.rpc_port, ==, 7000);
	CHECK(!w->ha.set_rpc_port);
	CHECK_STR(w->ha.home, "127.0.0.1");
}

/* Where another machine could answer tomorrow, nobody is recognised. */
TEST(only_an_address_of_this_machine_is_its_own)
{
	static const struct {
		const char *key, *value, *pod_ip, *why;
	} cases[] = {
		{"jobmanager.rpc.address", "jobmanager", NULL, "not an IP address"},
		{"jobmanager.rpc.address", "192.0.2.7", NULL, "not an address of this pod"},
		{"jobmanager.rpc.address", "2001:db8::7", NULL, "not an address of this pod"},
		{"jobmanager.rpc.address", "127.0.0.1", "10.0.0.7", "POD_IP is 10.0.0.7"},
		{"high-availability.jobmanager.port", "50000-50100", NULL, "not a single port"},
		{"high-availability.jobmanager.port", "0", NULL, "not a single port"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct world w;

		begin(&w);
		flink_conf_set(&w.conf, cases[i].key, cases[i].value);
		if (cases[i].pod_ip)
			setenv("POD_IP", cases[i].pod_ip, 1);
		CHECK_INT(load(&w), ==, 0);
		CHECK(!w.ha.home);
		CHECK_HAS(w.ha.why_not_home ? w.ha.why_not_home : "", cases[i].why);
		end(&w);
	}
}

/* Flink writes the shortest text of an address to its HA data, whatever the configuration has. */
TEST(an_ipv6_address_is_known_by_each_of_its_texts)
{
	struct world w;

	begin(&w);
	flink_conf_set(&w.conf, "jobmanager.rpc.address", "0:0:0:0:0:0:0:1");
	setenv("POD_IP", "::1", 1);
	CHECK_INT(load(&w), ==, 0);
	if (w.ha.why_not_home && strstr(w.ha.why_not_home, "not an address of this pod"))
		tap_skip("no IPv6 here");
	else
		CHECK_STR(w.ha.home, "::1");
	end(&w);
}

WORLD_TEST(what_drey_yaml_says_of_the_address_counts)
{
	w->config.flink.rpc_address = (char *)"127.0.0.1";
	flink_conf_set(&w->conf, "jobmanager.rpc.address", "jobmanager");
	setenv("POD_IP", "127.0.0.1", 1);
	CHECK_INT(load(w), ==, 0);
	CHECK_STR(w->ha.home, "127.0.0.1");
}
