#include "run/outputs/http_host.h"

#include "base/mem.h"
#include "tests/unit/tap.h"

TEST(only_names_that_nobody_else_can_have_are_known)
{
	static char *const more[] = {(char *)"drey.example.com", (char *)"::1.example", NULL};
	static const struct http_hosts hosts = {.name_space = "shop", .more = more};
	static const struct {
		const char *host;
		bool known;
	} rows[] = {
		{"127.0.0.1:8085", true},
		{"10.1.2.3", true},
		{"[::1]:8085", true},
		{"[fd00::8]", true},
		{"localhost:43211", true},
		{"LOCALHOST", true},
		{"orders-jobmanager:8085", true},
		{"orders-7d9f-x2", true},
		{"orders-jobmanager.shop.svc", true},
		{"orders-jobmanager.shop.svc.cluster.local:8085", true},
		{"orders-jobmanager.shop.svc.cluster.local.", true},
		{"10-1-2-3.shop.pod.cluster.local", true},
		{"drey.example.com", true},
		{"Drey.Example.com:443", true},
		{"", true},
		/* these may lead to 127.0.0.1 when somebody else wants them to */
		{"evil.example", false},
		{"evil.example:8085", false},
		{"drey.example.com.evil.example", false},
		{"127.0.0.1.evil.example", false},
		{"localhost.evil.example", false},
		{"orders-jobmanager.shop", false},
		{"orders-jobmanager.shop.svc.evil.example", false},
		{"orders-jobmanager.other.svc", false},
		{"a.orders-jobmanager.shop.svc", false},
		{"shop.svc", false},
		{"127.1", false},
		{"0x7f.1", false},
		{"[::1", false},
		{"[evil.example]", false},
		{"::1", false},
		{"localhost:80:80", false},
		{"localhost:x", false},
		{":8085", false},
		{".", false},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (!CHECK_INT(http_host_known(rows[i].host, &hosts), ==, rows[i].known))
			tap_note("%s", rows[i].host);
}

TEST(without_kubernetes_no_name_of_a_cluster_is_known)
{
	static const struct http_hosts none = {0};

	CHECK(!http_host_known("orders.shop.svc", &none));
	CHECK(!http_host_known("drey.example.com", &none));
	CHECK(http_host_known("localhost", &none));
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
