#include "core/desired_inputs.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define TOKEN_REUSED "restore: its token belongs to another request; use a new token"
#define TOKEN_USED                                                                                 \
	"restore: the annotation " DESIRED_USED_ANNOTATION                                         \
	" says that it was carried out, but the journal does not know it; to repeat it, use a new token"
#define NOT_READ "not read yet"
#define ENDS     "drey is exiting" /* before it was read */

/* ---- readings ---- */

static void take_reading(struct desired_input *input, const struct desired *desired, bool absent)
{
	desired_release(&input->desired);
	desired_copy(&input->desired, desired);
	if (absent) {
		input->seen = false;
	} else if (!input->seen && !desired->bad.kind) {
		input->seen = true;
		xstrset(&input->standing, desired->restore.token);
	}
}

bool desired_inputs_read(struct desired_inputs *inputs, enum desired_from from,
			 const struct desired *desired, bool absent, const struct err *why)
{
	struct desired_input *input = &inputs->from[from];
	bool resource = from == DESIRED_FROM_RESOURCE, changed;

	if (resource)
		inputs->denied = false;
	if (!desired) {
		xstrset(&input->error, why->msg);
		return false;
	}
	changed = !input->known || !desired_same_texts(desired, &input->desired);
	/* a resource is rejected as a whole: its last valid spec stays in force. For the other two
	 * an invalid reading replaces the last one, because it may contain more */
	xstrset(&input->error, resource && desired->bad.kind ? desired->bad.msg : NULL);
	if (!input->error)
		take_reading(input, desired, absent);
	else if (desired->do_not_restart)
		desired_set_do_not_restart(&input->desired);
	input->known = true;
	input->absent = absent;
	return changed;
}

void desired_inputs_deny(struct desired_inputs *inputs)
{
	inputs->denied = !inputs->from[DESIRED_FROM_RESOURCE].known;
}

void desired_inputs_load(struct desired_inputs *inputs, struct desired_seen *seen)
{
	desired_seen_release(&inputs->seen);
	inputs->seen = *seen;
	*seen = (struct desired_seen){0};
	inputs->loaded = true;
}

static void release_input(struct desired_input *input)
{
	desired_release(&input->desired);
	free(input->standing);
	free(input->error);
}

void desired_inputs_release(struct desired_inputs *inputs)
{
	for (int i = 0; i < DESIRED_FROM_COUNT; i++)
		release_input(&inputs->from[i]);
	desired_seen_release(&inputs->seen);
	free(inputs->for_other);
	*inputs = (struct desired_inputs){0};
}

/* ---- what is known ---- */

/* It was read, or drey continues without it. */
static bool resource_is_settled(const struct desired_inputs *inputs)
{
	const struct desired_input *resource = &inputs->from[DESIRED_FROM_RESOURCE];

	return !resource->configured || resource->known ||
	       (inputs->denied && inputs->loaded && !inputs->seen.resource);
}

/* NULL: nothing to report. */
static const char *resource_trouble(const struct desired_inputs *inputs)
{
	const struct desired_input *resource = &inputs->from[DESIRED_FROM_RESOURCE];

	return resource->known || !resource_is_settled(inputs) ? resource->error : NULL;
}

bool desired_inputs_are_ready(const struct desired_inputs *inputs)
{
	return inputs->loaded &&
	       (resource_is_settled(inputs) || inputs->from[DESIRED_FROM_RESOURCE].error);
}

bool desired_inputs_may_decide(const struct desired_inputs *inputs)
{
	const struct desired_input *directory = &inputs->from[DESIRED_FROM_DIRECTORY];

	return !directory->configured || (directory->known && inputs->loaded);
}

char *desired_inputs_unknown(const struct desired_inputs *inputs)
{
	const struct desired_input *map = &inputs->from[DESIRED_FROM_MAP];
	const struct desired_input *resource = &inputs->from[DESIRED_FROM_RESOURCE];

	if (map->configured && !map->known)
		return xasprintf("(set kubernetes.control: none to run without the ConfigMap): %s",
				 map->error ? map->error : ENDS);
	if (!resource_is_settled(inputs))
		return xasprintf(
			"(set kubernetes.resource: none to run without the custom resource): %s",
			resource->error ? resource->error : ENDS);
	return NULL;
}

const struct desired *desired_inputs_given(const struct desired_inputs *inputs,
					   enum desired_from from)
{
	const struct desired_input *input = &inputs->from[from];

	return input->known && !input->absent ? &input->desired : NULL;
}

const char *desired_inputs_refused(const struct desired_inputs *inputs)
{
	const struct desired *resource = &inputs->from[DESIRED_FROM_RESOURCE].desired;

	if (inputs->reused && resource->text[DESIRED_KEY_RESTORE])
		return TOKEN_REUSED;
	return inputs->refused.why && resource->text[inputs->refused.key] ? inputs->refused.why
									  : NULL;
}

/* ---- all inputs as one ---- */

