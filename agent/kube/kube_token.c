#include "kube/kube_token.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/fs.h"
#include "base/mem.h"
#include "base/secret.h"

void kube_token_init(struct kube_token *token, const char *text, const char *file)
{
	*token = (struct kube_token){.text = xstrdup(text), .file = xstrdup(file)};
}

void kube_token_release(struct kube_token *token)
{
	free(token->file);
	secret_free(token->text);
	*token = (struct kube_token){0};
}

/* The token in the file, without surrounding white space; it goes into a header. NULL with *err. */
static char *read_token(const char *file, struct err *err)
{
	cleanup_secret_buf struct buf text = BUF_INIT;
	const char *begin, *end;

	if (fs_read(file, KUBE_TOKEN_MAX_BYTES, &text, err))
		return NULL;
	begin = buf_str(&text) + strspn(buf_str(&text), " \t\r\n");
	for (end = begin; *end > ' ' && *end < 0x7F;)
		end++;
	if (end == begin || end[strspn(end, " \t\r\n")] ||
	    strlen(buf_str(&text)) != text.len_bytes) {
		err_set(err, ERR_FORMAT, 0, "%s: %s", file,
			text.len_bytes ? "not a token" : "empty");
		return NULL;
	}
	return xstrndup(begin, (size_t)(end - begin));
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* True when the token has changed; false with *err when it could not be read. */
static bool reread(struct kube_token *token, int64_t now_ms, struct err *err)
{
	char *text;
	bool changed;

	token->read_ms = now_ms;
	/* before the read: a later change is noticed the next time */
	if (stat(token->file, &token->seen))
		token->seen = (struct stat){0};
	text = read_token(token->file, err);
	if (!text)
		return false;
	changed = !token->text || strcmp(text, token->text) != 0;
	secret_free(token->text);
	token->text = text;
	return changed;
}

int kube_token_get(struct kube_token *token, int64_t now_ms, const char **ret_text, struct err *err)
{
	struct err why = {0};
	struct stat now;

	if (token->file &&
	    (!token->text || !token->read_ms || now_ms - token->read_ms >= KUBE_TOKEN_MAX_AGE_MS ||
	     (!stat(token->file, &now) && !is_same_file(&now, &token->seen))))
		reread(token, now_ms, &why);
	if (token->file && !token->text)
		return err_set(err, ERR_DENIED, 0, "no token for the API server: %s", why.msg);
	*ret_text = token->text;
	return 0;
}

bool kube_token_refresh(struct kube_token *token, int64_t now_ms)
{
	return token->file && reread(token, now_ms, NULL);
}
