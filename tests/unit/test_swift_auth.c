#include "store/swift/swift_auth.h"

#include <stdlib.h>
#include <string.h>

#include "store/swift/swift_login.h"
#include "swift_stub.h"
#include "tap.h"

/* One sign-in module before a stub, with its own clock. */
struct rig {
	struct swift_stub *stub;
	struct http *http;
	struct swift_config config;
	struct swift_auth *auth;
	struct swift_session session;
	struct err err;
	char url[128];
};

static int64_t now_ms;

static int64_t now(void)
{
	return now_ms;
}

static void rig_start(struct rig *rig, const char *path)
{
	*rig = (struct rig){.stub = stub_new(), .http = http_new(NULL, NULL)};
	snprintf(rig->url, sizeof(rig->url), "%s%s", rig->stub->url, path);
	rig->config.auth_url = rig->url;
	rig->config.user = (char *)STUB_USER;
	rig->config.password = (char *)STUB_PASSWORD;
	now_ms = 1000000;
}

static void rig_open(struct rig *rig)
{
	rig->auth = swift_auth_new(&rig->config, rig->http, now, &rig->err);
	CHECK(rig->auth != NULL);
}

static void rig_stop(struct rig *rig)
{
	stub_check_message(rig->err.msg);
	swift_auth_free(rig->auth);
	http_free(rig->http);
	stub_free(rig->stub);
}

static int get(struct rig *rig)
{
	return swift_auth_get(rig->auth, &rig->session, &rig->err);
}

static void gets(struct rig *rig, const char *token)
{
	CHECK_INT(get(rig), ==, 0);
	CHECK_STR(rig->err.msg, "");
	CHECK_STR(rig->session.token, token);
	CHECK_HAS(rig->session.storage_url, "/v1/AUTH_test");
}

static void gets_none(struct rig *rig, enum err_kind kind, const char *why)
{
	CHECK_INT(get(rig), ==, -1);
	CHECK_INT(rig->err.kind, ==, kind);
	CHECK_HAS(rig->err.msg, why);
	stub_check_message(rig->err.msg);
}

static void as_keystone(struct rig *rig)
{
	rig_start(rig, "/v3/");
	rig->config.user = (char *)"flink";
	rig->config.project = (char *)"jobs";
}

/* ---- the three ways ---- */

TEST(signs_in_with_tempauth_once)
{
	struct rig rig;

	rig_start(&rig, "/auth/v1.0");
	rig_open(&rig);
	CHECK_INT(rig.stub->sign_ins, ==, 0);
	gets(&rig, "tk-1-hush");
	gets(&rig, "tk-1-hush");
	CHECK_INT(rig.stub->sign_ins, ==, 1);
	CHECK_STR(buf_str(&rig.stub->seen), "GET /auth/v1.0\n");
	rig_stop(&rig);
}

#define RIG_TEST(name) TEST_WITH(name, struct rig, rig, as_keystone, rig_stop)

RIG_TEST(signs_in_with_keystone)
{
	rig_open(rig);
	gets(rig, "tk-1-hush");
	CHECK_STR(buf_str(&rig->stub->seen), "POST /v3/auth/tokens\n");
	CHECK_STR(buf_str(&rig->stub->body),
		  "{\"auth\":{\"identity\":{\"methods\":[\"password\"],\"password\":{\"user\":{"
		  "\"name\":\"flink\",\"domain\":{\"name\":\"Default\"},\"password\":"
		  "\"Sesam-\\\"oeffne\\\"-dich\"}}},\"scope\":{\"project\":{\"name\":\"jobs\","
		  "\"domain\":{\"name\":\"Default\"}}}}}");
}

RIG_TEST(names_the_domains_and_adds_the_version)
{
	snprintf(rig->url, sizeof(rig->url), "%s", rig->stub->url);
	rig->config.user_domain = (char *)"people";
	rig->config.project_domain = (char *)"places";
	rig_open(rig);
	gets(rig, "tk-1-hush");
	CHECK_STR(buf_str(&rig->stub->seen), "POST /v3/auth/tokens\n");
	CHECK_HAS(buf_str(&rig->stub->body), "\"name\":\"flink\",\"domain\":{\"name\":\"people\"}");
	CHECK_HAS(buf_str(&rig->stub->body), "\"name\":\"jobs\",\"domain\":{\"name\":\"places\"}");
}

