#include "base/http_secrets.h"

#include "base/mem.h"
#include "tests/unit/tap.h"

/* What is left of an answer to a request with this header and this URL. */
static char *left(const char *header, const char *url, bool secret, const char *answer)
{
	const char *headers[] = {"Content-Type: application/json", header};
	struct http_request request = {
		.url = url, .headers = headers, .header_count = 2, .secret_url = secret};
	struct buf text = BUF_INIT;

	buf_addstr(&text, answer);
	http_secrets_remove(&request, &text);
	return buf_steal(&text);
}

TEST(an_answer_does_not_repeat_its_request)
{
	static const char hook[] =
		"https://hooks.example/services/T0000001/B000%2F0001/XyZzY?key=s3cr3t%21";
	static const struct {
		const char *header, *url, *answer, *want;
		bool secret;
	} rows[] = {
		{"Authorization: Bearer ey.abc.def", "http://h/", "no ey.abc.def, ey.abc.def",
		 "no ***, ***", false},
		{"Authorization: Basic dXNlcjpwdw==", "http://h/",
		 "Basic dXNlcjpwdw==", "Basic ***", false},
		{"Authorization: AWS4-HMAC-SHA256 Credential=AKIAX/2026/s3, SignedHeaders=host;x-amz-date, Signature=0123abcd",
		 "http://h/",
		 "<Code>SignatureDoesNotMatch</Code><C>AKIAX/2026/s3</C><S>0123abcd</S>",
		 "<Code>SignatureDoesNotMatch</Code><C>***</C><S>***</S>", false},
		{"X-Auth-Token: gAAAAAB", "http://h/", "gAAAAAB has expired", "*** has expired",
		 false},
		{"X-Amz-Security-Token: FwoGZX", "http://h/", "FwoGZX", "***", false},
		{"Cookie: a=bcdefgh; d=ijklmno", "http://h/", "bcdefgh ijklmno", "*** ***", false},
		/* Spring, Express and gateways repeat the path; JSON may escape a slash */
		{"Accept: x", hook, "{\"path\":\"\\/services\\/T0000001\\/B000\\/0001\"}",
		 "{\"path\":\"\\/***\\/***\\/B000\\/0001\"}", true},
		{"Accept: x", hook, "Cannot POST /services/T0000001/B000%2F0001/XyZzY",
		 "Cannot POST /***/***/***/XyZzY", true},
		{"Accept: x", hook, "B000/0001 s3cr3t! s3cr3t%21", "*** *** ***", true},
		{"Accept: x", hook, "/services/T0000001", "/services/T0000001", false},
		{"Accept: application/json", "http://h/", "no application/json",
		 "no application/json", false},
		{"Authorization: x", "http://h/", "a short one is in every text: x",
		 "a short one is in every text: x", false},
		{"Authorization:", "http://h/", "", "", false},
		{"Authorization", "no url", "Authorization", "Authorization", true},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_free char *text =
			left(rows[i].header, rows[i].url, rows[i].secret, rows[i].answer);

		CHECK_STR(text, rows[i].want);
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
