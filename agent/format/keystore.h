/*
 * keystore - certificates and keys as Java keeps them: JKS, PKCS12, and PEM.
 *
 * Source: sun.security.provider.JavaKeyStore and KeyProtector (JKS, version 1 and 2), RFC 7292 (PKCS12, by libcrypto),
 * RFC 7468 (PEM). Which of them it is shows in the first bytes, as in Java since 8u60: the configured type does not matter.
 *
 * Errors: ERR_CONFIG for another kind of file, a wrong password, encryption that libcrypto does not have, no certificate
 * at all; ERR_FORMAT for a damaged one. No message has a password or a part of a key.
 */
#ifndef DREY_FORMAT_KEYSTORE_H
#define DREY_FORMAT_KEYSTORE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define KEYSTORE_MAX_BYTES (4u << 20)

/* Everything as PEM texts that are owned; NULL: there is none. Release with keystore_release(). */
struct keystore {
	char *certs_pem; /* all certificates */
	char *chain_pem; /* those of the first private key, its own one first */
	char *key_pem;   /* that key, not encrypted */
};

/* `password` opens the store, and the key if `key_password` is NULL. NULL password: it is not checked (JKS), or empty. The
 * result has a key only if `with_key`: a store whose certificates are needed may have a key with another password. */
int keystore_read(const void *bytes, size_t len_bytes, const char *password,
		  const char *key_password, bool with_key, struct keystore *ret, struct err *err);

void keystore_release(struct keystore *keystore); /* zeroed is allowed; keys are overwritten */

#endif
