/*
 * tls_stub - certificates made on the spot, and an HTTPS server on loopback that answers every
 * request with the name in the client's certificate. Header-only; link with -lssl.
 */
#ifndef DREY_TESTS_TLS_STUB_H
#define DREY_TESTS_TLS_STUB_H

#include <arpa/inet.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TLS_FN static inline __attribute__((unused))

struct tls_identity {
	X509 *cert;
	EVP_PKEY *key;
};

TLS_FN void tls_extend(X509 *cert, X509 *issuer, int nid, const char *value)
{
	X509_EXTENSION *extension;
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
	if (!extension || !X509_add_ext(cert, extension, -1))
		abort();
	X509_EXTENSION_free(extension);
}

/* A certificate for `name`; san: "IP:127.0.0.1" and the like, NULL: none. issuer NULL: its own CA. It
 * expires this many days from now. */
TLS_FN struct tls_identity tls_identity_new(const char *name, const char *san,
					    const struct tls_identity *issuer, int days)
{
	static atomic_int serial;
	struct tls_identity me = {X509_new(), EVP_EC_gen("P-256")};
	const struct tls_identity *by = issuer ? issuer : &me;

	if (!me.cert || !me.key)
		abort();
	X509_set_version(me.cert, X509_VERSION_3);
	ASN1_INTEGER_set(X509_get_serialNumber(me.cert), ++serial);
	X509_gmtime_adj(X509_getm_notBefore(me.cert), -100L * 86400);
	X509_gmtime_adj(X509_getm_notAfter(me.cert), days * 86400L);
	X509_set_pubkey(me.cert, me.key);
	X509_NAME_add_entry_by_txt(X509_get_subject_name(me.cert), "CN", MBSTRING_ASC,
				   (const unsigned char *)name, -1, -1, 0);
	X509_set_issuer_name(me.cert, X509_get_subject_name(by->cert));
	tls_extend(me.cert, by->cert, NID_basic_constraints, issuer ? "CA:FALSE" : "CA:TRUE");
	if (san)
		tls_extend(me.cert, by->cert, NID_subject_alt_name, san);
	if (!X509_sign(me.cert, by->key, EVP_sha256()))
		abort();
	return me;
}

TLS_FN void tls_identity_release(struct tls_identity *me)
{
	X509_free(me->cert);
	EVP_PKEY_free(me->key);
}

TLS_FN void tls_write_cert(const struct tls_identity *me, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || !PEM_write_X509(file, me->cert) || fclose(file))
		abort();
}

TLS_FN void tls_write_key(const struct tls_identity *me, const char *path)
{
	FILE *file = fopen(path, "w");

	if (!file || !PEM_write_PrivateKey(file, me->key, NULL, NULL, 0, NULL, NULL) ||
	    fclose(file))
		abort();
}

struct tls_stub {
	SSL_CTX *ctx;
	int listen_fd, port;
	bool close_each; /* a connection after one answer */
	pthread_t thread;
	atomic_int connections, requests;
};

struct tls_connection {
	struct tls_stub *stub;
	int fd;
	pthread_t thread;
};

TLS_FN void tls_answer(SSL *ssl)
{
	X509 *peer = SSL_get1_peer_certificate(ssl);
	char name[64] = "nobody", text[200];
	int len;

	if (peer)
		X509_NAME_get_text_by_NID(X509_get_subject_name(peer), NID_commonName, name,
					  sizeof(name));
	X509_free(peer);
	len = snprintf(text, sizeof(text), "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n%s",
		       strlen(name), name);
	SSL_write(ssl, text, len);
}

TLS_FN void *tls_serve_connection(void *arg)
{
	struct tls_connection *conn = arg;
	SSL *ssl = SSL_new(conn->stub->ctx);
	char request[4096];

	SSL_set_fd(ssl, conn->fd);
	if (SSL_accept(ssl) == 1) {
		/* requests of these tests arrive in one piece */
		while (SSL_read(ssl, request, sizeof(request)) > 0) {
			conn->stub->requests++;
			tls_answer(ssl);
			if (conn->stub->close_each)
				break;
		}
		SSL_shutdown(ssl);
	}
	SSL_free(ssl);
	close(conn->fd);
	return NULL;
}

TLS_FN void *tls_serve(void *arg)
{
	enum { MAX_CONNECTIONS = 64 };
	struct tls_connection conns[MAX_CONNECTIONS];
	struct tls_stub *stub = arg;
	int count = 0;

	while (count < MAX_CONNECTIONS) {
		struct tls_connection *conn = &conns[count];

		*conn = (struct tls_connection){stub, accept(stub->listen_fd, NULL, NULL), 0};
		if (conn->fd < 0)
			break;
		stub->connections++;
		if (pthread_create(&conn->thread, NULL, tls_serve_connection, conn))
			abort();
		count++;
	}
	while (count)
		pthread_join(conns[--count].thread, NULL);
	return NULL;
}

/* client_ca: the CA that client certificates must have; NULL: none required.
 * newest: TLS1_2_VERSION or the like. */
TLS_FN void tls_stub_start(struct tls_stub *stub, const struct tls_identity *me,
			   const struct tls_identity *client_ca, int newest)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);

	memset(stub, 0, sizeof(*stub));
	stub->ctx = SSL_CTX_new(TLS_server_method());
	SSL_CTX_use_certificate(stub->ctx, me->cert);
	SSL_CTX_use_PrivateKey(stub->ctx, me->key);
	SSL_CTX_set_max_proto_version(stub->ctx, newest);
	if (client_ca) {
		X509_STORE_add_cert(SSL_CTX_get_cert_store(stub->ctx), client_ca->cert);
		SSL_CTX_set_verify(stub->ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
				   NULL);
	}
	stub->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (bind(stub->listen_fd, (struct sockaddr *)&at, len) || listen(stub->listen_fd, 64) ||
	    getsockname(stub->listen_fd, (struct sockaddr *)&at, &len) ||
	    pthread_create(&stub->thread, NULL, tls_serve, stub))
		abort();
	stub->port = ntohs(at.sin_port);
}

/* All clients must have disconnected. */
TLS_FN void tls_stub_stop(struct tls_stub *stub)
{
	shutdown(stub->listen_fd, SHUT_RDWR);
	pthread_join(stub->thread, NULL);
	close(stub->listen_fd);
	SSL_CTX_free(stub->ctx);
}

#endif
