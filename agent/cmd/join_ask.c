#include "cmd/join_ask.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lane.h"
#include "base/mem.h"

#define HOST_BYTES 320

/* What the lane works on; its own copy of everything, because a lookup that hangs is left behind. */
struct lookup {
	struct join_ask *ask;
	char **names;
	int *first; /* of each name in addresses */
	struct err *errors;
	size_t name_count;
	int port, count;
	bool too_many;
	struct address addresses[JOIN_ASK_ADDRESSES];
};

/* A call under way. */
struct slot {
	struct join_ask *ask;
	struct http_get *get;
	int address; /* index */
};

struct join_ask {
	struct loop *loop;
	struct workers *workers;
	struct lane *lane;
	struct loop_timer *next; /* calls that have ended are freed outside of their callbacks */
	struct join_ask_call call;
	struct lookup *lookup;
	struct slot slots[JOIN_ASK_AT_ONCE];
	const char *target;
	size_t max_bytes;
	int asked, answered; /* addresses of this round */
	bool busy;
};

/* ---- names to addresses ---- */

static struct lookup *lookup_new(struct join_ask *ask, const char *const *names, size_t count,
				 int port)
{
	struct lookup *lookup = xcalloc(1, sizeof(*lookup));

	lookup->ask = ask;
	lookup->names = xcalloc(count, sizeof(*lookup->names));
	lookup->first = xcalloc(count, sizeof(*lookup->first));
	lookup->errors = xcalloc(count, sizeof(*lookup->errors));
	for (size_t i = 0; i < count; i++)
		lookup->names[i] = xstrdup(names[i]);
	lookup->name_count = count;
	lookup->port = port;
	return lookup;
}

static void lookup_free(struct lookup *lookup)
{
	for (size_t i = 0; i < lookup->name_count; i++)
		free(lookup->names[i]);
	free(lookup->names);
	free(lookup->first);
	free(lookup->errors);
	free(lookup);
}

/* On the lane. */
static void lookup_work(void *arg)
{
	struct lookup *lookup = arg;

	lookup->count = 0;
	lookup->too_many = false;
	for (size_t i = 0; i < lookup->name_count; i++) {
		int room = JOIN_ASK_ADDRESSES - lookup->count, found;

		lookup->first[i] = lookup->count;
		lookup->errors[i].kind = ERR_NONE;
		found = addresses_find(lookup->names[i], lookup->port,
				       lookup->addresses + lookup->count, room, &lookup->errors[i]);
		if (found > room)
			lookup->too_many = true;
		if (found > 0)
			lookup->count += found < room ? found : room;
	}
}

static const char *asked_name(const struct lookup *lookup, int address)
{
	size_t i = lookup->name_count - 1;

	while (i && lookup->first[i] > address)
		i--;
	return lookup->names[i];
}

/* ---- a round ---- */

static void slot_answered(void *arg, const struct http_get_answer *answer, const struct err *why)
{
	struct slot *slot = arg;
	struct join_ask *ask = slot->ask;
	const struct address *address = &ask->lookup->addresses[slot->address];
	char from[ADDRESS_TEXT_BYTES];

	ask->answered++;
	slot->address = -1;
	loop_timer_set(ask->next, 0);
	ask->call.answered(ask->call.arg, address_text(address, from), answer, why);
}

static void slot_start(struct join_ask *ask, struct slot *slot)
{
	char host[HOST_BYTES];
	struct http_get_request request = {
		.address = &ask->lookup->addresses[ask->asked],
		.host = host,
		.target = ask->target,
		.timeout_ms = JOIN_ASK_TIMEOUT_MS,
		.max_bytes = ask->max_bytes,
	};
	const char *name = asked_name(ask->lookup, ask->asked);
	const char *colon = strchr(name, ':');

	snprintf(host, sizeof(host), colon ? "[%s]:%d" : "%s:%d", name, ask->lookup->port);
	slot->address = ask->asked++;
	slot->get = http_get_new(ask->loop, &request, slot_answered, slot);
}

/* Free what has ended, begin what has not begun. */
static void round_next(void *arg)
{
	struct join_ask *ask = arg;

	for (int i = 0; i < JOIN_ASK_AT_ONCE; i++) {
		struct slot *slot = &ask->slots[i];

		if (slot->get && slot->address < 0) {
			http_get_free(slot->get);
			slot->get = NULL;
		}
		if (!slot->get && ask->asked < ask->lookup->count)
			slot_start(ask, slot);
	}
	if (ask->busy && ask->answered == ask->lookup->count) {
		ask->busy = false;
		ask->call.done(ask->call.arg);
	}
}

static void lookup_done(void *arg, bool ran)
{
	struct lookup *lookup = arg;
	struct join_ask *ask = lookup->ask;
	struct err why = {0};

	if (!ran || !ask->busy)
		return;
	for (size_t i = 0; i < lookup->name_count; i++)
		if (lookup->errors[i].kind)
			ask->call.answered(ask->call.arg, lookup->names[i], NULL,
					   &lookup->errors[i]);
	if (lookup->too_many) {
		err_set(&why, ERR_CONFIG, 0, "more than %d addresses", JOIN_ASK_ADDRESSES);
		ask->call.answered(ask->call.arg, "the rest", NULL, &why);
	}
	round_next(ask);
}

void join_ask_begin(struct join_ask *ask)
{
	ask->busy = true;
	ask->asked = ask->answered = 0;
	lane_submit(ask->lane, lookup_work, lookup_done, ask->lookup);
}

struct join_ask *join_ask_new(struct loop *loop, const char *const *names, size_t name_count,
			      int port, const char *target, size_t max_bytes,
			      const struct join_ask_call *call, struct err *err)
{
	struct workers *workers = workers_new(loop, err);
	struct join_ask *ask;

	if (!workers)
		return NULL;
	ask = xcalloc(1, sizeof(*ask));
	ask->loop = loop;
	ask->workers = workers;
	ask->lane = lane_new(workers, "names");
	ask->next = loop_timer_new(loop, round_next, ask);
	ask->call = *call;
	ask->lookup = lookup_new(ask, names, name_count, port);
	ask->target = target;
	ask->max_bytes = max_bytes;
	for (int i = 0; i < JOIN_ASK_AT_ONCE; i++)
		ask->slots[i] = (struct slot){.ask = ask, .address = -1};
	return ask;
}

void join_ask_free(struct join_ask *ask)
{
	if (!ask)
		return;
	ask->busy = false;
	for (int i = 0; i < JOIN_ASK_AT_ONCE; i++)
		http_get_free(ask->slots[i].get);
	loop_timer_free(ask->next);
	/* a name server that hangs must not delay the end; its lookup is left behind */
	if (lane_free(ask->lane, 0))
		lookup_free(ask->lookup);
	workers_free(ask->workers);
	free(ask);
}
