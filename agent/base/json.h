/*
 * json - strict JSON: parse, look up, build, print.
 *
 * Life cycle: json_parse() or json_object() -> use -> json_free(). `cleanup_json struct json *doc`
 * frees a local. Nodes returned by getters are borrowed from their document.
 *
 * What json_parse() refuses, because two readers could interpret it differently: anything outside
 * RFC 8259 (leading zeros, comments, NaN, a byte order mark), bytes after the document, duplicate
 * member names, invalid UTF-8, lone surrogates, "\u0000", nesting deeper than JSON_MAX_DEPTH.
 *
 * Numbers are kept as the original text: 64-bit integers are read exactly or refused,
 * and a number that is copied from one document to another does not change.
 *
 * Lookups are case-sensitive and linear in the number of members.
 */
#ifndef DREY_BASE_JSON_H
#define DREY_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

#define JSON_MAX_DEPTH 64

struct json; /* one node: any JSON value, with its member name when it is in an object */

enum json_kind {
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* ---- parse ---- */

/*
 * Parse one document of len_bytes bytes; more than max_bytes is refused unread. NULL on failure:
 * ERR_FORMAT with "byte N: why". The caller frees with json_free().
 */
struct json *json_parse(const char *text, size_t len_bytes, size_t max_bytes, struct err *err);

/* Free a whole document (NULL is allowed). Never a node inside one. */
void json_free(struct json *doc);

static inline void json_freep(struct json **doc)
{
	json_free(*doc);
}
#define cleanup_json __attribute__((cleanup(json_freep)))

/* ---- walk; `node` may be NULL everywhere, which is a value of kind JSON_NULL ---- */

enum json_kind json_kind(const struct json *node);
const char *json_kind_name(enum json_kind kind); /* "a string", "an object", ... */
const char *json_name(const struct json *node);  /* its member name; NULL if not in an object */

/* The member; NULL if absent or `obj` is not an object. A member that is null is a node. */
const struct json *json_get(const struct json *obj, const char *key);

size_t json_len(const struct json *node); /* members or elements; 0 for anything else */
const struct json *json_at(const struct json *array, size_t index); /* NULL past the end */

/* const struct json *child; json_each (child, node) { ... } - members or elements in order */
const struct json *json_first(const struct json *node);
const struct json *json_next(const struct json *node);
#define json_each(child, node) for ((child) = json_first(node); (child); (child) = json_next(child))

/* ---- values of a node ---- */

const char *json_text(const struct json *node);   /* of a string, else NULL; borrowed */
const char *json_number(const struct json *node); /* the original text, else NULL; borrowed */
bool json_is_true(const struct json *node);       /* exactly the literal true */

/* Whole numbers that fit 64 bits, exactly: 1e3 and 1.0 are refused. ERR_FORMAT. */
int json_to_i64(const struct json *node, int64_t *ret_value, struct err *err);

/* ---- members: lenient. For display only: a wrong type looks like absence ---- */

const char *json_str(const struct json *obj, const char *key); /* NULL if absent or not a string */
int64_t json_i64_or(const struct json *obj, const char *key, int64_t fallback);
bool json_bool_or(const struct json *obj, const char *key, bool fallback);

/* ---- members: required. Absent, null or of a wrong type: -1, ERR_FORMAT, "'key': why" ---- */

int json_need_str(const struct json *obj, const char *key, const char **ret_text, struct err *err);
int json_need_i64(const struct json *obj, const char *key, int64_t *ret_value, struct err *err);
int json_need_bool(const struct json *obj, const char *key, bool *ret_value, struct err *err);
int json_need_object(const struct json *obj, const char *key, const struct json **ret_node,
		     struct err *err);
int json_need_array(const struct json *obj, const char *key, const struct json **ret_node,
		    struct err *err);

/* ---- optional: 1 and *ret_ set; 0 if absent or null, *ret_ untouched; -1 wrong type ---- */

int json_opt_str(const struct json *obj, const char *key, const char **ret_text, struct err *err);
int json_opt_i64(const struct json *obj, const char *key, int64_t *ret_value, struct err *err);
int json_opt_bool(const struct json *obj, const char *key, bool *ret_value, struct err *err);
int json_opt_object(const struct json *obj, const char *key, const struct json **ret_node,
		    struct err *err);
int json_opt_array(const struct json *obj, const char *key, const struct json **ret_node,
		   struct err *err);

/* ---- build. `key` names the member of an object and is NULL for an element of an array. Adding a
 * name twice is a programming error and not checked ---- */

struct json *json_object(void); /* caller frees with json_free(), or passes it to json_add() */
struct json *json_array(void);
struct json *json_copy(const struct json *node); /* deep, without the member name */

void json_add_str(struct json *to, const char *key, const char *text);     /* NULL adds null */
void json_add_str_opt(struct json *to, const char *key, const char *text); /* NULL adds nothing */
void json_add_i64(struct json *to, const char *key, int64_t value);
/* Below `least` it is not known, which adds null. */
void json_add_known(struct json *to, const char *key, int64_t value, int64_t least);
void json_add_bool(struct json *to, const char *key, bool value);
void json_add_null(struct json *to, const char *key);
void json_add(struct json *to, const char *key, struct json *child); /* takes ownership */

/* Add an empty one and return it, borrowed, for filling. */
struct json *json_add_object(struct json *to, const char *key);
struct json *json_add_array(struct json *to, const char *key);

/* Remove a member (absent is fine). */
void json_remove(struct json *obj, const char *key);

/*
 * Copy into `obj` the members that only `old` has, recursively where both have an object: so fields
 * written by a newer program survive a rewrite by this one. A known field that should be empty must
 * therefore be written as null, not left out. Arrays are not merged.
 */
void json_merge_unknown(struct json *obj, const struct json *old);

/* ---- print: appends to `buf`; compact on one line, or indented by two spaces and a last newline
 * ---- */

void json_print(const struct json *node, struct buf *buf);
void json_print_pretty(const struct json *node, struct buf *buf);

/*
 * Append text as a JSON string with its quotes. What a terminal or a reader could be deceived by
 * (base/visible.h) is escaped as \uNNNN; invalid UTF-8 becomes U+FFFD, so the output is always valid, and can
 * be shown anywhere.
 */
void json_quote(struct buf *buf, const char *text, size_t len_bytes);

#endif
