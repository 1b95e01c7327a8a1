/*
 * verify_files - the files that a `_metadata` names, looked at together; used by verify.c only.
 *
 * Sizes come from a listing where that is cheaper (verify_list.h), the rest from many looks at once.
 * Proven damage is told before what could not be looked at. A store that gives no answer is given up
 * after VERIFY_NO_ANSWERS files: the verdict is clear by then, and each one costs its timeouts.
 */
#ifndef DREY_STORE_VERIFY_FILES_H
#define DREY_STORE_VERIFY_FILES_H

#include "store/stores.h"
#include "store/verify.h"

#define VERIFY_NO_ANSWERS STORE_IN_FLIGHT

void verify_add_problem(struct verify_report *report, enum verify_fault fault, enum err_kind kind,
			const char *path, const char *detail);

/* Something about `path` could not be found out, or it is proven to be absent. */
void verify_add_failure(struct verify_report *report, const char *path, const struct err *err);

/* Check them against report->path and add what is found to the report. */
void verify_files(struct verify_report *report, struct stores *stores,
		  const struct metadata *metadata);

#endif
