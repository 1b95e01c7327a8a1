#include "core/record.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/texts.h"
#include "base/utf8.h"
#include "base/words.h"
#include "core/snapshot.h"

/* Bytes of an id that a savepoint's name has; the rest of it is not known then. */
#define SHORT_ID_DIGITS 6

/* one without members has no list, and nothing can be added to NULL */
#define each_field(field, of)                                                                      \
	for (const struct field *field = (of)->fields;                                             \
	     field && field < (of)->fields + (of)->field_count; field++)

static const void *member(const void *base, size_t offset)
{
	return (const char *)base + offset;
}

static void *slot(void *base, size_t offset)
{
	return (char *)base + offset;
}

static size_t *counter(const struct field *field, void *base)
{
	return slot(base, field->count);
}

static size_t count_of(const struct field *field, const void *base)
{
	return *(const size_t *)member(base, field->count);
}

static int64_t number_of(const struct field *field, const void *base)
{
	const void *at = member(base, field->offset);

	return field->kind == FIELD_SMALL ? *(const int *)at : *(const int64_t *)at;
}

/* ---- initial values and release ---- */

void record_init(const struct record *record, void *to)
{
	memset(to, 0, record->size_bytes);
	each_field (field, record)
		if (field->kind == FIELD_KNOWN)
			*(int64_t *)slot(to, field->offset) = field->unknown;
		else if (field->kind == FIELD_SMALL)
			*(int *)slot(to, field->offset) = (int)field->unknown;
}

static void release_members(const struct record *record, void *owner);

static void release_list(const struct record *record, void *elements, size_t count)
{
	for (size_t i = 0; i < count; i++)
		release_members(record, slot(elements, i * record->size_bytes));
}

static void release_members(const struct record *record, void *owner)
{
	each_field (field, record) {
		void *at = slot(owner, field->offset);

		if (field->kind == FIELD_TEXT) {
			free(*(char **)at);
		} else if (field->kind == FIELD_RECORD) {
			release_members(field->record, at);
		} else if (field->kind == FIELD_LIST) {
			release_list(field->record, *(void **)at, *counter(field, owner));
			free(*(void **)at);
		} else if (field->kind == FIELD_TEXTS) {
			texts_free(*(char ***)at, *counter(field, owner));
		}
	}
}

void record_release(const struct record *record, void *owner)
{
	release_members(record, owner);
	memset(owner, 0, record->size_bytes);
}

/* ---- a copy ---- */

static void own_members(const struct record *record, void *copy);

/* The copy has the pointers of the original. */
static void own_list(const struct record *record, void **list, size_t count)
{
	void *mine = *list ? xcalloc(count ? count : 1, record->size_bytes) : NULL;

	if (mine)
		memcpy(mine, *list, count * record->size_bytes);
	*list = mine;
	for (size_t i = 0; mine && i < count; i++)
		own_members(record, slot(mine, i * record->size_bytes));
}

static void own_texts(char ***texts, size_t count)
{
	char **mine = *texts ? xcalloc(count ? count : 1, sizeof(*mine)) : NULL;

	for (size_t i = 0; mine && i < count; i++)
		mine[i] = xstrdup((*texts)[i]);
	*texts = mine;
}

static void own_members(const struct record *record, void *copy)
{
	each_field (field, record) {
		void *at = slot(copy, field->offset);

		if (field->kind == FIELD_TEXT)
			*(char **)at = xstrdup(*(char **)at);
		else if (field->kind == FIELD_RECORD)
			own_members(field->record, at);
		else if (field->kind == FIELD_LIST)
			own_list(field->record, at, *counter(field, copy));
		else if (field->kind == FIELD_TEXTS)
			own_texts(at, *counter(field, copy));
	}
}

void record_copy(const struct record *record, const void *from, void *to)
{
	memcpy(to, from, record->size_bytes);
	own_members(record, to);
}

/* ---- lists ---- */

void record_list_remove(const struct record *record, void *elements, size_t *element_count,
			size_t index, size_t count)
{
	if (!count)
		return;
	release_list(record, slot(elements, index * record->size_bytes), count);
	*element_count -= count;
	memmove(slot(elements, index * record->size_bytes),
		member(elements, (index + count) * record->size_bytes),
		(*element_count - index) * record->size_bytes);
}

/* ---- write ---- */

static bool is_null(const struct record *record, const void *from);

static bool is_empty(const struct field *field, const void *base)
{
	const void *at = member(base, field->offset);

	switch (field->kind) {
	case FIELD_RECORD:
		return is_null(field->record, at);
	case FIELD_LIST:
	case FIELD_TEXTS:
		return !count_of(field, base);
	case FIELD_TEXT:
		return !*(char *const *)at;
	case FIELD_ID:
	case FIELD_CHARS:
		return !*(const char *)at;
	case FIELD_BOOL:
		return !*(const bool *)at;
	case FIELD_WORD:
		return !*(const unsigned *)at;
	default:
		return number_of(field, base) < 0 || number_of(field, base) == field->unknown;
	}
}

