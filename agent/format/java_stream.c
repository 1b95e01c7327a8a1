#include "format/java_stream.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"

#define MAX_CLASSES     256
#define MAX_FIELDS      2048
#define MAX_SUPERS      16
#define BASE_HANDLE     0x7E0000
#define STREAM_MAGIC    0xACED
#define STREAM_PROTOCOL 5

enum token {
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

enum class_flag {
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

/* What a back reference may name. */
struct java_handle {
	char type; /* 'C' class descriptor, else as in java_value */
	int class; /* 'C', 'L', '[', 'e', 'c' */
	const char *text;
};

struct reader {
	struct source *src;
	java_visit_fn visit;
	void *ctx;
	struct buf scratch;
	int handles, classes, fields;
	size_t used_bytes;
	struct java_handle handle[JAVA_STREAM_MAX_HANDLES];
	struct java_class class[MAX_CLASSES];
	struct java_field field[MAX_FIELDS];
	char bytes[JAVA_STREAM_MAX_BYTES];
};

/* The place of a value, handed down. */
struct place {
	int depth;
	const char *owner, *field;
};

static int read_content(struct reader *rd, uint8_t token, struct place place, struct err *err);
static int read_class_desc(struct reader *rd, int *ret_class, int depth, struct err *err);

static int fail(struct reader *rd, struct err *err, const char *what)
{
	return source_fail(source_offset(rd->src), err, "Java object: %s", what);
}

static int new_handle(struct reader *rd, char type, int class, const char *text, struct err *err)
{
	if (rd->handles == JAVA_STREAM_MAX_HANDLES)
		return fail(rd, err, "too many objects");
	rd->handle[rd->handles++] = (struct java_handle){type, class, text};
	return 0;
}

/* Move what was read into scratch to the fixed store. */
static int keep_text(struct reader *rd, const char **ret_text, struct err *err)
{
	size_t len = rd->scratch.len_bytes + 1;

	if (len > sizeof(rd->bytes) - rd->used_bytes)
		return fail(rd, err, "too much text");
	*ret_text = memcpy(rd->bytes + rd->used_bytes, buf_str(&rd->scratch), len);
	rd->used_bytes += len;
	return 0;
}

static int read_name(struct reader *rd, const char *what, const char **ret_text, struct err *err)
{
	buf_clear(&rd->scratch);
	if (source_utf(rd->src, &rd->scratch, what, err))
		return -1;
	return keep_text(rd, ret_text, err);
}

/* A string object behind its token; it gets a handle. */
static int read_string(struct reader *rd, uint8_t token, const char **ret_text, struct err *err)
{
	int64_t len = 0;

	if (token == TC_STRING) {
		if (read_name(rd, "a Java string", ret_text, err))
			return -1;
		return new_handle(rd, 's', -1, *ret_text, err);
	}
	if (source_i64(rd->src, &len, "the length of a Java string", err))
		return -1;
	if (len < 0 || len > UINT16_MAX)
		return fail(rd, err, "a string is too long");
	buf_clear(&rd->scratch);
	if (source_utf_of(rd->src, (size_t)len, &rd->scratch, "a Java string", err) ||
	    keep_text(rd, ret_text, err))
		return -1;
	return new_handle(rd, 's', -1, *ret_text, err);
}

static int read_reference(struct reader *rd, const struct java_handle **ret, struct err *err)
{
	int32_t number;

	if (source_i32(rd->src, &number, "a Java back reference", err))
		return -1;
	if (number < BASE_HANDLE || number - BASE_HANDLE >= rd->handles)
		return fail(rd, err, "a back reference to nothing");
	*ret = &rd->handle[number - BASE_HANDLE];
	return 0;
}

/* Where only a string may stand: type names of fields, names of enum constants. */
static int read_string_object(struct reader *rd, const char **ret_text, struct err *err)
{
	const struct java_handle *handle;
	uint8_t token;

	if (source_u8(rd->src, &token, "a Java string", err))
		return -1;
	if (token == TC_STRING || token == TC_LONGSTRING)
		return read_string(rd, token, ret_text, err);
	if (token != TC_REFERENCE)
		return fail(rd, err, "expected a string");
	if (read_reference(rd, &handle, err))
		return -1;
	if (handle->type != 's')
		return fail(rd, err, "expected a reference to a string");
	*ret_text = handle->text;
	return 0;
}

static int read_fields(struct reader *rd, struct java_class *class, struct err *err)
{
	uint16_t count;

	if (source_u16(rd->src, &count, "the number of fields of a Java class", err))
		return -1;
	if (count > MAX_FIELDS - rd->fields)
		return fail(rd, err, "too many fields");
	class->first_field = rd->fields;
	class->fields = count;
	rd->fields += count;
	for (int i = 0; i < count; i++) {
		struct java_field *field = &rd->field[class->first_field + i];
		const char *type_name;
		uint8_t type;

		if (source_u8(rd->src, &type, "the type of a Java field", err) ||
		    read_name(rd, "the name of a Java field", &field->name, err))
			return -1;
		if (!type || !strchr("BCDFIJSZL[", type))
			return fail(rd, err, "a field of unknown type");
		field->type = (char)type;
		if ((type == 'L' || type == '[') && read_string_object(rd, &type_name, err))
			return -1;
	}
	return 0;
}

/* Custom data up to its end mark: of a class descriptor or of an object. */
static int skip_annotation(struct reader *rd, int depth, struct err *err)
{
	struct place place = {depth, NULL, NULL};

	for (;;) {
		uint8_t token, small;
		int32_t large;
		int done;

		if (source_u8(rd->src, &token, "Java custom data or its end", err))
			return -1;
		switch (token) {
		case TC_ENDBLOCKDATA:
			return 0;
		case TC_BLOCKDATA:
			if (source_u8(rd->src, &small, "the length of Java custom data", err) ||
			    source_skip(rd->src, small, "Java custom data", err))
				return -1;
			break;
		case TC_BLOCKDATALONG:
			if (source_count(rd->src, &large, 1, "the length of Java custom data",
					 err) ||
			    source_skip(rd->src, large, "Java custom data", err))
				return -1;
			break;
		default:
			done = read_content(rd, token, place, err);
			if (done)
				return done;
		}
	}
}

static int new_class_desc(struct reader *rd, int *ret_class, int depth, struct err *err)
{
	struct java_class *class;
	int index = rd->classes, done;
	int64_t uid;

	if (rd->classes == MAX_CLASSES)
		return fail(rd, err, "too many classes");
	class = &rd->class[rd->classes++];
	class->super = -1;
	if (read_name(rd, "the name of a Java class", &class->name, err) ||
	    source_i64(rd->src, &uid, "the serialVersionUID of a Java class", err) ||
	    new_handle(rd, 'C', index, NULL, err) ||
	    source_u8(rd->src, &class->flags, "the flags of a Java class", err) ||
	    read_fields(rd, class, err))
		return -1;
	done = skip_annotation(rd, depth, err);
	if (done)
		return done;
	*ret_class = index;
	return read_class_desc(rd, &class->super, depth, err);
}

/* *ret_class is the index of the class or -1 for none. */
static int read_class_desc(struct reader *rd, int *ret_class, int depth, struct err *err)
{
	const struct java_handle *handle;
	uint8_t token;

	if (depth > JAVA_STREAM_MAX_DEPTH)
		return fail(rd, err, "nested too deeply");
	if (source_u8(rd->src, &token, "a Java class descriptor", err))
		return -1;
	switch (token) {
	case TC_NULL:
		*ret_class = -1;
		return 0;
	case TC_CLASSDESC:
		return new_class_desc(rd, ret_class, depth + 1, err);
	case TC_REFERENCE:
		if (read_reference(rd, &handle, err))
			return -1;
		if (handle->type != 'C')
			return fail(rd, err, "expected a reference to a class descriptor");
		*ret_class = handle->class;
		return 0;
	default:
		return fail(rd, err, "expected a class descriptor");
	}
}

/* A class where none is not allowed. */
static int read_class(struct reader *rd, int *ret_class, int depth, struct err *err)
{
	int done = read_class_desc(rd, ret_class, depth, err);

	if (!done && *ret_class < 0)
		return fail(rd, err, "an object without a class");
	return done;
}

static int tell(struct reader *rd, struct place place, const struct java_handle *what,
		int64_t number, struct err *err)
{
	struct java_value value = {
	    .depth = place.depth,
	    .owner = place.owner,
	    .field = place.field,
	    .type = what->type,
	    .number = number,
	    .text = what->text,
	    .class_name = what->class >= 0 ? rd->class[what->class].name : NULL,
	};

	return rd->visit(rd->ctx, &value, err);
}

static int width_of(char type)
{
	switch (type) {
	case 'B':
	case 'Z':
		return 1;
	case 'C':
	case 'S':
		return 2;
	case 'F':
	case 'I':
		return 4;
	case 'D':
	case 'J':
		return 8;
	default:
		return 0;
	}
}

static int read_primitive(struct reader *rd, char type, struct place place, struct err *err)
{
	unsigned char raw[8];
	size_t width = (size_t)width_of(type);
	uint64_t bits = 0;
	int64_t number;

	if (source_bytes(rd->src, raw, width, place.field, err))
		return -1;
	for (size_t i = 0; i < width; i++)
		bits = bits << 8 | raw[i];
	number = (int64_t)bits;
	if (type == 'B')
		number = (int8_t)bits;
	else if (type == 'S')
		number = (int16_t)bits;
	else if (type == 'I')
		number = (int32_t)bits;
	return tell(rd, place, &(struct java_handle){type, -1, NULL}, number, err);
}

static int read_value(struct reader *rd, char type, struct place place, struct err *err)
{
	uint8_t token;

	if (width_of(type))
		return read_primitive(rd, type, place, err);
	if (source_u8(rd->src, &token, place.field ? place.field : "a Java object", err))
		return -1;
	return read_content(rd, token, place, err);
}

/* What one class of an object's chain has written. */
static int read_class_data(struct reader *rd, const struct java_class *class, int depth,
			   struct err *err)
{
	int done;

