/*
 * http_host - by which names the page and the status may be asked for. Pure.
 *
 * A browser that forwards the port to this Pod gives every page it shows a way here: a name of the attacker's that suddenly
 * leads to 127.0.0.1 (DNS rebinding) is the same site for the browser, which then reads the answer to it. So whoever
 * asks must call drey by a name that nobody else can have.
 */
#ifndef DREY_RUN_HTTP_HOST_H
#define DREY_RUN_HTTP_HOST_H

#include <stdbool.h>

struct http_hosts {
	const char *name_space; /* of the Pod; NULL: no Kubernetes */
	char *const *more;      /* http.hosts, NULL-terminated; NULL: none */
};

/*
 * `host` is the value of the header Host, with or without a port. True: an address; localhost; a name without a dot,
 * such as that of the Pod or of its Service; NAME.NAMESPACE.svc and NAME.NAMESPACE.pod, also with cluster.local; one of
 * `more`; and "", which no browser sends. NAME.NAMESPACE alone could be a name of the internet.
 */
bool http_host_known(const char *host, const struct http_hosts *hosts);

#endif
