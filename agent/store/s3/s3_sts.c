/* One call of AWS's Security Token Service: where it is, the signature, and what its answers mean. */
#include <string.h>

#include "base/clock.h"
#include "base/http_url.h"
#include "base/mem.h"
#include "base/sha256.h"
#include "format/sts_xml.h"
#include "store/s3/s3_credentials_internal.h"
#include "store/s3/sigv4.h"

#define DEFAULT_REGION "us-east-1" /* of the signature for the endpoint of all regions */
#define CONTENT_TYPE   "application/x-www-form-urlencoded"
#define SKEW_MS        INT64_C(240000) /* STS allows 5 min (15 in some regions) */
#define HEADERS_MAX    6

/* AWS has a partition of its own, with its own names, in China and for some governments. */
static const char *dns_suffix(const char *region)
{
	static const struct {
		const char *prefix, *suffix;
	} partitions[] = {
		{"cn-", "amazonaws.com.cn"},    {"us-isob-", "sc2s.sgov.gov"},
		{"us-isof-", "csp.hci.ic.gov"}, {"us-iso-", "c2s.ic.gov"},
		{"eu-isoe-", "cloud.adc-e.uk"}, {"eusc-", "amazonaws.eu"},
	};

	for (size_t i = 0; i < ARRAY_LEN(partitions); i++)
		if (strncmp(region, partitions[i].prefix, strlen(partitions[i].prefix)) == 0)
			return partitions[i].suffix;
	return "amazonaws.com";
}

/* The region of the pod takes precedence over the store's: in a closed network only the pod's own STS
 * can be reached. NULL: none is known. The caller frees it. */
static char *sts_region(const struct s3_source_context *context, const char *region)
{
	char *own = s3_variable(context, "AWS_REGION");

	if (!own)
		own = s3_variable(context, "AWS_DEFAULT_REGION");
	return own ? own : xstrdup(region ? region : context->config->region);
}

