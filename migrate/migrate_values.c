#include <stdarg.h>
#include <string.h>

#include "base/mem.h"
#include "migrate/migrate_internal.h"

/* In the order of values.yaml; a section follows the one that it is in. */
static const char *const section_names[] = {
	"",
	"image",
	"job",
	"flink",
	"flink.configuration",
	"state",
	"highAvailability",
	"s3",
	"persistentVolumeClaim",
	"jobManager",
	"jobManager.resources",
	"jobManager.resources.requests",
	"jobManager.resources.limits",
	"taskManager",
	"taskManager.resources",
	"taskManager.resources.requests",
	"taskManager.resources.limits",
	"jobs",
	"control",
	"service",
	"ingress",
	"drey",
	"drey.restore",
	"drey.checkpoints",
	"drey.savepoints",
	"drey.savepoints.retention",
	"drey.attempts",
	"drey.check",
};

void migrate_note(struct migrator *m, enum migrate_outcome outcome, const char *path,
		  const char *to, const char *fmt, ...)
{
	struct migration *out = m->out;
	struct migrate_entry *entry;
	va_list args;

	out->entries = xreallocarray(out->entries, out->entry_count + 1, sizeof(*out->entries));
	entry = &out->entries[out->entry_count++];
	entry->outcome = outcome;
	entry->path = xstrdup(path);
	entry->to = xstrdup(to);
	va_start(args, fmt);
	entry->text = xvasprintf(fmt, args);
	va_end(args);
}

int migrate_note_field(struct migrator *m, const struct migrate_field *field, const char *path)
{
	migrate_note(m, field->outcome, path, field->to, "%s", field->text ? field->text : "");
	return 0;
}

/* The section of a key "a.b.c" has len bytes. */
static size_t section_index(const char *key, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(section_names); i++)
		if (strlen(section_names[i]) == len && !strncmp(section_names[i], key, len))
			return i;
	abort(); /* a row names a section that is not in the list */
}

static struct json *section_at(struct migrator *m, size_t index)
{
	_Static_assert(ARRAY_LEN(section_names) <= MIGRATE_SECTIONS, "one place for each");
	if (!m->sections[index])
		m->sections[index] = json_object();
	return m->sections[index];
}

struct json *migrate_section(struct migrator *m, const char *name)
{
	return section_at(m, section_index(name, strlen(name)));
}

/* The section of the key; *ret_member is the last word of it. */
static struct json *section_of(struct migrator *m, const char *key, const char **ret_member)
{
	const char *point = strrchr(key, '.');

	*ret_member = point ? point + 1 : key;
	return section_at(m, section_index(key, point ? (size_t)(point - key) : 0));
}

void migrate_put(struct migrator *m, const char *key, struct json *value)
{
	const char *member;
	struct json *section = section_of(m, key, &member);

	json_remove(section, member);
	json_add(section, member, value);
}

void migrate_put_str(struct migrator *m, const char *key, const char *text)
{
	const char *member;
	struct json *section = section_of(m, key, &member);

	json_remove(section, member);
	json_add_str(section, member, text);
}

void migrate_put_i64(struct migrator *m, const char *key, int64_t number)
{
	const char *member;
	struct json *section = section_of(m, key, &member);

	json_remove(section, member);
	json_add_i64(section, member, number);
}

void migrate_put_bool(struct migrator *m, const char *key, bool flag)
{
	const char *member;
	struct json *section = section_of(m, key, &member);

	json_remove(section, member);
	json_add_bool(section, member, flag);
}

static bool is_within(const char *name, const char *outer)
{
	size_t len = strlen(outer);

	if (!*name || !strcmp(name, outer))
		return false;
	if (len && (strncmp(name, outer, len) != 0 || name[len] != '.'))
		return false;
	return !strchr(name + len + (len > 0), '.');
}

static struct json *assemble(struct migrator *m, size_t index)
{
	struct json *section = section_at(m, index);

	m->sections[index] = NULL;
	for (size_t i = index + 1; i < ARRAY_LEN(section_names); i++) {
		struct json *inner;

		if (!is_within(section_names[i], section_names[index]))
			continue;
		inner = assemble(m, i);
		if (json_len(inner))
			json_add(section,
				 section_names[i] + strlen(section_names[index]) + (index > 0),
				 inner);
		else
			json_free(inner);
	}
	return section;
}

void migrate_assemble(struct migrator *m)
{
	m->out->values = assemble(m, 0);
}
