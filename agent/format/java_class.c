#include "format/java_reader.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define BASE_HANDLE   0x7E0000
#define FIRST_HANDLES 64
#define TEXTS_BYTES   ((size_t)8 * 1024)

int java_fail(struct java_reader *rd, struct err *err, const char *what)
{
	return source_fail(source_offset(rd->src), err, "Java object: %s", what);
}

int java_new_handle(struct java_reader *rd, char type, int class, const char *text, struct err *err)
{
	if (rd->handles == JAVA_STREAM_MAX_HANDLES)
		return java_fail(rd, err, "too many objects");
	if (rd->handles == rd->handle_room) {
		rd->handle_room = rd->handle_room ? 2 * rd->handle_room : FIRST_HANDLES;
		rd->handle =
			xreallocarray(rd->handle, (size_t)rd->handle_room, sizeof(*rd->handle));
	}
	rd->handle[rd->handles++] = (struct java_handle){type, class, text};
	return 0;
}

/* Copy the text in scratch to where it stays. */
static int keep_text(struct java_reader *rd, const char **ret_text, struct err *err)
{
	size_t len = rd->scratch.len_bytes + 1;
	struct java_texts *texts = rd->texts;

	if (len > JAVA_STREAM_MAX_BYTES - rd->text_bytes)
		return java_fail(rd, err, "too much text");
	if (!texts || len > texts->room_bytes - texts->used_bytes) {
		size_t room = len > TEXTS_BYTES ? len : TEXTS_BYTES;

		texts = xcalloc(1, sizeof(*texts) + room);
		*texts = (struct java_texts){.before = rd->texts, .room_bytes = room};
		rd->texts = texts;
	}
	*ret_text = memcpy(texts->bytes + texts->used_bytes, buf_str(&rd->scratch), len);
	texts->used_bytes += len;
	rd->text_bytes += len;
	return 0;
}

void java_reader_free(struct java_reader *rd)
{
	for (struct java_texts *texts = rd->texts, *before; texts; texts = before) {
		before = texts->before;
		free(texts);
	}
	free(rd->handle);
	buf_release(&rd->scratch);
	free(rd);
}

static int read_name(struct java_reader *rd, const char *what, const char **ret_text,
		     struct err *err)
{
	buf_clear(&rd->scratch);
	if (source_utf(rd->src, &rd->scratch, what, err))
		return -1;
	return keep_text(rd, ret_text, err);
}

int java_read_string(struct java_reader *rd, uint8_t token, const char **ret_text, struct err *err)
{
	int64_t len = 0;

	if (token == TC_STRING) {
		if (read_name(rd, "a Java string", ret_text, err))
			return -1;
		return java_new_handle(rd, 's', -1, *ret_text, err);
	}
	if (source_i64(rd->src, &len, "the length of a Java string", err))
		return -1;
	if (len < 0 || len > UINT16_MAX)
		return java_fail(rd, err, "a string is too long");
	buf_clear(&rd->scratch);
	if (source_utf_of(rd->src, (size_t)len, &rd->scratch, "a Java string", err) ||
	    keep_text(rd, ret_text, err))
		return -1;
	return java_new_handle(rd, 's', -1, *ret_text, err);
}

int java_read_reference(struct java_reader *rd, const struct java_handle **ret, struct err *err)
{
	int32_t number;

	if (source_i32(rd->src, &number, "a Java back reference", err))
		return -1;
	if (number < BASE_HANDLE || number - BASE_HANDLE >= rd->handles)
		return java_fail(rd, err, "a back reference to nothing");
	*ret = &rd->handle[number - BASE_HANDLE];
	return 0;
}

int java_read_string_object(struct java_reader *rd, const char **ret_text, struct err *err)
{
	const struct java_handle *handle;
	uint8_t token;

	if (source_u8(rd->src, &token, "a Java string", err))
		return -1;
	if (token == TC_STRING || token == TC_LONGSTRING)
		return java_read_string(rd, token, ret_text, err);
	if (token != TC_REFERENCE)
		return java_fail(rd, err, "expected a string");
	if (java_read_reference(rd, &handle, err))
		return -1;
	if (handle->type != 's')
		return java_fail(rd, err, "expected a reference to a string");
	*ret_text = handle->text;
	return 0;
}

static int read_fields(struct java_reader *rd, struct java_class *class, struct err *err)
{
	uint16_t count;

	if (source_u16(rd->src, &count, "the number of fields of a Java class", err))
		return -1;
	if (count > JAVA_MAX_FIELDS - rd->fields)
		return java_fail(rd, err, "too many fields");
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
			return java_fail(rd, err, "a field of unknown type");
		field->type = (char)type;
		if ((type == 'L' || type == '[') && java_read_string_object(rd, &type_name, err))
			return -1;
	}
	return 0;
}

static int read_class_desc(struct java_reader *rd, int *ret_class, int depth, struct err *err);

static int new_class_desc(struct java_reader *rd, int *ret_class, int depth, struct err *err)
{
	struct java_class *class;
	int index = rd->classes, done;
	int64_t uid;

	if (rd->classes == JAVA_MAX_CLASSES)
		return java_fail(rd, err, "too many classes");
	class = &rd->class[rd->classes++];
	class->super = -1;
	if (read_name(rd, "the name of a Java class", &class->name, err) ||
	    source_i64(rd->src, &uid, "the serialVersionUID of a Java class", err) ||
	    java_new_handle(rd, 'C', index, NULL, err) ||
	    source_u8(rd->src, &class->flags, "the flags of a Java class", err) ||
	    read_fields(rd, class, err))
		return -1;
	done = java_skip_annotation(rd, depth, err);
	if (done)
		return done;
	*ret_class = index;
	return read_class_desc(rd, &class->super, depth, err);
}

/* *ret_class is the index of the class or -1 for none. */
static int read_class_desc(struct java_reader *rd, int *ret_class, int depth, struct err *err)
{
	const struct java_handle *handle;
	uint8_t token;

	if (depth > JAVA_STREAM_MAX_DEPTH)
		return java_fail(rd, err, "nested too deeply");
	if (source_u8(rd->src, &token, "a Java class descriptor", err))
		return -1;
	switch (token) {
	case TC_NULL:
		*ret_class = -1;
		return 0;
	case TC_CLASSDESC:
		return new_class_desc(rd, ret_class, depth + 1, err);
	case TC_REFERENCE:
		if (java_read_reference(rd, &handle, err))
			return -1;
		if (handle->type != 'C')
			return java_fail(rd, err, "expected a reference to a class descriptor");
		*ret_class = handle->class;
		return 0;
	default:
		return java_fail(rd, err, "expected a class descriptor");
	}
}

int java_read_class(struct java_reader *rd, int *ret_class, int depth, struct err *err)
{
	int done = read_class_desc(rd, ret_class, depth, err);

	if (!done && *ret_class < 0)
		return java_fail(rd, err, "an object without a class");
	return done;
}
