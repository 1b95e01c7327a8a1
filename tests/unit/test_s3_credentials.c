#include "store/s3/s3_credentials.h"

#include "credentials_world.h"

TEST(no_source_is_a_fault_of_the_configuration_that_names_them_all)
{
	world_begin();
	CHECK_NO_KEYS(ERR_CONFIG, "no keys for S3");
	CHECK_HAS(world.err.msg, "AWS_ACCESS_KEY_ID");
	CHECK_HAS(world.err.msg, "AWS_WEB_IDENTITY_TOKEN_FILE");
	CHECK_HAS(world.err.msg, "~/.aws");
	CHECK_HAS(world.err.msg, "AWS_CONTAINER_CREDENTIALS_FULL_URI");
	CHECK_HAS(world.err.msg, "instance metadata");
	CHECK_STR(s3_credentials_source(world.credentials), "");
	world_end();
}

TEST(the_configuration_comes_before_the_environment)
{
	world_begin();
	world_set("AWS_ACCESS_KEY_ID", "AKENV");
	world_set("AWS_SECRET_ACCESS_KEY", "s3cret-env");
	world.config.access_key = (char *)"AKCONF";
	world.config.secret_key = (char *)"s3cret-conf";
	CHECK_KEYS("AKCONF", "s3cret-conf", NULL);
	CHECK_STR(s3_credentials_source(world.credentials), "configuration");
	CHECK_INT(world.keys->expires_unix_ms, ==, 0);
	world_end();
}

TEST(half_of_the_keys_is_an_error_and_no_reason_to_look_further)
{
	world_begin();
	world_file(".aws/credentials",
		   "[default]\naws_access_key_id=A\naws_secret_access_key=s3cret\n");
	world_set("AWS_ACCESS_KEY_ID", "AKENV");
	CHECK_NO_KEYS(ERR_CONFIG, "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not");
	world.config.secret_key = (char *)"s3cret-conf";
	CHECK_NO_KEYS(ERR_CONFIG, "the secret key is set, but the access key is not");
	world_end();
	world_begin();
	world_set("AWS_SECRET_ACCESS_KEY", "s3cret-env");
	CHECK_NO_KEYS(ERR_CONFIG, "AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is not");
	world_end();
}

TEST(the_environment_gives_keys_without_white_space_around_them)
{
	world_begin();
	world_set("AWS_ACCESS_KEY_ID", " AKENV\n");
	world_set("AWS_SECRET_ACCESS_KEY", "s3cret-env\r\n");
	world_set("AWS_SESSION_TOKEN", "\ts3cret-token ");
	CHECK_KEYS("AKENV", "s3cret-env", "s3cret-token");
	CHECK_STR(s3_credentials_source(world.credentials), "environment");
	CHECK(!s3_credentials_refused(world.credentials));
	world_end();
}

TEST(empty_variables_are_as_good_as_none)
{
	world_begin();
	world_set("AWS_ACCESS_KEY_ID", "%s", "");
	world_set("AWS_SECRET_ACCESS_KEY", " ");
	CHECK_NO_KEYS(ERR_CONFIG, "no keys for S3");
	world_end();
}

TEST(keys_that_could_break_a_header_are_refused)
{
	world_begin();
	world_set("AWS_ACCESS_KEY_ID", "AK\r\nX-Evil: 1");
	world_set("AWS_SECRET_ACCESS_KEY", "s3cret-env");
	CHECK_NO_KEYS(ERR_FORMAT, "the keys contain invalid characters");
	world_end();
}

TEST(the_default_profile_is_read_from_the_credentials_file)
{
	world_begin();
	world_file(".aws/credentials",
		   "\xEF\xBB\xBF# keys\n\n[other]\naws_access_key_id = NO\n"
		   "[default] ; mine\nAWS_Access_Key_ID = AKFILE # not this\n"
		   "aws_secret_access_key=s3cret=+/#;file\r\naws_session_token =  s3cret-t  ");
	CHECK_KEYS("AKFILE", "s3cret=+/#;file", "s3cret-t");
	CHECK_STR(s3_credentials_source(world.credentials), "shared files");
	world_end();
}

TEST(a_profile_is_chosen_by_its_variable)
{
	world_begin();
	world_file(".aws/credentials",
		   "[default]\naws_access_key_id=A\naws_secret_access_key=s3cret\n"
		   "[jobs]\naws_access_key_id=AKJOBS\naws_secret_access_key=s3cret-jobs\n");
	world_set("AWS_PROFILE", "jobs");
	CHECK_KEYS("AKJOBS", "s3cret-jobs", NULL);
	world_end();
}