static bool may_be_null(const struct record *record)
{
	each_field (field, record)
		if (field->key)
			return true;
	return false;
}

static bool is_null(const struct record *record, const void *from)
{
	each_field (field, record)
		if (field->key && !is_empty(field, from))
			return false;
	return may_be_null(record);
}

static void write_text(struct json *to, const struct field *field, const char *text)
{
	size_t len = text && field->max_bytes ? utf8_cut(text, field->max_bytes) : 0;
	cleanup_free char *cut = len && text[len] ? xasprintf("%.*s...", (int)len, text) : NULL;

	json_add_str(to, field->name, cut ? cut : text);
}

static void write_texts(struct json *to, const struct field *field, const void *base)
{
	char *const *texts = *(char **const *)member(base, field->offset);
	struct json *array = json_add_array(to, field->name);

	for (size_t i = 0; i < count_of(field, base); i++)
		json_add_str(array, NULL, texts[i]);
}

static void write_value(struct json *to, const struct field *field, const void *from)
{
	const void *at = member(from, field->offset);

	switch (field->kind) {
	case FIELD_TEXT:
		write_text(to, field, *(char *const *)at);
		break;
	case FIELD_ID:
	case FIELD_CHARS:
		json_add_str(to, field->name, *(const char *)at ? at : NULL);
		break;
	case FIELD_KNOWN:
	case FIELD_SMALL:
		if (is_empty(field, from)) {
			json_add_null(to, field->name);
			break;
		}
		/* fall through */
	case FIELD_NUMBER:
		json_add_i64(to, field->name, number_of(field, from));
		break;
	case FIELD_BOOL:
		json_add_bool(to, field->name, *(const bool *)at);
		break;
	case FIELD_WORD:
		json_add_str(to, field->name, field->words[*(const unsigned *)at]);
		break;
	case FIELD_RECORD:
		record_add(to, field->name, field->record, at, NULL);
		break;
	case FIELD_LIST:
		record_add_list(to, field->name, field->record, *(void *const *)at,
				count_of(field, from));
		break;
	case FIELD_TEXTS:
		write_texts(to, field, from);
		break;
	case FIELD_OWN:
		break;
	}
}

static void write_field(struct json *to, const struct field *field, const void *from)
{
	if (field->write)
		field->write(to, from);
	else if (!field->sparse || !is_empty(field, from))
		write_value(to, field, from);
}

/* The next of the names in *names, which moves on; NULL at their end. */
static const struct field *next_named(const struct record *record, const char **names)
{
	size_t len = strcspn(*names, " ");
	const char *name = *names;

	*names += len + strspn(name + len, " ");
	each_field (field, record)
		if (len && strlen(field->name) == len && !memcmp(field->name, name, len))
			return field;
	return NULL;
}

void record_write(const struct record *record, const void *from, const char *names, struct json *to)
{
	const struct field *named;

	if (!names)
		each_field (field, record)
			write_field(to, field, from);
	while (names && (named = next_named(record, &names)) != NULL)
		write_field(to, named, from);
}

void record_add(struct json *to, const char *name, const struct record *record, const void *from,
		const char *names)
{
	if (!from || is_null(record, from))
		json_add_null(to, name);
	else
		record_write(record, from, names, json_add_object(to, name));
}

void record_add_list(struct json *to, const char *name, const struct record *record,
		     const void *elements, size_t count)
{
	struct json *array = json_add_array(to, name);

	for (size_t i = 0; i < count; i++)
		record_write(record, member(elements, i * record->size_bytes), NULL,
			     json_add_object(array, NULL));
}

void record_forget_sparse(const struct record *record, struct json *object)
{
	each_field (field, record) {
		struct json *value = (struct json *)json_get(object, field->name);
		const struct json *element;

		if (field->kind == FIELD_RECORD)
			record_forget_sparse(field->record, value);
		else if (field->sparse)
			json_remove(object, field->name);
		else if (field->kind == FIELD_LIST)
			json_each (element, value)
				record_forget_sparse(field->record, (struct json *)element);
	}
}

/* ---- read ---- */

static int read_text(const struct json *from, const struct field *field, char **text,
		     struct err *err)
{
	const char *found;

	if (json_need_str(from, field->name, &found, err))
		return -1;
	xstrset(text, found);
	return 0;
}

static int read_id(const struct json *from, const struct field *field, char id[JOB_ID_BYTES],
		   struct err *err)
{
	const char *text;
	size_t len;

