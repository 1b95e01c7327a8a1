/* Roles of profiles: STS is a stub here; tests/servers/test_roles.sh has real ones, which check the signature. */
#include "credentials_world.h"
#include "route_stub.h"
#include "store/s3/s3_credentials.h"

#define MINUTE 60000

static struct route_stub stub;

#define ROLE_KEYS(access)                                                                          \
	"<AssumeRoleResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">"                 \
	"<AssumeRoleResult><Credentials><AccessKeyId>" access "</AccessKeyId>"                     \
	"<SecretAccessKey>s3cret-r</SecretAccessKey><SessionToken>s3cret-s</SessionToken>"         \
	"<Expiration>2026-03-01T13:00:00Z</Expiration></Credentials></AssumeRoleResult>"           \
	"</AssumeRoleResponse>"

#define BASE "[base]\naws_access_key_id=AKBASE\naws_secret_access_key=s3cret-base\n"

#define SIGNED_BY(key) "Authorization: AWS4-HMAC-SHA256 Credential=" key "/20260301/"

static void begin(const char *config, const char *credentials)
{
	world_begin();
	route_start(&stub);
	world_set("AWS_ENDPOINT_URL_STS", "http://127.0.0.1:%d", stub.port);
	world_file(".aws/config", config);
	world_file(".aws/credentials", credentials);
	ROUTE(&stub, {"POST / ", NULL, 200, ROLE_KEYS("AKROLE"), 0});
}

static void end(void)
{
	world_end();
	route_stop(&stub);
}

TEST(a_role_is_assumed_with_the_keys_of_another_profile)
{
	begin("[default]\nrole_arn = arn:aws:iam::1:role/a b\nsource_profile = base\n"
	      "external_id = my/id\nrole_session_name = orders@prod\nduration_seconds = 900\n"
	      "region = eu-west-1\n",
	      BASE "aws_session_token = s3cret-token\n");
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_STR(s3_credentials_source(world.credentials), "shared files");
	CHECK_INT(world.keys->expires_unix_ms, ==, world.now_unix_ms + 60 * MINUTE);
	CHECK_INT(stub.requests, ==, 1);
	CHECK_HAS(buf_str(&stub.last),
		  "\r\n\r\nAction=AssumeRole&Version=2011-06-15&"
		  "RoleArn=arn%3Aaws%3Aiam%3A%3A1%3Arole%2Fa%20b&RoleSessionName=orders%40prod&"
		  "ExternalId=my%2Fid&DurationSeconds=900");
	CHECK_HAS(buf_str(&stub.last), "X-Amz-Date: 20260301T120000Z\r\n");
	CHECK_HAS(buf_str(&stub.last), "X-Amz-Security-Token: s3cret-token\r\n");
	CHECK_HAS(
		buf_str(&stub.last),
		SIGNED_BY(
			"AKBASE") "eu-west-1/sts/aws4_request, "
				  "SignedHeaders=accept;content-type;host;x-amz-date;x-amz-security-token, "
				  "Signature=");
	end();
}

TEST(the_region_of_the_signature_is_that_of_the_endpoint)
{
	begin("[default]\nrole_arn = arn:x\nsource_profile = base\nregion = eu-west-1\n", BASE);
	world_set("AWS_REGION", "eu-north-1");
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_HAS(buf_str(&stub.last), SIGNED_BY("AKBASE") "eu-north-1/sts/");
	CHECK_HAS(buf_str(&stub.last), "&RoleSessionName=drey");
	CHECK(!strstr(buf_str(&stub.last), "Security-Token"));
	end();
	begin("[default]\nrole_arn = arn:x\nsource_profile = base\n", BASE);
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_HAS(buf_str(&stub.last), SIGNED_BY("AKBASE") "us-east-1/sts/");
	end();
}

TEST(a_profile_may_have_a_role_and_the_keys_for_it)
{
	begin("[default]\nrole_arn = arn:x\nsource_profile = default\n",
	      "[default]\naws_access_key_id=AKOWN\naws_secret_access_key=s3cret-own\n");
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_HAS(buf_str(&stub.last), SIGNED_BY("AKOWN"));
	end();
}

