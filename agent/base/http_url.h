/* http_url - what the URL of a request says of its server. Pure: the parser is libcurl's. */
#ifndef DREY_BASE_HTTP_URL_H
#define DREY_BASE_HTTP_URL_H

#include <stdbool.h>

/* Is its host localhost, ::1 or an address of 127.0.0.0/8? Then nothing leaves this machine. False also for what is
 * no URL. */
bool http_url_is_loopback(const char *url);

#endif