TEST(signs_in_with_an_application_credential)
{
	struct rig rig;

	rig_start(&rig, "/v3");
	rig.config.user = rig.config.password = NULL;
	rig.config.application_credential_id = (char *)"app";
	rig.config.application_credential_secret = (char *)"Sesam";
	rig_open(&rig);
	gets(&rig, "tk-1-hush");
	CHECK_STR(buf_str(&rig.stub->body),
		  "{\"auth\":{\"identity\":{\"methods\":[\"application_credential\"],"
		  "\"application_credential\":{\"id\":\"app\",\"secret\":\"Sesam\"}}}}");
	rig_stop(&rig);
}

TEST(takes_an_address_and_a_token_as_they_are)
{
	struct rig rig;

	rig_start(&rig, "/v3");
	rig.config.storage_url = (char *)"http://127.0.0.1:1/v1/AUTH_test//";
	rig.config.token = (char *)"given";
	rig_open(&rig);
	gets(&rig, "given");
	CHECK_STR(rig.session.storage_url, "http://127.0.0.1:1/v1/AUTH_test");
	CHECK(!swift_auth_refused(rig.auth, rig.session.number));
	CHECK_STR(buf_str(&rig.stub->seen), "");
	rig_stop(&rig);
}

TEST(a_given_address_goes_before_the_answered_one)
{
	struct rig rig;

	rig_start(&rig, "/auth/v1.0");
	rig.config.storage_url = (char *)"http://other/v1/AUTH_test";
	rig_open(&rig);
	gets(&rig, "tk-1-hush");
	CHECK_STR(rig.session.storage_url, "http://other/v1/AUTH_test");
	rig_stop(&rig);
}

/* ---- the token's life ---- */

static void renews_before_the_end(const char *path)
{
	struct rig rig;

	rig_start(&rig, path);
	rig.config.project = strstr(path, "v3") ? (char *)"jobs" : NULL;
	rig_open(&rig);
	gets(&rig, "tk-1-hush");
	now_ms += 600000 - SWIFT_AUTH_RENEW_MS - 1;
	gets(&rig, "tk-1-hush");
	now_ms += 1;
	gets(&rig, "tk-2-hush");
	rig.stub->expires_s = 10;
	now_ms += 600000;
	gets(&rig, "tk-3-hush");
	now_ms += 8999; /* a tenth of a short life */
	gets(&rig, "tk-3-hush");
	now_ms += 1;
	gets(&rig, "tk-4-hush");
	rig_stop(&rig);
}

TEST(renews_a_tempauth_token_before_its_end)
{
	renews_before_the_end("/auth/v1.0");
}

TEST(renews_a_keystone_token_before_its_end)
{
	renews_before_the_end("/v3");
}

TEST(uses_the_old_token_to_its_end_when_renewing_fails)
{
	struct rig rig;

	rig_start(&rig, "/auth/v1.0");
	rig_open(&rig);
	gets(&rig, "tk-1-hush");
	rig.stub->sign_in_busy = true;
	now_ms += 600000 - SWIFT_AUTH_RENEW_MS;
	gets(&rig, "tk-1-hush");
	now_ms += SWIFT_AUTH_RENEW_MS - 1;
	gets(&rig, "tk-1-hush");
	now_ms += 1;
	gets_none(&rig, ERR_RETRY, "HTTP 503");
	rig_stop(&rig);
}

