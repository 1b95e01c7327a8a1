/*
 * java_stream - reads one object from a Java Object Serialization stream.
 *
 * Source: Java Object Serialization Specification, chapter 6 (protocol version 5, big-endian).
 * Everything that default serialization writes is understood (objects with their super classes,
 * strings, enums, arrays, back references, custom data to skip). Refused: proxies,
 * exceptions, resets and externalizable classes of the old protocol 1.
 *
 * The object is not built: the visitor is called for every field, in stream order, and may stop
 * early. Memory is fixed (JAVA_STREAM_MAX_BYTES of names and strings, a table of
 * JAVA_STREAM_MAX_HANDLES handles), nesting ends at JAVA_STREAM_MAX_DEPTH; beyond -> ERR_FORMAT.
 */
#ifndef DREY_FORMAT_JAVA_STREAM_H
#define DREY_FORMAT_JAVA_STREAM_H

#include <stdint.h>

#include "base/err.h"
#include "format/source.h"

#define JAVA_STREAM_MAX_DEPTH   24
#define JAVA_STREAM_MAX_HANDLES (64 * 1024)
#define JAVA_STREAM_MAX_BYTES   (4 * 1024 * 1024)

/* One value: a field, an array element or the root. Texts are borrowed until the parse ends. */
struct java_value {
	int depth;         /* 0 the root, 1 its fields, 2 the fields of those, ... */
	const char *owner; /* class that declares the field; NULL for root and elements */
	const char *field; /* NULL for root, array elements and custom data */
	/* JVM letter BCDFIJSZ; 'L' object, '[' array, 's' string, 'e' enum, 'c' class, '0' null */
	char type;
	int64_t number;         /* BCIJSZ: the value; D and F: the raw bits */
	const char *text;       /* 's' the string, 'e' the constant's name */
	const char *class_name; /* 'L', '[', 'e', 'c': dotted, as in "java.net.URI" */
};

/* Called when the value is known; an object is announced before its fields. Return 0 to continue, 1
 * to end the parse now (it then succeeds), -1 with *err set to fail it. */
typedef int (*java_visit_fn)(void *ctx, const struct java_value *value, struct err *err);

/* Read the stream header and one object. Returns 0 if all of it was read (the source is then after
 * its last byte), 1 if the visitor ended it, -1 on failure. */
int java_stream_parse(struct source *src, java_visit_fn visit, void *ctx, struct err *err);

#endif
