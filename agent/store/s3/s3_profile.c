#include "store/s3/s3_profile.h"

#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"

#define BLANKS " \t\r\f\v"

static const char *const names[] = {
	"aws_access_key_id",
	"aws_secret_access_key",
	"aws_session_token",
	"role_arn",
	"source_profile",
	"credential_source",
	"external_id",
	"duration_seconds",
	"mfa_serial",
	"web_identity_token_file",
	"role_session_name",
	"credential_process",
	"sso_session",
	"sso_start_url",
	"region",
	"endpoint_url",
	"ca_bundle",
};
_Static_assert(ARRAY_LEN(names) == S3_PROFILE_KEYS, "a name for each key");

const char *s3_profile_key_name(enum s3_profile_key key)
{
	return names[key];
}

static void wipe(char **slot)
{
	if (*slot)
		explicit_bzero(*slot, strlen(*slot));
	free(*slot);
	*slot = NULL;
}

void s3_profile_release(struct s3_profile *profile)
{
	if (!profile)
		return;
	for (size_t i = 0; i < S3_PROFILE_KEYS; i++)
		wipe(&profile->values[i]);
	free(profile->name);
	free(profile->passed_over);
	*profile = (struct s3_profile){0};
}

/* ---- one file ---- */

/* A piece of the text; never NUL-terminated. */
struct span {
	const char *at;
	size_t len;
};

static struct span trim(struct span span)
{
	while (span.len && strchr(BLANKS, span.at[0]))
		span.at++, span.len--;
	while (span.len && strchr(BLANKS, span.at[span.len - 1]))
		span.len--;
	return span;
}

static bool span_is(struct span span, const char *text)
{
	return span.len == strlen(text) && memcmp(span.at, text, span.len) == 0;
}

/* Cut at " #" or " ;". */
static struct span without_comment(struct span span)
{
	for (size_t i = 1; i < span.len; i++)
		if ((span.at[i] == '#' || span.at[i] == ';') && strchr(BLANKS, span.at[i - 1]))
			span.len = i;
	return span;
}

static size_t indent_of(struct span line)
{
	size_t indent = 0;

	while (indent < line.len && strchr(BLANKS, line.at[indent]))
		indent++;
	return indent;
}

struct reader {
	struct s3_profile *profile;
	bool is_config;
	bool ours;     /* inside a section of this profile */
	bool property; /* a setting was read in this section, with this indent: */
	size_t indent;
};

/* "[profile name]": is it ours? [profile default] and [default] are the same. */
static int read_section(struct reader *reader, struct span line, struct err *err)
{
	const char *end = memchr(line.at, ']', line.len);
	struct span name;
	bool prefixed = false;

	reader->ours = reader->property = false;
	if (!end)
		return err_set(err, ERR_CONFIG, 0, "']' is missing");
	name = trim((struct span){line.at + 1, (size_t)(end - line.at) - 1});
	if (reader->is_config && name.len > 7 && memcmp(name.at, "profile", 7) == 0 &&
	    strchr(BLANKS, name.at[7])) {
		name = trim((struct span){name.at + 7, name.len - 7});
		prefixed = true;
	}
	reader->ours = span_is(name, reader->profile->name) &&
		       (prefixed || !reader->is_config || span_is(name, "default"));
	if (reader->ours)
		reader->profile->found = true;
	return 0;
}

static int read_setting(struct reader *reader, struct span line, struct err *err)
{
	const char *equals = memchr(line.at, '=', line.len);
	struct span key, value;

	if (!equals)
		return err_set(err, ERR_CONFIG, 0, "neither a section nor \"name = value\"");
	key = trim((struct span){line.at, (size_t)(equals - line.at)});
	value = without_comment(
		(struct span){equals + 1, line.len - (size_t)(equals - line.at) - 1});
	value = trim(value);
	for (size_t i = 0; i < S3_PROFILE_KEYS; i++) {
		if (key.len != strlen(names[i]) || strncasecmp(key.at, names[i], key.len) != 0)
			continue;
		wipe(&reader->profile->values[i]);
		if (value.len)
			reader->profile->values[i] = xstrndup(value.at, value.len);
	}
	return 0;
}

