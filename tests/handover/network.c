/*
 * network - what the network of a Pod has and this machine has not, for a program that is started with this library:
 *
 *   the name of a headless Service: "APP-jobmanager" has the addresses in the directory $BENCH_ADDRESSES, files ADDRESS with "POD
 *   jobmanager ...", whether the Pods are ready or not; without any it is not known;
 *   an interface with the address $POD_IP. Every address of 127.0.0.0/8 can be used here, but only one is listed.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int resolve(const char *, const char *, const struct addrinfo *, struct addrinfo **);

/* Is it the address of a JobManager? */
static int is_job_manager(const char *dir, const char *address)
{
	char path[4096], component[64];
	FILE *file;
	int found;

	snprintf(path, sizeof(path), "%s/%s", dir, address);
	file = fopen(path, "re");
	if (!file)
		return 0;
	found = fscanf(file, "%*s %63s", component) == 1 && !strcmp(component, "jobmanager");
	fclose(file);
	return found;
}

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
		struct addrinfo **ret)
{
	resolve *real = (resolve *)dlsym(RTLD_NEXT, "getaddrinfo");
	const char *dir = getenv("BENCH_ADDRESSES"), *tail = name ? strrchr(name, '-') : NULL;
	struct addrinfo **end = ret;
	struct dirent *entry;
	DIR *all;

	if (!dir || !tail || strcmp(tail, "-jobmanager"))
		return real(name, service, hints, ret);
	*ret = NULL;
	all = opendir(dir);
	while (all && (entry = readdir(all))) {
		if (entry->d_name[0] == '.' || !is_job_manager(dir, entry->d_name) ||
		    real(entry->d_name, service, hints, end))
			continue;
		while (*end)
			end = &(*end)->ai_next;
	}
	if (all)
		closedir(all);
	return *ret ? 0 : EAI_NONAME;
}

/* The last one of a list of getifaddrs(). */
struct pod_interface {
	struct ifaddrs interface;
	struct sockaddr_in address, mask;
};

static char pod_interface_name[] = "pod";

int getifaddrs(struct ifaddrs **ret)
{
	int (*real)(struct ifaddrs **) = (int (*)(struct ifaddrs **))dlsym(RTLD_NEXT, "getifaddrs");
	const char *ip = getenv("POD_IP");
	struct pod_interface *pod;

	if (real(ret) < 0)
		return -1;
	pod = calloc(1, sizeof(*pod));
	if (!pod || !ip || inet_pton(AF_INET, ip, &pod->address.sin_addr) != 1) {
		free(pod);
		return 0;
	}
	pod->address.sin_family = pod->mask.sin_family = AF_INET;
	pod->mask.sin_addr.s_addr = htonl(0xff000000);
	pod->interface.ifa_name = pod_interface_name;
	pod->interface.ifa_flags = IFF_UP | IFF_RUNNING | IFF_LOOPBACK;
	pod->interface.ifa_addr = (struct sockaddr *)&pod->address;
	pod->interface.ifa_netmask = (struct sockaddr *)&pod->mask;
	while (*ret)
		ret = &(*ret)->ifa_next;
	*ret = &pod->interface;
	return 0;
}

void freeifaddrs(struct ifaddrs *all)
{
	void (*real)(struct ifaddrs *) =
		(void (*)(struct ifaddrs *))dlsym(RTLD_NEXT, "freeifaddrs");
	struct ifaddrs **end = &all;

	while (*end && (*end)->ifa_name != pod_interface_name)
		end = &(*end)->ifa_next;
	free(*end);
	*end = NULL;
	if (all)
		real(all);
}
