/*
 * status_offline - the status document from the journal in a ConfigMap, for whoever has no way to the
 * drey itself, or when none runs: what was known at the last write.
 */
#ifndef DREY_CMD_STATUS_OFFLINE_H
#define DREY_CMD_STATUS_OFFLINE_H

#include "base/err.h"
#include "base/json.h"
#include "run/config/config.h"

/* The caller frees *ret_document. ERR_ABSENT: the journal is a file, or there is none. */
int status_offline(const struct config *config, struct json **ret_document, struct err *err);

#endif
