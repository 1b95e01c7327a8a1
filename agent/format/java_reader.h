/*
 * java_reader - the state of one java_stream_parse() and what java_stream.c (values) and
 * java_class.c (class descriptors, strings, back references) share. Used by them only.
 */
#ifndef DREY_FORMAT_JAVA_READER_H
#define DREY_FORMAT_JAVA_READER_H

#include "base/buf.h"
#include "format/java_stream.h"

#define JAVA_MAX_CLASSES 256
#define JAVA_MAX_FIELDS  2048

enum java_token {
	TC_NULL = 0x70,
	TC_REFERENCE = 0x71,
	TC_CLASSDESC = 0x72,
	TC_OBJECT = 0x73,
	TC_STRING = 0x74,
	TC_ARRAY = 0x75,
	TC_CLASS = 0x76,
	TC_BLOCKDATA = 0x77,
	TC_ENDBLOCKDATA = 0x78,
	TC_BLOCKDATALONG = 0x7A,
	TC_LONGSTRING = 0x7C,
	TC_ENUM = 0x7E,
};

enum java_class_flag {
	SC_WRITE_METHOD = 0x01,
	SC_SERIALIZABLE = 0x02,
	SC_EXTERNALIZABLE = 0x04,
	SC_BLOCK_DATA = 0x08,
};

struct java_field {
	char type;
	const char *name;
};

struct java_class {
	const char *name;
	uint8_t flags;
	int first_field, fields;
	int super; /* index, -1 none */
};

/* The target of a back reference. */
struct java_handle {
	char type; /* 'C' class descriptor, else as in java_value */
	int class; /* 'C', 'L', '[', 'e', 'c' */
	const char *text;
};

/* Texts are borrowed until the parse ends, so they do not move. */
struct java_texts {
	struct java_texts *before;
	size_t used_bytes, room_bytes;
	char bytes[];
};

struct java_reader {
	struct source *src;
	java_visit_fn visit;
	void *ctx;
	struct buf scratch;
	int handles, handle_room, classes, fields;
	size_t text_bytes; /* of all texts */
	struct java_texts *texts;
	struct java_handle *handle; /* moves when there is a new one */
	struct java_class class[JAVA_MAX_CLASSES];
	struct java_field field[JAVA_MAX_FIELDS];
};

/* The position of a value, passed down. */
struct java_place {
	int depth;
	const char *owner, *field;
};

/* Functions return 0, -1, or, if a value is involved, the visitor's 1. */

int java_fail(struct java_reader *rd, struct err *err, const char *what);
int java_new_handle(struct java_reader *rd, char type, int class, const char *text,
		    struct err *err);

void java_reader_free(struct java_reader *rd);

/* A string object after its token; it gets a handle. */
int java_read_string(struct java_reader *rd, uint8_t token, const char **ret_text, struct err *err);

/* Where only a string is allowed: type names of fields, names of enum constants. */
int java_read_string_object(struct java_reader *rd, const char **ret_text, struct err *err);

/* The target of a back reference, after its token. */
int java_read_reference(struct java_reader *rd, const struct java_handle **ret, struct err *err);

/* A class descriptor; a missing one is refused. */
int java_read_class(struct java_reader *rd, int *ret_class, int depth, struct err *err);

/* Custom data up to its end mark: of a class descriptor or of an object. */
int java_skip_annotation(struct java_reader *rd, int depth, struct err *err);

#endif
