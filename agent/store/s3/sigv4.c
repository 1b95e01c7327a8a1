#include "store/s3/sigv4.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "base/mem.h"
#include "base/sha256.h"

#define SCOPE_DATE_BYTES 9 /* "20130524" */

struct mac {
	unsigned char bytes[SHA256_DIGEST_LENGTH];
};

static void to_hex(const unsigned char *bytes, char ret[65])
{
	for (size_t i = 0; i < SHA256_DIGEST_LENGTH; i++)
		snprintf(ret + 2 * i, 3, "%02x", bytes[i]);
}

static struct mac hmac(const void *key, size_t key_len_bytes, const char *text)
{
	struct mac mac;

	if (!HMAC(EVP_sha256(), key, (int)key_len_bytes, (const unsigned char *)text, strlen(text),
		  mac.bytes, NULL))
		abort();
	return mac;
}

void sigv4_date(int64_t unix_s, char ret[SIGV4_DATE_BYTES])
{
	time_t at = (time_t)unix_s;
	struct tm tm;

	if (!gmtime_r(&at, &tm) || !strftime(ret, SIGV4_DATE_BYTES, "%Y%m%dT%H%M%SZ", &tm))
		snprintf(ret, SIGV4_DATE_BYTES, "19700101T000000Z"); /* not a year of four digits */
}

/* ---- the query ---- */

/* "name=value" and "name", in place: the name ends at '=' or '&'. */
static int compare_parameters(const void *left, const void *right)
{
	const char *a = *(const char *const *)left, *b = *(const char *const *)right;
	size_t a_name = strcspn(a, "=&"), b_name = strcspn(b, "=&");
	size_t a_len, b_len, shorter = a_name < b_name ? a_name : b_name;
	int order = memcmp(a, b, shorter);

	if (order || a_name != b_name)
		return order ? order : a_name < b_name ? -1 : 1;
	a_len = strcspn(a, "&");
	b_len = strcspn(b, "&");
	shorter = a_len < b_len ? a_len : b_len;
	order = memcmp(a, b, shorter);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static void add_query(const char *query, struct buf *ret)
{
	cleanup_free const char **parameters = NULL;
	size_t count = 0, len;

	if (!query || !*query)
		return;
	for (const char *p = query; *p; p += strcspn(p, "&"), p += *p == '&')
		if (*p != '&') {
			parameters = xreallocarray(parameters, count + 1, sizeof(*parameters));
			parameters[count++] = p;
		}
	if (count)
		qsort(parameters, count, sizeof(*parameters), compare_parameters);
	for (size_t i = 0; i < count; i++) {
		len = strcspn(parameters[i], "&");
		if (i)
			buf_addch(ret, '&');
		buf_add(ret, parameters[i], len);
		if (!memchr(parameters[i], '=', len))
			buf_addch(ret, '=');
	}
}

/* ---- the headers ---- */

struct field {
	const struct sigv4_header *header;
	size_t index; /* two of the same name keep their order */
};

static int compare_fields(const void *left, const void *right)
{
	const struct field *a = left, *b = right;
	int order = strcasecmp(a->header->name, b->header->name);

	return order ? order : (a->index > b->index) - (a->index < b->index);
}

/* The caller frees it. */
static struct field *sorted(const struct sigv4_request *request)
{
	struct field *fields = xcalloc(request->header_count + 1, sizeof(*fields));

	for (size_t i = 0; i < request->header_count; i++)
		fields[i] = (struct field){&request->headers[i], i};
	qsort(fields, request->header_count, sizeof(*fields), compare_fields);
	return fields;
}

static void add_lower(const char *name, struct buf *ret)
{
	for (; *name; name++)
		buf_addch(ret, (char)tolower((unsigned char)*name));
}

/* Without surrounding white space, and with one space for each run of it inside. */
static void add_value(const char *value, struct buf *ret)
{
	const char *space = " \t\r\n\v\f";

	value += strspn(value, space);
	while (*value) {
		size_t word = strcspn(value, space);

		buf_add(ret, value, word);
		value += word;
		value += strspn(value, space);
		if (*value)
			buf_addch(ret, ' ');
	}
}

static bool same_name(const struct field *a, const struct field *b)
{
	return !strcasecmp(a->header->name, b->header->name);
}

static void add_headers(const struct field *fields, size_t count, struct buf *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (i && same_name(&fields[i - 1], &fields[i])) {
			buf_addch(ret, ',');
		} else {
			if (i)
				buf_addch(ret, '\n');
			add_lower(fields[i].header->name, ret);
			buf_addch(ret, ':');
		}
		add_value(fields[i].header->value, ret);
	}
	if (count)
		buf_addch(ret, '\n');
}

static void add_names(const struct field *fields, size_t count, struct buf *ret)
{
	for (size_t i = 0; i < count; i++) {
		if (i && same_name(&fields[i - 1], &fields[i]))
			continue;
		if (i)
			buf_addch(ret, ';');
		add_lower(fields[i].header->name, ret);
	}
}

/* ---- the steps ---- */

void sigv4_canonical_request(const struct sigv4_request *request, struct buf *ret)
{
	cleanup_free struct field *fields = sorted(request);

	buf_addf(ret, "%s\n%s\n", request->method, request->path);
	add_query(request->query, ret);
	buf_addch(ret, '\n');
	add_headers(fields, request->header_count, ret);
	buf_addch(ret, '\n');
	add_names(fields, request->header_count, ret);
	buf_addf(ret, "\n%s", request->payload_sha256);
}

static void add_scope(const struct sigv4_request *request, const char *date, struct buf *ret)
{
	buf_addf(ret, "%.*s/%s/%s/aws4_request", SCOPE_DATE_BYTES - 1, date, request->region,
		 request->service);
}

void sigv4_string_to_sign(const struct sigv4_request *request, struct buf *ret)
{
	cleanup_buf struct buf canonical = BUF_INIT;
	char date[SIGV4_DATE_BYTES], hash[65];

	sigv4_date(request->unix_s, date);
	sigv4_canonical_request(request, &canonical);
	sha256_hex(buf_str(&canonical), canonical.len_bytes, hash);
	buf_addf(ret, "AWS4-HMAC-SHA256\n%s\n", date);
	add_scope(request, date, ret);
	buf_addf(ret, "\n%s", hash);
}

void sigv4_authorization(const struct sigv4_request *request, struct buf *ret)
{
	cleanup_free char *secret = xasprintf("AWS4%s", request->secret_key);
	cleanup_free struct field *fields = sorted(request);
	cleanup_buf struct buf to_sign = BUF_INIT;
	char date[SIGV4_DATE_BYTES], signature[65];
	struct mac mac;

	sigv4_date(request->unix_s, date);
	sigv4_string_to_sign(request, &to_sign);
	buf_addf(ret, "AWS4-HMAC-SHA256 Credential=%s/", request->access_key);
	add_scope(request, date, ret);
	buf_addstr(ret, ", SignedHeaders=");
	add_names(fields, request->header_count, ret);

	date[SCOPE_DATE_BYTES - 1] = '\0';
	mac = hmac(secret, strlen(secret), date);
	mac = hmac(mac.bytes, sizeof(mac.bytes), request->region);
	mac = hmac(mac.bytes, sizeof(mac.bytes), request->service);
	mac = hmac(mac.bytes, sizeof(mac.bytes), "aws4_request");
	mac = hmac(mac.bytes, sizeof(mac.bytes), buf_str(&to_sign));
	to_hex(mac.bytes, signature);
	buf_addf(ret, ", Signature=%s", signature);
}
