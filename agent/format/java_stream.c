#include "format/java_reader.h"

#include "base/mem.h"

#define MAX_SUPERS      16
#define STREAM_MAGIC    0xACED
#define STREAM_PROTOCOL 5

static int read_content(struct java_reader *rd, uint8_t token, struct java_place place,
			struct err *err);

int java_skip_annotation(struct java_reader *rd, int depth, struct err *err)
{
	struct java_place place = {depth, NULL, NULL};

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

static int visit_value(struct java_reader *rd, struct java_place place,
		       const struct java_handle *what, int64_t number, struct err *err)
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

static int read_primitive(struct java_reader *rd, char type, struct java_place place,
			  struct err *err)
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
	return visit_value(rd, place, &(struct java_handle){type, -1, NULL}, number, err);
}

static int read_value(struct java_reader *rd, char type, struct java_place place, struct err *err)
{
	uint8_t token;

	if (place.depth > JAVA_STREAM_MAX_DEPTH)
		return java_fail(rd, err, "nested too deeply");
	if (width_of(type))
		return read_primitive(rd, type, place, err);
	if (source_u8(rd->src, &token, place.field ? place.field : "a Java object", err))
		return -1;
	return read_content(rd, token, place, err);
}

/* What one class in an object's chain has written. */
static int read_class_data(struct java_reader *rd, const struct java_class *class, int depth,
			   struct err *err)
{
	int done;

	if (class->flags & SC_EXTERNALIZABLE) {
		if (!(class->flags & SC_BLOCK_DATA))
			return java_fail(rd, err, "an externalizable object of protocol 1");
		return java_skip_annotation(rd, depth, err);
	}
	for (int i = 0; i < class->fields; i++) {
		const struct java_field *field = &rd->field[class->first_field + i];
		struct java_place place = {depth, class->name, field->name};

		done = read_value(rd, field->type, place, err);
		if (done)
			return done;
	}
	return class->flags & SC_WRITE_METHOD ? java_skip_annotation(rd, depth, err) : 0;
}

static int read_object(struct java_reader *rd, struct java_place place, struct err *err)
{
	int chain[MAX_SUPERS], length = 0, class, done;

	done = java_read_class(rd, &class, place.depth, err);
	if (done)
		return done;
	if (java_new_handle(rd, 'L', class, NULL, err))
		return -1;
	done = visit_value(rd, place, &(struct java_handle){'L', class, NULL}, 0, err);
	if (done)
		return done;
	for (int at = class; at >= 0; at = rd->class[at].super) {
		if (length == MAX_SUPERS)
			return java_fail(rd, err, "too many super classes");
		chain[length++] = at;
	}
	while (length > 0 && !done)
		done = read_class_data(rd, &rd->class[chain[--length]], place.depth + 1, err);
	return done;
}

static int read_enum(struct java_reader *rd, struct java_place place, struct err *err)
{
	const char *name;
	int class, done, at;

	done = java_read_class(rd, &class, place.depth, err);
	if (done)
		return done;
	if (java_new_handle(rd, 'e', class, NULL, err))
		return -1;
	at = rd->handles - 1;
	if (java_read_string_object(rd, &name, err))
		return -1;
	rd->handle[at].text = name;
	return visit_value(rd, place, &rd->handle[at], 0, err);
}

static int read_array(struct java_reader *rd, struct java_place place, struct err *err)
{
	struct java_place element = {place.depth + 1, NULL, NULL};
	int32_t count;
	int class, done, width;
	char type;

	done = java_read_class(rd, &class, place.depth, err);
	if (done)
		return done;
	type = rd->class[class].name[0] == '[' ? rd->class[class].name[1] : '\0';
	width = width_of(type);
	if (!width && type != 'L' && type != '[')
		return java_fail(rd, err, "an array of unknown type");
	if (java_new_handle(rd, '[', class, NULL, err) ||
	    source_count(rd->src, &count, width ? width : 1, "the length of a Java array", err))
		return -1;
	done = visit_value(rd, place, &(struct java_handle){'[', class, NULL}, 0, err);
	if (done)
		return done;
	if (width)
		return source_skip(rd->src, (int64_t)count * width, "a Java array", err);
	while (count-- > 0 && !done)
		done = read_value(rd, 'L', element, err);
	return done;
}

static int read_class_object(struct java_reader *rd, struct java_place place, struct err *err)
{
	int class, done = java_read_class(rd, &class, place.depth, err);

	if (done)
		return done;
	if (java_new_handle(rd, 'c', class, NULL, err))
		return -1;
	return visit_value(rd, place, &rd->handle[rd->handles - 1], 0, err);
}

static int read_content(struct java_reader *rd, uint8_t token, struct java_place place,
			struct err *err)
{
	static const struct java_handle null = {'0', -1, NULL};
	const struct java_handle *handle;
	const char *text;

	if (place.depth > JAVA_STREAM_MAX_DEPTH)
		return java_fail(rd, err, "nested too deeply");
	switch (token) {
	case TC_NULL:
		return visit_value(rd, place, &null, 0, err);
	case TC_REFERENCE:
		if (java_read_reference(rd, &handle, err))
			return -1;
		if (handle->type == 'C')
			return java_fail(rd, err, "a reference to a class in place of an object");
		return visit_value(rd, place, handle, 0, err);
	case TC_STRING:
	case TC_LONGSTRING:
		if (java_read_string(rd, token, &text, err))
			return -1;
		return visit_value(rd, place, &(struct java_handle){'s', -1, text}, 0, err);
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
	struct java_place root = {0, NULL, NULL};
	int64_t at = source_offset(src);
	uint16_t magic, protocol;
	struct java_reader *rd;
	uint8_t token;
	int done;

	if (source_u16(src, &magic, "a Java serialization stream", err) ||
	    source_u16(src, &protocol, "a Java serialization stream", err))
		return -1;
	if (magic != STREAM_MAGIC || protocol != STREAM_PROTOCOL)
		return source_fail(
			at, err,
			"expected a Java serialization stream (aced 0005), found %04x %04x", magic,
			protocol);
	if (source_u8(src, &token, "a Java object", err))
		return -1;
	rd = xcalloc(1, sizeof(*rd));
	rd->src = src;
	rd->visit = visit;
	rd->ctx = ctx;
	done = read_content(rd, token, root, err);
	java_reader_free(rd);
	return done;
}
