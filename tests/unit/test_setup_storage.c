#include "run/config/setup_storage.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/fs.h"
#include "base/mem.h"
#include "run/config/setup.h"
#include "tap.h"

static struct world {
	char dir[64];
	struct config config;
	struct flink_conf conf;
	struct store_config storage;
	struct err err;
} world;

static void begin(void)
{
	static const char *const variables[] = {
		"AWS_ENDPOINT_URL_S3",
		"AWS_ENDPOINT_URL",
		"AWS_REGION",
		"AWS_DEFAULT_REGION",
		"AWS_CA_BUNDLE",
		"AWS_PROFILE",
		"AWS_CONFIG_FILE",
		"AWS_ACCESS_KEY_ID",
		"AWS_SHARED_CREDENTIALS_FILE",
		"OS_AUTH_URL",
		"OS_USERNAME",
		"OS_PASSWORD",
		"ST_AUTH",
		"ST_USER",
		"ST_KEY",
	};

	memset(&world, 0, sizeof(world));
	strcpy(world.dir, "/tmp/drey-storage-XXXXXX");
	if (!mkdtemp(world.dir))
		abort();
	for (size_t i = 0; i < ARRAY_LEN(variables); i++)
		unsetenv(variables[i]);
	setenv("HOME", world.dir, 1);
}

static void end(void)
{
	cleanup_free char *rm = xasprintf("rm -rf '%s'", world.dir);

	config_release(&world.config);
	flink_conf_release(&world.conf);
	store_config_release(&world.storage);
	if (system(rm) != 0)
		abort();
}

/* A file in the test's directory; its path is borrowed until the next call. */
static const char *file(const char *name, const char *text)
{
	static char path[200];
	char *slash;

	snprintf(path, sizeof(path), "%s/%s", world.dir, name);
	slash = strrchr(path, '/');
	*slash = '\0';
	if (fs_mkdirs(path, 0755, NULL) < 0)
		abort();
	*slash = '/';
	if (fs_write_atomic(path, text, strlen(text), 0600, NULL) < 0)
		abort();
	return path;
}

static int load(void)
{
	store_config_release(&world.storage);
	world.err = (struct err){0};
	return setup_storage(&world.config, &world.conf, &world.storage, &world.err);
}

static void flink(const char *key, const char *value)
{
	flink_conf_set(&world.conf, key, value);
}

#define CHECK_LOADS()                                                                              \
	do {                                                                                       \
		CHECK_INT(load(), ==, 0);                                                          \
		CHECK_STR(world.err.msg, "");                                                      \
	} while (0)

TEST(nothing_said_is_nothing_set)
{
	begin();
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, NULL);
	CHECK_STR(world.storage.s3.region, NULL);
	CHECK_STR(world.storage.s3.access_key, NULL);
	CHECK_INT(world.storage.s3.addressing, ==, S3_ADDRESSING_AUTO);
	CHECK_STR(world.storage.swift.auth_url, NULL);
	end();
}

TEST(each_setting_is_looked_for_in_drey_yaml_then_flink_then_the_environment)
{
	begin();
	setenv("AWS_ENDPOINT_URL", "http://env:1", 1);
	setenv("AWS_REGION", "env-1", 1);
	setenv("AWS_CA_BUNDLE", "/env.pem", 1);
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, "http://env:1");
	CHECK_STR(world.storage.s3.region, "env-1");
	CHECK_STR(world.storage.s3.ca_file, "/env.pem");
	flink("s3.endpoint", "http://flink:2");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, "http://flink:2");
	CHECK_STR(world.storage.s3.region, "env-1");
	flink("s3.endpoint.region", "flink-1");
	world.config.storage.s3.endpoint = xstrdup("https://drey:3/");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, "https://drey:3");
	CHECK_STR(world.storage.s3.region, "flink-1");
	world.config.storage.s3.region = xstrdup("drey-1");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.region, "drey-1");
	end();
}

