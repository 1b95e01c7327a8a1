#include <inttypes.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/commands.h"
#include "cmd/text.h"
#include "core/handover/handover.h"
#include "core/handover/transition.h"

static const struct cli_option options[] = {CLI_CONFIG, CLI_JSON, CLI_END};

static void row(struct out out, const char *name)
{
	out_put(out, "  %-14s ", name);
}

static void print_text(struct out out, const char *before, const char *text)
{
	if (!text || !*text)
		return;
	out_put(out, "%s%s", before, text);
}

/* "orders-jobmanager-7c9-x2, blue, 5f0c/9a1b/7c9". */
static void print_party(struct out out, const char *name, const struct json *party)
{
	const char *pod = json_str(party, "pod");

	if (json_kind(party) != JSON_OBJECT)
		return;
	row(out, name);
	out_put(out, "%s", pod ? pod : "none");
	print_text(out, ", ", json_str(party, "side"));
	print_text(out, ", template ", json_str(party, "template"));
	out_put(out, "\n");
}

static void print_times(struct out out, const struct json *handover)
{
	int64_t now_unix_ms = clock_unix_ms(), since, deadline;
	char ago[CLOCK_TEXT_BYTES];

	since = json_i64_or(handover, "stateUnixMs", 0);
	deadline = json_i64_or(handover, "deadlineUnixMs", 0);
	row(out, "since");
	out_put(out, "%s", since ? clock_ago(since, now_unix_ms, ago) : "not known");
	if (deadline > now_unix_ms)
		out_put(out, ", for at most %" PRId64 " s more",
			(deadline - now_unix_ms + 999) / 1000);
	out_put(out, "\n");
}

static void print_time(struct out out, const char *name, const struct json *transition,
		       const char *member)
{
	char text[CLOCK_TEXT_BYTES];
	int64_t unix_ms = json_i64_or(transition, member, 0);

	if (!unix_ms)
		return;
	row(out, name);
	out_put(out, "%s\n", clock_rfc3339(unix_ms, text));
}

/* A watermark that stands still is all that shows them otherwise. */
static void print_idle(struct out out, const struct json *transition)
{
	int64_t idle = json_i64_or(transition, "idle", 0);

	if (idle <= 0)
		return;
	row(out, "idle");
	out_put(out,
		"%" PRId64
		" subtask%s of the gates here %s no records: blueGreen.idle decides whether they are waited for\n",
		idle, idle == 1 ? "" : "s", idle == 1 ? "has" : "have");
}

/* Both versions run for a while. */
static void print_transition(struct out out, const struct json *transition)
{
	int64_t above = json_i64_or(transition, "above", 0);
	int64_t below = json_i64_or(transition, "below", 0);

	if (json_kind(transition) != JSON_OBJECT)
		return;
	row(out, "transition");
	out_put(out, "%s", json_str(transition, "state"));
	print_text(out, ", waits for: ", json_str(transition, "waitsFor"));
	out_put(out, "\n");
	print_time(out, "cut", transition, "cutUnixMs");
	print_time(out, "watermark", transition, "watermarkUnixMs");
	if (json_kind(json_get(transition, "behindMs")) == JSON_NUMBER) {
		int64_t behind_ms = json_i64_or(transition, "behindMs", 0);

		row(out, "next version");
		out_put(out, "%s", json_str(transition, "candidateState"));
		out_put(out, ", %" PRId64 " ms of event time %s\n",
			behind_ms < 0 ? -behind_ms : behind_ms, behind_ms < 0 ? "ahead" : "behind");
	}
	print_idle(out, transition);
	if (above || below) {
		row(out, "written twice");
		out_put(out, "%s%" PRId64 " records\n",
			json_bool_or(transition, "inexact", false) ? "at least " : "",
			above + below);
	}
	if (json_str(transition, "replay")) {
		row(out, "starts again");
		out_put(out, "%s: what was written since then is written twice\n",
			json_str(transition, "replay"));
	}
}

/* The cut is in force: no other version can follow an owner that is lost. */
static void print_only_follower(struct out out, const struct json *handover)
{
	const char *state = json_str(json_get(handover, "transition"), "state");
	const char *template = json_str(json_get(handover, "from"), "template");
	int of = 0;

	while (of < TRANSITION_STATES && !xstris(state, transition_state_words[of]))
		of++;
	if (!template || !transition_is_cut((enum transition_state)of))
		return;
	row(out, "if lost");
	print_text(out, "only a Pod of template ", template);
	out_put(out, " follows the owner; `kubectl rollout undo` brings it back\n");
}

