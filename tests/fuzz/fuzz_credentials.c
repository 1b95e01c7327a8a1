/* AWS profiles, answers of STS, and keys in JSON as servers and programs write them: what is taken can stand in a
 * header, what is not has a reason. The first byte chooses the format. */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "format/sts_xml.h"
#include "store/s3/s3_credentials_internal.h"
#include "store/s3/s3_profile.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

static void check(int result, const struct err *err)
{
	if ((result < 0) != (err->msg[0] != '\0'))
		abort();
}

static void check_keys(struct s3_keys *keys)
{
	if (!keys->access_key || !keys->secret_key)
		abort();
	for (const char *p = keys->access_key; *p; p++)
		if (*p <= ' ' || *p == 0x7F)
			abort();
	s3_keys_release(keys);
}

static void profile(const char *text, size_t len_bytes, bool is_config)
{
	struct s3_profile profile = {.name = xstrdup("p")};
	struct err err = {0};

	check(s3_profile_parse(&profile, text, len_bytes, is_config, &err), &err);
	for (size_t i = 0; i < S3_PROFILE_KEYS; i++)
		if (profile.values[i] &&
		    (!profile.found || !*profile.values[i] || strchr(profile.values[i], '\n')))
			abort();
	s3_profile_release(&profile);
}

static void sts(const char *text, size_t len_bytes)
{
	struct sts_answer answer = {0};
	struct s3_keys keys;
	struct err err = {0};
	int result = sts_xml_parse(text, len_bytes, &answer, &err);

	check(result, &err);
	s3_printable(answer.message);
	if (result == 0 && answer.access_key && answer.secret_key &&
	    s3_keys_take(answer.access_key, answer.secret_key, answer.session_token,
			 answer.expiration, &keys, &err) == 0)
		check_keys(&keys);
	sts_answer_release(&answer);
}

typedef int json_fn(const char *text, size_t len_bytes, struct s3_keys *ret_keys, struct err *err);

static void json(const char *text, size_t len_bytes, json_fn *read)
{
	struct s3_keys keys;
	struct err err = {0};
	int result = read(text, len_bytes, &keys, &err);

	check(result, &err);
	if (result == 0)
		check_keys(&keys);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	const char *text = (const char *)data + 1;

	if (!len_bytes)
		return 0;
	switch (data[0] % 4) {
	case 0:
		profile(text, len_bytes - 1, true);
		break;
	case 1:
		profile(text, len_bytes - 1, false);
		break;
	case 2:
		sts(text, len_bytes - 1);
		break;
	default:
		json(text, len_bytes - 1, s3_keys_from_json);
		json(text, len_bytes - 1, s3_keys_from_process);
	}
	return 0;
}