TEST(what_sets_an_endpoint_is_noted)
{
	begin();
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, NULL);
	file(".aws/config", "[profile ours]\nendpoint_url = http://profile:1\n");
	setenv("AWS_PROFILE", "ours", 1);
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, "endpoint_url in the AWS profile 'ours'");
	unsetenv("AWS_PROFILE");
	setenv("AWS_ENDPOINT_URL", "http://env:1", 1);
	setenv("ST_AUTH", "http://env:2/auth/v1.0", 1);
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, "AWS_ENDPOINT_URL in the environment");
	CHECK_STR(world.storage.swift.auth_url_from, "ST_AUTH in the environment");
	setenv("AWS_ENDPOINT_URL_S3", "http://env:3", 1);
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, "AWS_ENDPOINT_URL_S3 in the environment");
	flink("fs.s3a.endpoint", "flink:2");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, "fs.s3a.endpoint in Flink's configuration");
	world.conf.file = xstrdup("/opt/flink/conf/config.yaml");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, "fs.s3a.endpoint in config.yaml");
	flink_conf_set_from(&world.conf, "s3.endpoint", "http://flink:3", "FLINK_PROPERTIES");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, "s3.endpoint in FLINK_PROPERTIES");
	world.config.storage.s3.endpoint = xstrdup("https://drey:3/");
	world.config.storage.swift.auth_url = xstrdup("https://drey:5000/v3");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint_from, "storage.s3.endpoint in drey.yaml");
	CHECK_STR(world.storage.swift.auth_url_from, "storage.swift.authUrl in drey.yaml");
	xstrset(&world.config.storage.s3.endpoint, "ftp://drey");
	CHECK_INT(load(), ==, -1);
	CHECK_HAS(world.err.msg, "storage.s3.endpoint in drey.yaml: the S3 endpoint must be http");
	end();
}

TEST(flinks_options_are_read_under_every_prefix_and_spelling)
{
	static const struct {
		const char *access, *secret, *path_style;
	} cases[] = {
		{"s3.access-key", "s3.secret-key", "s3.path-style-access"},
		{"s3.access.key", "s3.secret.key", "s3.path.style.access"},
		{"s3a.access.key", "s3a.secret-key", "s3a.path.style.access"},
		{"fs.s3a.access.key", "fs.s3a.secret.key", "fs.s3a.path.style.access"},
		{"presto.s3.access-key", "presto.s3.secret-key", "presto.s3.path-style-access"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		begin();
		flink(cases[i].access, "AK");
		flink(cases[i].secret, "s3cret");
		flink(cases[i].path_style, "true");
		flink("fs.s3a.session.token", "t0ken");
		CHECK_LOADS();
		CHECK_STR(world.storage.s3.access_key, "AK");
		CHECK_STR(world.storage.s3.secret_key, "s3cret");
		CHECK_STR(world.storage.s3.session_token, "t0ken");
		CHECK_INT(world.storage.s3.addressing, ==, S3_ADDRESSING_PATH);
		end();
	}
}

TEST(path_style_that_is_off_is_virtual_hosts_unless_drey_yaml_says_otherwise)
{
	begin();
	flink("s3.path.style.access", "false");
	CHECK_LOADS();
	CHECK_INT(world.storage.s3.addressing, ==, S3_ADDRESSING_VIRTUAL);
	world.config.storage.s3.addressing = S3_ADDRESSING_PATH;
	CHECK_LOADS();
	CHECK_INT(world.storage.s3.addressing, ==, S3_ADDRESSING_PATH);
	end();
}

TEST(an_endpoint_without_a_scheme_is_https_unless_flink_says_otherwise)
{
	static const char *const off[] = {"fs.s3a.connection.ssl.enabled", "s3.ssl.enabled",
					  "presto.s3.ssl.enabled"};

	begin();
	flink("s3.endpoint", "minio:9000");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, "https://minio:9000");
	end();
	for (size_t i = 0; i < ARRAY_LEN(off); i++) {
		begin();
		flink("s3.endpoint", "minio:9000");
		flink(off[i], "False");
		CHECK_LOADS();
		CHECK_STR(world.storage.s3.endpoint, "http://minio:9000");
		flink("s3.endpoint", "https://minio:9000");
		CHECK_LOADS();
		CHECK_STR(world.storage.s3.endpoint, "https://minio:9000");
		end();
	}
}

TEST(an_endpoint_that_is_more_than_a_host_is_refused)
{
	static const char *const bad[] = {"ftp://host",
					  "https://",
					  "https:///",
					  "https://host/bucket",
					  "https://user:s3cret@host",
					  "https://host?x",
					  "http://a b"};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		begin();
		flink("s3.endpoint", bad[i]);
		CHECK_INT(load(), ==, -1);
		CHECK_INT(world.err.kind, ==, ERR_CONFIG);
		CHECK_HAS(world.err.msg, "http[s]://host[:port]");
		CHECK(!strstr(world.err.msg, "s3cret"));
		end();
	}
}

