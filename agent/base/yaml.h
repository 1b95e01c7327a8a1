/*
 * yaml - strict YAML, one document or several, as a tree with the position of every node. The only
 * module that knows libyaml.
 *
 * Life cycle: yaml_parse() -> yaml_get(), yaml_each -> yaml_root_free(). Everything is borrowed
 * from the root. Scalars stay text (`no`, `0123`, `~` are not interpreted); the typed readers below
 * do that on request.
 *
 * Refused: more than max_bytes, nesting deeper than YAML_MAX_DEPTH, duplicate keys, keys that are
 * not scalars, anchors, aliases, tags, a second document (but for yaml_parse_all()), NUL in a scalar.
 * Messages say "line L, column C: why"; the caller prepends the file's name.
 */
#ifndef DREY_BASE_YAML_H
#define DREY_BASE_YAML_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define YAML_MAX_DEPTH 32

enum yaml_kind {
	YAML_SCALAR,
	YAML_SEQUENCE,
	YAML_MAPPING,
};

struct yaml_node {
	enum yaml_kind kind;
	unsigned line, column; /* where the value starts, from 1 */
	char *text;            /* of a scalar, never NULL then; "" for `key:` */
	bool quoted;           /* a scalar in quotes or a block: certainly meant as text */
	char *key;             /* the name of this member; NULL when not in a mapping */
	unsigned key_line, key_column;
	struct yaml_node *first; /* members or elements, in order */
	struct yaml_node *next;
};

/*
 * Parse one document; an empty one (or only comments) is an empty mapping. NULL on failure:
 * ERR_CONFIG. The caller frees with yaml_root_free().
 */
struct yaml_node *yaml_parse(const char *text, size_t len_bytes, size_t max_bytes, struct err *err);

/* The same for a stream: its documents as the elements of a list, an empty one as a null. */
struct yaml_node *yaml_parse_all(const char *text, size_t len_bytes, size_t max_bytes,
				 struct err *err);

void yaml_root_free(struct yaml_node *root); /* NULL is allowed */

static inline void yaml_root_freep(struct yaml_node **root)
{
	yaml_root_free(*root);
}
#define cleanup_yaml __attribute__((cleanup(yaml_root_freep)))

/* The member; NULL if absent, or `map` is NULL or not a mapping. */
const struct yaml_node *yaml_get(const struct yaml_node *map, const char *key);

/* const struct yaml_node *child; yaml_each (child, node) { child->key ... } */
#define yaml_each(child, node)                                                                     \
	for ((child) = (node) ? (node)->first : NULL; (child); (child) = (child)->next)

/* `key:`, `key: ~`, `key: null` - written without a value. */
bool yaml_is_null(const struct yaml_node *node);

/* ERR_CONFIG "line L, column C: <message>" for the node's value, or for its key. Returns -1. */
int yaml_err(const struct yaml_node *node, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
int yaml_err_key(const struct yaml_node *node, struct err *err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#ifdef __clang_analyzer__ /* as in err.h */
#define yaml_err(...)     ((yaml_err)(__VA_ARGS__), -1)
#define yaml_err_key(...) ((yaml_err_key)(__VA_ARGS__), -1)
#endif

/* A scalar as text (null is refused), a whole decimal number, true or false, a duration in the
 * form of clock_parse_duration(), a mapping, a sequence. -1 with yaml_err() if it is not one. */
int yaml_to_str(const struct yaml_node *node, const char **ret_text, struct err *err);
int yaml_to_i64(const struct yaml_node *node, int64_t *ret_value, struct err *err);
int yaml_to_bool(const struct yaml_node *node, bool *ret_value, struct err *err);
int yaml_to_duration(const struct yaml_node *node, int64_t *ret_ms, struct err *err);
int yaml_want(const struct yaml_node *node, enum yaml_kind kind, struct err *err);

#endif
