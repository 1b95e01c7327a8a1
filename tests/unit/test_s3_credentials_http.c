/* Keys that come over HTTP: STS, the container endpoint and instance metadata, each a stub. */
#include "base/clock.h"
#include "credentials_world.h"
#include "route_stub.h"
#include "store/s3/s3_credentials.h"

#define MINUTE 60000

static struct route_stub stub;

#define STS_KEYS(access)                                                                           \
	"<?xml version=\"1.0\"?>"                                                                  \
	"<AssumeRoleWithWebIdentityResponse "                                                      \
	"xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"                                     \
	"<AssumeRoleWithWebIdentityResult><SubjectFromWebIdentityToken>x"                          \
	"</SubjectFromWebIdentityToken><Credentials>\n<SessionToken>s3cret-t&amp;=</SessionToken>" \
	"<SecretAccessKey>s3cret-k</SecretAccessKey><Expiration>2026-03-01T13:00:00Z"              \
	"</Expiration><AccessKeyId>" access "</AccessKeyId></Credentials>"                         \
	"</AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>"

#define STS_ERROR(code)                                                                            \
	"<ErrorResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><Error>"               \
	"<Type>Sender</Type><Code>" code "</Code><Message>Token\nis no good</Message></Error>"     \
	"<RequestId>1</RequestId></ErrorResponse>"

#define JSON_KEYS(access)                                                                          \
	"{\"AccessKeyId\":\"" access "\",\"SecretAccessKey\":\"s3cret-k\","                        \
	"\"Token\":\"s3cret-t\",\"Expiration\":\"2026-03-01T13:00:00Z\"}"

static void begin(void)
{
	world_begin();
	route_start(&stub);
}

static void end(void)
{
	world_end();
	route_stop(&stub);
}

/* ---- STS ---- */

static void begin_sts(void)
{
	begin();
	world_file("token", "s3cret.to/ken+1=\n");
	world_set("AWS_WEB_IDENTITY_TOKEN_FILE", "%s/token", world.dir);
	world_set("AWS_ROLE_ARN", "arn:aws:iam::1:role/a b");
	world_set("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:%d", stub.port);
	ROUTE(&stub, {"POST / ", NULL, 200, STS_KEYS("AKSTS"), 0});
}

TEST(a_web_identity_is_traded_for_keys)
{
	begin_sts();
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_INT(world.keys->expires_unix_ms, ==, world.now_unix_ms + 60 * MINUTE);
	CHECK_STR(s3_credentials_source(world.credentials), "web identity");
	CHECK_HAS(buf_str(&stub.last),
		  "\r\n\r\nAction=AssumeRoleWithWebIdentity&Version=2011-06-15&"
		  "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b&RoleSessionName=drey&"
		  "WebIdentityToken=s3cret.to%2Fken%2B1%3D");
	CHECK_HAS(buf_str(&stub.last), "Content-Type: application/x-www-form-urlencoded\r\n");
	end();
}

TEST(the_session_has_the_name_that_was_asked_for)
{
	begin_sts();
	world_set("AWS_ROLE_SESSION_NAME", "orders@prod");
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_HAS(buf_str(&stub.last), "&RoleSessionName=orders%40prod&");
	end();
}

TEST(a_profile_can_ask_for_a_web_identity)
{
	cleanup_free char *text = NULL;

	begin_sts();
	world_set("AWS_WEB_IDENTITY_TOKEN_FILE", "%s", "");
	text = xasprintf("[profile p]\nrole_arn = arn:x\nweb_identity_token_file = %s/token\n"
			 "role_session_name = me\n",
			 world.dir);
	world_file(".aws/config", text);
	world_set("AWS_PROFILE", "p");
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_STR(s3_credentials_source(world.credentials), "shared files");
	CHECK_HAS(buf_str(&stub.last), "&RoleArn=arn%3Ax&RoleSessionName=me&");
	end();
}

TEST(a_web_identity_needs_a_role_and_a_token)
{
	begin_sts();
	world_set("AWS_ROLE_ARN", "%s", "");
	CHECK_NO_KEYS(ERR_CONFIG, "AWS_WEB_IDENTITY_TOKEN_FILE is set, but AWS_ROLE_ARN is not");
	world_set("AWS_ROLE_ARN", "arn:x");
	world_file("token", "\n");
	CHECK_NO_KEYS(ERR_CONFIG, "web identity token: ");
	CHECK_HAS(world.err.msg, "/token is empty");
	world_set("AWS_WEB_IDENTITY_TOKEN_FILE", "%s/gone", world.dir);
	CHECK_NO_KEYS(ERR_CONFIG, "/gone: No such file");
	CHECK_INT(stub.requests, ==, 0);
	end();
}

