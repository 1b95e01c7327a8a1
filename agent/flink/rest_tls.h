/*
 * rest_tls - TLS on Flink's REST API, by Flink's own keys: security.ssl.rest.*, or security.ssl.* where those are not set.
 *
 * Life cycle: rest_tls_new() -> rest_tls_http(), rest_tls_renew()... -> rest_tls_free(). It does not change after the first, so
 * threads may share it.
 *
 * Trusted are the certificates of the truststore and of the keystore, which is this JobManager's own: whatever name the
 * certificate has, since Flink's own clients do not compare it either, and drey asks by an address. With
 * security.ssl.rest.authentication-enabled drey shows the certificate of that keystore, as all of Flink does. Keystores are JKS,
 * PKCS12 or PEM, whatever their type is said to be (format/keystore.h).
 *
 * Source: org.apache.flink.configuration.SecurityOptions and SSLUtils, 1.20 to 2.3.
 */
#ifndef DREY_FLINK_REST_TLS_H
#define DREY_FLINK_REST_TLS_H

#include <stdbool.h>

#include "base/err.h"
#include "base/http.h"
#include "flink/conf.h"

struct rest_tls; /* opaque */

/* NULL: the REST API is without TLS. Reads no file. Caller frees. */
struct rest_tls *rest_tls_new(const struct flink_conf *conf);
void rest_tls_free(struct rest_tls *tls); /* NULL is allowed; passwords are overwritten */

/* A handle for the REST API; `tls` NULL: without TLS. NULL with *err: a keystore cannot be read, has another password, is of a
 * kind that drey does not read, or there is none; the message names key and file. */
struct http *rest_tls_http(const struct rest_tls *tls, struct err *err);

/* The server is not trusted, or does not trust drey: read the keystores again, as they may have been replaced. True if the handle
 * has other certificates now. */
bool rest_tls_renew(const struct rest_tls *tls, struct http *http);

#endif