/* It stays until a person has seen it, also while the version is offered the job again. */
static void print_returned(struct out out, const struct json *handover)
{
	int64_t unix_ms = json_i64_or(handover, "returnedUnixMs", 0);
	const char *state = json_str(handover, "state");
	char ago[CLOCK_TEXT_BYTES];

	if (!json_str(handover, "returned") ||
	    (state && !strcmp(state, handover_state_name(HANDOVER_RETURNED))))
		return;
	row(out, "returned");
	out_put(out, "%s", unix_ms ? clock_ago(unix_ms, clock_unix_ms(), ago) : "before");
	print_text(out, ": ", json_str(handover, "returned"));
	out_put(out, "\n");
}

static bool is_owner(const struct json *status)
{
	const char *role = json_str(status, "role");

	return role && !strcmp(role, role_name(ROLE_OWNER));
}

static void print_candidate(struct out out, const struct json *candidate, const char *name)
{
	if (json_kind(candidate) != JSON_OBJECT)
		return;
	row(out, name);
	out_put(out, "%s", json_str(candidate, "state"));
	out_put(out, "%s, %" PRId64 " TaskManagers, %" PRId64 " free slots",
		json_bool_or(candidate, "mainHeld", false) ? ", its main() is held" : "",
		json_i64_or(candidate, "taskManagers", 0), json_i64_or(candidate, "slotsFree", 0));
	print_text(out, ": ", json_str(candidate, "why"));
	out_put(out, "\n");
}

static void print_handover(struct out out, const struct json *status)
{
	const struct json *handover = json_get(status, "handover");
	bool some = json_kind(handover) == JSON_OBJECT;

	out_put(out, "%s: ", json_str(status, "application"));
	if (some) {
		out_put(out, "hand-over %s is %s", json_str(handover, "id"),
			json_str(handover, "state"));
		print_text(out, ": ", json_str(handover, "why"));
	} else {
		out_put(out, "there was no hand-over");
	}
	out_put(out, "\n");
	row(out, "role");
	out_put(out, "%s\n", json_str(status, "role"));
	print_party(out, "owner", json_get(status, "owner"));
	if (some) {
		print_party(out, "from", json_get(handover, "from"));
		print_party(out, "to", json_get(handover, "to"));
		print_times(out, handover);
		print_transition(out, json_get(handover, "transition"));
		print_only_follower(out, handover);
		if (json_str(handover, "savepoint")) {
			row(out, "savepoint");
			out_put(out, "%s\n", json_str(handover, "savepoint"));
		}
		if (json_i64_or(handover, "tries", 0)) {
			row(out, "failed");
			out_put(out, "%" PRId64 " times to this version\n",
				json_i64_or(handover, "tries", 0));
		}
	}
	print_returned(out, handover);
	print_candidate(out, json_get(status, "candidate"),
			is_owner(status) ? "candidate" : "this pod");
}

static int status_of(const struct json *status)
{
	const struct json *handover = json_get(status, "handover");
	const char *state = json_str(handover, "state");

	if (state && !strcmp(state, handover_state_name(HANDOVER_NONE)) &&
	    json_str(handover, "returned"))
		return CLI_HELD;
	if (!state || !strcmp(state, handover_state_name(HANDOVER_NONE)) ||
	    !strcmp(state, handover_state_name(HANDOVER_DONE)))
		return CLI_OK;
	return !strcmp(state, handover_state_name(HANDOVER_REFUSED)) ||
			       !strcmp(state, handover_state_name(HANDOVER_RETURNED))
		       ? CLI_HELD
		       : CLI_FAILED;
}

static int handover_run(const struct cli *cli)
{
	struct client client;
	int status = client_open(&client, cli);

	if (status != CLI_OK)
		return status;
	status = client_status(&client);
	if (status == CLI_OK && !json_get(client.status, "role")) {
		status = cli_fail(
			cli, CLI_USAGE,
			"hand-overs are off: set handover.mode to surge or blueGreen to use them");
	} else if (status == CLI_OK) {
		status = status_of(client.status);
		if (cli_has(cli, "json"))
			client_print_json(&client, status);
		else
			print_handover(cli->out, client.status);
	}
	client_close(&client);
	return status;
}

const struct cli_command cmd_handover = {
	.name = "handover",
	.summary = "show the hand-over to another pod that is under way, or the last one",
	.description =
		"Asks the drey that is running here; any pod of the application may be asked. It shows who owns\n"
		"the application, which pod the job is on its way to, since when, and what is waited for.\n"
		"--json prints the status document, with the members role, owner, handover and candidate.\n",
	.options = options,
	.statuses = "0  none is under way; the last one is done\n"
		    "1  one is under way\n"
		    "2  wrong usage or configuration, or hand-overs are off\n"
		    "4  the last one was returned or refused; the first line says why\n"
		    "5  no running drey found, or it did not respond\n",
	.example = "kubectl exec deploy/orders-jobmanager -- drey handover\n",
	.run = handover_run,
};
