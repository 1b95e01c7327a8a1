#include "cmd/plugin/unstarted.h"

#include <string.h>

#include "base/mem.h"
#include "cmd/plugin/app.h"
#include "cmd/plugin/plugin_unstarted.h"
#include "tap.h"

#define DEPLOYMENT(more)                                                                           \
	"{'kind': 'Deployment', 'metadata': {'name': 'jm'}, 'spec': {'replicas': 1" more "}"
#define POD(made, status)                                                                          \
	"{'metadata': {'name': 'p', 'creationTimestamp': '" made "'}, 'status': {" status "}}"
#define CONTAINER(state)                                                                           \
	"'phase': 'Pending', 'containerStatuses': [{'name': 'jobmanager', " state "}]"

/* With the quotes that JSON has. */
static struct json *parse(const char *text)
{
	cleanup_free char *quoted = xstrdup(text);
	struct json *doc;

	for (char *at = quoted; *at; at++)
		if (*at == '\'')
			*at = '"';
	doc = json_parse(quoted, strlen(quoted), 65536, NULL);
	if (!doc)
		tap_note("%s", quoted);
	return doc;
}

TEST(what_kubernetes_says_is_what_is_told)
{
	static const struct {
		const char *workload, *pods, *word, *text;
	} rows[] = {
		{NULL, "[]", "NoWorkload", "its Deployment or Job does not exist"},
		{DEPLOYMENT("") "}", "[]", "NoPod", "Deployment jm has no Pod yet"},
		{"{'kind': 'Deployment', 'metadata': {'name': 'jm'}, 'spec': {'replicas': 0}}",
		 "[]", "ScaledToZero", "Deployment jm is scaled to 0, or suspended"},
		{"{'kind': 'Job', 'metadata': {'name': 'jm'}, 'spec': {'suspend': true}}", "[]",
		 "ScaledToZero", "Job jm is scaled to 0, or suspended"},
		{DEPLOYMENT("") ", 'status': {'conditions': [{'type': 'Available', 'status': "
				"'False'}, {'type': 'ReplicaFailure', 'status': 'True', 'reason': "
				"'FailedCreate', 'message': 'exceeded quota: small'}]}}",
		 "[]", "FailedCreate",
		 "Deployment jm has no Pod: FailedCreate: exceeded quota: small"},
		{"{'kind': 'Job', 'metadata': {'name': 'jm'}, 'status': {'conditions': [{'type': "
		 "'Failed', 'status': 'True', 'reason': 'BackoffLimitExceeded', 'message': 'm'}]}}",
		 "[]", "BackoffLimitExceeded", "Job jm has no Pod: BackoffLimitExceeded: m"},
		{DEPLOYMENT("") "}", "[" POD("2026-01-01T00:00:00Z", "'phase': 'Pending'") "]",
		 "Pending", "Pod p is Pending; `kubectl describe pod p` has its Events"},
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 "'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': "
			 "'False', 'reason': 'Unschedulable', 'message': '0/3 nodes are available: 3 "
			 "Insufficient cpu.'}]") "]",
		 "Unschedulable",
		 "Pod p is not scheduled: 0/3 nodes are available: 3 Insufficient cpu."},
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 CONTAINER("'state': {'waiting': {'reason': 'ImagePullBackOff', 'message': "
				   "'Back-off pulling image'}}")) "]",
		 "ImagePullBackOff",
		 "Pod p: container jobmanager: ImagePullBackOff: Back-off pulling image"},
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 CONTAINER(
				 "'state': {'waiting': {'reason': 'CrashLoopBackOff'}}, 'lastState': "
				 "{'terminated': {'reason': 'OOMKilled', 'exitCode': 137}}")) "]",
		 "CrashLoopBackOff",
		 "Pod p: container jobmanager: CrashLoopBackOff; it ended with OOMKilled (exit status 137)"},
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 CONTAINER("'state': {'terminated': {'reason': 'Error', 'exitCode': 2, "
				   "'message': 'drey: unknown key'}}")) "]",
		 "Error",
		 "Pod p: container jobmanager ended with exit status 2: drey: unknown key"},
		/* the first container that says something, and a finished one says nothing */
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 "'phase': 'Pending', 'initContainerStatuses': [{'name': 'a', 'state': "
			 "{'terminated': {'reason': 'Completed', 'exitCode': 0}}}, {'name': 'b', 'state': "
			 "{'waiting': {'reason': 'CreateContainerConfigError', 'message': 'no secret'}}}], "
			 "'containerStatuses': [{'name': 'c', 'state': {'waiting': {'reason': "
			 "'PodInitializing'}}}]") "]",
		 "CreateContainerConfigError",
		 "Pod p: container b: CreateContainerConfigError: no secret"},
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 CONTAINER("'state': {'waiting': {'reason': 'ContainerCreating'}}")) "]",
		 "Pending", "Pod p is Pending; `kubectl describe pod p` has its Events"},
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 "'phase': 'Failed', 'reason': 'Evicted', 'message': 'low on memory'") "]",
		 "Evicted", "Pod p: Evicted: low on memory"},
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-01T00:00:00Z",
			 "'phase': 'Running', 'containerStatuses': [{'name': 'x', 'state': {'running': "
			 "{}}}]") "]",
		 "Running", "Pod p runs, and drey has written nothing yet; its log says more"},
		/* the newest counts */
		{DEPLOYMENT("") "}",
		 "[" POD("2026-01-02T00:00:00Z", "'phase': 'Pending'") "," POD(
			 "2026-01-01T00:00:00Z", "'phase': 'Failed', 'reason': 'Evicted'") "]",
		 "Pending", "Pod p is Pending; `kubectl describe pod p` has its Events"},
		/* nothing of this is what it should be */
		{"{'kind': 7, 'spec': [], 'status': 'x'}",
		 "[{'metadata': 7, 'status': {'containerStatuses': [7], 'conditions': {}}}]", "",
		 "Pod  is new; `kubectl describe pod ` has its Events"},
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		cleanup_json struct json *workload =
			rows[i].workload ? parse(rows[i].workload) : NULL;
		cleanup_json struct json *pods = parse(rows[i].pods);
		struct unstarted unstarted = {0};

		unstarted_read(workload, pods, &unstarted);
		CHECK_STR(unstarted.word, rows[i].word);
		CHECK_STR(unstarted.text, rows[i].text);
		unstarted_release(&unstarted);
	}
}

/* An application that runs would be listed as one that has not started. */
TEST(who_has_its_journal_in_a_file_is_not_said_to_have_written_none)
{
	struct kube_target target = {0};
	struct unstarted unstarted = {0};
	struct config config;
	struct err err = {0};

	CHECK_INT(app_read("application: orders\nkubernetes: {journal: none}\n", &config, NULL), ==,
		  0);
	CHECK(!plugin_unstarted_can_tell(&config));
	CHECK_INT(plugin_unstarted_read(&target, &config, &unstarted, &err), ==, -1);
	CHECK_HAS(err.msg, "kubernetes.journal: none");
	CHECK(!unstarted.word);
	config_release(&config);
	CHECK_INT(app_read("application: orders\nkubernetes: {journal: j}\n", &config, NULL), ==,
		  0);
	CHECK(plugin_unstarted_can_tell(&config));
	config_release(&config);
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