/* As the SDKs do. */
TEST(keys_beside_a_role_count_only_in_the_source_of_another_profile)
{
	begin("[default]\nrole_arn = arn:x\nsource_profile = base\n"
	      "[profile base]\nrole_arn = arn:y\nsource_profile = gone\n",
	      "[default]\naws_access_key_id=AKNO\naws_secret_access_key=s3cret-no\n" BASE);
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_HAS(buf_str(&stub.last), SIGNED_BY("AKBASE"));
	CHECK_INT(stub.requests, ==, 1);
	end();
}

TEST(a_role_can_be_assumed_with_another_role)
{
	begin("[default]\nrole_arn = arn:x\nsource_profile = middle\n"
	      "[profile middle]\nrole_arn = arn:y\nsource_profile = base\n",
	      BASE);
	ROUTE(&stub, {"POST / ", SIGNED_BY("AKBASE"), 200, ROLE_KEYS("AKMIDDLE"), 1},
	      {"POST / ", SIGNED_BY("AKMIDDLE"), 200, ROLE_KEYS("AKROLE"), 0});
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_INT(stub.requests, ==, 2);
	CHECK_HAS(buf_str(&stub.last), "&RoleArn=arn%3Ax&");
	CHECK_HAS(buf_str(&stub.last), "X-Amz-Security-Token: s3cret-s\r\n");
	end();
}

TEST(the_keys_for_a_role_come_from_each_kind_of_source)
{
	static const struct {
		const char *profile, *signed_by;
	} cases[] = {
		{"credential_source = Environment\n", SIGNED_BY("AKENV")},
		{"credential_source = EcsContainer\n", SIGNED_BY("AKJSON")},
		{"credential_source = Ec2InstanceMetadata\n", SIGNED_BY("AKJSON")},
		{"source_profile = p\n[profile p]\ncredential_process = echo "
		 "'{\"Version\":1,\"AccessKeyId\":\"AKPROC\",\"SecretAccessKey\":\"s3cret\"}'\n",
		 SIGNED_BY("AKPROC")},
	};
#define JSON "{\"AccessKeyId\":\"AKJSON\",\"SecretAccessKey\":\"s3cret-j\",\"Token\":\"s3cret-t\"}"

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *text =
			xasprintf("[default]\nrole_arn = arn:x\n%s", cases[i].profile);

		begin(text, "");
		world.config.profile = (char *)"default";
		world_set("AWS_ACCESS_KEY_ID", "AKENV");
		world_set("AWS_SECRET_ACCESS_KEY", "s3cret-env");
		world_set("AWS_CONTAINER_CREDENTIALS_FULL_URI", "http://127.0.0.1:%d/keys",
			  stub.port);
		world_set("AWS_EC2_METADATA_DISABLED", "false");
		world_set("AWS_EC2_METADATA_SERVICE_ENDPOINT", "http://127.0.0.1:%d", stub.port);
		ROUTE(&stub, {"GET /keys ", NULL, 200, JSON, 0},
		      {"PUT /latest/api/token ", NULL, 200, "s3cret-imds", 0},
		      {"GET /latest/meta-data/iam/security-credentials/ ", NULL, 200, "r", 0},
		      {"GET /latest/meta-data/iam/security-credentials/r ", NULL, 200, JSON, 0},
		      {"POST / ", cases[i].signed_by, 200, ROLE_KEYS("AKROLE"), 0});
		CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
		end();
	}
}

TEST(the_keys_of_a_role_are_renewed_with_new_keys_of_its_source)
{
	begin("[default]\nrole_arn = arn:x\nsource_profile = base\n", BASE);
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	world_file(".aws/credentials",
		   "[base]\naws_access_key_id=AKTWO\naws_secret_access_key=s3cret-two\n");
	ROUTE(&stub, {"POST / ", SIGNED_BY("AKTWO"), 200, ROLE_KEYS("AKNEW"), 0});
	world.now_unix_ms += 54 * MINUTE;
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	world.now_unix_ms += 1 * MINUTE;
	CHECK_KEYS("AKNEW", "s3cret-r", "s3cret-s");
	end();
}

