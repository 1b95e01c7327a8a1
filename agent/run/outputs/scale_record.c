#include "run/outputs/scale_record.h"

#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"

#define MAX_BYTES 4096
#define MOST      100000

/* As `kubectl` calls it; by kind. */
static const char *const words[] = {"deployment", "statefulset"};

char *scale_record_key(const struct kube_scale_target *target)
{
	return xasprintf(SCALE_RECORD_PREFIX "%s.%s.json", words[target->kind], target->name);
}

char *scale_record_text(const char *uid, int64_t replicas)
{
	cleanup_json struct json *record = json_object();
	cleanup_buf struct buf text = BUF_INIT;

	json_add_str(record, "uid", uid);
	json_add_i64(record, "replicas", replicas);
	json_print(record, &text);
	return xstrdup(buf_str(&text));
}

int scale_record_read(const char *key, const char *text, const char *uid, int64_t *ret_replicas,
		      struct err *err)
{
	cleanup_json struct json *record = NULL;
	const char *of;
	int64_t replicas;

	if (!text) {
		*ret_replicas = 0;
		return 0;
	}
	record = json_parse(text, strlen(text), MAX_BYTES, err);
	if (!record || json_need_str(record, "uid", &of, err) < 0 ||
	    json_need_i64(record, "replicas", &replicas, err) < 0)
		return err_wrap(err, "%s", key);
	if (replicas < 1 || replicas > MOST)
		return err_set(err, ERR_FORMAT, 0, "%s: replicas: not from 1 to %d", key, MOST);
	*ret_replicas = strcmp(of, uid) == 0 ? replicas : 0;
	return 0;
}
