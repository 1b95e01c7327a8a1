/* http_url - what the URL of a request says of its server. Pure: the parser is libcurl's. */
#ifndef DREY_BASE_HTTP_URL_H
#define DREY_BASE_HTTP_URL_H

#include <stdbool.h>

#include "base/buf.h"

/* Is its host localhost, ::1 or an address of 127.0.0.0/8? Then nothing leaves this machine. False also for what is
 * no URL. */
bool http_url_is_loopback(const char *url);

/*
 * Append what may be told of a URL: "http://host:port/path", without user, password, query and fragment; "(not a
 * URL)" for what is none. The only way to print one (tools/lint.sh). False: it is none.
 */
bool http_url_tell(const char *url, struct buf *to);
/* The same without the path. */
bool http_url_tell_server(const char *url, struct buf *to);

/* In place: take user and password out of each URL of a text, such as a library's message. */
void http_url_hide_users(char *text);

#endif