static void not_known(struct desired *desired, const struct desired_input *input)
{
	err_set(&desired->bad, ERR_RETRY, 0, "%s", input->error ? input->error : NOT_READ);
}

/* True: the request was there at the first reading of one of the inputs. */
static bool is_standing(const struct desired_inputs *inputs, const char *token)
{
	for (int i = 0; i < DESIRED_FROM_COUNT; i++)
		if (token && xstrsame(inputs->from[i].standing, token))
			return true;
	return false;
}

/* False: no desired state is known; *ret_desired has what counts in any case. */
static bool join(const struct desired_inputs *inputs, struct desired *ret_desired)
{
	const struct desired_input *directory = &inputs->from[DESIRED_FROM_DIRECTORY];
	const struct desired_input *map = &inputs->from[DESIRED_FROM_MAP];
	const struct desired_input *resource = &inputs->from[DESIRED_FROM_RESOURCE];
	bool known = true;

	*ret_desired = (struct desired){0};
	if (map->configured && !map->known) {
		known = false;
		not_known(ret_desired, map);
	} else if (map->configured && !map->absent) {
		desired_copy(ret_desired, &map->desired);
	} else {
		desired_copy(ret_desired, &directory->desired);
		known = !directory->configured || directory->known;
	}
	if (!resource_is_settled(inputs) && !ret_desired->bad.kind) {
		known = false;
		not_known(ret_desired, resource);
	}
	desired_overlay(ret_desired, &resource->desired);
	if (directory->desired.do_not_restart && !ret_desired->do_not_restart)
		desired_set_do_not_restart(ret_desired);
	ret_desired->restore_standing = is_standing(inputs, ret_desired->restore.token);
	return known;
}

/* ---- what follows ---- */

/* Remember whether there is a custom resource, or why drey continues without one. */
static void note_resource(struct desired_inputs *inputs, struct desired_news *news)
{
	const struct desired_input *resource = &inputs->from[DESIRED_FROM_RESOURCE];
	struct desired_seen *seen = &inputs->seen;
	const char *denied = inputs->denied && resource_is_settled(inputs) ? resource->error : NULL;
	bool there = !denied && !resource->absent;

	if (!resource->known && !denied)
		return;
	news->denied = inputs->told_denied ? NULL : denied;
	inputs->told_denied = denied;
	/* a denied one is remembered by its reason only: it is unknown whether it exists */
	if (xstrsame(denied, seen->resource_error) && (denied || seen->resource == there))
		return;
	seen->resource = there;
	xstrset(&seen->resource_error, denied);
	news->save = true;
}

/* A request that comes with another version, in the same step, is for the drey of that version:
 * this one neither rejects it because the job is running, nor consumes it. */
static void leave_to_other(struct desired_inputs *inputs, const char *generation,
			   struct desired_news *news)
{
	struct desired *desired = &news->desired;

	if (!desired_is_for_other(desired, generation))
		return;
	if (!xstrsame(inputs->for_other, desired->restore.token))
		xstrset(&news->left_to, desired->restore_generation);
	xstrset(&inputs->for_other, desired->restore.token);
	desired_drop_restore(desired);
}

static const char *trouble(const struct desired_inputs *inputs, const struct desired *desired)
{
	const char *map = inputs->from[DESIRED_FROM_MAP].error;
	const char *directory = inputs->from[DESIRED_FROM_DIRECTORY].error;
	const char *resource = resource_trouble(inputs);

	if (map || directory || resource)
		return map ? map : directory ? directory : resource;
	if (desired->bad.kind)
		return desired->bad.msg;
	return inputs->refused.why ? inputs->refused.why : inputs->used ? TOKEN_USED : NULL;
}

void desired_inputs_judge(struct desired_inputs *inputs, const struct lifecycle *life,
			  struct desired_news *ret_news)
{
	struct desired *desired = &ret_news->desired;
	const struct journal *journal = &life->journal;
	struct desired_refusal refused;
	bool followed, changed;

	*ret_news = (struct desired_news){0};
	note_resource(inputs, ret_news);
	followed = join(inputs, desired);
	leave_to_other(inputs, life->config->generation, ret_news);
	inputs->reused = followed && !desired->bad.kind && desired_reuses_token(desired, journal);
	inputs->used = followed && !desired->bad.kind && desired_is_used(desired) &&
		       !journal_is_consumed(journal, desired->restore.token);
	if (inputs->reused)
		err_set(&desired->bad, ERR_CONFIG, 0, TOKEN_REUSED);
	ret_news->changed = desired_compare(desired, &inputs->seen, life, !inputs->taken,
					    &ret_news->event, &refused);
	inputs->taken |= followed;
	changed = desired_seen_update(&inputs->seen, desired);
	ret_news->save |= changed;
	/* a request that was refused is reported until something changes */
	if (changed || refused.why)
		inputs->refused = refused;
	ret_news->error = trouble(inputs, desired);
}

void desired_news_release(struct desired_news *news)
{
	desired_release(&news->desired);
	free(news->left_to);
	*news = (struct desired_news){0};
}
