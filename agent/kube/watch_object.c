#include "kube/watch_object.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kube/kube_status.h"

void watch_object_release(struct watch_object *object)
{
	free(object->path);
	free(object->name);
	free(object->version);
	free(object->mark);
	json_free(object->kept);
	*object = (struct watch_object){0};
}

/* What changes with it; the caller frees. */
static int mark_of(const struct json *from, char **ret_mark, struct err *err)
{
	const struct json *metadata = json_get(from, "metadata");
	int64_t generation = json_i64_or(metadata, "generation", 0);
	const char *uid = json_str(metadata, "uid"), *version;

	if (json_need_str(metadata, "resourceVersion", &version, err))
		return -1;
	*ret_mark = generation > 0 && uid
			    ? xasprintf("%s/%lld%s", uid, (long long)generation,
					json_get(metadata, "deletionTimestamp") ? "/deleted" : "")
			    : xstrdup(version);
	return 0;
}

/* Takes the mark over. True: another one. */
static bool see(struct watch_object *object, char *mark)
{
	bool changed = !xstrsame(object->mark, mark);

	free(object->mark);
	object->mark = mark;
	return changed;
}

/* `content` NULL: it is absent. */
static void keep(struct watch_object *object, const struct json *content)
{
	if (!object->keeps)
		return;
	json_free(object->kept);
	object->kept = content ? json_copy(content) : NULL;
}

/* The object and its mark in the list, NULL and "" if it is not there; the caller frees the mark. */
static int read_list(const struct watch_object *object, const struct json *list,
		     const char **ret_version, const struct json **ret_item, char **ret_mark,
		     struct err *err)
{
	const struct json *items = NULL, *metadata = NULL, *item;
	char *mark = NULL;

	if (json_need_object(list, "metadata", &metadata, err) ||
	    json_need_str(metadata, "resourceVersion", ret_version, err))
		return -1;
	if (!**ret_version)
		return err_set(err, ERR_FORMAT, 0, "a list without a version");
	/* an empty list may be written as null */
	if (json_opt_array(list, "items", &items, err) < 0)
		return -1;
	json_each (item, items) {
		const char *name = json_str(json_get(item, "metadata"), "name");

		if (mark || !name || strcmp(name, object->name) != 0)
			continue;
		if (mark_of(item, &mark, err))
			return -1;
		*ret_item = item;
	}
	*ret_mark = mark ? mark : xstrdup("");
	return 0;
}

int watch_object_list(struct watch_object *object, const struct json *list, bool *ret_changed,
		      struct err *err)
{
	const struct json *item = NULL;
	const char *version;
	char *mark = NULL;

	if (read_list(object, list, &version, &item, &mark, err))
		return err_wrap(err, "GET %s", object->path);
	xstrset(&object->version, version);
	keep(object, item);
	*ret_changed = see(object, mark);
	return 0;
}

/* The server takes the watch back: a Status. */
static int read_error(struct watch_object *object, const struct json *status, struct err *err)
{
	const struct kube_asked asked = {.method = "GET", .path = object->path};
	cleanup_kube_answer struct kube_answer answer = {
		.status = (int)json_i64_or(status, "code", 500),
		.retry_after_ms = -1,
		.object = json_copy(status),
	};

	kube_status_err(&asked, &answer, err);
	object->taken_back = true;
	object->pause_ms = answer.retry_after_ms;
	return -1;
}

int watch_object_event(struct watch_object *object, const struct json *event, bool *ret_changed,
		       struct err *err)
{
	const struct json *content = json_get(event, "object");
	const char *type = json_str(event, "type"), *version;
	const struct json *metadata;
	char *mark = NULL;

	if (!type || json_kind(content) != JSON_OBJECT)
		return err_set(err, ERR_FORMAT, 0, "an event of a watch without type or object");
	if (!strcmp(type, "ERROR"))
		return read_error(object, content, err);
	if (json_need_object(content, "metadata", &metadata, err) ||
	    json_need_str(metadata, "resourceVersion", &version, err))
		return err_wrap(err, "an event of a watch");
	xstrset(&object->version, version);
	*ret_changed = false;
	if (!strcmp(type, "BOOKMARK"))
		return 0;
	if (!strcmp(type, "DELETED"))
		mark = xstrdup("");
	else if (mark_of(content, &mark, err))
		return -1;
	keep(object, *mark ? content : NULL);
	*ret_changed = see(object, mark);
	return 0;
}
