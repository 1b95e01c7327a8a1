#include "store/s3/s3_endpoint.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"

#define LETTERS_DIGITS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
#define DEFAULT_REGION "us-east-1"

static bool consists_of(const char *text, const char *allowed)
{
	return *text && !text[strspn(text, allowed)];
}

static bool ends_with(const char *text, size_t len, const char *end)
{
	return len > strlen(end) && !strncasecmp(text + len - strlen(end), end, strlen(end));
}

/* The length of the part before AWS's own domain; 0 when it is not AWS. */
static size_t before_aws(const char *host, size_t len)
{
	static const char *const domains[] = {".vpce.amazonaws.com", ".vpce.amazonaws.com.cn",
					      ".amazonaws.com", ".amazonaws.com.cn"};

	for (size_t i = 0; i < ARRAY_LEN(domains); i++)
		if (ends_with(host, len, domains[i]))
			return len - strlen(domains[i]);
	return 0;
}

/* "s3.eu-west-1" and "s3-eu-west-1" -> "eu-west-1"; NULL when no region is named. The caller frees
 * it. */
static char *region_of_host(const char *host, size_t len)
{
	size_t end = before_aws(host, len), begin = end;

	while (begin && host[begin - 1] != '.')
		begin--;
	if (end - begin > 3 && !strncasecmp(host + begin, "s3-", 3))
		begin += 3;
	if (end == begin || !isdigit((unsigned char)host[end - 1]) ||
	    !memchr(host + begin, '-', end - begin))
		return NULL;
	return xstrndup(host + begin, end - begin);
}

/* A name that is one label of a host name, so that a certificate for *.host covers it. */
static bool fits_host(const char *bucket)
{
	return consists_of(bucket, "abcdefghijklmnopqrstuvwxyz0123456789-");
}

static int check_names(const struct s3_config *config, const char *bucket, struct err *err)
{
	if (!consists_of(bucket, LETTERS_DIGITS ".-_") || strlen(bucket) > 255)
		return err_set(
			err, ERR_CONFIG, 0,
			"an s3 URI names its bucket, in letters, digits, '.', '-' and '_': s3://bucket/path");
	if (config->region && !consists_of(config->region, LETTERS_DIGITS "-_"))
		return err_set(err, ERR_CONFIG, 0, "'%s' is not the name of an S3 region",
			       config->region);
	return 0;
}

/* "[scheme://]host[:port][/]" in parts. The texts are borrowed from `text`. */
struct parts {
	const char *scheme; /* with "://" */
	const char *host;
	size_t host_len; /* without the port */
	size_t port_len; /* with the colon */
};

static bool take_apart(const char *text, struct parts *ret)
{
	struct parts parts = {.scheme = "https://", .host = text};
	const char *end;

	if (!strncasecmp(text, "http://", 7)) {
		parts.scheme = "http://";
		parts.host += 7;
	} else if (!strncasecmp(text, "https://", 8)) {
		parts.host += 8;
	}
	if (parts.host[0] == '[') {
		parts.host_len = 1 + strspn(parts.host + 1, "0123456789abcdefABCDEF:.");
		if (parts.host[parts.host_len++] != ']')
			return false;
	} else {
		parts.host_len = strspn(parts.host, LETTERS_DIGITS ".-_");
	}
	end = parts.host + parts.host_len;
	if (*end == ':') {
		parts.port_len = 1 + strspn(end + 1, "0123456789");
		if (parts.port_len < 2 || parts.port_len > 6)
			return false;
		end += parts.port_len;
	}
	*ret = parts;
	return parts.host_len && (!*end || !strcmp(end, "/"));
}

static bool is_own_port(const struct parts *parts)
{
	const char *own = !strcmp(parts->scheme, "http://") ? ":80" : ":443";

	return parts->port_len == strlen(own) &&
	       !memcmp(parts->host + parts->host_len, own, parts->port_len);
}

/* "bucket.10.0.0.7" is no host, and "bucket.[::1]" even less. */
static bool is_address(const struct parts *parts)
{
	return parts->host[0] == '[' || strspn(parts->host, "0123456789.") >= parts->host_len;
}

static bool in_host(const struct s3_config *config, const char *bucket, const struct parts *parts)
{
	switch (config->addressing) {
	case S3_ADDRESSING_PATH:
		return false;
	case S3_ADDRESSING_VIRTUAL:
		return !is_address(parts);
	case S3_ADDRESSING_AUTO:
		break;
	}
	return before_aws(parts->host, parts->host_len) && fits_host(bucket);
}

int s3_endpoint_of(const struct s3_config *config, const char *bucket, struct s3_endpoint *ret,
		   struct err *err)
{
	const char *region = config->region ? config->region : DEFAULT_REGION;
	/* without an endpoint: all partitions but China share one domain */
	cleanup_free char *aws = xasprintf("https://s3.%s.amazonaws.com%s", region,
					   strncmp(region, "cn-", 3) != 0 ? "" : ".cn");
	const char *text = config->endpoint ? config->endpoint : aws;
	const char *from = config->endpoint ? config->endpoint_from : "no S3 endpoint is set";
	cleanup_free char *plain = NULL;
	bool virtual_host;
	struct parts parts;
	int host_len;

	if (check_names(config, bucket, err))
		return -1;
	/* not repeated: it may contain a password */
	if (!take_apart(text, &parts))
		return err_set(err, ERR_CONFIG, 0,
			       "the S3 endpoint%s%s%s is not of the form http[s]://host[:port]",
			       config->endpoint_from ? " (" : "",
			       config->endpoint_from ? config->endpoint_from : "",
			       config->endpoint_from ? ")" : "");
	virtual_host = in_host(config, bucket, &parts);
	host_len = (int)(parts.host_len + (is_own_port(&parts) ? 0 : parts.port_len));
	ret->host = xasprintf("%s%s%.*s", virtual_host ? bucket : "", virtual_host ? "." : "",
			      host_len, parts.host);
	plain = xasprintf("%s%.*s", parts.scheme, host_len, parts.host);
	ret->shown = store_config_shown(plain, from);
	ret->origin = xasprintf("%s%s", parts.scheme, ret->host);
	ret->root = virtual_host ? xstrdup("") : xasprintf("/%s", bucket);
	ret->region = config->region ? NULL : region_of_host(parts.host, parts.host_len);
	if (!ret->region)
		ret->region = xstrdup(region);
	return 0;
}

void s3_endpoint_release(struct s3_endpoint *endpoint)
{
	free(endpoint->origin);
	free(endpoint->host);
	free(endpoint->root);
	free(endpoint->region);
	free(endpoint->shown);
	*endpoint = (struct s3_endpoint){0};
}
