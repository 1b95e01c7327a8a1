/* Which object a lease is: one spelling for all that mean it, and none that has keys. */
#include "run/lease/lease_uri.h"

#include <string.h>

#include "tap.h"

#define TEN     "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG    HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

TEST(all_spellings_of_one_object_are_one)
{
	static const struct {
		const char *uri, *is;
	} rows[] = {
		{"s3://b/orders/lease.json", "s3://b/orders/lease.json"},
		{"s3a://b/orders/lease.json", "s3://b/orders/lease.json"},
		{"s3p://b/orders/lease.json", "s3://b/orders/lease.json"},
		{"s3://b/orders/lease.json/", "s3://b/orders/lease.json"},
		{"s3://b//orders//lease.json", "s3://b/orders/lease.json"},
		{"s3://b/./x/../orders/lease.json", "s3://b/orders/lease.json"},
		{"s3a://KEY:SECRET@b/orders/lease.json", "s3://b/orders/lease.json"},
		{"s3a://KEY:SEC@RET@b/orders/lease.json", "s3://b/orders/lease.json"},
		{"s3://b/orders/a@b.json", "s3://b/orders/a@b.json"},
		/* others */
		{"s3://B/orders/lease.json", "s3://B/orders/lease.json"},
		{"s3://b/orders/Lease.json", "s3://b/orders/Lease.json"},
		{"s3://b/orders/lease%2Ejson", "s3://b/orders/lease%2Ejson"},
	};
	char uri[LEASE_URI_BYTES];
	struct err err = {0};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		CHECK_INT(lease_uri(rows[i].uri, uri, &err), ==, 0);
		CHECK_STR(uri, rows[i].is);
	}
}

TEST(what_is_not_an_object_of_s3_or_does_not_fit_is_refused)
{
	static const struct {
		const char *uri, *why;
	} rows[] = {
		{"", "not in S3"},
		{"/etc/passwd", "not in S3"},
		{"file:/etc/passwd", "not in S3"},
		{"gs://b/lease.json", "not in S3"},
		{"s3", "neither a URI"},
		{"s3://b/a\nb", "control character"},
		{"s3://b/" LONG HUNDRED, "longer than 1151 bytes"},
	};
	char uri[LEASE_URI_BYTES] = "untouched";

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct err err = {0};

		CHECK_INT(lease_uri(rows[i].uri, uri, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_CONFIG);
		CHECK_HAS(err.msg, rows[i].why);
	}
	CHECK_STR(uri, "untouched");
	CHECK_INT(lease_uri("s3://b/" LONG, uri, NULL), ==, 0); /* keys of S3 have 1024 at most */
}