TEST(many_refusals_of_one_token_are_one_sign_in)
{
	struct rig rig;
	unsigned first;

	rig_start(&rig, "/auth/v1.0");
	rig_open(&rig);
	gets(&rig, "tk-1-hush");
	first = rig.session.number;
	CHECK(swift_auth_refused(rig.auth, first));
	CHECK(swift_auth_refused(rig.auth, first));
	gets(&rig, "tk-2-hush");
	CHECK(swift_auth_refused(rig.auth, first)); /* a late one */
	gets(&rig, "tk-2-hush");
	CHECK_INT(rig.stub->sign_ins, ==, 2);
	rig_stop(&rig);
}

/* ---- failures ---- */

TEST(a_wrong_password_is_denied_and_not_tried_again_soon)
{
	struct rig rig;

	rig_start(&rig, "/auth/v1.0");
	rig.config.password = (char *)"Sesam, wrong";
	rig.config.auth_url_from = (char *)"ST_AUTH in the environment";
	rig_open(&rig);
	gets_none(
		&rig, ERR_DENIED,
		"/auth/v1.0 (ST_AUTH in the environment) as 'test:tester': HTTP 401: wrong user or password");
	gets_none(&rig, ERR_DENIED, "HTTP 401");
	CHECK_INT(rig.stub->sign_ins, ==, 1);
	now_ms += SWIFT_AUTH_DENIED_AGAIN_MS;
	gets_none(&rig, ERR_DENIED, "HTTP 401");
	CHECK_INT(rig.stub->sign_ins, ==, 2);
	rig_stop(&rig);
}

RIG_TEST(a_sign_in_that_does_not_answer_is_named_with_its_setting)
{
	strcpy(rig->url, "http://127.0.0.1:1/auth/v1.0");
	rig->config.auth_url_from = (char *)"storage.swift.authUrl in drey.yaml";
	rig_open(rig);
	gets_none(
		rig, ERR_RETRY,
		"http://127.0.0.1:1/auth/v1.0 (storage.swift.authUrl in drey.yaml): GET http://127.0.0.1:1");
}

RIG_TEST(a_busy_sign_in_is_tried_again)
{
	rig->stub->sign_in_busy = true;
	rig_open(rig);
	gets_none(rig, ERR_RETRY, "HTTP 503: busy");
	CHECK_INT(rig->stub->sign_ins, ==, STORE_HTTP_ATTEMPTS);
	rig->stub->sign_in_busy = false;
	gets_none(rig, ERR_RETRY, "HTTP 503: busy");
	CHECK_INT(rig->stub->sign_ins, ==, STORE_HTTP_ATTEMPTS);
	now_ms += SWIFT_AUTH_AGAIN_MS;
	rig->err = (struct err){0};
	gets(rig, "tk-6-hush");
}

static const char *bad_headers, *bad_body;
static int bad_status;

static bool bad_answer(struct swift_stub *stub, const struct http_stub_request *request,
		       struct http_stub_answer *answer)
{
	(void)stub;
	(void)request;
	answer->status = bad_status;
	buf_addstr(&answer->headers, bad_headers);
	buf_addstr(&answer->body, bad_body);
	return true;
}

static void answers(const char *path, int status, const char *headers, const char *body,
		    enum err_kind kind, const char *why)
{
	struct rig rig;

	rig_start(&rig, path);
	rig.config.project = strstr(path, "v3") ? (char *)"jobs" : NULL;
	rig.stub->fault = bad_answer;
	bad_status = status;
	bad_headers = headers;
	bad_body = body;
	rig_open(&rig);
	gets_none(&rig, kind, why);
	rig_stop(&rig);
}

#define V1_URL   "X-Storage-Url: http://h/v1/A\r\n"
#define V1_TOKEN "X-Auth-Token: hush\r\n"

