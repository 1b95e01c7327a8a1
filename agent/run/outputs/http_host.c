#include "run/outputs/http_host.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define HOST_BYTES 256 /* a DNS name has 253 */

/* "name:8085", "[::1]:8085", "name." -> "name", "::1", "name". False: not a host. */
static bool take_name(const char *host, char name[HOST_BYTES])
{
	bool bracket = *host == '[';
	size_t len = strcspn(host + bracket, bracket ? "]" : ":");
	const char *behind = host + bracket + len;

	if (bracket && *behind++ != ']')
		return false;
	if (len >= HOST_BYTES || (*behind && *behind != ':') ||
	    (*behind && strspn(behind + 1, "0123456789") != strlen(behind + 1)))
		return false;
	memcpy(name, host + bracket, len);
	name[len] = '\0';
	if (!bracket && len > 1 && name[len - 1] == '.')
		name[len - 1] = '\0';
	return *name;
}

static bool is_ip_address(const char *name)
{
	struct in6_addr address;

	return inet_pton(AF_INET, name, &address) == 1 || inet_pton(AF_INET6, name, &address) == 1;
}

/* "orders-jobmanager.shop.svc.cluster.local": the resolver of the cluster alone knows such names. */
static bool is_of_cluster(const char *name, const char *name_space)
{
	static const char *const ends[] = {".svc", ".svc.cluster.local", ".pod",
					   ".pod.cluster.local"};
	const char *dot = strchr(name, '.');

	if (!name_space || !dot || strncasecmp(dot + 1, name_space, strlen(name_space)) != 0)
		return false;
	dot += 1 + strlen(name_space);
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (!strcasecmp(dot, ends[i]))
			return true;
	return false;
}

bool http_host_known(const char *host, const struct http_hosts *hosts)
{
	char name[HOST_BYTES];

	if (!*host)
		return true;
	if (!take_name(host, name))
		return false;
	if (is_ip_address(name) || !strpbrk(name, ".:") || is_of_cluster(name, hosts->name_space))
		return true;
	for (char *const *more = hosts->more; more && *more; more++)
		if (!strcasecmp(name, *more))
			return true;
	return false;
}
