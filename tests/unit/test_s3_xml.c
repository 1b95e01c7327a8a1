#include "format/s3_xml.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "tap.h"

#define HEAD                                                                                       \
	"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"                                             \
	"<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
#define WHOLE "<IsTruncated>false</IsTruncated>"
#define ENTRY(key)                                                                                 \
	"<Contents><Key>" key "</Key><LastModified>2026-03-01T12:00:00.500Z</LastModified>"        \
	"<ETag>&quot;d41d8cd9&quot;</ETag><Size>7</Size><StorageClass>STANDARD</StorageClass>"     \
	"</Contents>"
#define TAIL "</ListBucketResult>"

struct seen {
	struct buf text;
	int stop_after;
	bool fail;
};

static int on_entry(void *ctx, const struct s3_xml_entry *entry, struct err *err)
{
	struct seen *seen = ctx;

	if (seen->fail)
		return err_set(err, ERR_BUSY, 0, "enough");
	buf_addf(&seen->text, "%s|", entry->key);
	if (!entry->is_prefix)
		buf_addf(&seen->text, "%jd@%jd|", (intmax_t)entry->size_bytes,
			 (intmax_t)entry->mtime_unix_ms);
	return seen->stop_after && !--seen->stop_after;
}

static void check_read(const char *xml, const char *want)
{
	struct seen seen = {0};
	struct err err = {0};

	if (!CHECK_INT(s3_xml_list(xml, strlen(xml), on_entry, &seen, NULL, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_STR(buf_str(&seen.text), want);
	buf_release(&seen.text);
}

static void check_refused(const char *xml, const char *why)
{
	struct s3_xml_page page = {0};
	struct seen seen = {0};
	struct err err = {0};

	CHECK_INT(s3_xml_list(xml, strlen(xml), on_entry, &seen, &page, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	CHECK_HAS(err.msg, why);
	CHECK(!page.next_token && !page.truncated);
	buf_release(&seen.text);
}

TEST(reads_a_page_of_amazon)
{
	static const char xml[] = HEAD
		"<Name>bucket</Name><Prefix>ck/</Prefix><NextContinuationToken>1ueGcxLPRx1Tr/"
		"XYExHnhbYLgveDs2J/wm36Hy4vbOwM=</NextContinuationToken><KeyCount>3</KeyCount>"
		"<MaxKeys>3</MaxKeys><Delimiter>%2F</Delimiter><EncodingType>url</EncodingType>"
		"<IsTruncated>true</IsTruncated>" ENTRY("ck/a+b%2Bc%25d~%C3%A9") ENTRY(
			"ck/z") "<CommonPrefixes><Prefix>ck/chk-1/</Prefix></CommonPrefixes>" TAIL
				"\n";
	struct s3_xml_page page = {0};
	struct seen seen = {0};
	struct err err = {0};

	if (!CHECK_INT(s3_xml_list(xml, sizeof(xml) - 1, on_entry, &seen, &page, &err), ==, 0))
		tap_note("%s", err.msg);
	CHECK_STR(buf_str(&seen.text), "ck/a b+c%d~\xC3\xA9|7@1772366400500|"
				       "ck/z|7@1772366400500|ck/chk-1/|");
	CHECK(page.truncated);
	CHECK_STR(page.next_token, "1ueGcxLPRx1Tr/XYExHnhbYLgveDs2J/wm36Hy4vbOwM=");
	s3_xml_page_release(&page);
	buf_release(&seen.text);
}

TEST(reads_what_other_servers_make_of_it)
{
	check_read("<ListBucketResult>" WHOLE TAIL, "");
	check_read("<s3:ListBucketResult xmlns:s3='x'><s3:IsTruncated>false</s3:IsTruncated>"
		   "<s3:CommonPrefixes><s3:Prefix>a/</s3:Prefix></s3:CommonPrefixes>"
		   "</s3:ListBucketResult>",
		   "a/|");
	/* the encoding is told behind the names */
	check_read(HEAD WHOLE ENTRY("a%20b+c") "<EncodingType>url</EncodingType>" TAIL,
		   "a b c|7@1772366400500|");
	/* or there is none */
	check_read(HEAD WHOLE ENTRY("a%20b+c &amp;&lt;&#233;") TAIL,
		   "a%20b+c &<\xC3\xA9|7@1772366400500|");
	/* several in one */
	check_read(HEAD WHOLE "<CommonPrefixes><Prefix>a/</Prefix><Prefix>b/</Prefix>"
			      "</CommonPrefixes>" TAIL,
		   "a/|b/|");
	/* names that mean something elsewhere only */
	check_read(HEAD WHOLE "<Key>x</Key><Owner><Key>y</Key><Contents><Key/></Contents></Owner>"
			      "<NextContinuationToken/>" TAIL,
		   "");
	check_read("<?xml version='1.0' encoding='UTF-8'?><!-- EncodingType --><ListBucketResult>"
		   "<IsTruncated><![CDATA[false]]></IsTruncated>" TAIL "<!-- end -->\n",
		   "");
}

TEST(refuses_what_is_no_whole_listing)
{
	static const char xml[] = HEAD WHOLE ENTRY("a") ENTRY("b") TAIL;

	for (size_t len = 0; len < sizeof(xml) - 1; len++) {
		cleanup_free char *part = xstrndup(xml, len);
		struct seen seen = {0};
		struct err err = {0};

		CHECK_INT(s3_xml_list(part, len, on_entry, &seen, NULL, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		buf_release(&seen.text);
	}
	check_refused("", "no element");
	check_refused("<Error><Code>SlowDown</Code></Error>", "ListBucketResult, found Error");
	check_refused("<x/>", "ListBucketResult, found x");
	check_refused("<html><body>502</body></html>", "found html");
	check_refused(HEAD WHOLE TAIL "trailing", "line 2");
	check_refused(HEAD WHOLE TAIL TAIL, "line 2");
	check_refused(HEAD WHOLE "<Name>\xFF</Name>" TAIL, "not well-formed");
}

TEST(refuses_pages_that_do_not_say_how_it_goes_on)
{
	check_refused(HEAD TAIL, "IsTruncated is missing");
	check_refused(HEAD "<IsTruncated/>" TAIL, "neither true nor false");
	check_refused(HEAD "<IsTruncated>maybe</IsTruncated>" TAIL, "neither true nor false");
	check_refused(HEAD "<IsTruncated>true</IsTruncated>" TAIL, "without a token");
	check_refused(HEAD "<IsTruncated>true</IsTruncated><NextContinuationToken/>" TAIL,
		      "without a token");
	check_refused(HEAD WHOLE "<NextContinuationToken>x</NextContinuationToken>" TAIL,
		      "with a token");
	check_refused(HEAD WHOLE WHOLE TAIL, "IsTruncated twice");
	check_refused(HEAD "<IsTruncated>true</IsTruncated><NextContinuationToken>a"
			   "</NextContinuationToken><NextContinuationToken>b"
			   "</NextContinuationToken>" TAIL,
		      "NextContinuationToken twice");
}

#define CONTENTS(inner) HEAD WHOLE "<Contents>" inner "</Contents>" TAIL
#define KEY             "<Key>a</Key>"
#define SIZE            "<Size>1</Size>"
#define DATE            "<LastModified>2026-03-01T12:00:00Z</LastModified>"

TEST(refuses_entries_that_are_none)
{
	check_refused(CONTENTS(SIZE DATE), "without Key, Size or LastModified");
	check_refused(CONTENTS(KEY DATE), "without Key, Size or LastModified");
	check_refused(CONTENTS(KEY SIZE), "without Key, Size or LastModified");
	/* what the one before had does not count */
	check_refused(HEAD WHOLE ENTRY("a") "<Contents>" KEY "</Contents>" TAIL, "without Key");
	check_refused(CONTENTS(KEY KEY SIZE DATE), "Key twice");
	check_refused(CONTENTS("<Key/>" SIZE DATE), "Key is empty");
	check_refused(CONTENTS("<Key>a<b/>c</Key>" SIZE DATE), "Key contains an element");
	check_refused(CONTENTS(KEY "<Size>-1</Size>" DATE), "Size is not");
	check_refused(CONTENTS(KEY "<Size>1e3</Size>" DATE), "Size is not");
	check_refused(CONTENTS(KEY "<Size/>" DATE), "Size is not");
	check_refused(CONTENTS(KEY "<Size>9999999999999999999</Size>" DATE), "Size is not");
	check_refused(CONTENTS(KEY SIZE "<LastModified>today</LastModified>"), "LastModified is");
	check_refused(HEAD WHOLE "<CommonPrefixes/>" TAIL, "CommonPrefixes without Prefix");
	check_refused(HEAD WHOLE "<CommonPrefixes><Prefix/></CommonPrefixes>" TAIL,
		      "Prefix is empty");
}

TEST(refuses_names_that_are_not_encoded_as_announced)
{
	static const char *const names[] = {"%", "a%2", "%zz", "%2z", "a%00b", "%%41"};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_free char *xml =
			xasprintf("<ListBucketResult>" WHOLE "<EncodingType>url</EncodingType>"
				  "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>" TAIL,
				  names[i]);

		check_refused(xml, "not percent-encoded");
	}
	/* the announcement in a place where it is none */
	check_refused(HEAD WHOLE "<!-- <EncodingType>url</EncodingType> -->" TAIL, "EncodingType");
	check_refused(HEAD WHOLE "<x><EncodingType>url</EncodingType></x>" TAIL, "EncodingType");
	check_refused(HEAD WHOLE "<!-- EncodingType>url</ -->"
				 "<EncodingType>none</EncodingType>" TAIL,
		      "EncodingType");
}

TEST(refuses_what_is_too_large_or_asks_for_entities)
{
	cleanup_buf struct buf xml = BUF_INIT;

	buf_addstr(&xml, HEAD WHOLE "<Contents><Key>");
	for (int i = 0; i <= S3_XML_MAX_TEXT_BYTES; i++)
		buf_addch(&xml, 'k');
	buf_addstr(&xml, "</Key>" SIZE DATE "</Contents>" TAIL);
	check_refused(buf_str(&xml), "Key is longer than 4096 bytes");
	buf_clear(&xml);
	buf_addstr(&xml, HEAD WHOLE);
	for (int i = 0; i < 100; i++)
		buf_addstr(&xml, "<deep>");
	check_refused(buf_str(&xml), "more than 16 elements inside each other");
	check_refused("<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>"
		      "<ListBucketResult>" WHOLE "<Name>&b;</Name>" TAIL,
		      "DTD");
	check_refused(
		"<!DOCTYPE ListBucketResult SYSTEM \"http://127.0.0.1/x\"><ListBucketResult>" WHOLE
			TAIL,
		"DTD");
	check_refused(HEAD WHOLE "<Name>&undefined;</Name>" TAIL, "entity");
}

TEST(stops_where_the_reader_wants_to)
{
	static const char two[] = HEAD WHOLE ENTRY("a") ENTRY("b") TAIL;
	static const char broken[] = HEAD WHOLE ENTRY("a") ENTRY("b");
	struct seen seen = {.stop_after = 1};
	struct err err = {0};

	CHECK_INT(s3_xml_list(two, strlen(two), on_entry, &seen, NULL, &err), ==, 0);
	CHECK_STR(buf_str(&seen.text), "a|7@1772366400500|");
	seen.stop_after = 1; /* and still finds what is wrong behind it */
	CHECK_INT(s3_xml_list(broken, strlen(broken), on_entry, &seen, NULL, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_FORMAT);
	seen.fail = true;
	CHECK_INT(s3_xml_list(two, strlen(two), on_entry, &seen, NULL, &err), ==, -1);
	CHECK_INT(err.kind, ==, ERR_BUSY);
	CHECK_STR(err.msg, "enough");
	CHECK_INT(s3_xml_list(two, strlen(two), on_entry, &seen, NULL, NULL), ==, -1);
	buf_release(&seen.text);
}

TEST(reads_an_error)
{
	static const char xml[] =
		"<?xml version=\"1.0\"?>\n<Error><Code>AuthorizationHeaderMalformed</Code>"
		"<Message>The region 'us-east-1' is wrong;\n expecting 'eu-west-1'</Message>"
		"<Region>eu-west-1</Region><Endpoint>b.s3.amazonaws.com</Endpoint>"
		"<RequestId>1</RequestId><HostId>2</HostId></Error>";
	cleanup_buf struct buf long_one = BUF_INIT;
	struct s3_xml_error said = {0};
	struct err err = {0};

	CHECK_INT(s3_xml_error(xml, strlen(xml), &said, &err), ==, 0);
	CHECK_STR(said.code, "AuthorizationHeaderMalformed");
	CHECK_STR(said.message, "The region 'us-east-1' is wrong;  expecting 'eu-west-1'");
	CHECK_STR(said.region, "eu-west-1");
	CHECK_STR(said.endpoint, "b.s3.amazonaws.com");
	buf_addstr(&long_one, "<Error><Code>C</Code><Message>");
	for (int i = 0; i < 1000; i++)
		buf_addch(&long_one, 'm');
	buf_addstr(&long_one, "</Message></Error>");
	CHECK_INT(s3_xml_error(long_one.data, long_one.len_bytes, &said, &err), ==, 0);
	CHECK_INT(strlen(said.message), ==, sizeof(said.message) - 1);
	CHECK_STR(said.region, "");
}

TEST(refuses_what_is_no_error)
{
	static const char *const texts[] = {
		"",
		"not xml",
		"<Error/>",
		"<Error><Message>m</Message></Error>",
		"<Error><Code>a</Code>",
		"<Error><Code>a</Code><Code>b</Code></Error>",
		"<html><Error><Code>a</Code></Error></html>",
		"<!DOCTYPE x><Error><Code>a</Code></Error>",
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct s3_xml_error said = {.code = "untouched"};
		struct err err = {0};

		CHECK_INT(s3_xml_error(texts[i], strlen(texts[i]), &said, &err), ==, -1);
		CHECK_INT(err.kind, ==, ERR_FORMAT);
		CHECK_STR(said.code, "untouched");
	}
}
