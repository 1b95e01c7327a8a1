/*
 * ha_writer - values of HA maps and completedCheckpoint files for tests: what Flink has written
 * (tests/fixtures/metadata), with another file, id, date or path. Header-only.
 */
#ifndef DREY_TESTS_HA_WRITER_H
#define DREY_TESTS_HA_WRITER_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "tap.h"

#define HA_FN static inline __attribute__((unused))

HA_FN void ha_read(const char *name, struct buf *to)
{
	char path[256], part[4096];
	size_t got;
	FILE *file;

	snprintf(path, sizeof(path), "tests/fixtures/metadata/%s", name);
	file = fopen(path, "r");
	if (!CHECK(file != NULL))
		return;
	while ((got = fread(part, 1, sizeof(part), file)) > 0)
		buf_add(to, part, got);
	fclose(file);
}

HA_FN void ha_be(struct buf *to, uint64_t value, int bytes)
{
	while (bytes-- > 0)
		buf_addch(to, (char)(value >> 8 * bytes));
}

HA_FN int ha_sextet(char ch)
{
	const char *all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = ch ? strchr(all, ch) : NULL;

	return at ? (int)(at - all) : -1;
}

HA_FN void ha_unbase64(const struct buf *text, struct buf *to)
{
	uint32_t bits = 0;
	int have = 0;

	for (size_t i = 0; i < text->len_bytes && ha_sextet(text->data[i]) >= 0; i++) {
		bits = bits << 6 | (uint32_t)ha_sextet(text->data[i]);
		have += 6;
		if (have >= 8)
			buf_addch(to, (char)(bits >> (have -= 8)));
	}
}

HA_FN void ha_base64(const struct buf *bytes, struct buf *to)
{
	const char *all = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < bytes->len_bytes; i += 3) {
		size_t left = bytes->len_bytes - i;
		uint32_t bits = (uint32_t)(uint8_t)bytes->data[i] << 16;

		if (left > 1)
			bits |= (uint32_t)(uint8_t)bytes->data[i + 1] << 8;
		if (left > 2)
			bits |= (uint8_t)bytes->data[i + 2];
		buf_addch(to, all[bits >> 18]);
		buf_addch(to, all[bits >> 12 & 63]);
		buf_addch(to, left > 1 ? all[bits >> 6 & 63] : '=');
		buf_addch(to, left > 2 ? all[bits & 63] : '=');
	}
}

/* The value of a checkpointID- key that points to this file. */
HA_FN void ha_value_write(struct buf *to, const char *uri, int64_t size_bytes, bool deleted)
{
	enum { SIZE_AT = 0x1ee, URI_AT = 0x276 }; /* "stateSize", and the string of the URI */
	cleanup_buf struct buf text = BUF_INIT, bytes = BUF_INIT, out = BUF_INIT;

	ha_read(deleted ? "ha-value-deleted" : "ha-value", &text);
	ha_unbase64(&text, &bytes);
	buf_add(&out, bytes.data, SIZE_AT);
	ha_be(&out, (uint64_t)size_bytes, 8);
	buf_add(&out, bytes.data + SIZE_AT + 8, URI_AT - SIZE_AT - 8);
	ha_be(&out, 0x74, 1);
	ha_be(&out, strlen(uri), 2);
	buf_addstr(&out, uri);
	ha_be(&out, 0x78, 1);
	ha_base64(&out, to);
}

/* A completedCheckpoint file of job aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa01. */
HA_FN void ha_checkpoint_write(struct buf *to, int64_t id, int64_t unix_ms, const char *pointer)
{
	enum { FIELDS_AT = 0x217, OLD_POINTER_BYTES = 0x4e }; /* the four fields of its own */
	cleanup_buf struct buf bytes = BUF_INIT;

	ha_read("completed-checkpoint", &bytes);
	buf_add(to, bytes.data, FIELDS_AT);
	ha_be(to, (uint64_t)id, 8);
	ha_be(to, (uint64_t)unix_ms, 8);
	ha_be(to, (uint64_t)unix_ms, 8);
	ha_be(to, 0x74, 1);
	ha_be(to, strlen(pointer), 2);
	buf_addstr(to, pointer);
	buf_add(to, bytes.data + FIELDS_AT + 27 + OLD_POINTER_BYTES,
		bytes.len_bytes - FIELDS_AT - 27 - OLD_POINTER_BYTES);
}

/* A class descriptor of these fields ("Jname Lname"; objects are of one class), without a super class. */
HA_FN void ha_class(struct buf *to, const char *name, int flags, const char *fields)
{
	int count = 0;

	ha_be(to, 0x72, 1);
	ha_be(to, strlen(name), 2);
	buf_addstr(to, name);
	ha_be(to, 1, 8);
	ha_be(to, (uint64_t)flags, 1);
	for (const char *at = fields; *at; at += strcspn(at, " "), at += strspn(at, " "))
		count++;
	ha_be(to, (uint64_t)count, 2);
	for (const char *at = fields; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		buf_addch(to, *at);
		ha_be(to, len - 1, 2);
		buf_add(to, at + 1, len - 1);
		if (*at != 'L')
			continue;
		ha_be(to, 0x74, 1);
		ha_be(to, 2, 2);
		buf_addstr(to, "LX");
	}
	ha_be(to, 0x78, 1);
	ha_be(to, 0x70, 1);
}

HA_FN void ha_string(struct buf *to, const char *text)
{
	ha_be(to, 0x74, 1);
	ha_be(to, strlen(text), 2);
	buf_addstr(to, text);
}

/* The same by hand, with one file of state. */
HA_FN void ha_object_write(struct buf *to, int64_t id, int64_t unix_ms, const char *pointer,
			   const char *file, int64_t size_bytes)
{
	ha_be(to, 0xACED0005, 4);
	ha_be(to, 0x73, 1);
	ha_class(to, "org.apache.flink.runtime.checkpoint.CompletedCheckpoint", 2,
		 "JcheckpointID JcompletionTimestamp Jtimestamp LexternalPointer LoperatorStates");
	ha_be(to, (uint64_t)id, 8);
	ha_be(to, (uint64_t)unix_ms, 8);
	ha_be(to, (uint64_t)unix_ms, 8);
	ha_string(to, pointer);
	ha_be(to, 0x73, 1);
	ha_class(to, "org.apache.flink.runtime.state.filesystem.FileStateHandle", 2,
		 "JstateSize LfilePath");
	ha_be(to, (uint64_t)size_bytes, 8);
	ha_be(to, 0x73, 1);
	ha_class(to, "org.apache.flink.core.fs.Path", 2, "Luri");
	ha_be(to, 0x73, 1);
	ha_class(to, "java.net.URI", 3, "Lstring");
	ha_string(to, file);
	ha_be(to, 0x78, 1);
}

#endif
