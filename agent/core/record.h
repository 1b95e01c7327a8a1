/*
 * record - a struct and its JSON form, from one table of its members.
 *
 * The table names each member once, in the order in which it is written; writing, reading and
 * releasing follow from it. What is not known is written as null, and null or absence is read as
 * not known. Reading is strict: a member of a wrong type is refused with its name.
 *
 * Life cycle: record_init() -> record_read() or changes by the owner -> record_write() ->
 * record_release(). The struct owns all strings and lists that its table names.
 */
#ifndef DREY_CORE_RECORD_H
#define DREY_CORE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"

enum field_kind {
	FIELD_OWN,   /* only its `write` and `read` know its form */
	FIELD_TEXT,  /* char *, owned; NULL = not known */
	FIELD_ID,    /* char[JOB_ID_BYTES]: 32 hex digits, or the first 6 of them; "" = not known */
	FIELD_CHARS, /* char[]: a text, cut to the room that it has; "" = not known */
	FIELD_NUMBER, /* int64_t, any value */
	FIELD_KNOWN,  /* int64_t, never negative; `unknown` (0 or -1) = not known */
	FIELD_SMALL,  /* int, otherwise like FIELD_KNOWN */
	FIELD_BOOL,
	FIELD_WORD,   /* enum: the index of its word in `words`; must be there when read */
	FIELD_RECORD, /* a struct of its own; offset 0: some members of this one, as an object */
	FIELD_LIST,   /* array of structs; `count` is where their number is */
	FIELD_TEXTS,  /* char **, a set; `count` likewise */
};

struct field {
	const char *name; /* in JSON */
	enum field_kind kind;
	size_t offset;
	size_t room_bytes;
	size_t count;
	const struct record *record;
	const char *const *words; /* NULL at the end */
	int64_t unknown;
	size_t max_bytes; /* of a text from outside: a longer one is cut when written; 0 = any */
	bool needed;      /* null and absence are refused */
	bool sparse;      /* left out instead of null, false or an empty list */
	/* A struct whose keys are all empty is null as a whole; one without keys never is. */
	bool key;
	/* The forms that the kind does not describe; NULL = as the kind says. */
	void (*write)(struct json *to, const void *from);
	int (*read)(const struct json *from, void *to, struct err *err);
};

struct record {
	const struct field *fields;
	size_t field_count;
	size_t size_bytes;
};

/* FIELD("jobId", ID, struct launch, job_id, .needed = true) */
#define FIELD(in_json, of_kind, type, member, ...)                                                 \
	{                                                                                          \
		.name = in_json, .kind = FIELD_##of_kind, .offset = offsetof(type, member),        \
		.room_bytes = sizeof(((type *)NULL)->member), __VA_ARGS__                          \
	}
/* ... and for FIELD_LIST and FIELD_TEXTS, with the member that counts them */
#define FIELDS(in_json, of_kind, type, member, counter, ...)                                       \
	FIELD(in_json, of_kind, type, member, .count = offsetof(type, counter), __VA_ARGS__)
#define RECORD(type, table)                                                                        \
	{                                                                                          \
		table, sizeof(table) / sizeof((table)[0]), sizeof(type)                            \
	}

/* All members not known, 0 or false. The memory may hold anything. */
void record_init(const struct record *record, void *to);

/* Frees what it owns; all bytes are 0 afterwards. */
void record_release(const struct record *record, void *owner);

/* Copies the struct and all that it owns. The memory of `to` may hold anything; what only FIELD_OWN describes is
 * copied as bytes. */
void record_copy(const struct record *record, const void *from, void *to);

/* Add these members to the object ("a b c", in this order; NULL: all). */
void record_write(const struct record *record, const void *from, const char *names,
		  struct json *to);

/* Add one object with these members; null without a struct, or if all its keys are empty. */
void record_add(struct json *to, const char *name, const struct record *record, const void *from,
		const char *names);

/* Add an array of such objects. */
void record_add_list(struct json *to, const char *name, const struct record *record,
		     const void *elements, size_t count);

/* Remove the members that record_write() may leave out, here and in the structs below. What is kept of a
 * document that was read then has only what must be written again. A struct as a whole stays, because of what a
 * later program has put there: whoever leaves it out, or writes another one, has to remove it. */
void record_forget_sparse(const struct record *record, struct json *object);

/* Set the members that the object has, of an initialised struct. ERR_FORMAT: what is wrong, with
 * the path of the member; the struct may then be half set, and must be released. */
int record_read(const struct record *record, const struct json *from, void *to, struct err *err);

/* Release `count` elements of a list from this index on, and close the gap. */
void record_list_remove(const struct record *record, void *elements, size_t *element_count,
			size_t index, size_t count);

#endif
