/*
 * http_secrets - what an answer must not repeat of its request. Pure.
 *
 * Servers, gateways and frameworks put the request into the text of an error: its path, a header, a token. That
 * text is logged and shown, so the secrets are taken out of each answer that is not a success, before anybody
 * reads it.
 */
#ifndef DREY_BASE_HTTP_SECRETS_H
#define DREY_BASE_HTTP_SECRETS_H

#include "base/buf.h"
#include "base/http.h"

/*
 * Replace by "***" what the headers of the request sign in with (Authorization, Cookie, those named after a token,
 * a key or a secret), and, of a request with secret_url, the parts of its path and the values of its query, as
 * they were sent and decoded. Words of less than 6 bytes are no secrets.
 */
void http_secrets_remove(const struct http_request *request, struct buf *text);

#endif
