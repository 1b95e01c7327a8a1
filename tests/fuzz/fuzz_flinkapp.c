/* Any JSON as a FlinkApplication, and as the Deployment or Job of a pod: what was read is whole, a spec is followed or
 * refused in words, a do-not-restart in it is never lost, and the times of any conditions can be taken over. */
#include <string.h>

#include "core/report/conditions.h"
#include "kube/flinkapp.h"
#include "kube/workload.h"
#include "must.h"
#include "run/inputs/resource_desired.h"

static void check_spec(const struct json *spec)
{
	const struct json *hold = json_get(spec, "doNotRestart");
	struct desired desired;

	resource_desired(spec, &desired);
	must(!desired.bad.kind || desired.bad.msg[0]);
	if (json_kind(hold) == JSON_BOOL && json_is_true(hold))
		must(desired.do_not_restart);
	if (!desired.bad.kind)
		must(!desired.restore.token == (desired.restore.kind == RESTORE_NONE));
	desired_release(&desired);
}

static void check_conditions(const struct json *array)
{
	struct conditions conditions = {0};

	conditions_seed(&conditions, array);
	for (int i = 0; i < CONDITION_COUNT; i++)
		must(conditions.seed[i].status <= TRUTH_TRUE);
}

static void check_workload(const struct json *object, enum workload_kind kind)
{
	struct workload workload = {0};
	struct err err = {0};

	if (workload_decode(object, kind, "orders", &workload, &err) == 0)
		must(workload.uid && workload.replicas >= 0);
	else
		must(err.kind == ERR_FORMAT && err.msg[0]);
	workload_release(&workload);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_json struct json *object =
		json_parse((const char *)data, size_bytes, 1u << 20, NULL);
	struct flinkapp app = {0};
	struct err err = {0};

	if (!object)
		return 0;
	if (flinkapp_decode(object, "orders", &app, &err) == 0) {
		must(app.name && app.uid && app.resource_version && app.generation > 0);
		check_spec(app.spec);
		check_conditions(app.conditions);
	} else {
		must(err.kind == ERR_FORMAT && err.msg[0]);
	}
	if (json_kind(object) == JSON_OBJECT)
		check_spec(object);
	flinkapp_release(&app);
	check_workload(object, WORKLOAD_DEPLOYMENT);
	check_workload(object, WORKLOAD_JOB);
	return 0;
}
