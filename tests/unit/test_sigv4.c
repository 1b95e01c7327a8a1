#include "store/s3/sigv4.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/percent.h"
#include "base/sha256.h"
#include "tap.h"

#define S3_DATE    INT64_C(1369353600) /* 2013-05-24T00:00:00Z */
#define SUITE_DATE INT64_C(1440938160) /* 2015-08-30T12:36:00Z */

/* The signature at the end of the header, whatever is before it. */
static void check_signature(const struct sigv4_request *request, const char *signed_headers,
			    const char *want)
{
	cleanup_buf struct buf got = BUF_INIT;
	cleanup_free char *names = xasprintf(", SignedHeaders=%s, ", signed_headers);
	const char *signature;

	sigv4_authorization(request, &got);
	CHECK_HAS(buf_str(&got), names);
	signature = strstr(buf_str(&got), "Signature=");
	CHECK_STR(signature ? signature + 10 : "none", want);
}

/* ---- "Examples: Signature Calculations", Amazon S3 API reference ---- */

static struct sigv4_request s3_request(const char *method, const char *path, const char *query,
				       const struct sigv4_header *headers, size_t count)
{
	return (struct sigv4_request){
		.method = method,
		.path = path,
		.query = query,
		.headers = headers,
		.header_count = count,
		.payload_sha256 = SIGV4_EMPTY_SHA256,
		.access_key = "AKIAIOSFODNN7EXAMPLE",
		.secret_key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
		.region = "us-east-1",
		.service = "s3",
		.unix_s = S3_DATE,
	};
}

TEST(the_s3_reference_gets_an_object)
{
	const struct sigv4_header headers[] = {
		{"Host", "examplebucket.s3.amazonaws.com"},
		{"Range", "bytes=0-9"},
		{"x-amz-content-sha256", SIGV4_EMPTY_SHA256},
		{"x-amz-date", "20130524T000000Z"},
	};
	struct sigv4_request request =
		s3_request("GET", "/test.txt", NULL, headers, ARRAY_LEN(headers));
	cleanup_buf struct buf text = BUF_INIT;

	sigv4_canonical_request(&request, &text);
	CHECK_STR(buf_str(&text),
		  "GET\n/test.txt\n\nhost:examplebucket.s3.amazonaws.com\nrange:bytes=0-9\n"
		  "x-amz-content-sha256:" SIGV4_EMPTY_SHA256 "\nx-amz-date:20130524T000000Z\n\n"
		  "host;range;x-amz-content-sha256;x-amz-date\n" SIGV4_EMPTY_SHA256);
	buf_clear(&text);
	sigv4_string_to_sign(&request, &text);
	CHECK_STR(buf_str(&text),
		  "AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/us-east-1/s3/aws4_request\n"
		  "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972");
	buf_clear(&text);
	sigv4_authorization(&request, &text);
	CHECK_STR(buf_str(&text),
		  "AWS4-HMAC-SHA256 "
		  "Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
		  "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date, "
		  "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41");
}

TEST(the_s3_reference_puts_an_object)
{
	char payload[65];
	const struct sigv4_header headers[] = {
		{"x-amz-storage-class", "REDUCED_REDUNDANCY"},
		{"x-amz-date", "20130524T000000Z"},
		{"x-amz-content-sha256", payload},
		{"Host", "examplebucket.s3.amazonaws.com"},
		{"Date", "Fri, 24 May 2013 00:00:00 GMT"},
	};
	cleanup_buf struct buf path = BUF_INIT;
	struct sigv4_request request;

	sha256_hex("Welcome to Amazon S3.", 21, payload);
	percent_encode(&path, "/test$file.text", true);
	request = s3_request("PUT", buf_str(&path), "", headers, ARRAY_LEN(headers));
	request.payload_sha256 = payload;
	check_signature(&request, "date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class",
			"98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
}

TEST(the_s3_reference_asks_for_a_lifecycle_and_lists)
{
	const struct sigv4_header headers[] = {
		{"Host", "examplebucket.s3.amazonaws.com"},
		{"x-amz-content-sha256", SIGV4_EMPTY_SHA256},
		{"x-amz-date", "20130524T000000Z"},
	};
	struct sigv4_request request =
		s3_request("GET", "/", "lifecycle", headers, ARRAY_LEN(headers));

	check_signature(&request, "host;x-amz-content-sha256;x-amz-date",
			"fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543");
	request.query = "prefix=J&max-keys=2";
	check_signature(&request, "host;x-amz-content-sha256;x-amz-date",
			"34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7");
}

/* ---- the AWS Signature Version 4 test suite ---- */

static const struct sigv4_header suite_host = {"Host", "example.amazonaws.com"};
static const struct sigv4_header suite_date = {"X-Amz-Date", "20150830T123600Z"};

static struct sigv4_request suite_request(const char *method, const char *path, const char *query,
					  const struct sigv4_header *headers, size_t count)
{
	return (struct sigv4_request){
		.method = method,
		.path = path,
		.query = query,
		.headers = headers,
		.header_count = count,
		.payload_sha256 = SIGV4_EMPTY_SHA256,
		.access_key = "AKIDEXAMPLE",
		.secret_key = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
		.region = "us-east-1",
		.service = "service",
		.unix_s = SUITE_DATE,
	};
}

TEST(the_test_suite_asks_for_paths_and_queries)
{
	static const struct {
		const char *method, *path, *query, *want;
	} rows[] = {
		{"GET", "/", NULL,
		 "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"},
		{"GET", "/", "Param1=value1",
		 "a67d582fa61cc504c4bae71f336f98b97f1ea3c7a6bfe1b6e45aec72011b9aeb"},
		{"GET", "/", "Param2=value2&Param1=value1",
		 "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"},
		{"GET", "/", "Param1=value2&Param1=Value1",
		 "eedbc4e291e521cf13422ffca22be7d2eb8146eecf653089df300a15b2382bd1"},
		{"GET", "/", "Param1=value2&Param1=value1",
		 "5772eed61e12b33fae39ee5e7012498b51d56abc0abb7c60486157bd471c4694"},
		{"GET", "/",
		 "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz="
		 "-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz",
		 "9c3e54bfcdf0b19771a7f523ee5669cdf59bc7cc0884027167c21bb143a40197"},
		{"GET", "/%E1%88%B4", NULL,
		 "8318018e0b0f223aa2bbf98705b62bb787dc9c0e678f255a891fd03141be5d85"},
		{"GET", "/", "%E1%88%B4=bar",
		 "2cdec8eed098649ff3a119c94853b13c643bcf08f8b0a1d91e12c9027818dd04"},
		{"POST", "/", NULL,
		 "5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b"},
	};
	const struct sigv4_header headers[] = {suite_host, suite_date};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct sigv4_request request = suite_request(
			rows[i].method, rows[i].path, rows[i].query, headers, ARRAY_LEN(headers));

		check_signature(&request, "host;x-amz-date", rows[i].want);
	}
}

