#include <stddef.h>

#include "base/http_url.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

TEST(only_this_machine_is_loopback)
{
	static const struct {
		const char *url;
		bool yes;
	} rows[] = {
		{"http://localhost", true},
		{"https://LOCALHOST:8443/path?query", true},
		{"http://127.0.0.1:8001", true},
		{"http://127.0.0.2/", true},
		{"http://user:word@127.255.255.254:1/", true},
		{"http://[::1]:9000/x", true},
		{"", false},
		{"localhost", false},
		{"http://", false},
		{"http://localhost.example.com", false},
		{"http://127.example.com/", false},
		{"http://127.0.0.1.example.com", false},
		{"http://127.0.0.1:80@example.com/", false},
		{"http://128.0.0.1", false},
		{"http://[::2]", false},
		{"http://[::ffff:127.0.0.1]", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!CHECK(http_url_is_loopback(rows[i].url) == rows[i].yes))
			tap_note("%s", rows[i].url);
}

TEST(a_url_is_told_without_its_secrets)
{
	static const struct {
		const char *url, *told, *server;
	} rows[] = {
		{"https://h/a/b?token=x#y", "https://h/a/b", "https://h"},
		{"https://user:word@h:8443/a", "https://h:8443/a", "https://h:8443"},
		{"socks9://user:word@proxy:1/", "socks9://proxy:1/", "socks9://proxy:1"},
		{"user:word@h", "(not a URL)", "(not a URL)"},
		{"https://user:word@", "(not a URL)", "(not a URL)"},
		{"", "(not a URL)", "(not a URL)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cleanup_buf struct buf told = BUF_INIT, server = BUF_INIT;

		CHECK(http_url_tell(rows[i].url, &told) == (*rows[i].told != '('));
		CHECK_STR(buf_str(&told), rows[i].told);
		http_url_tell_server(rows[i].url, &server);
		CHECK_STR(buf_str(&server), rows[i].server);
	}
}

TEST(no_url_in_a_text_keeps_its_user)
{
	char text[] = "Unsupported proxy scheme for 'x://me:p@ss@h:1/' and \"https://b@c\": a@b";

	http_url_hide_users(text);
	CHECK_STR(text, "Unsupported proxy scheme for 'x://h:1/' and \"https://c\": a@b");
}
