/*
 * verify_files - checks the files that a `_metadata` names, together; used by verify.c only.
 *
 * Sizes come from a listing if that is cheaper (verify_list.h), the rest from concurrent requests.
 * Proven damage is reported before what could not be read. A store that does not answer is
 * abandoned after VERIFY_NO_ANSWERS files: the verdict is clear by then, and each file costs its
 * timeouts.
 */
#ifndef DREY_STORE_VERIFY_FILES_H
#define DREY_STORE_VERIFY_FILES_H

#include "store/stores.h"
#include "store/verify.h"

#define VERIFY_NO_ANSWERS STORE_IN_FLIGHT

void verify_add_problem(struct verify_report *report, enum verify_fault fault, enum err_kind kind,
			const char *path, const char *detail);

/* `path` could not be checked, or is proven to be absent. */
void verify_add_failure(struct verify_report *report, const char *path, const struct err *err);

/* A file was not found (*why), which makes its snapshot damaged: does a second listing agree? Else *why says what it does. */
void verify_doubt_absent(struct store *store, const char *uri, struct err *why);

/* Check them against report->path and add the findings to the report. */
void verify_files(struct verify_report *report, struct stores *stores,
		  const struct metadata *metadata);

#endif