TEST(the_test_suite_sends_headers_twice_and_with_white_space)
{
	const struct sigv4_header twice[] = {suite_host,
					     {"My-Header1", "value2"},
					     {"My-Header1", "value2"},
					     {"My-Header1", "value1"},
					     suite_date};
	const struct sigv4_header order[] = {
		suite_host,
		suite_date,
		{"My-Header1", "value4"},
		{"My-Header1", "value1"},
		{"my-header1", "value3"},
		{"My-Header1", "value2"},
	};
	const struct sigv4_header spaces[] = {
		{"My-Header1", " value1"},
		{"My-Header2", " \"a   b   c\"  "},
		suite_date,
		suite_host,
	};
	struct sigv4_request request = suite_request("GET", "/", NULL, twice, ARRAY_LEN(twice));

	check_signature(&request, "host;my-header1;x-amz-date",
			"c9d5ea9f3f72853aea855b47ea873832890dbdd183b4468f858259531a5138ea");
	request.headers = order;
	request.header_count = ARRAY_LEN(order);
	check_signature(&request, "host;my-header1;x-amz-date",
			"08c7e5a9acfcfeb3ab6b2185e75ce8b1deb5e634ec47601a50643f830c755c01");
	request.headers = spaces;
	request.header_count = ARRAY_LEN(spaces);
	check_signature(&request, "host;my-header1;my-header2;x-amz-date",
			"acc3ed3afb60bb290fc8d2dd0098b9911fcaa05412b367055dee359757a9c736");
}

TEST(the_test_suite_signs_a_session_token)
{
	const struct sigv4_header headers[] = {
		suite_host,
		suite_date,
		{"X-Amz-Security-Token", "AQoDYXdzEPT//////////"
					 "wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFq"
					 "wAeMicRXmxfpSPfIeoIYRqTfl"
					 "fKD8YUuwthAx7mSEI/qkPpKPi/"
					 "kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7W"
					 "Z0wq5VSXDvp75YU9HFvlRd8Tx"
					 "6q6fE8YQcHNVXAkiY9q6d+"
					 "xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+"
					 "scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIl"
					 "TJabIQwj2ICCR/oLxBA=="},
	};
	struct sigv4_request request =
		suite_request("POST", "/", NULL, headers, ARRAY_LEN(headers));

	check_signature(&request, "host;x-amz-date;x-amz-security-token",
			"85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead");
}

/* ---- the parts ---- */

TEST(encodes_all_but_the_unreserved)
{
	cleanup_buf struct buf text = BUF_INIT;

	percent_encode(&text, "/a b+c%d~e-f_g.h*(\xC3\xA9)!'", true);
	CHECK_STR(buf_str(&text), "/a%20b%2Bc%25d~e-f_g.h%2A%28%C3%A9%29%21%27");
	buf_clear(&text);
	percent_encode(&text, "/a=&\n\x7F", false);
	CHECK_STR(buf_str(&text), "%2Fa%3D%26%0A%7F");
}

TEST(sorts_parameters_by_their_name_before_their_value)
{
	struct sigv4_request request =
		suite_request("GET", "/", "a-b=1&a=2&&flag&a=1&a%20=0&ab", NULL, 0);
	cleanup_buf struct buf text = BUF_INIT;

	sigv4_canonical_request(&request, &text);
	CHECK_STR(buf_str(&text),
		  "GET\n/\na=1&a=2&a%20=0&a-b=1&ab=&flag=\n\n\n" SIGV4_EMPTY_SHA256);
}

TEST(writes_dates_and_hashes)
{
	char date[SIGV4_DATE_BYTES], hash[65];

	sigv4_date(0, date);
	CHECK_STR(date, "19700101T000000Z");
	sigv4_date(SUITE_DATE, date);
	CHECK_STR(date, "20150830T123600Z");
	sigv4_date(INT64_MAX, date);
	CHECK_STR(date, "19700101T000000Z");
	sha256_hex("", 0, hash);
	CHECK_STR(hash, SIGV4_EMPTY_SHA256);
}