/* The address of STS: from a variable, else the region's own. */
static char *sts_url(const struct s3_source_context *context, const char *region, bool *ret_given)
{
	static const char *const given[] = {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"};

	*ret_given = true;
	for (size_t i = 0; i < ARRAY_LEN(given); i++) {
		cleanup_free char *url = s3_variable(context, given[i]);
		size_t len = url ? strlen(url) : 0;

		if (url)
			return xasprintf("%s%s", url, url[len - 1] == '/' ? "" : "/");
	}
	*ret_given = false;
	if (!region)
		return xstrdup("https://sts.amazonaws.com/");
	return xasprintf("https://sts.%s.%s/", region, dns_suffix(region));
}

/* The address for messages; the rest of a URL may be a password. */
static int wrap_host(struct err *err, const char *url)
{
	cleanup_buf struct buf told = BUF_INIT;

	http_url_tell_server(url, &told);
	return err_wrap(err, "%s/", buf_str(&told));
}

static int read_keys(const struct http_response *response, struct s3_keys *ret_keys,
		     struct err *err)
{
	struct sts_answer answer;
	int result = -1;

	if (sts_xml_parse(buf_str(&response->body), response->body.len_bytes, &answer, err) < 0)
		return -1;
	if (!answer.access_key || !answer.secret_key || !answer.session_token || !answer.expiration)
		err_set(err, ERR_FORMAT, 0, "the answer has no keys");
	else
		result = s3_keys_take(answer.access_key, answer.secret_key, answer.session_token,
				      answer.expiration, ret_keys, err);
	sts_answer_release(&answer);
	return result;
}

/* STS answers 400 to nearly every problem, and names the problem in Code. */
static int refusal(const struct http_response *response, const char *role_arn, struct err *err)
{
	struct sts_answer answer = {0};
	enum err_kind kind = http_status_kind(response->status);

	(void)sts_xml_parse(buf_str(&response->body), response->body.len_bytes, &answer, NULL);
	if (response->status == 400)
		kind = ERR_DENIED;
	if (answer.code && (strcmp(answer.code, "IDPCommunicationError") == 0 ||
			    strncmp(answer.code, "Throttl", 7) == 0))
		kind = ERR_RETRY;
	if (kind == ERR_ABSENT) /* no STS there; that says nothing about a file */
		kind = ERR_CONFIG;
	s3_printable(answer.message);
	s3_printable(answer.code);
	err_set(err, kind, 0, "role %.120s: HTTP %d%s%.60s%s%.160s", role_arn, response->status,
		answer.code ? ": " : "", answer.code ? answer.code : "", answer.message ? ": " : "",
		answer.message ? answer.message : "");
	sts_answer_release(&answer);
	return -1;
}

/* The CA of the store is used when STS is beside it, at a configured address. */
static struct http *open_http(const struct s3_source_context *context, bool given, struct err *err)
{
	cleanup_free char *bundle = s3_variable(context, "AWS_CA_BUNDLE");
	struct http_config config = {
		.ca_file = bundle  ? bundle
			   : given ? context->config->ca_file
				   : NULL,
		.ca_setting = given ? "storage.s3.caFile or AWS_CA_BUNDLE" : "AWS_CA_BUNDLE",
	};

	return http_new(&config, err);
}

/* ---- the request ---- */

struct sts_headers {
	char *lines[HEADERS_MAX]; /* wiped when they are freed */
	struct sigv4_header signed_ones[HEADERS_MAX];
	size_t count;
};

static void add_header(struct sts_headers *headers, const char *name, const char *value)
{
	headers->signed_ones[headers->count] = (struct sigv4_header){name, value};
	headers->lines[headers->count++] = xasprintf("%s: %s", name, value);
}

static void headers_release(struct sts_headers *headers)
{
	while (headers->count)
		s3_wipe(&headers->lines[--headers->count]);
}

/* "https://host:port/path" -> "host:port", without the port that is the scheme's own: as libcurl sends
 * it. *ret_path points into the URL. The caller frees the host. */
static char *host_of(const char *url, const char **ret_path)
{
	const char *mark = strstr(url, "://");
	const char *host = mark ? mark + strlen("://") : url;
	size_t len = strcspn(host, "/");
	const char *usual = strncmp(url, "https:", 6) == 0 ? ":443" : ":80";
	size_t port = strlen(usual);

	*ret_path = host[len] ? host + len : "/";
	if (len > port && memcmp(host + len - port, usual, port) == 0)
		len -= port;
	return xstrndup(host, len);
}

static void sign(const struct s3_sts_call *call, const char *url, const char *region,
		 int64_t unix_ms, struct sts_headers *headers)
{
	cleanup_buf struct buf authorization = BUF_INIT;
	char payload[SHA256_HEX_BYTES], date[SIGV4_DATE_BYTES];
	const char *path;
	cleanup_free char *host = host_of(url, &path);
	struct sigv4_request request = {
		.method = "POST",
		.path = path,
		.headers = headers->signed_ones,
		.payload_sha256 = payload,
		.access_key = call->keys->access_key,
		.secret_key = call->keys->secret_key,
		.region = region ? region : DEFAULT_REGION,
		.service = "sts",
		.unix_s = unix_ms / 1000,
	};

	sha256_hex(buf_str(call->form), call->form->len_bytes, payload);
	sigv4_date(request.unix_s, date);
	add_header(headers, "Host", host);
	add_header(headers, "X-Amz-Date", date);
	if (call->keys->session_token)
		add_header(headers, "X-Amz-Security-Token", call->keys->session_token);
	request.header_count = headers->count;
	sigv4_authorization(&request, &authorization);
	headers->lines[headers->count++] = xasprintf("Authorization: %s", buf_str(&authorization));
}

static int post_form(struct s3_source_context *context, struct http *http, const char *url,
		     const struct sts_headers *headers, const struct buf *form,
		     struct http_response *response, struct err *err)
{
	struct http_request request = {
		.method = "POST",
		.url = url,
		.headers = (const char *const *)headers->lines,
		.header_count = headers->count,
		.body = form->data,
		.body_len_bytes = form->len_bytes,
		.timeout_ms = 10000,
		.connect_timeout_ms = 3000,
	};

	return s3_fetch(http, &request, context->have_keys ? 1 : 3, response, err);
}

/* Ask; and once more with the server's time, if a signature with ours is refused and ours is too wrong
 * for it. */
static int call_sts(struct s3_source_context *context, const struct s3_sts_call *call,
		    struct http *http, const char *url, const char *region,
		    struct http_response *response, struct err *err)
{
	int64_t offset_ms = 0;

	for (;;) {
		int64_t now_ms = context->now_unix_ms(), skew_ms;
		struct sts_headers headers = {0};
		int result;

		add_header(&headers, "Content-Type", CONTENT_TYPE);
		add_header(&headers, "Accept", "text/xml");
		if (call->keys)
			sign(call, url, region, now_ms + offset_ms, &headers);
		result = post_form(context, http, url, &headers, call->form, response, err);
		headers_release(&headers);
		skew_ms = result == 0 && response->date_unix_ms >= 0
				  ? response->date_unix_ms - now_ms
				  : 0;
		if (!call->keys || offset_ms || response->status < 400 || response->status >= 500 ||
		    (skew_ms > -SKEW_MS && skew_ms < SKEW_MS))
			return result;
		offset_ms = skew_ms;
	}
}

int s3_sts_keys(struct s3_source_context *context, const struct s3_sts_call *call,
		struct s3_keys *ret_keys, struct err *err)
{
	cleanup_free char *region = sts_region(context, call->region);
	bool given;
	cleanup_free char *url = sts_url(context, region, &given);
	struct http_response response = {0};
	struct http *http = open_http(context, given, err);
	int result;

	if (!http)
		return -1;
	result = call_sts(context, call, http, url, region, &response, err);
	if (result == 0 && response.status == 200)
		result = read_keys(&response, ret_keys, err);
	else if (result == 0)
		result = refusal(&response, call->role_arn, err);
	s3_response_wipe(&response);
	http_free(http);
	return result < 0 ? wrap_host(err, url) : 0;
}
