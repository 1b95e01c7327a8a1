/*
 * addresses - all IP addresses of a name, of both families. Blocks while it asks the name server, so
 * it is for a lane.
 */
#ifndef DREY_BASE_ADDRESSES_H
#define DREY_BASE_ADDRESSES_H

#include <netinet/in.h>
#include <stddef.h>
#include <sys/socket.h>

#include "base/err.h"

#define ADDRESS_TEXT_BYTES 64

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t len_bytes;
};

/*
 * Fill `ret` with up to `max` different addresses; `host` may be an address itself. Returns how many
 * there are, which is more than max if they do not fit. -1: ERR_ABSENT the name server knows no
 * address of that name, ERR_RETRY it does not answer, ERR_SYS and ERR_CONFIG anything else; the message
 * does not have the host.
 */
int addresses_find(const char *host, int port, struct address *ret, int max, struct err *err);

/* "10.0.0.7:8085", "[fd00::7]:8085". Returns `text`. */
const char *address_text(const struct address *address, char text[ADDRESS_TEXT_BYTES]);

#endif
