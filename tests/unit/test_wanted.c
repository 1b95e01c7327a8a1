/* Does the Deployment want pods of this template? */
#include "run/handover/wanted.h"

#include "base/mem.h"
#include "kube_stub.h"
#include "tap.h"

#define NAME "orders"
#define DEPLOYMENT(more, template, replicas)                                                       \
	"{\"kind\":\"Deployment\",\"metadata\":{\"name\":\"" NAME "\",\"uid\":\"u-1\"" more        \
	"},\"spec\":{\"replicas\":" replicas                                                       \
	",\"template\":{\"metadata\":{\"annotations\":{" template "}}}}}"
#define VERSION(generation, checksum)                                                              \
	"\"drey.dev/generation\":\"" generation "\",\"checksum/drey\":\"" checksum "\""

TEST(an_error_is_never_an_answer_and_only_the_same_content_is_wanted)
{
	static const struct {
		struct kube_stub_says says;
		const char *template; /* of the pod that asks */
		enum wanted wanted;
	} cases[] = {
		{{.body = DEPLOYMENT("", VERSION("g2", "c1"), "1")}, "g2/c1/h2", WANTED_YES},
		{{.body = DEPLOYMENT("", VERSION("g2", "c1"), "1")}, "g2/c1/h9", WANTED_YES},
		{{.body = DEPLOYMENT("", VERSION("g2", "c1"), "1")}, "g1/c1/h2", WANTED_NO},
		{{.body = DEPLOYMENT("", VERSION("g2", "c1"), "1")}, "g2/c2/h2", WANTED_NO},
		{{.body = DEPLOYMENT("", VERSION("g2", "c1"), "0")}, "g2/c1/h2", WANTED_NO},
		{{.body = DEPLOYMENT(",\"deletionTimestamp\":\"2026-03-01T12:00:00Z\"",
				     VERSION("g2", "c1"), "1")},
		 "g2/c1/h2",
		 WANTED_NO},
		{{.body = DEPLOYMENT("", "", "1")}, "g2/c1/h2", WANTED_UNKNOWN},
		{{.status = 404, .body = KUBE_NOT_FOUND("deployments", NAME)},
		 "g2/c1/h2",
		 WANTED_NO},
		{{.status = 404, .body = "404 page not found"}, "g2/c1/h2", WANTED_UNKNOWN},
		{{.status = 403, .body = KUBE_STATUS(403, "Forbidden", "no", "")},
		 "g2/c1/h2",
		 WANTED_UNKNOWN},
		{{.status = 503, .body = KUBE_STATUS(503, "ServiceUnavailable", "no", "")},
		 "g2/c1/h2",
		 WANTED_UNKNOWN},
		{{.body = "{}"}, "g2/c1/h2", WANTED_UNKNOWN},
		{{.reset = true}, "g2/c1/h2", WANTED_UNKNOWN},
	};
	struct setup setup = {.kube = {.owner = (char *)NAME}};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct kube_stub stub;

		kube_stub_start(&stub);
		kube_stub_say(&stub, &cases[i].says, 1);
		if (!CHECK_INT(handover_wanted(stub.kube, &setup, cases[i].template, 2000), ==,
			       cases[i].wanted))
			tap_note("case %zu", i);
		http_stub_settle(stub.http); /* it may have been reset */
		CHECK_STR(stub.asked[0], "GET /apis/apps/v1/namespaces/team-a/deployments/" NAME);
		kube_stub_stop(&stub);
	}
}