	if (json_need_str(from, field->name, &text, err))
		return -1;
	len = strlen(text);
	if ((len != JOB_ID_BYTES - 1 && len != SHORT_ID_DIGITS) ||
	    strspn(text, "0123456789abcdef") != len)
		return err_set(err, ERR_FORMAT, 0, "'%s': not an id of 32 hex digits", field->name);
	memcpy(id, text, len + 1);
	return 0;
}

static int read_chars(const struct json *from, const struct field *field, char *chars,
		      struct err *err)
{
	const char *text;

	if (json_need_str(from, field->name, &text, err))
		return -1;
	snprintf(chars, field->room_bytes, "%.*s", (int)utf8_cut(text, field->room_bytes - 1),
		 text);
	return 0;
}

static int read_number(const struct json *from, const struct field *field, void *at,
		       struct err *err)
{
	int64_t least = field->kind == FIELD_NUMBER ? INT64_MIN : field->unknown;
	int64_t most = field->kind == FIELD_SMALL ? INT32_MAX : INT64_MAX;
	int64_t value;

	if (json_need_i64(from, field->name, &value, err))
		return -1;
	if (value < least || value > most)
		return err_set(err, ERR_FORMAT, 0, "'%s': %lld is out of range", field->name,
			       (long long)value);
	if (field->kind == FIELD_SMALL)
		*(int *)at = (int)value;
	else
		*(int64_t *)at = value;
	return 0;
}

static int read_word(const struct json *from, const struct field *field, unsigned *word,
		     struct err *err)
{
	const char *text;
	int found;

	if (json_need_str(from, field->name, &text, err))
		return -1;
	found = words_find(field->words, text);
	if (found < 0)
		return err_set(err, ERR_FORMAT, 0, "'%s': unknown word \"%s\"", field->name, text);
	*word = (unsigned)found;
	return 0;
}

static int read_record(const struct json *from, const struct field *field, void *at,
		       struct err *err)
{
	const struct json *object;

	if (json_need_object(from, field->name, &object, err))
		return -1;
	return record_read(field->record, object, at, err) ? err_wrap(err, "%s", field->name) : 0;
}

static int read_list(const struct json *from, const struct field *field, void **elements,
		     size_t *count, struct err *err)
{
	size_t size_bytes = field->record->size_bytes;
	const struct json *array, *element;

	if (json_need_array(from, field->name, &array, err))
		return -1;
	json_each (element, array) {
		void *added;

		*elements = xreallocarray(*elements, *count + 1, size_bytes);
		added = slot(*elements, (*count)++ * size_bytes);
		record_init(field->record, added);
		if (record_read(field->record, element, added, err))
			return err_wrap(err, "%s[%zu]", field->name, *count - 1);
	}
	return 0;
}

static int read_texts(const struct json *from, const struct field *field, char ***texts,
		      size_t *count, struct err *err)
{
	const struct json *array, *element;

	if (json_need_array(from, field->name, &array, err))
		return -1;
	json_each (element, array) {
		if (!json_text(element))
			return err_set(err, ERR_FORMAT, 0, "'%s': must contain only strings",
				       field->name);
		texts_add(texts, count, json_text(element));
	}
	return 0;
}

static int read_value(const struct json *from, const struct field *field, void *to, struct err *err)
{
	void *at = slot(to, field->offset);

	switch (field->kind) {
	case FIELD_TEXT:
		return read_text(from, field, at, err);
	case FIELD_ID:
		return read_id(from, field, at, err);
	case FIELD_CHARS:
		return read_chars(from, field, at, err);
	case FIELD_NUMBER:
	case FIELD_KNOWN:
	case FIELD_SMALL:
		return read_number(from, field, at, err);
	case FIELD_BOOL:
		return json_need_bool(from, field->name, at, err);
	case FIELD_WORD:
		return read_word(from, field, at, err);
	case FIELD_RECORD:
		return read_record(from, field, at, err);
	case FIELD_LIST:
		return read_list(from, field, at, counter(field, to), err);
	case FIELD_TEXTS:
		return read_texts(from, field, at, counter(field, to), err);
	case FIELD_OWN:
		break;
	}
	return 0;
}

static bool is_needed(const struct field *field)
{
	return field->needed || (field->kind == FIELD_WORD && !field->sparse) ||
	       (field->kind == FIELD_RECORD && !may_be_null(field->record));
}

int record_read(const struct record *record, const struct json *from, void *to, struct err *err)
{
	each_field (field, record) {
		bool present = json_kind(json_get(from, field->name)) != JSON_NULL;

		if (field->read ? field->read(from, to, err)
				: (present || is_needed(field)) && read_value(from, field, to, err))
			return -1;
	}
	return 0;
}