TEST(options_for_the_bucket_come_before_those_for_all)
{
	begin();
	world.config.flink.checkpoint_directory = xstrdup("s3://state/ck");
	world.config.flink.savepoint_directory = xstrdup("s3a://state/sp");
	flink("s3.endpoint", "http://all:1");
	flink("s3.access-key", "ALL");
	flink("s3.secret-key", "s3cret");
	flink("s3.bucket.other.endpoint", "http://other:1");
	flink("fs.s3a.bucket.state.endpoint", "http://state:1");
	flink("s3.bucket.state.access.key", "STATE");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, "http://state:1");
	CHECK_STR(world.storage.s3.access_key, "STATE");
	CHECK_STR(world.storage.s3.secret_key, "s3cret");
	end();
}

TEST(buckets_that_differ_are_refused_until_drey_yaml_decides)
{
	begin();
	world.config.flink.checkpoint_directory = xstrdup("s3://state/ck");
	world.config.flink.savepoint_directory = xstrdup("s3://save/sp");
	flink("s3.endpoint", "http://all:1");
	CHECK_LOADS();
	flink("s3.bucket.save.endpoint", "http://save:1");
	CHECK_INT(load(), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_CONFIG);
	CHECK_HAS(world.err.msg, "different options for the buckets 'state' and 'save'");
	world.config.storage.s3.endpoint = xstrdup("http://one:1");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, "http://one:1");
	xstrset(&world.config.storage.s3.endpoint, NULL);
	xstrset(&world.config.flink.checkpoint_directory, "file:///ck");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, "http://save:1");
	end();
}

TEST(keys_are_read_from_files_and_never_mixed_with_flinks)
{
	begin();
	flink("s3.access-key", "FLINK");
	flink("s3.secret-key", "s3cret-flink");
	flink("s3.session.token", "s3cret-token");
	world.config.storage.s3.access_key_file = xstrdup(file("id", "AKFILE\n"));
	world.config.storage.s3.secret_key_file = xstrdup(file("key", "\ts3cret+/= \r\n"));
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.access_key, "AKFILE");
	CHECK_STR(world.storage.s3.secret_key, "s3cret+/=");
	CHECK_STR(world.storage.s3.session_token, NULL);
	world.config.storage.s3.session_token_file = xstrdup(file("token", "t0ken"));
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.session_token, "t0ken");
	end();
}

TEST(a_profile_of_drey_yaml_replaces_the_keys_of_flink)
{
	begin();
	flink("s3.access-key", "FLINK");
	flink("s3.secret-key", "s3cret-flink");
	file(".aws/config", "[default]\nregion = other-1\n[profile jobs]\nregion = jobs-1\n");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.access_key, "FLINK");
	CHECK_STR(world.storage.s3.region, "other-1");
	world.config.storage.s3.profile = xstrdup("jobs");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.profile, "jobs");
	CHECK_STR(world.storage.s3.access_key, NULL);
	CHECK_STR(world.storage.s3.region, "jobs-1");
	world.config.storage.s3.access_key_file = xstrdup(file("id", "AKFILE\n"));
	CHECK_INT(load(), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_CONFIG);
	CHECK_HAS(world.err.msg, "set storage.s3.profile, or storage.s3.accessKeyFile");
	end();
}

TEST(a_file_that_is_missing_or_empty_is_told_with_its_key)
{
	begin();
	world.config.storage.s3.access_key_file = xstrdup("/nowhere/id");
	CHECK_INT(load(), ==, -1);
	CHECK_HAS(world.err.msg,
		  "set storage.s3.accessKeyFile and storage.s3.secretKeyFile together");
	world.config.storage.s3.secret_key_file = xstrdup(file("empty", "\n"));
	CHECK_INT(load(), ==, -1);
	CHECK_INT(world.err.kind, ==, ERR_CONFIG);
	CHECK_HAS(world.err.msg, "storage.s3.accessKeyFile: open /nowhere/id: No such file");
	xstrset(&world.config.storage.s3.access_key_file, file("id", "AK"));
	CHECK_INT(load(), ==, -1);
	CHECK_HAS(world.err.msg, "storage.s3.secretKeyFile: ");
	CHECK_HAS(world.err.msg, "/empty is empty");
	end();
}

TEST(swift_is_signed_in_to_as_drey_yaml_says)
{
	begin();
	setenv("OS_USERNAME", "env", 1);
	setenv("OS_AUTH_URL", "https://env:5000/v3", 1);
	world.config.storage.swift.user = xstrdup("flink");
	world.config.storage.swift.password_file = xstrdup(file("password", "s3cret\n"));
	world.config.storage.swift.project = xstrdup("jobs");
	world.config.storage.swift.application_credential_id = xstrdup("app");
	world.config.storage.swift.application_credential_secret_file =
		xstrdup(file("application", "s3cret-app\n"));
	CHECK_LOADS();
	CHECK_STR(world.storage.swift.user, "flink");
	CHECK_STR(world.storage.swift.password, "s3cret");
	CHECK_STR(world.storage.swift.project, "jobs");
	CHECK_STR(world.storage.swift.auth_url, "https://env:5000/v3");
	CHECK_STR(world.storage.swift.application_credential_id, "app");
	CHECK_STR(world.storage.swift.application_credential_secret, "s3cret-app");
	end();
}

