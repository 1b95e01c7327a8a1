/* A kubeconfig, in YAML or JSON: what is taken leads to a server and can stand in a header, what is not has a reason.
 * Two files in one input, cut at the first NUL. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kube_file.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static void check(const struct kube_target *config)
{
	if (!config->server || !config->source || (config->ca_file && config->ca_pem) ||
	    (config->cert_file && config->cert_pem) ||
	    (!config->login &&
	     (!config->cert_file != !config->key_file || !config->cert_pem != !config->key_pem)))
		abort();
	if (kube_target_check(config, NULL) == 0 && strncmp(config->server, "http", 4) != 0)
		abort();
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	const char *text = (const char *)data;
	size_t first = strnlen(text, len_bytes), count = 0;
	struct kube_file files[2] = {{(char *)"dir/a", NULL}, {(char *)"/b", NULL}};
	struct kube_target config = {0};
	struct err err = {0};

	files[0].doc = kube_file_parse(text, first, &err);
	count += files[0].doc ? 1 : 0;
	if (count && first < len_bytes) {
		files[1].doc = kube_file_parse(text + first + 1, len_bytes - first - 1, &err);
		count += files[1].doc ? 1 : 0;
	}
	if (count) {
		err = (struct err){0};
		if (kube_file_select(files, count, NULL, &config, &err) == 0)
			check(&config);
		else if (err.kind == ERR_NONE || err.kind == ERR_ABSENT || !err.msg[0])
			abort();
	}
	kube_target_release(&config);
	json_free(files[0].doc);
	json_free(files[1].doc);
	return 0;
}
