/*
 * sts_xml - the answer of AWS STS to AssumeRoleWithWebIdentity.
 *
 * Source: AWS Security Token Service API reference, AssumeRoleWithWebIdentity and Common Errors. A
 * document type, encodings other than UTF-8, nesting deeper than STS_XML_MAX_DEPTH and texts longer
 * than STS_XML_MAX_BYTES are refused; unknown elements are ignored.
 */
#ifndef DREY_FORMAT_STS_XML_H
#define DREY_FORMAT_STS_XML_H

#include <stddef.h>

#include "base/err.h"

#define STS_XML_MAX_DEPTH 16
#define STS_XML_MAX_BYTES ((size_t)64 * 1024)

/* The values found; the rest is NULL. A success has the first four, a refusal the last two. */
struct sts_answer {
	char *access_key, *secret_key, *session_token;
	char *expiration; /* RFC 3339 */
	char *code, *message;
};

/* ERR_FORMAT if it is not XML as above; the message never has its content. *ret_answer is released
 * by the caller. */
int sts_xml_parse(const char *text, size_t len_bytes, struct sts_answer *ret_answer,
		  struct err *err);

/* Wipes before it frees; zeroed is fine. */
void sts_answer_release(struct sts_answer *answer);

#endif
