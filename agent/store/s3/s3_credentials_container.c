/* Container endpoint: an agent on the node provides the keys of the pod (EKS pod identity, ECS). */
#include <arpa/inet.h>
#include <string.h>

#include "base/mem.h"
#include "store/s3/s3_credentials_internal.h"

#define ECS_BASE "http://169.254.170.2"

/* The host of "http://host[:port]/...", without brackets; NULL: not a plain one. The caller frees
 * it. */
static char *host_of(const char *rest)
{
	size_t len = strcspn(rest, "/?#"), name;

	if (rest[0] == '[') {
		name = strcspn(rest, "]");
		if (name >= len || (rest[name + 1] && !strchr(":/?#", rest[name + 1])))
			return NULL;
		return xstrndup(rest + 1, name - 1);
	}
	name = strcspn(rest, ":/?#");
	for (size_t i = 0; i < len; i++)
		if (strchr("@\\", rest[i])) /* "127.0.0.1@elsewhere" and the like */
			return NULL;
	return xstrndup(rest, name);
}

/* Addresses that stay on the node: only these receive the token unencrypted. */
static bool is_on_node(const char *host)
{
	static const char *const names[] = {"localhost", "169.254.170.2", "169.254.170.23"};
	struct in6_addr six, agent;
	struct in_addr four;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(host, names[i]) == 0)
			return true;
	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, host, &six) != 1)
		return false;
	inet_pton(AF_INET6, "fd00:ec2::23", &agent);
	return memcmp(&six, &agent, sizeof(six)) == 0 || IN6_IS_ADDR_LOOPBACK(&six);
}

static int check_url(const char *url, struct err *err)
{
	cleanup_free char *host = NULL;

	if (strncmp(url, "https://", 8) == 0)
		return 0;
	if (strncmp(url, "http://", 7) == 0)
		host = host_of(url + 7);
	if (host && is_on_node(host))
		return 0;
	return err_set(
		err, ERR_CONFIG, 0,
		"AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor an address of this node (loopback, 169.254.170.2, 169.254.170.23, [fd00:ec2::23])");
}

/* The URL to request; 0 when none is given. The caller frees it. */
static int find_url(const struct s3_source_context *context, char **ret_url, struct err *err)
{
	cleanup_free char *relative =
		s3_variable(context, "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
	cleanup_free char *full = s3_variable(context, "AWS_CONTAINER_CREDENTIALS_FULL_URI");

	if (full) {
		if (check_url(full, err) < 0)
			return -1;
		*ret_url = xstrdup(full);
		return 1;
	}
	if (!relative)
		return 0;
	if (relative[0] != '/')
		return err_set(err, ERR_CONFIG, 0,
			       "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI does not begin with '/'");
	*ret_url = xasprintf(ECS_BASE "%s", relative);
	return 1;
}

/* "Authorization: ...", or NULL. The file is read each time: the node replaces it. The caller wipes
 * it. */
static int authorization(const struct s3_source_context *context, char **ret_header,
			 struct err *err)
{
	cleanup_free char *file = s3_variable(context, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	cleanup_wipe char *token = NULL;

	*ret_header = NULL;
	if (file && s3_token_read(file, &token, err) < 0)
		return err_wrap(err, "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
	if (!file)
		token = s3_variable(context, "AWS_CONTAINER_AUTHORIZATION_TOKEN");
	if (!token)
		return 0;
	if (strpbrk(token, "\r\n"))
		return err_set(err, ERR_CONFIG, 0,
			       "the token for the container endpoint has more than one line");
	*ret_header = xasprintf("Authorization: %s", token);
	return 0;
}

int s3_source_container(struct s3_source_context *context, struct s3_keys *ret_keys,
			struct err *err)
{
	static const struct http_config straight = {.direct = true};
	cleanup_free char *url = NULL;
	cleanup_wipe char *header = NULL;
	struct http_response response = {0};
	struct http_request request = {.timeout_ms = 5000, .connect_timeout_ms = 2000};
	struct http *http;
	int result = find_url(context, &url, err);

	if (result <= 0)
		return result;
	if (authorization(context, &header, err) < 0)
		return -1;
	http = http_new(strncmp(url, "https:", 6) == 0 ? NULL : &straight, err);
	if (!http)
		return -1;
	request.url = url;
	request.headers = (const char *const[]){header};
	request.header_count = header ? 1 : 0;
	result = s3_fetch(http, &request, 3, &response, err);
	if (result == 0 && response.status == 200)
		result = s3_keys_from_json(buf_str(&response.body), response.body.len_bytes,
					   ret_keys, err);
	else if (result == 0)
		result = s3_status_err(&request, &response, err);
	if (result < 0 && header)
		s3_hide(err, header + strlen("Authorization: "));
	s3_response_wipe(&response);
	http_free(http);
	return result < 0 ? -1 : 1;
}