TEST(a_refusal_of_sts_is_told_with_its_code)
{
	begin_sts();
	ROUTE(&stub, {"POST / ", NULL, 400, STS_ERROR("InvalidIdentityToken"), 0});
	CHECK_NO_KEYS(ERR_DENIED, "keys for S3 from web identity: http://127.0.0.1:");
	CHECK_HAS(world.err.msg,
		  "role arn:aws:iam::1:role/a b: HTTP 400: InvalidIdentityToken: Token is no good");
	CHECK_INT(stub.requests, ==, 1);
	ROUTE(&stub, {"POST / ", NULL, 403, STS_ERROR("AccessDenied"), 0});
	CHECK_NO_KEYS(ERR_DENIED, "HTTP 403: AccessDenied: ");
	ROUTE(&stub, {"POST / ", NULL, 400, STS_ERROR("IDPCommunicationError"), 0});
	CHECK_NO_KEYS(ERR_RETRY, "IDPCommunicationError");
	ROUTE(&stub, {"POST / ", NULL, 404, "<html>", 0});
	CHECK_NO_KEYS(ERR_CONFIG, "HTTP 404");
	end();
}

TEST(a_busy_sts_is_asked_again)
{
	begin_sts();
	ROUTE(&stub, {"POST / ", NULL, 503, "busy", 2},
	      {"POST / ", NULL, 200, STS_KEYS("AKSTS"), 0});
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_INT(stub.requests, ==, 3);
	end();
}

TEST(an_answer_that_is_not_sts_is_refused)
{
#define KEYS_WITH(access, expiration)                                                              \
	"<r><Credentials>" access "<SecretAccessKey>s3cret</SecretAccessKey>"                      \
	"<SessionToken>t</SessionToken><Expiration>" expiration "</Expiration></Credentials></r>"
#define FOUR(x) "<a><a><a><a>" x "</a></a></a></a>"
#define NOON    "2026-03-01T13:00:00Z"
	static const char *const bodies[] = {
		"",
		"<a>",
		"s3cret",
		"<a/>",
		KEYS_WITH("", NOON),
		KEYS_WITH("<AccessKeyId/>", NOON),
		KEYS_WITH("<AccessKeyId>A</AccessKeyId>", "soon"),
		KEYS_WITH("<AccessKeyId>A\nB</AccessKeyId>", NOON),
		KEYS_WITH("<AccessKeyId>A</AccessKeyId><AccessKeyId>B</AccessKeyId>", NOON),
		KEYS_WITH("<x><AccessKeyId>A</AccessKeyId></x>", NOON),
		"<!DOCTYPE r [<!ENTITY b 's3cret'>]>" KEYS_WITH("<AccessKeyId>&b;</AccessKeyId>",
								NOON),
		FOUR(FOUR(FOUR(FOUR(KEYS_WITH("<AccessKeyId>A</AccessKeyId>", NOON))))),
	};

	begin_sts();
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		ROUTE(&stub, {"POST / ", NULL, 200, bodies[i], 0});
		CHECK_NO_KEYS(ERR_FORMAT, "keys for S3 from web identity");
	}
	end();
}

/* ---- renewal ---- */

TEST(keys_are_renewed_five_minutes_before_their_end)
{
	begin_sts();
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	world.now_unix_ms += 54 * MINUTE;
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_INT(stub.requests, ==, 1);
	world.now_unix_ms += 1 * MINUTE;
	world_file("token", "s3cret-second");
	ROUTE(&stub, {"POST / ", NULL, 200, STS_KEYS("AKNEW"), 0});
	CHECK_KEYS("AKNEW", "s3cret-k", "s3cret-t&=");
	CHECK_HAS(buf_str(&stub.last), "&WebIdentityToken=s3cret-second");
	end();
}

TEST(a_failed_renewal_is_borne_as_long_as_the_keys_live)
{
	begin_sts();
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	ROUTE(&stub, {"POST / ", NULL, 400, STS_ERROR("ExpiredTokenException"), 0});
	world.now_unix_ms += 56 * MINUTE;
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_INT(stub.requests, ==, 1);
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&="); /* not at every request */
	CHECK_INT(stub.requests, ==, 1);
	world.now_unix_ms += 4 * MINUTE;
	CHECK_NO_KEYS(ERR_DENIED, "ExpiredTokenException");
	ROUTE(&stub, {"POST / ", NULL, 200, STS_KEYS("AKNEW"), 0});
	CHECK_KEYS("AKNEW", "s3cret-k", "s3cret-t&=");
	end();
}

