/*
 * keystore_parts - what the kinds of keystores have in common; only for keystore*.c.
 */
#ifndef DREY_FORMAT_KEYSTORE_PARTS_H
#define DREY_FORMAT_KEYSTORE_PARTS_H

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "format/keystore.h"

/* What is collected; PEM is appended to each. */
struct keystore_parts {
	const char *password, *key_password; /* borrowed */
	bool with_key;
	BIO *certs, *chain, *key;
};

/* Append a certificate: to all, and to the chain if it is of that. -1 with ERR_FORMAT if libcrypto cannot. */
int keystore_add_cert(struct keystore_parts *parts, X509 *cert, bool of_chain, struct err *err);
int keystore_add_key(struct keystore_parts *parts, EVP_PKEY *key, struct err *err);

/* The first key of the store is the one that counts. */
bool keystore_wants_key(const struct keystore_parts *parts);
bool keystore_has_chain(const struct keystore_parts *parts);

#define KEYSTORE_JKS_MAGIC "\xfe\xed\xfe\xed"
int keystore_read_jks(struct keystore_parts *parts, const unsigned char *bytes, size_t len_bytes,
		      struct err *err);

#endif
