/*
 * query - the query of a URL: "a=1&b=x%20y". Bytes from outside.
 *
 * Names and values are percent-encoded as in RFC 3986: '+' is a plus sign and not a space. Other
 * parameters than the one that is searched for are ignored, however malformed they are.
 */
#ifndef DREY_BASE_QUERY_H
#define DREY_BASE_QUERY_H

#include "base/err.h"

#define QUERY_VALUE_BYTES 1024 /* of a value, decoded and with its NUL */

/*
 * The decoded value of a parameter; the caller frees. 1: found, "" if it is empty or has no '=';
 * 0: there is none; -1, ERR_FORMAT: it is given twice, is too long, or is not the encoding of
 * UTF-8 text without control bytes. `query` has no '?'; NULL is empty.
 */
int query_get(const char *query, const char *name, char **ret_value, struct err *err);

#endif