TEST(the_aws_profile_comes_last)
{
	begin();
	file(".aws/config", "[default]\nregion = file-1\nendpoint_url = http://file:1\n"
			    "ca_bundle = /file.pem\n");
	setup_storage_environment(&world.storage);
	CHECK_STR(world.storage.s3.region, "file-1");
	CHECK_STR(world.storage.s3.endpoint, "http://file:1");
	CHECK_STR(world.storage.s3.ca_file, "/file.pem");
	setenv("AWS_REGION", "env-1", 1);
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.region, "env-1");
	file(".aws/config", "[default]\nthis is no setting\n");
	CHECK_LOADS();
	CHECK_STR(world.storage.s3.endpoint, NULL);
	end();
}

TEST(a_secret_in_drey_yaml_is_refused_with_the_key_to_use)
{
	static const struct {
		const char *section, *key;
	} cases[] = {{"s3", "accessKey"},
		     {"s3", "secretKey"},
		     {"s3", "sessionToken"},
		     {"swift", "password"},
		     {"swift", "applicationCredentialSecret"}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *text = xasprintf("storage:\n  %s:\n    %s: s3cret-value\n",
						    cases[i].section, cases[i].key);
		cleanup_free char *want =
			xasprintf("set 'storage.%s.%sFile'", cases[i].section, cases[i].key);
		struct config config;
		struct err err = {0};

		CHECK_INT(config_parse(text, strlen(text), &config, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, "line 3");
		CHECK_HAS(err.msg, want);
		CHECK(!strstr(err.msg, "s3cret"));
	}
}

/* ---- the entropy key ---- */

static void check_listed(const char *entropy, const char *uri, const char *want)
{
	struct flink_conf conf = {0};
	cleanup_free char *listed = NULL;

	if (entropy)
		flink_conf_set(&conf, "s3.entropy.key", entropy);
	listed = flink_conf_listed_dir(&conf, uri);
	CHECK_STR(listed, want);
	flink_conf_release(&conf);
}

TEST(the_entropy_key_is_left_out_of_the_directory_that_is_listed)
{
	check_listed("_entropy_", "s3://b/_entropy_/jobs/x", "s3://b/jobs/x");
	check_listed("_entropy_", "s3a://b/jobs/_entropy_", "s3a://b/jobs/");
	check_listed("_e_", "s3p://b/a-_e_-c/_e_/d", "s3p://b/a--c/_e_/d");
	check_listed("_e_", "s3://b/_e_", "s3://b/");
	check_listed("_e_", "s3://_e_/a", "s3://_e_/a");
	check_listed("_e_", "s3://b", "s3://b");
	check_listed("_e_", "file:///_e_/a", "file:///_e_/a");
	check_listed("_e_", "s3://b/a//c", "s3://b/a//c");
	check_listed("", "s3://b/a", "s3://b/a");
	check_listed(NULL, "s3://b/_entropy_/a", "s3://b/_entropy_/a");
}

TEST(flink_is_given_the_directory_with_its_entropy_key)
{
	cleanup_free char *text = NULL;
	struct setup setup;
	struct err err = {0};

	begin();
	file("conf/config.yaml", "s3:\n  entropy:\n    key: _entropy_\n  endpoint: minio:9000\n");
	text = xasprintf("application: a\nstateDirectory: %s\nflink:\n  command: [/bin/true]\n"
			 "  version: 2.3.0\n  configDirectory: %s/conf\n"
			 "  checkpointDirectory: s3://b/_entropy_/chk\n"
			 "  savepointDirectory: s3://b/sp/_entropy_/a\n",
			 world.dir, world.dir);
	CHECK_INT(setup_load(file("drey.yaml", text), &setup, &err), ==, 0);
	CHECK_STR(err.msg, "");
	CHECK_STR(setup.config.flink.checkpoint_directory, "s3://b/_entropy_/chk");
	CHECK_STR(setup.life.savepoint_dir, "s3://b/sp/_entropy_/a");
	CHECK_STR(setup.places.checkpoint_dir, "s3://b/chk");
	CHECK_STR(setup.places.savepoint_dir, "s3://b/sp/a");
	CHECK_STR(setup.storage.s3.endpoint, "https://minio:9000");
	CHECK(setup.places.storage == &setup.storage);
	setup_release(&setup);
	end();
}
