/*
 * reasons_traces - the part of `drey resolve --explain` about what launches have left besides snapshots: what forbids an
 * empty start without a journal, and which job ids are in use. Pure.
 *
 * traces {results: notConfigured|present|absent|unreadable, detail, usedIds: how many ids have traces,
 *         list [{kind: ha|id|result, jobId, path, unixMs, says, forbids: bool, why}]}
 * forbids: no empty start because of it; why: in words, also why not.
 */
#ifndef DREY_CMD_REASONS_TRACES_H
#define DREY_CMD_REASONS_TRACES_H

#include "cmd/out.h"

struct json;
struct reasons;

/* Adds the member `traces`, if traces were looked for. */
void reasons_add_traces(struct json *doc, const struct reasons *ex);
/* A table for people, likewise. */
void reasons_print_traces(const struct reasons *ex, struct out out);

#endif
