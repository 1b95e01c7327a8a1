/*
 * JKS: numbers are big-endian, texts have two bytes of length in front.
 *
 *   u32 magic, u32 version 1 or 2, u32 count, entries, 20 bytes SHA-1 of (password as UTF-16BE, "Mighty Aphrodite", all before)
 *   entry: u32 1 (a key) or 2 (a certificate), text alias, u64 date,
 *          1: u32 length, EncryptedPrivateKeyInfo; u32 count, certificates, the key's own one first
 *          2: a certificate
 *   certificate: [2] text type, u32 length, DER
 *
 * The key is encrypted by a proprietary way, OID 1.3.6.1.4.1.42.2.17.1.1: 20 bytes salt, the key XOR a stream, 20 bytes
 * SHA-1 of (password, key). The stream are SHA-1 of (password, the 20 bytes before), the salt first.
 */
#include <stdlib.h>
#include <string.h>

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "format/keystore_parts.h"

#define DIGEST_BYTES 20
#define ENTRY_KEY    1
#define ENTRY_CERT   2
#define MAX_ENTRIES  10000

struct reader {
	const unsigned char *at, *end;
	bool broken;
};

static const unsigned char *take_bytes(struct reader *rd, size_t len_bytes)
{
	const unsigned char *at = rd->at;

	if (rd->broken || (size_t)(rd->end - rd->at) < len_bytes) {
		rd->broken = true;
		return NULL;
	}
	rd->at += len_bytes;
	return at;
}

static uint32_t take_u32(struct reader *rd)
{
	const unsigned char *b = take_bytes(rd, 4);

	return b ? (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3] : 0;
}

static void skip_text(struct reader *rd)
{
	const unsigned char *b = take_bytes(rd, 2);

	if (b)
		take_bytes(rd, (size_t)b[0] << 8 | b[1]);
}

static int damaged(struct err *err)
{
	return err_set(err, ERR_FORMAT, 0, "it is damaged");
}

/* As Java has it: UTF-16BE, 2 bytes for each byte at most. What is no UTF-8 is taken byte by byte. */
static size_t utf16(const char *password, unsigned char *ret)
{
	size_t len = 0, left = password ? strlen(password) : 0, bytes;

	for (const char *at = password; left > 0; at += bytes, left -= bytes) {
		uint32_t point;

		bytes = utf8_char_bytes(at, left);
		point = bytes ? utf8_code_point(at, bytes) : (unsigned char)*at;
		bytes = bytes ? bytes : 1;
		for (int half = point > 0xFFFF ? 1 : 0; half >= 0; half--) {
			uint32_t unit = point;

			if (point > 0xFFFF)
				unit = half ? 0xD800 + ((point - 0x10000) >> 10)
					    : 0xDC00 + ((point - 0x10000) & 0x3FF);
			ret[len++] = (unsigned char)(unit >> 8);
			ret[len++] = (unsigned char)unit;
		}
	}
	return len;
}

/* SHA-1 of the password and of what follows it. */
static void digest_of(const char *password, const void *first, size_t first_bytes,
		      const void *second, size_t second_bytes, unsigned char ret[DIGEST_BYTES])
{
	unsigned char *wide = xcalloc(2 * (password ? strlen(password) : 0) + 1, 1);
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	size_t len = utf16(password, wide);

	if (!ctx || EVP_DigestInit_ex(ctx, EVP_sha1(), NULL) != 1 ||
	    EVP_DigestUpdate(ctx, wide, len) != 1 ||
	    EVP_DigestUpdate(ctx, first, first_bytes) != 1 ||
	    EVP_DigestUpdate(ctx, second, second_bytes) != 1 ||
	    EVP_DigestFinal_ex(ctx, ret, NULL) != 1)
		abort();
	EVP_MD_CTX_free(ctx);
	OPENSSL_cleanse(wide, len);
	free(wide);
}

/* ---- the key ---- */

static EVP_PKEY *key_of_der(const unsigned char *der, size_t len_bytes)
{
	PKCS8_PRIV_KEY_INFO *info = d2i_PKCS8_PRIV_KEY_INFO(NULL, &der, (long)len_bytes);
	EVP_PKEY *key = info ? EVP_PKCS82PKEY(info) : NULL;

	PKCS8_PRIV_KEY_INFO_free(info);
	return key;
}