TEST(keys_that_the_store_refuses_are_fetched_anew_at_once)
{
	begin_sts();
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	ROUTE(&stub, {"POST / ", NULL, 200, STS_KEYS("AKNEW"), 0});
	CHECK(s3_credentials_refused(world.credentials));
	CHECK_KEYS("AKNEW", "s3cret-k", "s3cret-t&=");
	ROUTE(&stub, {"POST / ", NULL, 400, STS_ERROR("Nope"), 0});
	CHECK(s3_credentials_refused(world.credentials));
	CHECK_NO_KEYS(ERR_DENIED, "Nope");
	end();
}

TEST(a_clock_that_is_wrong_does_not_fetch_keys_at_every_request)
{
	begin_sts();
	world.now_unix_ms += 24 * 60 * MINUTE;
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_KEYS("AKSTS", "s3cret-k", "s3cret-t&=");
	CHECK_INT(stub.requests, ==, 1);
	end();
}

/* ---- the container endpoint ---- */

static void begin_container(void)
{
	begin();
	world_file("pod-token", "s3cret-pod-1\n");
	world_set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:%d/v1/credentials",
		  stub.port);
	world_set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "%s/pod-token", world.dir);
	ROUTE(&stub, {"GET /v1/credentials ", "Authorization: s3cret-pod-1\r\n", 200,
		      JSON_KEYS("AKPOD"), 0});
}

TEST(a_pod_identity_reads_its_token_for_each_fetch)
{
	begin_container();
	CHECK_KEYS("AKPOD", "s3cret-k", "s3cret-t");
	CHECK_STR(s3_credentials_source(world.credentials), "container endpoint");
	CHECK_INT(world.keys->expires_unix_ms, ==, world.now_unix_ms + 60 * MINUTE);
	world_file("pod-token", "s3cret-pod-2");
	ROUTE(&stub, {"GET /v1/credentials ", "Authorization: s3cret-pod-2\r\n", 200,
		      JSON_KEYS("AKPOD2"), 0});
	world.now_unix_ms += 56 * MINUTE;
	CHECK_KEYS("AKPOD2", "s3cret-k", "s3cret-t");
	end();
}

TEST(a_token_can_be_given_as_a_variable_or_not_at_all)
{
	begin_container();
	world_set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "%s", "");
	world_set("AWS_CONTAINER_AUTHORIZATION_TOKEN", "s3cret-pod-1");
	CHECK_KEYS("AKPOD", "s3cret-k", "s3cret-t");
	end();
	begin_container();
	world_set("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "%s", "");
	ROUTE(&stub, {"GET /v1/credentials ", NULL, 200, JSON_KEYS("AKECS"), 0});
	CHECK_KEYS("AKECS", "s3cret-k", "s3cret-t");
	CHECK(!strstr(buf_str(&stub.last), "Authorization"));
	end();
}

TEST(a_refusal_of_the_container_endpoint_is_told)
{
	begin_container();
	world_file("pod-token", "s3cret-wrong");
	CHECK_NO_KEYS(ERR_DENIED, "keys for S3 from container endpoint: GET http://127.0.0.1:");
	CHECK_HAS(world.err.msg, "HTTP 401: who are you");
	ROUTE(&stub, {"GET /other", NULL, 200, "", 0});
	CHECK_NO_KEYS(ERR_CONFIG, "HTTP 404");
	ROUTE(&stub, {"GET /v1", NULL, 200, "{\"AccessKeyId\":\"A\"}", 0});
	CHECK_NO_KEYS(ERR_FORMAT, "SecretAccessKey");
	world_file("pod-token", "s3cret\nX-Evil: 1");
	CHECK_NO_KEYS(ERR_CONFIG, "more than one line");
	end();
}

TEST(a_token_never_goes_to_another_host_unencrypted)
{
	static const char *const bad[] = {
		"http://192.0.2.1/",
		"http://example.com/",
		"http://127.0.0.1.evil.com/",
		"http://127.0.0.1@evil/",
		"http://evil\\@127.0.0.1/",
		"http://[2001:db8::1]/",
		"http://169.254.170.24/",
		"http://[::1]x/",
		"ftp://127.0.0.1/",
		"http://",
		"127.0.0.1/",
		"http://127.1.evil/",
		"http://127.0.0.1:1@evil/",
		"http://localhost:1\\@evil/",
	};

	begin_container();
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		world_set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "%s", bad[i]);
		CHECK_NO_KEYS(ERR_CONFIG, "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https");
	}
	world_set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://localhost:%d/v1/credentials",
		  stub.port);
	CHECK_KEYS("AKPOD", "s3cret-k", "s3cret-t");
	end();
}

