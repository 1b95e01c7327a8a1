/* Any bytes as a keystore, with a password and without. What is accepted has certificates; a key only if it is asked for. */
#include <string.h>

#include "format/keystore.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static void as(const char *password, bool with_key, const unsigned char *data, size_t len_bytes)
{
	struct keystore store = {0};
	struct err err = {0};

	if (keystore_read(data, len_bytes, password, NULL, with_key, &store, &err) < 0) {
		must((err.kind == ERR_FORMAT || err.kind == ERR_CONFIG) && err.msg[0]);
		must(!store.certs_pem && !store.chain_pem && !store.key_pem);
		return;
	}
	must(err.kind == ERR_NONE);
	must(store.certs_pem && strstr(store.certs_pem, "-----BEGIN CERTIFICATE-----"));
	must(with_key || !store.key_pem);
	keystore_release(&store);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	as(NULL, true, data, len_bytes);
	as("changeit", false, data, len_bytes);
	return 0;
}
