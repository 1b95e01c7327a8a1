#include "run/outputs/http_join.h"

#include "base/mem.h"
#include "base/query.h"
#include "core/handover/join.h"
#include "core/handover/standby.h"
#include "run/config/setup_side.h"
#include "run/driver_internal.h"
#include "run/handover/standing.h"

#define GENERATION "generation" /* the parameter */

/* Without Flink's high availability its TaskManagers need no cluster id to find their JobManager:
 * the name of the application is as good as any. */
static enum join_role role_of(const struct driver *driver, enum side *ret_side)
{
	const struct standby *standby = standing_standby(driver);

	*ret_side = driver->side;
	if (driver->alive)
		return driver->life.fenced ? JOIN_ROLE_STANDBY : JOIN_ROLE_OWNER;
	if (!standby || !standby->read_once)
		return JOIN_ROLE_UNKNOWN;
	/* the reserve's TaskManagers stay as long as it may get the job back */
	if (standby_side(standby, ret_side))
		return JOIN_ROLE_CANDIDATE;
	return standby->handover.state == HANDOVER_DONE ? JOIN_ROLE_HANDED_OVER : JOIN_ROLE_STANDBY;
}

static void driver_join_facts(const struct driver *driver, struct join_facts *ret_facts)
{
	const struct setup *setup = driver->setup;
	enum side side;
	enum join_role role = role_of(driver, &side);

	*ret_facts = (struct join_facts){
		.generation = setup->config.generation,
		.role = role,
		.side = side_name(side),
		.cluster_id =
			setup->ha.on ? setup_cluster_id(setup, side) : setup->config.application,
		/* else Kubernetes would end the TaskManagers of the job that is the application's */
		.job_runs = driver->alive && lifecycle_phase(&driver->life) == PHASE_RUNNING,
		.rehearses = setup->config.handover.rehearse,
	};
}

/* As query_get(); an error is the answer. */
static int asked_generation(const char *query, char **ret_asked, struct http_reply *reply)
{
	struct err why = {0};
	int found = query_get(query, GENERATION, ret_asked, &why);

	if (found < 0) {
		reply->status = 400;
		buf_addf(&reply->body, "%s\n", why.msg);
	}
	return found;
}

void http_join_answer(const struct driver *driver, const char *query, struct http_reply *reply)
{
	cleanup_free char *asked = NULL;
	struct join_facts facts;
	struct join_answer answer;
	int found = asked_generation(query, &asked, reply);

	if (found == 0) {
		reply->status = 400;
		buf_addstr(&reply->body, "the parameter " GENERATION " is missing\n");
	}
	if (found <= 0)
		return;
	driver_join_facts(driver, &facts);
	join_decide(asked, &facts, &answer);
	reply->status = answer.status;
	reply->type = "application/json";
	join_print(&answer, &reply->body);
}

bool http_join_ready(const struct driver *driver, const char *query, struct http_reply *reply)
{
	cleanup_free char *asked = NULL;
	struct join_facts facts;
	int found = asked_generation(query, &asked, reply);

	if (found <= 0)
		return found < 0;
	driver_join_facts(driver, &facts);
	reply->status = join_ready(asked, &facts) ? 200 : 503;
	buf_addstr(&reply->body, join_ready_text(reply->status == 200));
	return true;
}