static int read_line(struct reader *reader, struct span line, struct err *err)
{
	struct span text = trim(line);
	size_t indent = indent_of(line);

	if (!text.len || text.at[0] == '#' || text.at[0] == ';')
		return 0;
	if (reader->property && indent > reader->indent)
		return 0;
	if (text.at[0] == '[')
		return read_section(reader, text, err);
	reader->property = true;
	reader->indent = indent;
	/* other sections are not checked */
	return reader->ours ? read_setting(reader, text, err) : 0;
}

int s3_profile_parse(struct s3_profile *profile, const char *text, size_t len_bytes, bool is_config,
		     struct err *err)
{
	struct reader reader = {.profile = profile, .is_config = is_config};
	const char *at = text, *end = text + len_bytes;

	if (len_bytes && memchr(text, '\0', len_bytes))
		return err_set(err, ERR_CONFIG, 0, "it contains a NUL byte: not a text file");
	if (len_bytes >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
		at += 3;
	for (int number = 1; at < end; number++) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;

		if (read_line(&reader, (struct span){at, (size_t)(stop - at)}, err) < 0)
			return err_wrap(err, "line %d", number);
		at = newline ? newline + 1 : end;
	}
	return 0;
}

/* ---- both ---- */

/* The path of the file; NULL: none. *ret_named: from a variable. The caller frees it. */
static char *profile_path(char *(*get)(const char *name), const char *variable, const char *base,
			  bool *ret_named)
{
	const char *named = get(variable), *home = get("HOME");

	*ret_named = named && *named;
	if (*ret_named && strncmp(named, "~/", 2) == 0 && home && *home)
		return xasprintf("%s/%s", home, named + 2);
	if (*ret_named)
		return xstrdup(named);
	return home && *home ? xasprintf("%s/.aws/%s", home, base) : NULL;
}

static int read_profile_file(struct s3_profile *profile, const char *path, bool named,
			     bool is_config, struct err *err)
{
	struct buf text = BUF_INIT;
	struct err why = {0};
	int result;

	if (fs_read(path, S3_PROFILE_MAX_BYTES, &text, &why) < 0) {
		if (why.kind == ERR_ABSENT && !named)
			return 0;
		if (why.kind == ERR_DENIED && !named) {
			xstrset(&profile->passed_over, why.msg);
			return 0;
		}
		return err_set(err, why.kind == ERR_ABSENT ? ERR_CONFIG : why.kind, 0, "%s",
			       why.msg);
	}
	result = s3_profile_parse(profile, buf_str(&text), text.len_bytes, is_config, err);
	if (text.data)
		explicit_bzero(text.data, text.cap_bytes);
	buf_release(&text);
	return result < 0 ? err_wrap(err, "%s", path) : 0;
}

/* `from` wins; its keys replace all keys in `to`. Takes the content of `from`. */
static void overlay(struct s3_profile *to, struct s3_profile *from)
{
	to->found |= from->found;
	if (from->values[S3_PROFILE_ACCESS_KEY] || from->values[S3_PROFILE_SECRET_KEY])
		for (size_t i = S3_PROFILE_ACCESS_KEY; i <= S3_PROFILE_SESSION_TOKEN; i++)
			wipe(&to->values[i]);
	for (size_t i = 0; i < S3_PROFILE_KEYS; i++) {
		if (!from->values[i])
			continue;
		wipe(&to->values[i]);
		to->values[i] = from->values[i];
		from->values[i] = NULL;
	}
	if (from->passed_over)
		xstrset(&to->passed_over, from->passed_over);
}

int s3_profile_load(char *(*get)(const char *name), const char *name,
		    struct s3_profile *ret_profile, struct err *err)
{
	static const struct {
		const char *variable, *base;
	} files[] = {{"AWS_CONFIG_FILE", "config"}, {"AWS_SHARED_CREDENTIALS_FILE", "credentials"}};
	const char *wanted = name ? name : get("AWS_PROFILE");
	struct s3_profile profile = {.name = xstrdup(wanted && *wanted ? wanted : "default")};

	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		struct s3_profile one = {.name = xstrdup(profile.name)};
		bool named;
		char *path = profile_path(get, files[i].variable, files[i].base, &named);
		int result = path ? read_profile_file(&one, path, named, i == 0, err) : 0;

		if (result == 0)
			overlay(&profile, &one);
		s3_profile_release(&one);
		free(path);
		if (result < 0) {
			s3_profile_release(&profile);
			return -1;
		}
	}
	*ret_profile = profile;
	return 0;
}
