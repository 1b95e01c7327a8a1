#include "kube/kube_headers.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/secret.h"

#define OTHERS 4 /* what is accepted, who asks, and two of the caller */

void kube_headers_add(struct kube_headers *headers, char *line)
{
	if (headers->count == KUBE_HEADERS_MAX)
		abort();
	headers->lines[headers->count++] = line;
}

void kube_headers_release(struct kube_headers *headers)
{
	for (size_t i = 0; i < headers->count; i++)
		secret_free(headers->lines[i]);
	*headers = (struct kube_headers){0};
}

const char *const *kube_headers_lines(const struct kube_headers *headers)
{
	return (const char *const *)headers->lines;
}

/* ---- in whose name ---- */

/* Each line of the impersonation; -1 from `fn` ends it. The value of a line is NULL if it is no text. */
static int each_line(const struct json *as,
		     int (*fn)(void *ctx, const char *name, const char *value, struct err *err),
		     void *ctx, struct err *err)
{
	static const char *const single[][2] = {{"as", "Impersonate-User"},
						{"as-uid", "Impersonate-Uid"}};
	const struct json *item, *value;

	for (size_t i = 0; i < ARRAY_LEN(single); i++)
		if (json_get(as, single[i][0]) &&
		    fn(ctx, single[i][1], json_str(as, single[i][0]), err) < 0)
			return -1;
	json_each (item, json_get(as, "as-groups"))
		if (fn(ctx, "Impersonate-Group", json_text(item), err) < 0)
			return -1;
	json_each (item, json_get(as, "as-user-extra"))
		json_each (value, item) {
			cleanup_buf struct buf name = BUF_INIT;

			buf_addstr(&name, "Impersonate-Extra-");
			percent_encode(&name, json_name(item), false);
			if (fn(ctx, buf_str(&name), json_text(value), err) < 0)
				return -1;
		}
	return 0;
}

static int send_line(void *ctx, const char *name, const char *value, struct err *err)
{
	(void)err;
	kube_headers_add(ctx, xasprintf("%s: %s", name, value));
	return 0;
}

static int check_line(void *ctx, const char *name, const char *value, struct err *err)
{
	size_t *count = ctx;

	if (!value || !*value)
		return err_set(err, ERR_CONFIG, 0, "%s: not a text", name);
	for (const char *at = value; *at; at++)
		if (*at < ' ' || *at >= 0x7f)
			return err_set(err, ERR_CONFIG, 0,
				       "%s: it has a character that no header may have", name);
	if (++*count > KUBE_HEADERS_MAX - OTHERS)
		return err_set(err, ERR_CONFIG, 0, "more than %d groups and extra values",
			       KUBE_HEADERS_MAX - OTHERS);
	return 0;
}

static struct json *as_of(const struct kube_target *target)
{
	return target->as ? json_parse(target->as, strlen(target->as), KUBE_AS_MAX_BYTES, NULL)
			  : NULL;
}

/* ---- all ---- */

static char *basic(const struct kube_target *target)
{
	cleanup_secret char *both =
		xasprintf("%s:%s", target->username, target->password ? target->password : "");
	cleanup_secret_buf struct buf text = BUF_INIT;

	base64_encode(both, strlen(both), &text);
	return xasprintf("Authorization: Basic %s", buf_str(&text));
}

void kube_headers_begin(struct kube_headers *headers, const struct kube_target *target,
			const char *token)
{
	cleanup_json struct json *as = as_of(target);

	*headers = (struct kube_headers){0};
	kube_headers_add(headers, xstrdup("Accept: application/json"));
	if (token)
		kube_headers_add(headers, xasprintf("Authorization: Bearer %s", token));
	else if (target->username)
		kube_headers_add(headers, basic(target));
	(void)each_line(as, send_line, headers, NULL);
}

/* What is no list would be left out without a word. */
static int check_lists(const struct json *as, struct err *err)
{
	const struct json *groups = json_get(as, "as-groups"),
			  *extra = json_get(as, "as-user-extra");
	const struct json *item;

	if (json_kind(groups) != JSON_NULL && json_kind(groups) != JSON_ARRAY)
		return err_set(err, ERR_CONFIG, 0, "as-groups: not a list");
	if (json_kind(extra) != JSON_NULL && json_kind(extra) != JSON_OBJECT)
		return err_set(err, ERR_CONFIG, 0, "as-user-extra: not a map of lists");
	json_each (item, extra)
		if (json_kind(item) != JSON_ARRAY)
			return err_set(err, ERR_CONFIG, 0, "as-user-extra: %.100s: not a list",
				       json_name(item));
	return 0;
}

/* A line break would add a header line. */
static int check_token(const char *token, struct err *err)
{
	for (const char *at = token; at && *at; at++)
		if (*at <= ' ' || *at >= 0x7f)
			return err_set(err, ERR_CONFIG, 0,
				       "the token has a character that no header may have");
	return 0;
}

int kube_headers_check(const struct kube_target *target, struct err *err)
{
	cleanup_json struct json *as = as_of(target);
	size_t count = 0;

	if (check_token(target->token, err) < 0)
		return -1;
	if (!target->as)
		return 0;
	if (!json_str(as, "as"))
		return err_set(
			err, ERR_CONFIG, 0,
			"impersonation of a uid, groups or extra values requires a user ('as')");
	if (check_lists(as, err) < 0)
		return -1;
	return each_line(as, check_line, &count, err);
}

void kube_headers_as(struct kube_target *target, const char *user, const char *const *groups,
		     size_t count)
{
	cleanup_json struct json *as = target->as ? as_of(target) : json_object();
	cleanup_buf struct buf text = BUF_INIT;
	bool named = user && *user;
	struct json *list;

	/* what cannot be read is refused later, as it is */
	if (json_kind(as) != JSON_OBJECT || (!named && !count))
		return;
	if (named) {
		json_remove(as, "as");
		json_add_str(as, "as", user);
	}
	if (count) {
		json_remove(as, "as-groups");
		list = json_add_array(as, "as-groups");
		for (size_t i = 0; i < count; i++)
			json_add_str(list, NULL, groups[i]);
	}
	json_print(as, &text);
	free(target->as);
	target->as = buf_steal(&text);
}
