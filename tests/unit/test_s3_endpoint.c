#include "store/s3/s3_endpoint.h"

#include "base/mem.h"
#include "tap.h"

static void check(struct s3_config config, const char *bucket, const char *origin, const char *host,
		  const char *root, const char *region)
{
	struct s3_endpoint endpoint = {0};
	struct err err = {0};

	if (!CHECK_INT(s3_endpoint_of(&config, bucket, &endpoint, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_STR(endpoint.origin, origin);
	CHECK_STR(endpoint.host, host);
	CHECK_STR(endpoint.root, root);
	CHECK_STR(endpoint.region, region);
	s3_endpoint_release(&endpoint);
}

static void refuse(struct s3_config config, const char *bucket, const char *why)
{
	struct s3_endpoint endpoint = {0};
	struct err err = {0};

	CHECK_INT(s3_endpoint_of(&config, bucket, &endpoint, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_CONFIG);
	CHECK_HAS(err.msg, why);
	s3_endpoint_release(&endpoint);
}

TEST(amazon_is_asked_at_the_buckets_own_host)
{
	check((struct s3_config){0}, "my-bucket", "https://my-bucket.s3.us-east-1.amazonaws.com",
	      "my-bucket.s3.us-east-1.amazonaws.com", "", "us-east-1");
	check((struct s3_config){.region = "eu-west-3"}, "b",
	      "https://b.s3.eu-west-3.amazonaws.com", "b.s3.eu-west-3.amazonaws.com", "",
	      "eu-west-3");
	check((struct s3_config){.region = "cn-north-1"}, "b",
	      "https://b.s3.cn-north-1.amazonaws.com.cn", "b.s3.cn-north-1.amazonaws.com.cn", "",
	      "cn-north-1");
	/* what a certificate or a host cannot say */
	check((struct s3_config){0}, "my.bucket", "https://s3.us-east-1.amazonaws.com",
	      "s3.us-east-1.amazonaws.com", "/my.bucket", "us-east-1");
	check((struct s3_config){0}, "My_bucket", "https://s3.us-east-1.amazonaws.com",
	      "s3.us-east-1.amazonaws.com", "/My_bucket", "us-east-1");
}

TEST(other_servers_are_asked_by_path)
{
	check((struct s3_config){.endpoint = "http://minio:9000"}, "b", "http://minio:9000",
	      "minio:9000", "/b", "us-east-1");
	check((struct s3_config){.endpoint = "http://minio:9000/", .region = "x"}, "my.bucket",
	      "http://minio:9000", "minio:9000", "/my.bucket", "x");
	check((struct s3_config){.endpoint = "HTTPS://[::1]:8443"}, "b", "https://[::1]:8443",
	      "[::1]:8443", "/b", "us-east-1");
	check((struct s3_config){.endpoint = "storage.example.com"}, "b",
	      "https://storage.example.com", "storage.example.com", "/b", "us-east-1");
	/* not Amazon, whatever it sounds like */
	check((struct s3_config){.endpoint = "https://s3.eu-west-1.notamazonaws.com"}, "b",
	      "https://s3.eu-west-1.notamazonaws.com", "s3.eu-west-1.notamazonaws.com", "/b",
	      "us-east-1");
}

TEST(the_addressing_can_be_chosen)
{
	check((struct s3_config){.endpoint = "http://s3.local:80",
				 .addressing = S3_ADDRESSING_VIRTUAL},
	      "b", "http://b.s3.local", "b.s3.local", "", "us-east-1");
	/* an address has no names below it */
	check((struct s3_config){.endpoint = "http://10.0.0.7:9000",
				 .addressing = S3_ADDRESSING_VIRTUAL},
	      "b", "http://10.0.0.7:9000", "10.0.0.7:9000", "/b", "us-east-1");
	check((struct s3_config){.endpoint = "https://[fd00::7]",
				 .addressing = S3_ADDRESSING_VIRTUAL},
	      "b", "https://[fd00::7]", "[fd00::7]", "/b", "us-east-1");
	check((struct s3_config){.endpoint = "http://7.example",
				 .addressing = S3_ADDRESSING_VIRTUAL},
	      "b", "http://b.7.example", "b.7.example", "", "us-east-1");
	check((struct s3_config){.addressing = S3_ADDRESSING_PATH}, "b",
	      "https://s3.us-east-1.amazonaws.com", "s3.us-east-1.amazonaws.com", "/b",
	      "us-east-1");
}

TEST(the_schemes_own_port_is_not_part_of_the_host)
{
	check((struct s3_config){.endpoint = "https://a:443"}, "b", "https://a", "a", "/b",
	      "us-east-1");
	check((struct s3_config){.endpoint = "https://a:80"}, "b", "https://a:80", "a:80", "/b",
	      "us-east-1");
	check((struct s3_config){.endpoint = "http://a:443"}, "b", "http://a:443", "a:443", "/b",
	      "us-east-1");
}

TEST(the_region_is_read_from_an_endpoint_of_amazon)
{
	static const struct {
		const char *endpoint, *region;
	} rows[] = {
		{"https://s3.eu-central-1.amazonaws.com", "eu-central-1"},
		{"s3-eu-west-1.amazonaws.com", "eu-west-1"},
		{"https://s3.dualstack.ap-south-1.amazonaws.com", "ap-south-1"},
		{"https://bucket.vpce-1a2b-3c4d.s3.us-east-2.vpce.amazonaws.com", "us-east-2"},
		{"https://s3.cn-northwest-1.amazonaws.com.cn", "cn-northwest-1"},
		{"https://s3.amazonaws.com", "us-east-1"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct s3_config config = {.endpoint = (char *)rows[i].endpoint};
		struct s3_endpoint endpoint = {0};

		CHECK_INT(s3_endpoint_of(&config, "b", &endpoint, NULL), ==, 0);
		CHECK_STR(endpoint.region, rows[i].region);
		CHECK_STR(endpoint.root, "");
		s3_endpoint_release(&endpoint);
	}
	/* what is configured counts more */
	check((struct s3_config){.endpoint = "https://s3.eu-west-1.amazonaws.com", .region = "r"},
	      "b", "https://b.s3.eu-west-1.amazonaws.com", "b.s3.eu-west-1.amazonaws.com", "", "r");
}

static void check_shown(struct s3_config config, const char *shown)
{
	struct s3_endpoint endpoint = {0};

	CHECK_INT(s3_endpoint_of(&config, "my-bucket", &endpoint, NULL), ==, 0);
	CHECK_STR(endpoint.shown, shown);
	s3_endpoint_release(&endpoint);
}

TEST(messages_name_the_endpoint_and_where_it_is_from)
{
	check_shown((struct s3_config){0},
		    "https://s3.us-east-1.amazonaws.com (no S3 endpoint is set)");
	check_shown((struct s3_config){.endpoint = "http://[::1]:9000/",
				       .endpoint_from = "s3.endpoint in config.yaml"},
		    "http://[::1]:9000 (s3.endpoint in config.yaml)");
	check_shown((struct s3_config){.endpoint = "s3.eu-west-3.amazonaws.com"},
		    "https://s3.eu-west-3.amazonaws.com");
}

TEST(refuses_what_makes_no_request)
{
	static const char *const endpoints[] = {
		"",           "http://",       "ftp://a",         "http://a:b",
		"http://a:",  "http://a/path", "http://a?x",      "http://user:secret@a",
		"http://a b", "http://[::1",   "http://a:123456", "http://a\r\nX: y",
	};

	for (size_t i = 0; i < ARRAY_LEN(endpoints); i++)
		refuse((struct s3_config){.endpoint = (char *)endpoints[i]}, "b",
		       "the S3 endpoint is not of the form http[s]://host[:port]");
	refuse((struct s3_config){0}, "", "s3://bucket/path");
	refuse((struct s3_config){0}, "key:secret@bucket", "an s3 URI names its bucket");
	refuse((struct s3_config){.region = "a/b"}, "b", "'a/b' is not the name of an S3 region");
	refuse((struct s3_config){.region = ""}, "b", "is not the name of an S3 region");
}
