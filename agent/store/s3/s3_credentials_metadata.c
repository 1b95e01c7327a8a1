/* Instance metadata (IMDSv2 only): the keys of the EC2 instance's role. */
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "store/s3/s3_credentials_internal.h"

#define ROLES "/latest/meta-data/iam/security-credentials/"
/* on a laptop, where nothing answers, drey gives up after two of these */
#define CONNECT_TIMEOUT_MS 900
#define TIMEOUT_MS         2000
#define ATTEMPTS           2

struct imds {
	struct http *http;
	char *base; /* without '/' at the end */
	char *token_header;
};

static char *base_url(const struct s3_source_context *context)
{
	cleanup_free char *given = s3_variable(context, "AWS_EC2_METADATA_SERVICE_ENDPOINT");
	cleanup_free char *mode = s3_variable(context, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE");

	if (given) {
		size_t len = strlen(given);

		while (len && given[len - 1] == '/')
			len--;
		return xstrndup(given, len);
	}
	if (mode && strcasecmp(mode, "IPv6") == 0)
		return xstrdup("http://[fd00:ec2::254]");
	return xstrdup("http://169.254.169.254");
}

static int call(struct imds *imds, const char *method, const char *path, const char *header,
		struct http_response *response, struct err *err)
{
	cleanup_free char *url = xasprintf("%s%s", imds->base, path);
	struct http_request request = {
		.method = method,
		.url = url,
		.headers = &header,
		.header_count = 1,
		.timeout_ms = TIMEOUT_MS,
		.connect_timeout_ms = CONNECT_TIMEOUT_MS,
	};

	if (s3_fetch(imds->http, &request, ATTEMPTS, response, err) < 0)
		return -1;
	return response->status == 200 ? 0 : s3_status_err(&request, response, err);
}

/* The first line of the answer. */
static int one_line(const struct http_response *response, const char *what, char **ret_text,
		    struct err *err)
{
	const char *text = buf_str(&response->body);
	size_t len = strcspn(text, "\r\n");

	for (size_t i = 0; i < len; i++)
		if ((unsigned char)text[i] <= ' ' || (unsigned char)text[i] >= 0x7F)
			len = 0;
	if (!len)
		return err_set(err, ERR_FORMAT, 0, "the answer is not a %s", what);
	*ret_text = xstrndup(text, len);
	return 0;
}

/* 0: no answer (on a laptop, or with metadata disabled); *err is set, too. */
static int get_token(struct imds *imds, struct err *err)
{
	struct http_response response = {0};
	cleanup_wipe char *token = NULL;
	int result = call(imds, "PUT", "/latest/api/token",
			  "X-aws-ec2-metadata-token-ttl-seconds: 21600", &response, err);
	bool answered = response.status == 200 || response.status >= 500;

	if (result == 0)
		result = one_line(&response, "token", &token, err);
	if (result == 0)
		imds->token_header = xasprintf("X-aws-ec2-metadata-token: %s", token);
	s3_response_wipe(&response);
	return result == 0 ? 1 : answered ? -1 : 0;
}

static int get_keys(struct imds *imds, struct s3_keys *ret_keys, struct err *err)
{
	struct http_response response = {0};
	cleanup_free char *role = NULL, *path = NULL;
	int result = call(imds, "GET", ROLES, imds->token_header, &response, err);

	if (result == 0)
		result = one_line(&response, "role name", &role, err);
	else if (response.status == 404)
		err_set(err, ERR_CONFIG, 0,
			"this instance has no role; attach an instance profile");
	if (result == 0) {
		path = xasprintf(ROLES "%s", role);
		result = call(imds, "GET", path, imds->token_header, &response, err);
	}
	if (result == 0)
		result = s3_keys_from_json(buf_str(&response.body), response.body.len_bytes,
					   ret_keys, err);
	s3_response_wipe(&response);
	return result;
}

/* No answer: not on EC2, or in a container that is one hop too far away. */
static void note(struct s3_source_context *context, const struct err *why)
{
	char *before = context->passed_over;

	context->passed_over =
		xasprintf("%s%s%s; in a container on EC2, set the metadata hop limit to 2",
			  before ? before : "", before ? "; " : "", why->msg);
	free(before);
}

int s3_source_metadata(struct s3_source_context *context, struct s3_keys *ret_keys, struct err *err)
{
	static const struct http_config straight = {.direct = true};
	cleanup_free char *disabled = s3_variable(context, "AWS_EC2_METADATA_DISABLED");
	struct imds imds = {0};
	struct err why = {0};
	int result;

	if (disabled && strcasecmp(disabled, "true") == 0)
		return 0;
	imds.http = http_new(&straight, err);
	if (!imds.http)
		return -1;
	imds.base = base_url(context);
	result = get_token(&imds, &why);
	if (result > 0)
		result = get_keys(&imds, ret_keys, &why) < 0 ? -1 : 1;
	if (result == 0)
		note(context, &why);
	else if (result < 0 && err)
		*err = why;
	http_free(imds.http);
	free(imds.base);
	s3_wipe(&imds.token_header);
	return result;
}
