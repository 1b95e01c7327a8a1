#include "core/resolve/ha_keys.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"

static const char application_prefix[] = "application-";
static const char *const job_prefixes[] = {"jobGraph-", "executionPlan-"};

static const char *behind(const char *key, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(key, prefix, len) ? NULL : key + len;
}

/* The id in the key; NULL: not such a key. */
static const char *stored_id(const char *key, bool *ret_application)
{
	const char *id = behind(key, application_prefix);

	*ret_application = id != NULL;
	for (size_t i = 0; !id && i < ARRAY_LEN(job_prefixes); i++)
		id = behind(key, job_prefixes[i]);
	return id;
}

bool ha_key_is_stored(const char *key)
{
	bool application;

	return stored_id(key, &application) != NULL;
}

bool ha_key_is_leftover(const char *key, const struct launch *launch)
{
	bool application;
	const char *id = stored_id(key, &application);

	if (!id)
		return false;
	return !launch || strcmp(id, application ? launch->application_id : launch->job_id) != 0;
}

char *ha_leftover_patch(const char *const *keys, size_t count, const struct launch *launch,
			const char *resource_version)
{
	cleanup_json struct json *patch = json_object();
	cleanup_buf struct buf text = BUF_INIT;
	struct json *data;

	json_add_str(json_add_object(patch, "metadata"), "resourceVersion", resource_version);
	data = json_add_object(patch, "data");
	for (size_t i = 0; i < count; i++)
		if (ha_key_is_leftover(keys[i], launch))
			json_add_null(data, keys[i]);
	if (!json_len(data))
		return NULL;
	json_print(patch, &text);
	return buf_steal(&text);
}

static bool is_ours(const struct journal *journal, const char *job_id)
{
	for (size_t i = 0; i < journal->launch_count; i++)
		if (!strcmp(journal->launches[i].job_id, job_id))
			return true;
	return journal_is_former_job(journal, job_id);
}

bool ha_map_is_spent(const struct journal *journal, const char *job_id, const int64_t *ids,
		     size_t count)
{
	const struct launch *launch = journal_launch_const(journal);

	if (!launch || !launch->proven_unix_ms || launch->ended_unix_ms || launch->mismatched ||
	    !strcmp(launch->job_id, job_id) || !is_ours(journal, job_id))
		return false;
	/* keep the restore point of the current launch */
	for (size_t i = 0; i < count; i++)
		if (launch->restore_path && ids[i] == launch->restore_checkpoint_id &&
		    strstr(launch->restore_path, job_id))
			return false;
	return true;
}