TEST(a_profile_that_was_asked_for_has_to_be_there)
{
	world_begin();
	world_set("AWS_PROFILE", "jobs");
	CHECK_NO_KEYS(ERR_CONFIG, "AWS_PROFILE is 'jobs': the files have no such profile");
	world_file(".aws/config",
		   "[profile jobs]\nregion=eu-west-1\n[jobs]\naws_access_key_id=NO\n");
	CHECK_NO_KEYS(ERR_CONFIG, "AWS_PROFILE is 'jobs': the files have no keys in that profile");
	world_end();
}

TEST(the_credentials_file_wins_and_keys_of_two_files_never_mix)
{
	world_begin();
	world_file(".aws/config",
		   "[profile default]\naws_access_key_id=AKCONF\n"
		   "aws_secret_access_key=s3cret-conf\naws_session_token=s3cret-c\n");
	CHECK_KEYS("AKCONF", "s3cret-conf", "s3cret-c");
	world_file(".aws/credentials",
		   "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=s3cret-file\n");
	CHECK(s3_credentials_refused(world.credentials)); /* the files are read again */
	CHECK_KEYS("AKFILE", "s3cret-file", NULL);
	world_end();
}

TEST(files_that_variables_name_have_to_be_there)
{
	world_begin();
	world_file("here", "[default]\naws_access_key_id=AKHERE\naws_secret_access_key=s3cret-h\n");
	world_set("AWS_SHARED_CREDENTIALS_FILE", "~/gone");
	CHECK_NO_KEYS(ERR_CONFIG, "/gone: No such file");
	world_set("AWS_SHARED_CREDENTIALS_FILE", "~/here");
	CHECK_KEYS("AKHERE", "s3cret-h", NULL);
	world_end();
}

TEST(a_line_that_is_no_setting_is_told_by_its_number_only)
{
	world_begin();
	world_file(".aws/credentials", "[else]\nwhatever\n[default]\ns3cret-without-a-name\n");
	CHECK_NO_KEYS(ERR_CONFIG, "credentials: line 4: neither a section");
	world_file(".aws/credentials", "[default\n");
	CHECK_NO_KEYS(ERR_CONFIG, "credentials: line 1: ']' is missing");
	world_end();
}

TEST(indented_lines_belong_to_the_setting_before_them)
{
	world_begin();
	world_file(".aws/credentials",
		   "  [default]\n  aws_access_key_id = AKFILE\n  s3 =\n"
		   "    aws_access_key_id = NO\n  aws_secret_access_key = s3cret-f\n");
	CHECK_KEYS("AKFILE", "s3cret-f", NULL);
	world_end();
}

TEST(half_of_the_keys_in_a_profile_is_an_error)
{
	world_begin();
	world_file(".aws/credentials", "[default]\naws_secret_access_key=s3cret-f\n");
	CHECK_NO_KEYS(ERR_CONFIG,
		      "profile 'default': it has aws_secret_access_key, but no aws_access_key_id");
	world_end();
}