TEST(an_answer_that_is_none_is_refused)
{
	answers("/auth/v1.0", 200, V1_URL, "", ERR_FORMAT, "no X-Auth-Token");
	answers("/auth/v1.0", 200, V1_TOKEN, "", ERR_FORMAT, "no X-Storage-Url");
	answers("/auth/v1.0", 200, V1_URL "X-Auth-Token: hush\x80\r\n", "", ERR_FORMAT,
		"not plain text");
	answers("/auth/v1.0", 200, V1_URL "X-Auth-Token: hu sh\r\n", "", ERR_FORMAT,
		"not plain text");
	answers("/auth/v1.0", 200, V1_TOKEN "X-Storage-Url: ftp://h/\r\n", "", ERR_FORMAT,
		"storage URL");
	answers("/auth/v1.0", 200, V1_TOKEN "X-Storage-Url: http://u:hush@h/\r\n", "", ERR_FORMAT,
		"storage URL");
	answers("/v3", 201, "", "{}", ERR_FORMAT, "no X-Subject-Token");
	answers("/v3", 201, "X-Subject-Token: hush\r\n", "{}", ERR_FORMAT, "'token'");
	answers("/v3", 201, "X-Subject-Token: hush\r\n", "{\"token\":{\"catalog\":[]}}", ERR_CONFIG,
		"no object store");
	answers("/v3", 403, "", "hush", ERR_DENIED, "HTTP 403");
	answers("/v3", 404, "", "hush", ERR_CONFIG, "no sign-in service");
	answers("/v3", 400, "", "hush", ERR_CONFIG, "HTTP 400");
	answers("/v3", 302, "Location: http://127.0.0.1:1/\r\n", "hush", ERR_CONFIG, "a redirect");
	answers("/v3", 418, "", "hush", ERR_FORMAT, "HTTP 418");
}

TEST(a_token_from_tls_is_not_sent_in_the_clear)
{
	struct swift_config config = {.auth_url = (char *)"https://h/auth/v1.0",
				      .user = (char *)"a:b",
				      .password = (char *)"Sesam"};
	struct http_response response = {.status = 200, .date_unix_ms = -1};
	struct swift_login login = {0};
	struct swift_grant grant;
	struct err err = {0};

	CHECK_INT(swift_login_init(&login, &config, &err), ==, 0);
	buf_addstr(&response.headers, V1_URL V1_TOKEN);
	CHECK_INT(swift_login_judge(&login, &response, &grant, &err), ==, STORE_FAILED);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, "in clear text");
	stub_check_message(err.msg);
	swift_login_release(&login);
	http_response_release(&response);
}

/* ---- configurations ---- */

static void cannot_work(const struct swift_config *config, const char *why)
{
	struct err err = {0};
	struct http *http = http_new(NULL, NULL);

	CHECK(!swift_auth_new(config, http, now, &err));
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, why);
	stub_check_message(err.msg);
	http_free(http);
}

TEST(says_what_is_missing_in_the_configuration)
{
	char *v1 = (char *)"http://h/auth/v1.0", *v3 = (char *)"http://h:5000/v3";
	char *user = (char *)"a:b", *secret = (char *)"Sesam";

	cannot_work(&(struct swift_config){0}, "no address for the sign-in");
	cannot_work(&(struct swift_config){.auth_url = v1, .password = secret}, "no user");
	cannot_work(&(struct swift_config){.auth_url = v1, .user = user}, "no password");
	cannot_work(&(struct swift_config){.auth_url = v3, .user = user, .password = secret},
		    "no project");
	cannot_work(&(struct swift_config){.auth_url = v3, .application_credential_id = user},
		    "no secret");
	cannot_work(&(struct swift_config){.auth_url = (char *)"http://h:5000/v2.0",
					   .user = user,
					   .password = secret},
		    "Keystone v2");
	cannot_work(&(struct swift_config){.auth_url = (char *)"http://u:Sesam@h/v3"},
		    "without user");
	cannot_work(&(struct swift_config){.auth_url = (char *)"h:5000/v3"}, "http or https");
	cannot_work(&(struct swift_config){.storage_url = (char *)"http://h/?Sesam"},
		    "storage URL");
	cannot_work(&(struct swift_config){.auth_url = v1,
					   .user = user,
					   .password = (char *)"Sesam\r\nX-Evil: 1"},
		    "a line break");
	cannot_work(&(struct swift_config){.storage_url = (char *)"http://h",
					   .token = (char *)"hush\r\nX-Evil: 1"},
		    "the token is invalid");
}
