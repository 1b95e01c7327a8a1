#include "format/keystore_parts.h"

#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>

#include "base/mem.h"

#define JCEKS_MAGIC "\xce\xce\xce\xce"
#define BKS_MAGIC   "\x00\x00\x00\x02" /* Bouncy Castle */
#define PEM_MAGIC   "-----BEGIN "

static char *text_of(BIO *bio)
{
	char *data = NULL;
	long len = BIO_get_mem_data(bio, &data);

	return len > 0 ? xstrndup(data, (size_t)len) : NULL;
}

/* ---- PKCS12 ---- */

static int explain_pkcs12(struct err *err)
{
	unsigned long code = ERR_peek_last_error();

	if (ERR_GET_LIB(code) == ERR_LIB_PKCS12 &&
	    ERR_GET_REASON(code) == PKCS12_R_MAC_VERIFY_FAILURE)
		return err_set(err, ERR_CONFIG, 0, "its password is another one");
	/* RC2, which old versions of keytool used */
	if (strstr(ERR_reason_error_string(code) ? ERR_reason_error_string(code) : "",
		   "unsupported"))
		return err_set(
			err, ERR_CONFIG, 0,
			"it is encrypted in a way that OpenSSL does not have any more; write it anew: keytool -importkeystore -srckeystore OLD -destkeystore NEW -deststoretype pkcs12, with Java 17 or later");
	return err_set(err, ERR_FORMAT, 0, "it is damaged");
}

static int add_stack(struct keystore_parts *parts, const STACK_OF(X509) * certs, bool of_chain,
		     struct err *err)
{
	for (int i = 0; i < sk_X509_num(certs); i++)
		if (keystore_add_cert(parts, sk_X509_value(certs, i), of_chain, err) < 0)
			return -1;
	return 0;
}

static int add_pkcs12(struct keystore_parts *parts, PKCS12 *store, struct err *err)
{
	STACK_OF(X509) *others = NULL;
	EVP_PKEY *key = NULL;
	X509 *cert = NULL;
	int rc = -1;

	if (PKCS12_parse(store, parts->password ? parts->password : "", &key, &cert, &others) != 1)
		return explain_pkcs12(err);
	if ((!cert || keystore_add_cert(parts, cert, key != NULL, err) == 0) &&
	    add_stack(parts, others, key != NULL, err) == 0 &&
	    (!key || !parts->with_key || keystore_add_key(parts, key, err) == 0))
		rc = 0;
	EVP_PKEY_free(key);
	X509_free(cert);
	sk_X509_pop_free(others, X509_free);
	return rc;
}

static int read_pkcs12(struct keystore_parts *parts, const unsigned char *bytes, size_t len_bytes,
		       struct err *err)
{
	PKCS12 *store = d2i_PKCS12(NULL, &bytes, (long)len_bytes);
	int rc;

	if (!store)
		return err_set(err, ERR_FORMAT, 0,
			       "it is no JKS, no PKCS12 and no PEM file, or it is damaged");
	rc = add_pkcs12(parts, store, err);
	PKCS12_free(store);
	return rc;
}

/* ---- PEM ---- */

/* Never asks at a terminal. */
static int tell_password(char *buf, int size, int for_writing, void *password)
{
	const char *text = password;
	int len = 0;

	(void)for_writing;
	/* OpenSSL wants no NUL at the end */
	for (; text && text[len]; len++) {
		if (len == size)
			return 0;
		buf[len] = text[len];
	}
	return len;
}

static int read_pem(struct keystore_parts *parts, const unsigned char *bytes, size_t len_bytes,
		    struct err *err)
{
	const char *password = parts->key_password ? parts->key_password : parts->password;
	BIO *in = BIO_new_mem_buf(bytes, (int)len_bytes);
	EVP_PKEY *key = NULL;
	X509 *cert;
	int rc = 0;

	while (in && !rc && (cert = PEM_read_bio_X509(in, NULL, tell_password, NULL))) {
		rc = keystore_add_cert(parts, cert, true, err);
		X509_free(cert);
	}
	BIO_free(in);
	ERR_clear_error();
	if (rc || !parts->with_key)
		return rc;
	in = BIO_new_mem_buf(bytes, (int)len_bytes);
	key = in ? PEM_read_bio_PrivateKey(in, NULL, tell_password, (void *)(uintptr_t)password)
		 : NULL;
	BIO_free(in);
	if (key)
		rc = keystore_add_key(parts, key, err);
	else if (memmem(bytes, len_bytes, "PRIVATE KEY-----", 16))
		rc = err_set(err, ERR_CONFIG, 0,
			     "the password of the key is another one, or the key is damaged");
	EVP_PKEY_free(key);
	return rc;
}

/* ---- which kind ---- */

static bool begins(const void *bytes, size_t len_bytes, const char *magic, size_t magic_bytes)
{
	return len_bytes >= magic_bytes && !memcmp(bytes, magic, magic_bytes);
}

static int read_kind(struct keystore_parts *parts, const void *bytes, size_t len_bytes,
		     struct err *err)
{
	if (begins(bytes, len_bytes, KEYSTORE_JKS_MAGIC, 4))
		return keystore_read_jks(parts, bytes, len_bytes, err);
	if (begins(bytes, len_bytes, JCEKS_MAGIC, 4) || begins(bytes, len_bytes, BKS_MAGIC, 4))
		return err_set(
			err, ERR_CONFIG, 0,
			"drey reads JKS, PKCS12 and PEM, not JCEKS and BKS; convert it with keytool -importkeystore -deststoretype pkcs12");
	/* a PEM file may have text in front */
	if (memmem(bytes, len_bytes, PEM_MAGIC, strlen(PEM_MAGIC)))
		return read_pem(parts, bytes, len_bytes, err);
	return read_pkcs12(parts, bytes, len_bytes, err);
}

int keystore_read(const void *bytes, size_t len_bytes, const char *password,
		  const char *key_password, bool with_key, struct keystore *ret, struct err *err)
{
	struct keystore_parts parts = {.password = password,
				       .key_password = key_password,
				       .with_key = with_key,
				       .certs = BIO_new(BIO_s_mem()),
				       .chain = BIO_new(BIO_s_mem()),
				       .key = BIO_new(BIO_s_secmem())};
	struct keystore found = {0};
	int rc = -1;

	if (!parts.certs || !parts.chain || !parts.key)
		abort();
	if (len_bytes > KEYSTORE_MAX_BYTES) {
		err_set(err, ERR_CONFIG, 0, "it has more than %u bytes", KEYSTORE_MAX_BYTES);
	} else if (read_kind(&parts, bytes, len_bytes, err) == 0) {
		found = (struct keystore){text_of(parts.certs), text_of(parts.chain),
					  text_of(parts.key)};
		rc = found.certs_pem ? 0 : err_set(err, ERR_CONFIG, 0, "it has no certificate");
	}
	ERR_clear_error();
	BIO_free(parts.certs);
	BIO_free(parts.chain);
	BIO_free(parts.key);
	if (rc)
		keystore_release(&found);
	else
		*ret = found;
	return rc;
}

void keystore_release(struct keystore *keystore)
{
	if (keystore->key_pem)
		OPENSSL_cleanse(keystore->key_pem, strlen(keystore->key_pem));
	free(keystore->key_pem);
	free(keystore->certs_pem);
	free(keystore->chain_pem);
	*keystore = (struct keystore){0};
}
