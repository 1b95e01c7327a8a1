#include "base/addresses.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static int find_error(int code, int sys, struct err *err)
{
	switch (code) {
	case EAI_NONAME:
#ifdef EAI_NODATA
	case EAI_NODATA:
#endif
		return err_set(err, ERR_ABSENT, 0, "no address");
	case EAI_AGAIN:
	case EAI_FAIL:
		return err_set(err, ERR_RETRY, 0, "%s", gai_strerror(code));
	case EAI_SYSTEM:
		return err_set(err, ERR_SYS, sys, "getaddrinfo");
	default:
		return err_set(err, ERR_CONFIG, 0, "%s", gai_strerror(code));
	}
}

static bool is_listed(const struct address *all, int count, const struct addrinfo *one)
{
	for (int i = 0; i < count; i++)
		if (all[i].len_bytes == one->ai_addrlen &&
		    !memcmp(&all[i].any, one->ai_addr, one->ai_addrlen))
			return true;
	return false;
}

int addresses_find(const char *host, int port, struct address *ret, int max, struct err *err)
{
	struct addrinfo hints = {
		.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
	struct addrinfo *found = NULL;
	char service[16];
	int code, count = 0;

	snprintf(service, sizeof(service), "%d", port);
	code = getaddrinfo(host, service, &hints, &found);
	if (code)
		return find_error(code, errno, err);
	for (const struct addrinfo *one = found; one; one = one->ai_next) {
		if (one->ai_family != AF_INET && one->ai_family != AF_INET6)
			continue;
		if (is_listed(ret, count < max ? count : max, one))
			continue;
		if (count < max) {
			memcpy(&ret[count].any, one->ai_addr, one->ai_addrlen);
			ret[count].len_bytes = one->ai_addrlen;
		}
		count++;
	}
	freeaddrinfo(found);
	return count;
}

const char *address_text(const struct address *address, char text[ADDRESS_TEXT_BYTES])
{
	char ip[INET6_ADDRSTRLEN] = "?";

	if (address->any.sa_family == AF_INET) {
		inet_ntop(AF_INET, &address->v4.sin_addr, ip, sizeof(ip));
		snprintf(text, ADDRESS_TEXT_BYTES, "%s:%d", ip, ntohs(address->v4.sin_port));
	} else {
		inet_ntop(AF_INET6, &address->v6.sin6_addr, ip, sizeof(ip));
		snprintf(text, ADDRESS_TEXT_BYTES, "[%s]:%d", ip, ntohs(address->v6.sin6_port));
	}
	return text;
}
