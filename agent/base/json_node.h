/*
 * json_node - what a struct json is made of; for json.c, which builds it, and json_parse.c.
 */
#ifndef DREY_BASE_JSON_NODE_H
#define DREY_BASE_JSON_NODE_H

#include "base/json.h"

struct json {
	struct json *next;         /* the next member or element of the same container */
	struct json *first, *last; /* its own */
	char *name;                /* in an object; owned */
	char *text;                /* of a string or number; owned */
	enum json_kind kind;
	bool is_true;
};

/* Append a new, empty one; name (taken over) is NULL in an array. Borrowed. */
struct json *json_append(struct json *to, char *name, enum json_kind kind);

#endif
