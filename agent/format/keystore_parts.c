#include "format/keystore_parts.h"

#include <openssl/pem.h>

int keystore_add_cert(struct keystore_parts *parts, X509 *cert, bool of_chain, struct err *err)
{
	if (PEM_write_bio_X509(parts->certs, cert) == 1 &&
	    (!of_chain || PEM_write_bio_X509(parts->chain, cert) == 1))
		return 0;
	return err_set(err, ERR_FORMAT, 0, "a certificate in it cannot be used");
}

int keystore_add_key(struct keystore_parts *parts, EVP_PKEY *key, struct err *err)
{
	if (PEM_write_bio_PKCS8PrivateKey(parts->key, key, NULL, NULL, 0, NULL, NULL) == 1)
		return 0;
	return err_set(err, ERR_FORMAT, 0, "the private key in it cannot be used");
}

bool keystore_wants_key(const struct keystore_parts *parts)
{
	return parts->with_key && !BIO_pending(parts->key);
}

bool keystore_has_chain(const struct keystore_parts *parts)
{
	return BIO_pending(parts->chain) > 0;
}