TEST(a_renewal_gives_up_sooner_while_the_keys_live)
{
	begin("[default]\nrole_arn = arn:x\nsource_profile = base\n", BASE);
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	ROUTE(&stub, {"POST / ", NULL, 503, "busy", 0});
	world.now_unix_ms += 56 * MINUTE;
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_INT(stub.requests, ==, 1);
	world.now_unix_ms += 4 * MINUTE;
	CHECK_NO_KEYS(ERR_RETRY, "HTTP 503");
	CHECK_INT(stub.requests, ==, 4);
	end();
}

#define DENIED(message)                                                                            \
	"<ErrorResponse><Error><Code>AccessDenied</Code><Message>" message                         \
	"</Message></Error></ErrorResponse>"

TEST(a_role_that_sts_denies_is_told_and_the_keys_are_not)
{
	begin("[default]\nrole_arn = arn:aws:iam::1:role/r\nsource_profile = base\n", BASE);
	ROUTE(&stub, {"POST / ", NULL, 403, DENIED("not for s3cret-base"), 0});
	CHECK_NO_KEYS(ERR_DENIED, "profile 'default': http://127.0.0.1:");
	CHECK_HAS(world.err.msg, "role arn:aws:iam::1:role/r: HTTP 403: AccessDenied: not for ...");
	CHECK_INT(stub.requests, ==, 1);
	ROUTE(&stub, {"POST / ", NULL, 200, "s3cret", 0});
	CHECK_NO_KEYS(ERR_FORMAT, "not an XML answer");
	end();
}

TEST(a_wrong_clock_signs_with_the_time_of_sts)
{
	begin("[default]\nrole_arn = arn:x\nsource_profile = base\n", BASE);
	ROUTE(&stub, {"POST / ", NULL, 400, DENIED("x"), 1},
	      {"POST / ", "X-Amz-Date: 20260301T133000Z\r\n", 200, ROLE_KEYS("AKROLE"), 0});
	stub.date = "Sun, 01 Mar 2026 13:30:00 GMT";
	CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
	CHECK_INT(stub.requests, ==, 2);
	end();
	/* only once; and a clock that is right enough is not tried again */
	begin("[default]\nrole_arn = arn:x\nsource_profile = base\n", BASE);
	ROUTE(&stub, {"POST / ", NULL, 400, DENIED("x"), 0});
	stub.date = "Sun, 01 Mar 2026 13:30:00 GMT";
	CHECK_NO_KEYS(ERR_DENIED, "HTTP 400");
	CHECK_INT(stub.requests, ==, 2);
	ROUTE(&stub, {"POST / ", NULL, 400, DENIED("x"), 0});
	stub.date = "Sun, 01 Mar 2026 12:03:00 GMT";
	CHECK_NO_KEYS(ERR_DENIED, "HTTP 400");
	CHECK_INT(stub.requests, ==, 1);
	end();
}

TEST(a_duration_is_a_number_that_sts_allows)
{
	static const struct {
		const char *text;
		bool right;
	} cases[] = {{"900", true},           {"3600", true},  {"43200", true}, {"899", false},
		     {"43201", false},        {"1h", false},   {"-900", false}, {"9e2", false},
		     {"100000000000", false}, {"900.0", false}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *text =
			xasprintf("[default]\nrole_arn = arn:x\nsource_profile = base\n"
				  "duration_seconds = %s\n",
				  cases[i].text);

		begin(text, BASE);
		if (cases[i].right)
			CHECK_KEYS("AKROLE", "s3cret-r", "s3cret-s");
		else
			CHECK_NO_KEYS(ERR_CONFIG,
				      "duration_seconds is not a number from 900 to 43200");
		CHECK_INT(stub.requests, ==, cases[i].right);
		end();
	}
}
