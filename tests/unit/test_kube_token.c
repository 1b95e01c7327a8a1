#include "kube/kube_token.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "store_dir.h"
#include "tap.h"

/* A directory like that of a projected volume: token -> ..data/token, ..data -> one. */
struct rig {
	char *top, *file;
	struct kube_token token;
	struct err err;
};

static void put(const struct rig *rig, const char *name, const char *text)
{
	dir_put(rig->top, name, text, strlen(text));
}

static void link_to(const struct rig *rig, const char *name, const char *target)
{
	cleanup_free char *path = xasprintf("%s/%s", rig->top, name);
	cleanup_free char *fresh = xasprintf("%s/..new", rig->top);

	if (symlink(target, fresh) || rename(fresh, path))
		abort();
}

static void rig_start(struct rig *rig, const char *text)
{
	memset(rig, 0, sizeof(*rig));
	rig->top = dir_new();
	rig->file = xasprintf("%s/token", rig->top);
	put(rig, "one", text);
	link_to(rig, "..data", "one");
	link_to(rig, "token", "..data");
	kube_token_init(&rig->token, NULL, rig->file);
}

static void rig_stop(struct rig *rig)
{
	kube_token_release(&rig->token);
	free(rig->file);
	dir_removep(&rig->top);
}

static const char *get(struct rig *rig, int64_t now_ms)
{
	const char *text = "untouched";

	rig->err = (struct err){0};
	kube_token_get(&rig->token, now_ms, &text, &rig->err);
	return text ? text : "none";
}

TEST(white_space_around_it_is_cut)
{
	struct rig rig;

	rig_start(&rig, " \n abc.def-_ \t\r\n");
	CHECK_STR(get(&rig, 1), "abc.def-_");
	rig_stop(&rig);
}

TEST(an_exchanged_link_is_noticed_at_once)
{
	struct rig rig;

	rig_start(&rig, "one");
	CHECK_STR(get(&rig, 1), "one");
	put(&rig, "two", "two");
	CHECK_STR(get(&rig, 2), "one");
	link_to(&rig, "..data", "two");
	CHECK_STR(get(&rig, 3), "two");
	put(&rig, "two", "three and longer");
	CHECK_STR(get(&rig, 4), "two"); /* not a token: two words */
	put(&rig, "two", "three-and-longer");
	CHECK_STR(get(&rig, 5), "three-and-longer");
	rig_stop(&rig);
}

TEST(it_is_read_again_when_it_is_old_whatever_the_file_looks_like)
{
	struct rig rig;

	rig_start(&rig, "one");
	CHECK_STR(get(&rig, 1000), "one");
	rig.token.text[0] = '?'; /* the file is as it was: only a reading would mend this */
	CHECK_STR(get(&rig, 1000 + KUBE_TOKEN_MAX_AGE_MS - 1), "?ne");
	CHECK_STR(get(&rig, 1000 + KUBE_TOKEN_MAX_AGE_MS), "one");
	rig_stop(&rig);
}

TEST(a_file_that_gives_none_leaves_the_old_one)
{
	static const char *const bad[] = {"", " \n", "two words", "a\x7f", "a\nb", "\x01"};
	struct rig rig;
	int64_t now_ms = 1;

	rig_start(&rig, "one");
	CHECK_STR(get(&rig, now_ms), "one");
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		put(&rig, "one", bad[i]);
		now_ms += KUBE_TOKEN_MAX_AGE_MS;
		CHECK_STR(get(&rig, now_ms), "one");
		CHECK(!kube_token_refresh(&rig.token, now_ms));
	}
	remove(rig.file);
	CHECK_STR(get(&rig, now_ms + KUBE_TOKEN_MAX_AGE_MS), "one");
	link_to(&rig, "token", "two");
	put(&rig, "two", "two");
	CHECK_STR(get(&rig, now_ms + KUBE_TOKEN_MAX_AGE_MS + 1), "two");
	rig_stop(&rig);
}

TEST(without_any_it_is_an_error_and_never_absence)
{
	struct rig rig;

	rig_start(&rig, "");
	CHECK_STR(get(&rig, 1), "untouched");
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	CHECK_HAS(rig.err.msg, "empty");
	remove(rig.file);
	CHECK_STR(get(&rig, 2), "untouched");
	CHECK_INT(rig.err.kind, ==, ERR_DENIED);
	/* and it is tried again at once */
	link_to(&rig, "token", "two");
	put(&rig, "two", "two");
	CHECK_STR(get(&rig, 3), "two");
	rig_stop(&rig);
}

TEST(a_refresh_says_whether_it_is_another)
{
	struct rig rig;

	rig_start(&rig, "one");
	CHECK_STR(get(&rig, 1), "one");
	CHECK(!kube_token_refresh(&rig.token, 2));
	put(&rig, "one", "one\n");
	CHECK(!kube_token_refresh(&rig.token, 3));
	put(&rig, "one", "two");
	CHECK(kube_token_refresh(&rig.token, 4));
	CHECK_STR(get(&rig, 5), "two");
	rig_stop(&rig);
}

TEST(a_given_token_is_used_until_the_file_gives_one)
{
	struct rig rig;

	rig_start(&rig, "");
	kube_token_release(&rig.token);
	kube_token_init(&rig.token, "given", rig.file);
	CHECK_STR(get(&rig, 1), "given");
	put(&rig, "one", "of-the-file");
	CHECK_STR(get(&rig, 2), "of-the-file");
	kube_token_release(&rig.token);
	kube_token_init(&rig.token, "given", NULL);
	CHECK_STR(get(&rig, 1), "given");
	CHECK(!kube_token_refresh(&rig.token, 2));
	kube_token_release(&rig.token);
	kube_token_init(&rig.token, NULL, NULL);
	CHECK_STR(get(&rig, 1), "none");
	rig_stop(&rig);
}