static int open_key(struct keystore_parts *parts, const unsigned char *sealed, size_t sealed_bytes,
		    struct err *err)
{
	const char *password = parts->key_password ? parts->key_password : parts->password;
	unsigned char stream[DIGEST_BYTES], check[DIGEST_BYTES], *plain;
	size_t len = sealed_bytes - 2 * DIGEST_BYTES;
	EVP_PKEY *key = NULL;
	int rc = -1;

	if (sealed_bytes <= 2 * DIGEST_BYTES)
		return damaged(err);
	plain = xcalloc(len, 1);
	memcpy(stream, sealed, DIGEST_BYTES);
	for (size_t i = 0; i < len; i++) {
		if (i % DIGEST_BYTES == 0)
			digest_of(password, stream, DIGEST_BYTES, "", 0, stream);
		plain[i] = sealed[DIGEST_BYTES + i] ^ stream[i % DIGEST_BYTES];
	}
	digest_of(password, plain, len, "", 0, check);
	if (CRYPTO_memcmp(check, sealed + DIGEST_BYTES + len, DIGEST_BYTES) != 0)
		err_set(err, ERR_CONFIG, 0, "the password of its key is another one");
	else if (!(key = key_of_der(plain, len)))
		damaged(err);
	else
		rc = keystore_add_key(parts, key, err);
	EVP_PKEY_free(key);
	OPENSSL_cleanse(plain, len);
	free(plain);
	return rc;
}

static int read_key(struct keystore_parts *parts, const unsigned char *der, size_t len_bytes,
		    struct err *err)
{
	const ASN1_OCTET_STRING *sealed = NULL;
	X509_SIG *outer = d2i_X509_SIG(NULL, &der, (long)len_bytes);
	int rc;

	if (!outer)
		return damaged(err);
	X509_SIG_get0(outer, NULL, &sealed);
	rc = open_key(parts, ASN1_STRING_get0_data(sealed), (size_t)ASN1_STRING_length(sealed),
		      err);
	X509_SIG_free(outer);
	return rc;
}

/* ---- entries ---- */

static int read_cert(struct keystore_parts *parts, struct reader *rd, uint32_t version,
		     bool of_chain, struct err *err)
{
	const unsigned char *der;
	uint32_t len;
	X509 *cert;
	int rc;

	if (version == 2)
		skip_text(rd);
	len = take_u32(rd);
	der = take_bytes(rd, len);
	cert = der ? d2i_X509(NULL, &der, (long)len) : NULL;
	if (!cert)
		return damaged(err);
	rc = keystore_add_cert(parts, cert, of_chain, err);
	X509_free(cert);
	return rc;
}

static int read_entry(struct keystore_parts *parts, struct reader *rd, uint32_t version,
		      struct err *err)
{
	uint32_t kind = take_u32(rd), count, len;
	bool first = !keystore_has_chain(parts);
	const unsigned char *der;

	skip_text(rd);
	take_bytes(rd, 8);
	if (rd->broken || (kind != ENTRY_KEY && kind != ENTRY_CERT))
		return damaged(err);
	if (kind == ENTRY_CERT)
		return read_cert(parts, rd, version, false, err);
	len = take_u32(rd);
	der = take_bytes(rd, len);
	if (!der || (keystore_wants_key(parts) && read_key(parts, der, len, err) < 0))
		return der ? -1 : damaged(err);
	for (count = take_u32(rd); count > 0; count--)
		if (read_cert(parts, rd, version, first, err) < 0)
			return -1;
	return 0;
}

int keystore_read_jks(struct keystore_parts *parts, const unsigned char *bytes, size_t len_bytes,
		      struct err *err)
{
	static const char salt[] = "Mighty Aphrodite";
	unsigned char digest[DIGEST_BYTES];
	struct reader rd = {.at = bytes + 4, .end = bytes + len_bytes};
	uint32_t version, count;

	if (len_bytes < 12 + DIGEST_BYTES)
		return damaged(err);
	rd.end -= DIGEST_BYTES;
	if (parts->password) {
		digest_of(parts->password, salt, strlen(salt), bytes, len_bytes - DIGEST_BYTES,
			  digest);
		if (CRYPTO_memcmp(digest, rd.end, DIGEST_BYTES) != 0)
			return err_set(err, ERR_CONFIG, 0,
				       "its password is another one, or it is damaged");
	}
	version = take_u32(&rd);
	count = take_u32(&rd);
	if ((version != 1 && version != 2) || count > MAX_ENTRIES)
		return damaged(err);
	while (count-- > 0)
		if (read_entry(parts, &rd, version, err) < 0)
			return -1;
	return rd.at == rd.end ? 0 : damaged(err);
}
