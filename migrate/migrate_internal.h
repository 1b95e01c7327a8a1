/* migrate_internal - what the files of migrate/ share; not for others. */
#ifndef DREY_MIGRATE_MIGRATE_INTERNAL_H
#define DREY_MIGRATE_MIGRATE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/err.h"
#include "base/json.h"
#include "migrate/migrate.h"

#define MIGRATE_SECTIONS   40
#define MIGRATE_PATH_BYTES 512

enum migrate_part { PART_JOBMANAGER, PART_TASKMANAGER, PART_COUNT };

/* What is known when all fields were read. Texts are borrowed from the input. */
struct migrate_part_facts {
	int64_t memory_mib, limit_mib; /* 0: not set */
	int64_t config_mib;            /* from the configuration; the spec takes precedence */
	const char *config_cpu;
	bool has_cpu, has_resources;
	const struct json *pod_template;
};

struct migrator {
	struct migration *out;
	const struct migrate_wish *wish;
	struct err *err;
	struct json *sections[MIGRATE_SECTIONS]; /* by index in the list of migrate_values.c */
	const char *spec_path;                   /* "spec", or "spec.template.spec" */
	struct migrate_part_facts parts[PART_COUNT];
	const struct json *pod_template;
	const char *checkpoints, *savepoints, *ha_storage; /* directories */
	const char *high_availability;
	const char *java_options, *more_java_options;
	int64_t parallelism, replicas, slots; /* 0: not set */
	bool has_image;
	struct json *flat;        /* flinkConfiguration, each key once, all values as texts */
	const char *claim_volume; /* the volume that became persistentVolumeClaim */
};

struct migrate_field;

/* What becomes of a value that is not null. 0, or -1 with m->err. */
typedef int migrate_map_fn(struct migrator *m, const struct json *value,
			   const struct migrate_field *field, const char *path);

/* One row for each field. */
struct migrate_field {
	const char *path; /* "job.args"; with a '*' at the end: all that begin so */
	enum migrate_outcome outcome;
	const char *to;      /* the key of the values; NULL: none */
	const char *text;    /* of the entry; NULL: "" */
	migrate_map_fn *map; /* NULL: the entry is all */
};

/* ---- migrate_values.c ---- */

void migrate_note(struct migrator *m, enum migrate_outcome outcome, const char *path,
		  const char *to, const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The entry that the row describes. Returns 0. */
int migrate_note_field(struct migrator *m, const struct migrate_field *field, const char *path);

/* The map of this name, "drey.savepoints"; "": the values themselves. Borrowed. */
struct json *migrate_section(struct migrator *m, const char *name);

/* Set the key of the values, "job.class". */
void migrate_put_str(struct migrator *m, const char *key, const char *text);
void migrate_put_i64(struct migrator *m, const char *key, int64_t number);
void migrate_put_bool(struct migrator *m, const char *key, bool flag);
void migrate_put(struct migrator *m, const char *key, struct json *value); /* takes ownership */

/* Put the sections together, without empty ones. */
void migrate_assemble(struct migrator *m);

/* ---- migrate_table.c: reading by rows ---- */

/* Every member of `node`, which is at `path`, by the row of `relative` and its name. */
int migrate_walk(struct migrator *m, const struct migrate_field *fields, const struct json *node,
		 const char *path, const char *relative);

/* The row of a path; NULL: none. */
const struct migrate_field *migrate_find(const struct migrate_field *fields, const char *path);

/* "A.B"; "B" if A is "". Cut at MIGRATE_PATH_BYTES. */
void migrate_join(char ret_path[MIGRATE_PATH_BYTES], const char *path, const char *name);

int migrate_want(struct migrator *m, const struct json *value, enum json_kind kind,
		 const char *path);

/* A text, also of a number or a boolean; borrowed. */
int migrate_text(struct migrator *m, const struct json *value, const char *path,
		 const char **ret_text);
int migrate_whole(struct migrator *m, const struct json *value, const char *path, int64_t least,
		  int64_t most, int64_t *ret_number);

/* As the schema of the chart has them: the name of an object, a URI or an absolute path without an
 * account, an absolute path. */
bool migrate_is_name(const char *text);
bool migrate_is_uri(const char *text);
bool migrate_is_path(const char *text);

/* "file:" of `uri` as a path; NULL if it is another scheme. Borrowed. */
const char *migrate_file_path(const char *uri);

/* For rows: copy a text to the key `to`; a duration; a whole number from 0 to 100. */
migrate_map_fn migrate_copy_text, migrate_copy_duration, migrate_copy_count;
/* A map of texts, without what the schema of the chart does not take. */
migrate_map_fn migrate_copy_labels, migrate_copy_annotations;

/* The same, into a new map (the caller frees); what is left out has an entry. */
struct json *migrate_labels(struct migrator *m, const struct json *value, const char *path,
			    bool annotations);

/* ---- migrate_spec.c, migrate_finish.c, migrate_flink.c, migrate_operator.c, migrate_pod.c ---- */

extern const struct migrate_field migrate_ingress_fields[];
extern const struct migrate_field migrate_spec_fields[];
extern const struct migrate_field migrate_operator_fields[]; /* below kubernetes.operator. */

/* flinkConfiguration, nested or flat. */
migrate_map_fn migrate_flink_configuration;
/* An ingress of the operator. */
migrate_map_fn migrate_ingress;

/* The name of the application: before the fields, which may contain it. */
void migrate_name(struct migrator *m);

/* What follows from several fields. */
int migrate_finish(struct migrator *m);

/* Where the main container of the JobManager has a volume with the directory in it. `claim` is of a
 * persistentVolumeClaim, else NULL. Borrowed. */
struct migrate_mount {
	const char *path, *volume, *claim;
};
bool migrate_find_mount(const struct migrator *m, const char *directory,
			struct migrate_mount *ret_mount);

/* The Pod templates; without the volume m->claim_volume. */
int migrate_pods(struct migrator *m);

/* ---- migrate_place.c ---- */

/* Move out of the template of a part what the chart has values for, which its Jobs need, too. */
void migrate_place(struct migrator *m, enum migrate_part part, struct json *template);

/* ---- migrate_container.c ---- */

#define MIGRATE_MAIN_CONTAINER "flink-main-container"

/* One template that is converted for one part. */
struct migrate_pass {
	struct migrator *m;
	enum migrate_part part;
	bool silent; /* the entries are there already, from the pass for the other part */
};

struct migrate_rule {
	const char *name, *why; /* up to a name that is NULL */
};

const struct migrate_rule *migrate_find_rule(const struct migrate_rule *rules, const char *name);

void migrate_note_pass(struct migrate_pass *pass, enum migrate_outcome outcome, const char *path,
		       const char *to, const char *why);

/* Append the container, as the chart takes it, to the list, which may be that of init containers. */
int migrate_container(struct migrate_pass *pass, const struct json *container, const char *path,
		      bool is_init, struct json *list);

/* The name of a volume in the values; the caller frees. */
char *migrate_volume_name(const struct migrator *m, const char *name);

/* The path is the directory, or in it. */
bool migrate_is_below(const char *path, const char *directory);

#endif
