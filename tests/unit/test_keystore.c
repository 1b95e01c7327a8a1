/* Keystores that keytool and openssl have written (tests/fixtures/keystore), and what is wrong with others. */
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "format/keystore.h"
#include "tap.h"

static void read_file(const char *name, struct buf *ret)
{
	cleanup_free char *path = xasprintf("tests/fixtures/keystore/%s", name);

	buf_clear(ret);
	CHECK_INT(fs_read(path, 1 << 20, ret, NULL), ==, 0);
}

static int read_store(const char *name, const char *password, const char *key_password,
		      bool with_key, struct keystore *ret, struct err *err)
{
	cleanup_buf struct buf bytes = BUF_INIT;

	read_file(name, &bytes);
	*err = (struct err){0};
	return keystore_read(bytes.data, bytes.len_bytes, password, key_password, with_key, ret,
			     err);
}

static int count(const char *text, const char *word)
{
	int n = 0;

	for (; text && (text = strstr(text, word)); text++)
		n++;
	return n;
}

static void has(const char *name, const char *password, const char *key_password, int certs,
		int chain, int keys)
{
	struct keystore store = {0};
	struct err err;

	if (!CHECK_INT(read_store(name, password, key_password, true, &store, &err), ==, 0))
		tap_note("%s: %s", name, err.msg);
	CHECK_INT(count(store.certs_pem, "BEGIN CERTIFICATE"), ==, certs);
	CHECK_INT(count(store.chain_pem, "BEGIN CERTIFICATE"), ==, chain);
	CHECK_INT(count(store.key_pem, "BEGIN PRIVATE KEY"), ==, keys);
	keystore_release(&store);
	CHECK(!store.certs_pem && !store.key_pem);
}

TEST(what_keytool_and_openssl_write_is_read)
{
	has("rest.jks", "changeit", "keychange", 1, 1, 1);
	has("rest.p12", "changeit", NULL, 1, 1, 1);
	has("key.pem", NULL, NULL, 1, 1, 1);
	has("trust.jks", "changeit", NULL, 1, 0, 0);
	has("trust.p12", "changeit", NULL, 1, 0, 0);
	/* Java does not check it either if there is none */
	has("trust.jks", NULL, NULL, 1, 0, 0);
}

TEST(it_is_the_same_key_and_certificate_in_each)
{
	static const char *const names[] = {"rest.p12", "key.pem"};
	struct keystore jks = {0}, other = {0};
	struct err err;

	CHECK_INT(read_store("rest.jks", "changeit", "keychange", true, &jks, &err), ==, 0);
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		CHECK_INT(read_store(names[i], "changeit", NULL, true, &other, &err), ==, 0);
		CHECK_STR(other.key_pem, jks.key_pem);
		CHECK_STR(other.chain_pem, jks.chain_pem);
		keystore_release(&other);
	}
	keystore_release(&jks);
}

/* Only the certificates are needed: the key may have another password. */
TEST(a_key_that_is_not_asked_for_needs_no_password)
{
	struct keystore store = {0};
	struct err err;

	CHECK_INT(read_store("rest.jks", "changeit", NULL, false, &store, &err), ==, 0);
	CHECK(store.chain_pem && !store.key_pem);
	keystore_release(&store);
}

static void refuses(const char *name, const char *password, const char *key_password,
		    enum err_kind kind, const char *words)
{
	struct keystore store = {0};
	struct err err;

	CHECK_INT(read_store(name, password, key_password, true, &store, &err), ==, -1);
	CHECK_INT(err.kind, ==, kind);
	CHECK_HAS(err.msg, words);
	CHECK(!strstr(err.msg, "wrong-one"));
	CHECK(!store.certs_pem);
}

TEST(a_wrong_password_and_other_kinds_are_named)
{
	refuses("rest.jks", "wrong-one", "keychange", ERR_CONFIG, "its password is another one");
	refuses("rest.jks", "changeit", "wrong-one", ERR_CONFIG,
		"the password of its key is another one");
	refuses("rest.jks", "changeit", NULL, ERR_CONFIG, "the password of its key is another one");
	refuses("rest.p12", "wrong-one", NULL, ERR_CONFIG, "its password is another one");
	refuses("trust.p12", NULL, NULL, ERR_CONFIG, "its password is another one");
	refuses("legacy.p12", "changeit", NULL, ERR_CONFIG,
		"encrypted in a way that OpenSSL does not have any more");
	refuses("other.jceks", "changeit", NULL, ERR_CONFIG, "not JCEKS and BKS");
	refuses("README.md", "changeit", NULL, ERR_FORMAT, "no JKS, no PKCS12 and no PEM file");
}

/* Cut anywhere, with any byte changed: an error, or the certificates of before. */
TEST(damaged_ones_are_never_a_crash)
{
	static const char *const names[] = {"rest.jks", "rest.p12", "trust.jks", "trust.p12",
					    "key.pem"};
	struct keystore store = {0};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_buf struct buf bytes = BUF_INIT;

		read_file(names[i], &bytes);
		for (size_t len = 0; len < bytes.len_bytes; len += 1 + i) {
			if (keystore_read(bytes.data, len, "changeit", NULL, false, &store, NULL) ==
			    0)
				keystore_release(&store);
			CHECK(i == 4 || !store.certs_pem);
		}
		for (size_t at = 0; at < bytes.len_bytes; at++) {
			bytes.data[at] ^= 0x41;
			if (keystore_read(bytes.data, bytes.len_bytes, i ? "changeit" : NULL,
					  "keychange", true, &store, NULL) == 0)
				keystore_release(&store);
			bytes.data[at] ^= 0x41;
		}
	}
}

TEST(an_empty_one_has_no_certificate)
{
	static const char empty[] =
		"\xfe\xed\xfe\xed\0\0\0\2\0\0\0\0"
		"\xe2\x68\x6e\x45\x1e\x43\xfb\xdf\xa0\xdb\x70\xb4\xb4\x7a\xda\xb7\xc5\xf0\xd6\x90";
	struct keystore store = {0};
	struct err err = {0};

	CHECK_INT(keystore_read(empty, sizeof(empty) - 1, NULL, NULL, false, &store, &err), ==, -1);
	CHECK_HAS(err.msg, "it has no certificate");
	CHECK_INT(keystore_read("", 0, NULL, NULL, false, &store, &err), ==, -1);
}