TEST(a_profile_that_gives_no_keys_is_refused_with_a_reason)
{
#define HALVES "aws_access_key_id = A\n"
	static const struct {
		const char *text, *part;
	} cases[] = {
		{"sso_session = corp", "it has sso_session, "},
		{"sso_start_url = https://corp", "it has sso_start_url, "},
		{"role_arn = arn:x\nsource_profile = base\nmfa_serial = 1", "it has mfa_serial, "},
		{"role_arn = arn:x", "it has role_arn, but none of source_profile, "},
		{"role_arn = arn:x\nsource_profile = base\ncredential_source = Environment",
		 "it has role_arn, and more than one of source_profile, credential_source, "},
		{"role_arn = arn:x\nsource_profile = base\nweb_identity_token_file = /t",
		 "it has role_arn, and more than one of "},
		{"web_identity_token_file = /t", "it has web_identity_token_file, but no role_arn"},
		{"role_arn = arn:x\ncredential_source = Moon",
		 "its credential_source is none of Environment, Ec2InstanceMetadata, EcsContainer"},
		{"role_arn = arn:x\ncredential_source = Environment",
		 "credential_source Environment: AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"},
		{"role_arn = arn:x\ncredential_source = EcsContainer",
		 "credential_source EcsContainer: AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and "},
		{"role_arn = arn:x\ncredential_source = Ec2InstanceMetadata",
		 "credential_source Ec2InstanceMetadata: instance metadata does not answer, or AWS_EC2"},
		{"role_arn = arn:x\nsource_profile = gone",
		 "source_profile 'gone': the files have no such profile"},
		{"role_arn = arn:x\nsource_profile = p\n[profile p]\nregion = r",
		 "source_profile 'p': the files have no keys in that profile"},
		{"role_arn = arn:x\nsource_profile = p\n[profile p]\n" HALVES,
		 "source_profile 'p': it has aws_access_key_id, but no aws_secret_access_key"},
		{"role_arn = arn:x\nsource_profile = default",
		 "its source_profile 'default' leads back to itself; name a profile that has keys"},
		{"role_arn = arn:x\nsource_profile = p\n"
		 "[profile p]\nrole_arn = arn:y\nsource_profile = default",
		 "source_profile 'p': its source_profile 'default' leads back to itself"},
		{"role_arn = arn:x\nsource_profile = p\n"
		 "[profile p]\nrole_arn = arn:y\nsource_profile = p",
		 "source_profile 'p': its source_profile 'p' leads back to itself"},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_free char *text = xasprintf("[default]\n%s\n", cases[i].text);

		world_begin();
		world_file(".aws/config", text);
		CHECK_NO_KEYS(ERR_CONFIG, cases[i].part);
		CHECK_HAS(world.err.msg, "keys for S3 from shared files: profile 'default': ");
		if (i < 3)
			CHECK_HAS(world.err.msg, "aws configure export-credentials");
		world_end();
	}
}

TEST(roles_in_a_row_have_a_limit)
{
	world_begin();
	world_file(".aws/config", "[default]\nrole_arn=arn:0\nsource_profile=p1\n"
				  "[profile p1]\nrole_arn=arn:1\nsource_profile=p2\n"
				  "[profile p2]\nrole_arn=arn:2\nsource_profile=p3\n"
				  "[profile p3]\nrole_arn=arn:3\nsource_profile=p4\n"
				  "[profile p4]\nrole_arn=arn:4\nsource_profile=p5\n"
				  "[profile p5]\nrole_arn=arn:5\nsource_profile=p6\n");
	CHECK_NO_KEYS(ERR_CONFIG, "source_profile 'p5': more than 5 roles in a row");
	world_end();
}

TEST(a_profile_that_drey_yaml_names_is_the_only_source)
{
	world_begin();
	world_set("AWS_ACCESS_KEY_ID", "AKENV");
	world_set("AWS_SECRET_ACCESS_KEY", "s3cret-env");
	world_set("AWS_PROFILE", "other");
	world_file(".aws/credentials",
		   "[jobs]\naws_access_key_id=AKJOBS\naws_secret_access_key=s3cret-jobs\n");
	CHECK_KEYS("AKENV", "s3cret-env", NULL);
	world_end();
	world_begin();
	world.config.profile = (char *)"jobs";
	world_set("AWS_ACCESS_KEY_ID", "AKENV");
	world_set("AWS_SECRET_ACCESS_KEY", "s3cret-env");
	world_set("AWS_PROFILE", "other");
	CHECK_NO_KEYS(ERR_CONFIG, "storage.s3.profile is 'jobs': the files have no such profile");
	world_file(".aws/credentials",
		   "[jobs]\naws_access_key_id=AKJOBS\naws_secret_access_key=s3cret-jobs\n");
	CHECK_KEYS("AKJOBS", "s3cret-jobs", NULL);
	world_end();
}

TEST(keys_beside_a_sign_in_by_browser_are_used)
{
	world_begin();
	world_file(".aws/config", "[default]\nsso_session = corp\n");
	world_file(".aws/credentials",
		   "[default]\naws_access_key_id=AKFILE\naws_secret_access_key=s3cret-f\n");
	CHECK_KEYS("AKFILE", "s3cret-f", NULL);
	world_end();
}

TEST(another_users_home_is_passed_over_and_mentioned)
{
	cleanup_free char *path = NULL;

	world_begin();
	if (geteuid() == 0) {
		world_end();
		tap_skip("root may read everything");
		return;
	}
	world_file(".aws/credentials", "");
	path = xasprintf("%s/.aws/credentials", world.dir);
	CHECK_INT(chmod(path, 0), ==, 0);
	CHECK_NO_KEYS(ERR_CONFIG, "no keys for S3");
	CHECK_HAS(world.err.msg, ".aws/credentials: Permission denied");
	world_end();
}
