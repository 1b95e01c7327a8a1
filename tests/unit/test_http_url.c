#include <stddef.h>

#include "base/http_url.h"
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
