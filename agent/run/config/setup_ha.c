#include "run/config/setup_ha.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "base/mem.h"

#define FACTORY         "KubernetesHaServicesFactory"
#define FLINK_NAMESPACE "default" /* of Flink's kubernetes.namespace, regardless of the pod's */
#define PORT_KEY        "high-availability.jobmanager.port"

static bool is_kubernetes(const char *type)
{
	size_t len = strlen(type), factory_len = strlen(FACTORY);

	return !strcasecmp(type, "kubernetes") ||
	       (len > factory_len && !strcmp(type + len - factory_len, FACTORY));
}

static int check(const struct setup_kube *kube, const struct flink_settings *settings,
		 struct err *err)
{
	const char *cluster_id = settings->ha_cluster_id;

	if (!is_kubernetes(settings->ha_type))
		return err_set(
			err, ERR_CONFIG, 0,
			"high-availability.type is %s, which drey does not support; remove it: drey restores the job itself",
			settings->ha_type);
	if (!kube->on)
		return err_set(err, ERR_CONFIG, 0,
			       "high-availability.type is kubernetes, but drey does not use "
			       "Kubernetes: set kubernetes.kubeconfig (outside of a pod), remove "
			       "kubernetes.enabled: false, or remove high-availability.type");
	if (!settings->kubernetes_cluster_id || !*settings->kubernetes_cluster_id)
		return err_set(
			err, ERR_CONFIG, 0,
			"high-availability.type is kubernetes, but kubernetes.cluster-id is not set in Flink's configuration");
	if (!settings->ha_storage_dir)
		return err_set(
			err, ERR_CONFIG, 0,
			"high-availability.type is kubernetes, but high-availability.storageDir is not set in Flink's configuration");
	if (!cluster_id || !strcmp(cluster_id, "default") || !strcmp(cluster_id, "/default"))
		return err_set(
			err, ERR_CONFIG, 0,
			"high-availability.cluster-id is not set in Flink's configuration, "
			"so all applications with this storageDir would share one directory; "
			"set it to %s, like kubernetes.cluster-id",
			settings->kubernetes_cluster_id);
	return 0;
}

/* A single port, so that a second JobManager here fails before it touches the
 * lock. 0: not a single port. */
static int one_port(const char *text)
{
	char *end;
	long port = strtol(text, &end, 10);

	return end != text && !*end && port > 0 && port <= 65535 ? (int)port : 0;
}

/* An address, and its usual text: an IPv6 address has many, and Flink writes this one to its HA data. */
struct home {
	int family; /* 0: it is none */
	unsigned char bytes[16];
	char text[INET6_ADDRSTRLEN];
};

static struct home parse_address(const char *text)
{
	struct home home = {.family = AF_INET};

	if (inet_pton(AF_INET, text, home.bytes) != 1)
		home.family = inet_pton(AF_INET6, text, home.bytes) == 1 ? AF_INET6 : 0;
	if (home.family)
		inet_ntop(home.family, home.bytes, home.text, sizeof(home.text));
	return home;
}

static bool is_same(const struct home *home, const char *text)
{
	struct home other = parse_address(text);

	return other.family == home->family && !strcmp(other.text, home->text);
}

static bool is_assigned(int family, const unsigned char *address)
{
	struct ifaddrs *all = NULL;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (const struct ifaddrs *one = all; one && !found; one = one->ifa_next) {
		if (!one->ifa_addr || one->ifa_addr->sa_family != family)
			continue;
		if (family == AF_INET)
			found = !memcmp(&((const struct sockaddr_in *)(const void *)one->ifa_addr)
						 ->sin_addr,
					address, 4);
		else
			found = !memcmp(&((const struct sockaddr_in6 *)(const void *)one->ifa_addr)
						 ->sin6_addr,
					address, 16);
	}
	freeifaddrs(all);
	return found;
}

/* A name, or the address of a Service, may belong to another machine later. */
static char *find_home(const char *address, char **ret_why)
{
	const char *pod = getenv("POD_IP");
	struct home home;

	if (!address) {
		*ret_why = xstrdup("jobmanager.rpc.address is not set");
		return NULL;
	}
	home = parse_address(address);
	if (!home.family)
		*ret_why = xasprintf("jobmanager.rpc.address is %s, not an IP address", address);
	else if (pod && *pod && !is_same(&home, pod))
		*ret_why =
			xasprintf("jobmanager.rpc.address is %s, but POD_IP is %s", address, pod);
	else if (!is_assigned(home.family, home.bytes))
		*ret_why = xasprintf("jobmanager.rpc.address is %s, not an address of this pod",
				     address);
	else
		return xstrdup(home.text);
	return NULL;
}

static int check_namespace(const struct setup_ha *ha, const char *namespace, struct err *err)
{
	if (!strcmp(ha->namespace, namespace))
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"Flink keeps its HA data in namespace %s, but drey is in %s; set kubernetes.namespace: %s in Flink's configuration",
		ha->namespace, namespace, namespace);
}

int setup_ha(const struct config *config, const struct setup_kube *kube,
	     const struct flink_conf *conf, const struct flink_settings *settings,
	     struct setup_ha *ret_ha, struct err *err)
{
	const char *port = flink_conf_get(conf, PORT_KEY);
	const char *address = config->flink.rpc_address;
	struct setup_ha ha = {.on = settings->ha};

	if (!ha.on) {
		*ret_ha = ha;
		return 0;
	}
	if (check(kube, settings, err) < 0)
		return -1;
	ha.cluster_id = settings->kubernetes_cluster_id;
	ha.namespace =
		settings->kubernetes_namespace ? settings->kubernetes_namespace : FLINK_NAMESPACE;
	if (check_namespace(&ha, kube->config.namespace, err) < 0)
		return -1;
	ha.set_rpc_port = !port;
	ha.rpc_port = port ? one_port(port) : SETUP_HA_RPC_PORT;
	ha.home = find_home(address ? address : flink_conf_get(conf, "jobmanager.rpc.address"),
			    &ha.why_not_home);
	if (ha.home && !ha.rpc_port) {
		xstrset(&ha.home, NULL);
		ha.why_not_home = xasprintf(PORT_KEY " is %s, not a single port", port);
	}
	*ret_ha = ha;
	return 0;
}

void setup_ha_release(struct setup_ha *ha)
{
	free(ha->home);
	free(ha->why_not_home);
	*ha = (struct setup_ha){0};
}
