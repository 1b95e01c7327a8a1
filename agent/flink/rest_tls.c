#include "flink/rest_tls.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/secret.h"
#include "format/keystore.h"

struct store_place {
	char *key; /* of Flink's configuration, for messages; NULL: there is no such store */
	char *path, *password, *key_password;
};

struct rest_tls {
	bool mutual;
	struct store_place keys, trusted;
};

struct pems {
	struct buf ca;
	struct keystore own;
};

/* ---- Flink's configuration ---- */

static const char *get(const struct flink_conf *conf, const char *of, const char *name,
		       char **ret_key)
{
	cleanup_free char *rest = xasprintf("security.ssl.rest.%s%s", of, name);
	cleanup_free char *old = xasprintf("security.ssl.%s%s", of, name);
	const char *value = flink_conf_get(conf, rest);
	const char *key = value ? rest : old;

	value = value ? value : flink_conf_get(conf, old);
	if (value && ret_key)
		xstrset(ret_key, key);
	return value;
}

static struct store_place read_place(const struct flink_conf *conf, const char *of)
{
	struct store_place place = {0};

	place.path = xstrdup(get(conf, of, "", &place.key));
	place.password = xstrdup(get(conf, of, "-password", NULL));
	/* "key-password" is that of the keystore's key */
	if (!strcmp(of, "keystore"))
		place.key_password = xstrdup(get(conf, "key", "-password", NULL));
	return place;
}

struct rest_tls *rest_tls_new(const struct flink_conf *conf)
{
	const char *enabled = get(conf, "", "enabled", NULL);
	struct rest_tls *tls;

	if (!flink_conf_is_true(enabled))
		return NULL;
	tls = xcalloc(1, sizeof(*tls));
	tls->mutual = flink_conf_is_true(
		flink_conf_get(conf, "security.ssl.rest.authentication-enabled"));
	tls->keys = read_place(conf, "keystore");
	tls->trusted = read_place(conf, "truststore");
	return tls;
}

static void release_place(struct store_place *place)
{
	free(place->key);
	free(place->path);
	secret_free(place->password);
	secret_free(place->key_password);
}

void rest_tls_free(struct rest_tls *tls)
{
	if (!tls)
		return;
	release_place(&tls->keys);
	release_place(&tls->trusted);
	free(tls);
}

/* ---- the keystores ---- */

static int read_store(const struct store_place *place, bool with_key, struct keystore *ret,
		      struct err *err)
{
	struct buf bytes = BUF_INIT;
	int rc = fs_read(place->path, KEYSTORE_MAX_BYTES, &bytes, err);

	if (rc == 0)
		rc = keystore_read(bytes.data, bytes.len_bytes, place->password,
				   place->key_password, with_key, ret, err);
	if (bytes.data)
		explicit_bzero(bytes.data, bytes.len_bytes);
	buf_release(&bytes);
	return rc ? err_wrap(err, "%s: %s", place->key, place->path) : 0;
}

static int read_pems(const struct rest_tls *tls, struct pems *ret, struct err *err)
{
	struct keystore trusted = {0};

	if (!tls->keys.path && !tls->trusted.path)
		return err_set(
			err, ERR_CONFIG, 0,
			"security.ssl.rest.enabled is set, but neither security.ssl.rest.keystore nor security.ssl.rest.truststore: Flink would not start");
	if (tls->trusted.path && read_store(&tls->trusted, false, &trusted, err) < 0)
		return -1;
	if (trusted.certs_pem)
		buf_addstr(&ret->ca, trusted.certs_pem);
	keystore_release(&trusted);
	if (tls->keys.path && read_store(&tls->keys, tls->mutual, &ret->own, err) < 0)
		return -1;
	if (ret->own.chain_pem)
		buf_addstr(&ret->ca, ret->own.chain_pem);
	if (tls->mutual && !ret->own.key_pem)
		return err_set(
			err, ERR_CONFIG, 0,
			"security.ssl.rest.authentication-enabled is set, but security.ssl.rest.keystore has no private key");
	return 0;
}

static void release_pems(struct pems *pems)
{
	buf_release(&pems->ca);
	keystore_release(&pems->own);
}

struct http *rest_tls_http(const struct rest_tls *tls, struct err *err)
{
	struct http_config config = {.direct = true};
	struct pems pems = {.ca = BUF_INIT};
	struct http *http = NULL;

	if (!tls)
		return http_new(&config, err);
	if (read_pems(tls, &pems, err) == 0) {
		config.ca_pem = buf_str(&pems.ca);
		config.any_name = true;
		if (tls->mutual) {
			config.cert_pem = pems.own.chain_pem;
			config.key_pem = pems.own.key_pem;
		}
		http = http_new(&config, err);
	}
	release_pems(&pems);
	return http;
}

bool rest_tls_renew(const struct rest_tls *tls, struct http *http)
{
	struct pems pems = {.ca = BUF_INIT};
	bool other = tls && read_pems(tls, &pems, NULL) == 0 &&
		     http_renew(http, buf_str(&pems.ca), tls->mutual ? pems.own.chain_pem : NULL,
				tls->mutual ? pems.own.key_pem : NULL);

	release_pems(&pems);
	return other;
}
