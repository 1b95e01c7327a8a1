/*
 * s3_endpoint - the endpoint for the requests of one bucket. Pure.
 *
 * Without an endpoint it is AWS in the configured region. A bucket is named in the host on AWS
 * (unless its name would break the rules of the certificate or host) and in the path elsewhere;
 * s3_config.addressing overrides this, but an IP address has no names below it. An endpoint without
 * a scheme means https, as in Hadoop. The region of an AWS endpoint is read from its host when it is
 * not configured.
 *
 * Source: "Virtual hosting of general purpose buckets" and "Amazon S3 endpoints", AWS.
 */
#ifndef DREY_STORE_S3_ENDPOINT_H
#define DREY_STORE_S3_ENDPOINT_H

#include "base/err.h"
#include "store/store_config.h"

struct s3_endpoint {
	char *origin; /* "https://bucket.s3.eu-west-1.amazonaws.com" */
	char *host;   /* the Host header: without the scheme's own port */
	char *root;   /* of all paths, encoded: "" or "/bucket" */
	char *region;
	char *shown; /* for messages, without the bucket: "https://host (s3.endpoint in config.yaml)" */
};

/* ERR_CONFIG: invalid bucket name, endpoint or region. *ret must be zeroed; the caller releases
 * it. */
int s3_endpoint_of(const struct s3_config *config, const char *bucket, struct s3_endpoint *ret,
		   struct err *err);
void s3_endpoint_release(struct s3_endpoint *endpoint); /* zeroed is allowed */

#endif
