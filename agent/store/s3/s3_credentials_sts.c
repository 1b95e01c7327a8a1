/* Web identity: the platform writes a token to a file, and STS exchanges it for keys. */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/percent.h"
#include "format/sts_xml.h"
#include "store/s3/s3_credentials_internal.h"
#include "store/s3/sigv4.h"

#define SESSION_NAME "drey"

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

/* The address of STS: from a variable, else the region's own. The region of the pod takes
 * precedence over the store's: in a closed network only the pod's own STS can be reached. */
static char *sts_url(const struct s3_source_context *context, const char *region, bool *ret_given)
{
	static const char *const given[] = {"AWS_ENDPOINT_URL_STS", "AWS_ENDPOINT_URL"};
	cleanup_free char *own = s3_variable(context, "AWS_REGION");
	cleanup_free char *fallback = s3_variable(context, "AWS_DEFAULT_REGION");

	*ret_given = true;
	for (size_t i = 0; i < ARRAY_LEN(given); i++) {
		cleanup_free char *url = s3_variable(context, given[i]);
		size_t len = url ? strlen(url) : 0;

		if (url)
			return xasprintf("%s%s", url, url[len - 1] == '/' ? "" : "/");
	}
	*ret_given = false;
	region = own ? own : fallback ? fallback : region ? region : context->config->region;
	if (!region)
		return xstrdup("https://sts.amazonaws.com/");
	return xasprintf("https://sts.%s.%s/", region, dns_suffix(region));
}

/* The address for messages; the rest of a URL may be a password. */
static int wrap_host(struct err *err, const char *url)
{
	const char *mark = strstr(url, "://");
	const char *host = mark ? mark + strlen("://") : url;
	const char *end = host + strcspn(host, "/?#");
	const char *user = memrchr(host, '@', (size_t)(end - host));

	return err_wrap(err, "%.*s%.*s/", (int)(host - url), url,
			(int)(end - (user ? user + 1 : host)), user ? user + 1 : host);
}

static void add_field(struct buf *form, const char *name, const char *value)
{
	buf_addf(form, "&%s=", name);
	percent_encode(form, value, false);
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
	};

	return http_new(&config, err);
}

int s3_web_identity_keys(struct s3_source_context *context, const struct s3_web_identity *identity,
			 struct s3_keys *ret_keys, struct err *err)
{
	static const char *const headers[] = {"Content-Type: application/x-www-form-urlencoded",
					      "Accept: text/xml"};
	cleanup_wipe char *token = NULL;
	cleanup_wipe_buf struct buf form = BUF_INIT;
	cleanup_free char *url = NULL;
	struct http_response response = {0};
	struct http *http;
	bool given;
	int result;

	if (s3_token_read(identity->token_file, &token, err) < 0)
		return err_wrap(err, "web identity token");
	url = sts_url(context, identity->region, &given);
	buf_addstr(&form, "Action=AssumeRoleWithWebIdentity&Version=2011-06-15");
	add_field(&form, "RoleArn", identity->role_arn);
	add_field(&form, "RoleSessionName",
		  identity->session_name ? identity->session_name : SESSION_NAME);
	add_field(&form, "WebIdentityToken", token);
	http = open_http(context, given, err);
	if (!http)
		return -1;
	result = s3_fetch(http,
			  &(struct http_request){.method = "POST",
						 .url = url,
						 .headers = headers,
						 .header_count = ARRAY_LEN(headers),
						 .body = form.data,
						 .body_len_bytes = form.len_bytes,
						 .timeout_ms = 10000,
						 .connect_timeout_ms = 3000},
			  3, &response, err);
	if (result == 0 && response.status == 200)
		result = read_keys(&response, ret_keys, err);
	else if (result == 0)
		result = refusal(&response, identity->role_arn, err);
	if (result < 0)
		s3_hide(err, token);
	s3_response_wipe(&response);
	http_free(http);
	return result < 0 ? wrap_host(err, url) : 0;
}

int s3_source_web_identity(struct s3_source_context *context, struct s3_keys *ret_keys,
			   struct err *err)
{
	cleanup_free char *file = s3_variable(context, "AWS_WEB_IDENTITY_TOKEN_FILE");
	cleanup_free char *role = s3_variable(context, "AWS_ROLE_ARN");
	cleanup_free char *session = s3_variable(context, "AWS_ROLE_SESSION_NAME");
	struct s3_web_identity identity = {file, role, session, NULL};

	if (!file)
		return 0; /* other tools use AWS_ROLE_ARN alone, too */
	if (!role)
		return err_set(err, ERR_CONFIG, 0,
			       "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
	return s3_web_identity_keys(context, &identity, ret_keys, err) < 0 ? -1 : 1;
}