	if (class->flags & SC_EXTERNALIZABLE) {
		if (!(class->flags & SC_BLOCK_DATA))
			return fail(rd, err, "an externalizable object of protocol 1");
		return skip_annotation(rd, depth, err);
	}
	for (int i = 0; i < class->fields; i++) {
		const struct java_field *field = &rd->field[class->first_field + i];
		struct place place = {depth, class->name, field->name};

		done = read_value(rd, field->type, place, err);
		if (done)
			return done;
	}
	return class->flags & SC_WRITE_METHOD ? skip_annotation(rd, depth, err) : 0;
}

static int read_object(struct reader *rd, struct place place, struct err *err)
{
	int chain[MAX_SUPERS], length = 0, class, done;

	done = read_class(rd, &class, place.depth, err);
	if (done)
		return done;
	if (new_handle(rd, 'L', class, NULL, err))
		return -1;
	done = tell(rd, place, &(struct java_handle){'L', class, NULL}, 0, err);
	if (done)
		return done;
	for (int at = class; at >= 0; at = rd->class[at].super) {
		if (length == MAX_SUPERS)
			return fail(rd, err, "too many super classes");
		chain[length++] = at;
	}
	while (length > 0 && !done)
		done = read_class_data(rd, &rd->class[chain[--length]], place.depth + 1, err);
	return done;
}

static int read_enum(struct reader *rd, struct place place, struct err *err)
{
	struct java_handle *handle;
	int class, done;

	done = read_class(rd, &class, place.depth, err);
	if (done)
		return done;
	if (new_handle(rd, 'e', class, NULL, err))
		return -1;
	handle = &rd->handle[rd->handles - 1];
	if (read_string_object(rd, &handle->text, err))
		return -1;
	return tell(rd, place, handle, 0, err);
}

static int read_array(struct reader *rd, struct place place, struct err *err)
{
	struct place element = {place.depth + 1, NULL, NULL};
	int32_t count;
	int class, done, width;
	char type;

	done = read_class(rd, &class, place.depth, err);
	if (done)
		return done;
	type = rd->class[class].name[0] == '[' ? rd->class[class].name[1] : '\0';
	width = width_of(type);
	if (!width && type != 'L' && type != '[')
		return fail(rd, err, "an array of unknown type");
	if (new_handle(rd, '[', class, NULL, err) ||
	    source_count(rd->src, &count, width ? width : 1, "the length of a Java array", err))
		return -1;
	done = tell(rd, place, &(struct java_handle){'[', class, NULL}, 0, err);
	if (done)
		return done;
	if (width)
		return source_skip(rd->src, (int64_t)count * width, "a Java array", err);
	while (count-- > 0 && !done)
		done = read_value(rd, 'L', element, err);
	return done;
}

static int read_class_object(struct reader *rd, struct place place, struct err *err)
{
	int class, done = read_class(rd, &class, place.depth, err);

	if (done)
		return done;
	if (new_handle(rd, 'c', class, NULL, err))
		return -1;
	return tell(rd, place, &rd->handle[rd->handles - 1], 0, err);
}

static int read_content(struct reader *rd, uint8_t token, struct place place, struct err *err)
{
	static const struct java_handle null = {'0', -1, NULL};
	const struct java_handle *handle;
	const char *text;

	if (place.depth > JAVA_STREAM_MAX_DEPTH)
		return fail(rd, err, "nested too deeply");
	switch (token) {
	case TC_NULL:
		return tell(rd, place, &null, 0, err);
	case TC_REFERENCE:
		if (read_reference(rd, &handle, err))
			return -1;
		if (handle->type == 'C')
			return fail(rd, err, "a reference to a class where an object stands");
		return tell(rd, place, handle, 0, err);
	case TC_STRING:
	case TC_LONGSTRING:
		if (read_string(rd, token, &text, err))
			return -1;
		return tell(rd, place, &(struct java_handle){'s', -1, text}, 0, err);
	case TC_OBJECT:
		return read_object(rd, place, err);
	case TC_ENUM:
		return read_enum(rd, place, err);
	case TC_ARRAY:
		return read_array(rd, place, err);
	case TC_CLASS:
		return read_class_object(rd, place, err);
	default:
		return source_fail(source_offset(rd->src) - 1, err,
				   "Java object: unknown token 0x%02x", token);
	}
}

int java_stream_parse(struct source *src, java_visit_fn visit, void *ctx, struct err *err)
{
	struct place root = {0, NULL, NULL};
	int64_t at = source_offset(src);
	uint16_t magic, protocol;
	struct reader *rd;
	uint8_t token;
	int done;

	if (source_u16(src, &magic, "a Java serialization stream", err) ||
	    source_u16(src, &protocol, "a Java serialization stream", err))
		return -1;
	if (magic != STREAM_MAGIC || protocol != STREAM_PROTOCOL)
		return source_fail(
		    at, err, "expected a Java serialization stream (aced 0005), found %04x %04x",
		    magic, protocol);
	if (source_u8(src, &token, "a Java object", err))
		return -1;
	rd = xcalloc(1, sizeof(*rd));
	rd->src = src;
	rd->visit = visit;
	rd->ctx = ctx;
	done = read_content(rd, token, root, err);
	buf_release(&rd->scratch);
	free(rd);
	return done;
}
