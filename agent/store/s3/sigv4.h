/*
 * sigv4 - AWS Signature Version 4 for one request. Pure.
 *
 * Source: "Authenticating Requests: Using the Authorization Header (AWS Signature Version 4)",
 * Amazon S3 API reference, and the AWS SigV4 test suite.
 */
#ifndef DREY_STORE_SIGV4_H
#define DREY_STORE_SIGV4_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct sigv4_header {
	const char *name; /* any case */
	const char *value;
};

struct sigv4_request {
	const char *method;
	const char *path;                   /* as sent: percent-encoded, begins with '/' */
	const char *query;                  /* as sent, parameters in any order; NULL or "": none */
	const struct sigv4_header *headers; /* all headers to sign, including Host */
	size_t header_count;
	const char *payload_sha256; /* 64 hex digits or "UNSIGNED-PAYLOAD"; SIGV4_EMPTY_SHA256 */
	const char *access_key, *secret_key;
	const char *region, *service; /* "us-east-1", "s3" */
	int64_t unix_s;
};

#define SIGV4_EMPTY_SHA256 "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

/* Append the value of the Authorization header. x-amz-date (sigv4_date()), x-amz-content-sha256 and
 * x-amz-security-token must be among the headers if the service requires them. */
void sigv4_authorization(const struct sigv4_request *request, struct buf *ret);

/* The steps, for the test vectors. */
void sigv4_canonical_request(const struct sigv4_request *request, struct buf *ret);
void sigv4_string_to_sign(const struct sigv4_request *request, struct buf *ret);

/* "20130524T000000Z". */
#define SIGV4_DATE_BYTES 17
void sigv4_date(int64_t unix_s, char ret[SIGV4_DATE_BYTES]);

#endif
