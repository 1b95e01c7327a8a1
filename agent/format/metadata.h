/*
 * metadata - the `_metadata` file of a Flink checkpoint or savepoint, versions 2 to 7.
 *
 * Source: org.apache.flink.runtime.checkpoint.metadata.MetadataV2Serializer ...
 * MetadataV7Serializer (Flink 1.3 to 2.4). docs/reference/formats.md describes the layout.
 *
 * The file is read as a stream in fixed memory: state that is stored inside it is counted and
 * skipped. metadata_parse() passes what it finds to a visitor; metadata_load() collects that. The
 * parse goes to the last byte, so a file truncated anywhere is an error, never a shorter result.
 *
 * Errors: ERR_FORMAT for a file of another kind, with the byte offset, and for files that are too
 * old; ERR_CONFIG naming the version for files that are too new, which are not damaged: a newer
 * drey can read them; otherwise the error of the read callback.
 */
#ifndef DREY_FORMAT_METADATA_H
#define DREY_FORMAT_METADATA_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/packed.h"
#include "format/source.h"

#define METADATA_NAME          "_metadata"
#define METADATA_MAGIC         0x4960672D
#define METADATA_HEAD_BYTES    16 /* enough for metadata_peek() */
#define METADATA_VERSION_MIN   2
#define METADATA_VERSION_MAX   7
#define METADATA_MAX_DEPTH     16      /* handles inside handles */
#define METADATA_MAX_FILES     2000000 /* collected by metadata_load() */
#define METADATA_MAX_OPERATORS 200000
#define METADATA_MAX_TEXT      (512 * 1024 * 1024) /* bytes of paths and names, idem */

enum metadata_flavour {
	METADATA_FLAVOUR_UNKNOWN = 0, /* versions 2 and 3, and files of the State Processor API */
	METADATA_FLAVOUR_CHECKPOINT,
	METADATA_FLAVOUR_SAVEPOINT,
};

enum metadata_format {
	METADATA_FORMAT_UNKNOWN = 0, /* every checkpoint, and where the flavour is unknown */
	METADATA_FORMAT_CANONICAL,
	METADATA_FORMAT_NATIVE,
};

struct metadata_header {
	int version;
	int64_t checkpoint_id;
};

/*
 * What the gates of a blue/green job had in their state (java/gate, GateOperator: names and numbers of elements, which
 * are in the file itself), the last that applies to any of them. Other gates than drey's leave nothing.
 */
enum metadata_gates {
	METADATA_GATES_NONE = 0, /* there is none */
	METADATA_GATES_OPEN,     /* everything passed */
	METADATA_GATES_TRANSITION, /* in a transition, by a gate of drey 0.2, which does not say more */
	METADATA_GATES_HOLDING, /* a cut was set, or records were held back */
};

/* Totals, known only at the end. */
struct metadata_tail {
	enum metadata_flavour flavour;
	enum metadata_format format;
	enum metadata_gates gates;
	int64_t inline_bytes; /* state inside the file itself */
	/* version 7: the oldest checkpoint of which a subtask has its state, since its region had failed; 0 = none */
	int64_t ref_checkpoint_id;
};

struct metadata_operator {
	char id[33];      /* 32 hex digits */
	const char *name; /* version 5 and newer, else NULL */
	const char *uid;  /* the same, and only when the program sets one */
	int32_t parallelism, max_parallelism;
	int32_t subtasks; /* entries in the file; 0 for an operator that has finished */
	bool finished;    /* all of it, before the snapshot */
	/* What it has in the file itself and in files: those of several operators count for each of
	 * them, and one whose length is not known does not count. */
	bool has_state;
	int64_t state_bytes;
};

/* One reference to a file. */
struct metadata_file {
	const char *path;   /* as Flink wrote it: not percent-encoded; a URI unless relative */
	int64_t size_bytes; /* length of the file (for a segment: its end); -1: not known */
	bool relative;      /* to the directory of the `_metadata` */
	bool shared;        /* other snapshots may refer to it too */
	bool lower_bound;   /* the file may be longer than size_bytes */
};

/* Any member may be NULL. Texts are borrowed for the call. A callback returns 0, or -1
 * with *err set, which ends the parse. */
struct metadata_visitor {
	void *ctx;
	int (*header)(void *ctx, const struct metadata_header *header, struct err *err);
	/* after its files */
	int (*operator_state)(void *ctx, const struct metadata_operator *op, struct err *err);
	int (*file)(void *ctx, const struct metadata_file *file, struct err *err);
	int (*tail)(void *ctx, const struct metadata_tail *tail, struct err *err);
};

int metadata_parse(struct source *src, const struct metadata_visitor *visitor, struct err *err);

/* The header from the first METADATA_HEAD_BYTES of a file. */
int metadata_peek(const void *head, size_t len_bytes, struct metadata_header *ret, struct err *err);

/* One file of a struct metadata; metadata_file() has its path. */
struct metadata_kept {
	int64_t size_bytes;
	uint32_t path; /* in metadata.paths */
	bool relative, shared, lower_bound;
};

/* All of it in memory, files once per distinct path. Release with metadata_release(). */
struct metadata {
	struct metadata_header header;
	struct metadata_tail tail;
	struct metadata_operator *operators;
	size_t operator_count;
	struct metadata_kept *files;
	size_t file_count;
	int64_t size_bytes;          /* inline_bytes and the known sizes of the files */
	struct metadata_text *texts; /* the storage of names */
	struct packed paths;
};

int metadata_load(struct source *src, struct metadata *ret, struct err *err);

/* File number `index`. Its path replaces what is in *text, and is borrowed from it. */
struct metadata_file metadata_file(const struct metadata *metadata, size_t index, struct buf *text);

/* NULL and zeroed are allowed. */
void metadata_release(struct metadata *metadata);
#define cleanup_metadata __attribute__((cleanup(metadata_release)))

/* "checkpoint", "savepoint", NULL; "canonical", "native", NULL; "open", "transition", "holding", NULL. */
const char *metadata_flavour_name(enum metadata_flavour flavour);
const char *metadata_format_name(enum metadata_format format);
const char *metadata_gates_name(enum metadata_gates gates);

/* They held records back, or may have. */
bool metadata_gates_hold(enum metadata_gates gates);

#endif
