#include "cmd/remote_transition.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "cmd/client.h"
#include "cmd/consent.h"
#include "cmd/remote.h"
#include "core/handover/gate.h"
#include "core/handover/transition.h"

/* ---- what the journal says ---- */

static bool is_promoted(const struct transition *transition, int64_t at_unix_ms)
{
	/* another person may have promoted it */
	return transition->promoted && (!at_unix_ms || transition->at_unix_ms == at_unix_ms);
}

static enum wish_step judge_acknowledgement(const struct journal *journal, const char *nonce,
					    const char **ret_text)
{
	*ret_text = "no state was lost";
	if (!nonce)
		return journal->loss.unix_ms ? WISH_ASK : WISH_REFUSED;
	return journal_is_consumed(journal, nonce) ? WISH_DONE : WISH_WAIT;
}

enum wish_step remote_wish_judge(const struct journal *journal, const struct wish_request *request,
				 const char **ret_text)
{
	const struct transition *transition = &journal->handover.transition;
	enum transition_state state = transition_of(&journal->handover);
	bool done =
		request->abort ? transition->aborted : is_promoted(transition, request->at_unix_ms);

	if (request->acknowledge)
		return judge_acknowledgement(journal, request->nonce, ret_text);
	*ret_text = request->abort ? transition_refuses_abort(state)
				   : transition_refuses_promote(state);
	if (!request->nonce)
		return *ret_text ? WISH_REFUSED : WISH_ASK;
	if (!journal_is_consumed(journal, request->nonce))
		return WISH_WAIT;
	if (done)
		return WISH_DONE;
	if (!*ret_text)
		*ret_text =
			request->at_unix_ms
				? "--at is in the past: records of that time, or later, were written already; or another transition has begun meanwhile"
				: "another transition has begun meanwhile";
	return WISH_REFUSED;
}

/* ---- the request ---- */

struct wish {
	struct remote *remote;
	struct wish_request request;
	const char *at; /* of a promotion, RFC 3339; NULL = the cut as it comes */
	char *nonce;
};

static const char *key_of(const struct wish *wish)
{
	return desired_keys[wish->request.acknowledge ? DESIRED_KEY_ACKNOWLEDGE
			    : wish->request.abort     ? DESIRED_KEY_ABORT
						      : DESIRED_KEY_PROMOTE];
}

static const char *done_word(const struct wish *wish)
{
	if (wish->request.acknowledge)
		return "acknowledged";
	return wish->request.abort ? "given up" : "promoted";
}

static int send_wish(struct wish *wish)
{
	const struct cli *cli = wish->remote->cli;
	cleanup_json struct json *keys = json_object();
	cleanup_free char *text = NULL;
	int status = client_nonce(cli, &wish->nonce);

	if (status != CLI_OK)
		return status;
	text = xasprintf("%s%s%s", wish->nonce, wish->at ? " " : "", wish->at ? wish->at : "");
	json_add_str(keys, key_of(wish), text);
	status = remote_ask_all(wish->remote, keys);
	if (status != CLI_OK)
		return status;
	wish->request.nonce = wish->nonce;
	return cli_has(cli, "no-wait") ? CLI_OK : CLIENT_CONTINUE;
}

/* CLIENT_CONTINUE, or the exit status. */
static int ask_wish(struct wish *wish)
{
	const struct remote *remote = wish->remote;
	int status = CLI_OK;

	if (consent_dry_run(remote->cli))
		return consent_would(remote->cli, "set %s in ConfigMap %s", key_of(wish),
				     remote->setup.control);
	if (wish->request.abort)
		status = consent_ask(remote->cli, CONSENT_ABORT);
	return status == CLI_OK ? send_wish(wish) : status;
}

/* CLIENT_CONTINUE, or the exit status. */
static int wish_step(void *arg, const struct journal *journal)
{
	struct wish *wish = arg;
	const struct cli *cli = wish->remote->cli;
	const char *text = NULL;

	switch (remote_wish_judge(journal, &wish->request, &text)) {
	case WISH_ASK:
		return ask_wish(wish);
	case WISH_DONE:
		out_put(cli->out, "%s\n", done_word(wish));
		return CLI_OK;
	case WISH_REFUSED:
		return cli_fail(cli, CLI_FAILED, "not %s: %s%s", done_word(wish), text,
				wish->request.nonce ? "" : "; nothing was changed");
	default:
		remote_report(wish->remote, "waiting for drey to take the request");
		return CLIENT_CONTINUE;
	}
}

static int wish_gives_up(void *arg, int status)
{
	const struct wish *wish = arg;
	const struct remote *remote = wish->remote;
	cleanup_free char *place = remote_asked_in(remote);
	char time[CLOCK_TEXT_BYTES];

	if (status == CLI_ABSENT)
		return status;
	clock_human(remote->timeout_ms, time);
	if (!wish->request.nonce)
		return cli_fail(remote->cli, status, "gave up after %s; nothing was requested",
				time);
	return cli_fail(remote->cli, status, "gave up waiting after %s; the request remains in %s",
			time, place);
}

static int wish_work(struct remote *remote, void *arg)
{
	static const struct remote_goal goal = {.step = wish_step, .gives_up = wish_gives_up};
	struct wish *wish = arg;

	wish->remote = remote;
	return remote_follow(remote, &goal, wish);
}

static int wish_run(const struct cli *cli, struct wish *wish)
{
	int status = remote_run(cli, wish_work, wish);

	free(wish->nonce);
	return status;
}

int remote_promote(const struct cli *cli)
{
	struct wish wish = {.at = cli_value(cli, "at")};
	int64_t *at_unix_ms = &wish.request.at_unix_ms;
	struct err err = {0};

	/* one invalid key makes drey reject the others, too */
	if (wish.at && clock_parse_rfc3339(wish.at, at_unix_ms, &err) < 0)
		return cli_fail(cli, CLI_USAGE, "--at: %s", err.msg);
	if (*at_unix_ms > GATE_MAX_TIME_MS)
		return cli_fail(cli, CLI_USAGE, "--at: the time is too late");
	return wish_run(cli, &wish);
}

int remote_abort(const struct cli *cli)
{
	return wish_run(cli, &(struct wish){.request.abort = true});
}

int remote_acknowledge(const struct cli *cli)
{
	return wish_run(cli, &(struct wish){.request.acknowledge = true});
}