/* ---- instance metadata ---- */

#define TOKEN_ROUTE                                                                                \
	{                                                                                          \
		"PUT /latest/api/token ", "X-aws-ec2-metadata-token-ttl-seconds: 21600\r\n", 200,  \
			"s3cret-imds", 0                                                           \
	}
#define ROLE_PATH  "/latest/meta-data/iam/security-credentials/"
#define TOKEN_LINE "X-aws-ec2-metadata-token: s3cret-imds\r\n"
#define ROLES_ROUTE                                                                                \
	{                                                                                          \
		"GET " ROLE_PATH " ", TOKEN_LINE, 200, "my-role\n", 0                              \
	}

static void begin_metadata(void)
{
	begin();
	world_set("AWS_EC2_METADATA_DISABLED", "false");
	world_set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:%d/", stub.port);
}

TEST(instance_metadata_is_asked_with_a_token)
{
	begin_metadata();
	ROUTE(&stub, TOKEN_ROUTE, ROLES_ROUTE,
	      {"GET " ROLE_PATH "my-role ", TOKEN_LINE, 200,
	       "{\"Code\":\"Success\",\"Type\":\"AWS-HMAC\",\"AccessKeyId\":\"AKEC2\","
	       "\"SecretAccessKey\":\"s3cret-k\",\"Token\":\"s3cret-t\","
	       "\"Expiration\":\"2026-03-01T18:00:00Z\"}",
	       0});
	CHECK_KEYS("AKEC2", "s3cret-k", "s3cret-t");
	CHECK_STR(s3_credentials_source(world.credentials), "instance metadata");
	CHECK_INT(stub.requests, ==, 3);
	end();
}

TEST(an_instance_without_a_role_is_a_fault_of_the_configuration)
{
	begin_metadata();
	ROUTE(&stub, TOKEN_ROUTE);
	CHECK_NO_KEYS(ERR_CONFIG, "instance metadata: this instance has no role");
	end();
}

TEST(metadata_that_is_switched_off_is_as_good_as_none)
{
	begin_metadata();
	ROUTE(&stub, {"PUT /", NULL, 403, "off", 0});
	CHECK_NO_KEYS(ERR_CONFIG, "no keys for S3");
	CHECK_HAS(world.err.msg, "/latest/api/token: HTTP 403: off");
	end();
}

TEST(metadata_that_is_busy_or_answers_rubbish_is_an_error)
{
	begin_metadata();
	ROUTE(&stub, {"PUT /", NULL, 503, "busy", 0});
	CHECK_NO_KEYS(ERR_RETRY, "keys for S3 from instance metadata: PUT http://127.0.0.1:");
	ROUTE(&stub, {"PUT /", NULL, 200, "s3cret with space", 0});
	CHECK_NO_KEYS(ERR_FORMAT, "the answer is not a token");
	ROUTE(&stub, TOKEN_ROUTE, ROLES_ROUTE,
	      {"GET " ROLE_PATH "my-role ", NULL, 200, "{\"Code\":\"Failed\"}", 0});
	CHECK_NO_KEYS(ERR_DENIED, "the answer is Failed");
	ROUTE(&stub, TOKEN_ROUTE, ROLES_ROUTE, {"GET ", NULL, 503, "busy", 0});
	CHECK_NO_KEYS(ERR_RETRY, "HTTP 503");
	end();
}

TEST(metadata_that_does_not_answer_is_told_with_the_hop_limit)
{
	int64_t start_ms = clock_mono_ms();

	begin_metadata();
	ROUTE(&stub, {"PUT /", NULL, 0, "", 0});
	CHECK_NO_KEYS(ERR_CONFIG, "no keys for S3");
	CHECK_HAS(world.err.msg, "set the metadata hop limit to 2");
	CHECK_INT(clock_mono_ms() - start_ms, <, 15000);
	end();
}

TEST(metadata_that_has_gone_away_may_come_back)
{
	begin_metadata();
	ROUTE(&stub, TOKEN_ROUTE, ROLES_ROUTE,
	      {"GET " ROLE_PATH "my-role ", TOKEN_LINE, 200, JSON_KEYS("AKEC2"), 0});
	CHECK_KEYS("AKEC2", "s3cret-k", "s3cret-t");
	world_set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:1");
	world.now_unix_ms += 56 * MINUTE;
	CHECK_KEYS("AKEC2", "s3cret-k", "s3cret-t");
	world.now_unix_ms += 5 * MINUTE;
	CHECK_NO_KEYS(ERR_RETRY, "keys for S3 from instance metadata: it has none any more: PUT ");
	end();
}
