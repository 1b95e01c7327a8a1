#include "core/rescale.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/murmur3.h"
#include "core/slots.h"

#define TEXT_MAX_BYTES 400 /* of lists for people */

/* ---- what is wanted ---- */

void parallelism_release(struct parallelism *wanted)
{
	for (size_t i = 0; i < wanted->vertex_count; i++)
		free(wanted->vertices[i].vertex);
	free(wanted->vertices);
	free(wanted->nonce);
	*wanted = (struct parallelism){0};
}

void parallelism_copy(struct parallelism *to, const struct parallelism *from)
{
	*to = (struct parallelism){.nonce = xstrdup(from->nonce),
				   .reset = from->reset,
				   .merge = from->merge,
				   .all = from->all};
	for (size_t i = 0; i < from->vertex_count; i++)
		parallelism_set(to, from->vertices[i].vertex, from->vertices[i].parallelism);
}

void parallelism_set(struct parallelism *wanted, const char *vertex, int64_t parallelism)
{
	for (size_t i = 0; i < wanted->vertex_count; i++)
		if (!strcmp(wanted->vertices[i].vertex, vertex)) {
			wanted->vertices[i].parallelism = parallelism;
			return;
		}
	wanted->vertices = xreallocarray(wanted->vertices, wanted->vertex_count + 1,
					 sizeof(*wanted->vertices));
	wanted->vertices[wanted->vertex_count++] =
		(struct vertex_parallelism){.vertex = xstrdup(vertex), .parallelism = parallelism};
}

void parallelism_after(struct parallelism *to, const struct parallelism *before,
		       const struct parallelism *request)
{
	static const struct parallelism nothing;

	parallelism_copy(to, request->merge && !request->reset ? before : &nothing);
	to->reset = to->merge = false;
	xstrset(&to->nonce, request->nonce);
	if (request->reset)
		return;
	if (request->all)
		to->all = request->all;
	for (size_t i = 0; i < request->vertex_count; i++)
		parallelism_set(to, request->vertices[i].vertex, request->vertices[i].parallelism);
}

bool parallelism_is_empty(const struct parallelism *wanted)
{
	return !wanted->all && !wanted->vertex_count;
}

static bool has_all_of(const struct parallelism *a, const struct parallelism *b)
{
	for (size_t i = 0; i < b->vertex_count; i++) {
		size_t at = 0;

		while (at < a->vertex_count &&
		       strcmp(a->vertices[at].vertex, b->vertices[i].vertex) != 0)
			at++;
		if (at == a->vertex_count ||
		    a->vertices[at].parallelism != b->vertices[i].parallelism)
			return false;
	}
	return true;
}

bool parallelism_same(const struct parallelism *a, const struct parallelism *b)
{
	return a->reset == b->reset && a->all == b->all && a->vertex_count == b->vertex_count &&
	       has_all_of(a, b);
}

/* ---- what follows for the job ---- */

/* The id of a vertex is that of its first operator. */
static bool is_named(const struct rescale_vertex *vertex, const char *name)
{
	char hex[MURMUR3_HEX_BYTES];

	murmur3_hex(name, strlen(name), hex);
	return !strcmp(vertex->id, hex) || !strcmp(vertex->id, name);
}

static const struct vertex_parallelism *find_named(const struct parallelism *wanted,
						   const struct rescale_vertex *vertex)
{
	for (size_t i = 0; i < wanted->vertex_count; i++)
		if (is_named(vertex, wanted->vertices[i].vertex))
			return &wanted->vertices[i];
	return NULL;
}

static void add_item(struct buf *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add_item(struct buf *to, const char *fmt, ...)
{
	cleanup_free char *item = NULL;
	va_list ap;

	if (to->len_bytes > TEXT_MAX_BYTES) {
		if (strcmp(to->data + to->len_bytes - 3, "...") != 0)
			buf_addstr(to, ", ...");
		return;
	}
	va_start(ap, fmt);
	item = xvasprintf(fmt, ap);
	va_end(ap);
	buf_addf(to, "%s%s", to->len_bytes ? ", " : "", item);
}

/* "count -> sink: Writer (b717...)", because that is what a person can name. */
static char *list_vertices(const struct rescale_vertex *vertices, size_t count)
{
	struct buf text = BUF_INIT;

	buf_addstr(&text, "");
	for (size_t i = 0; i < count; i++)
		add_item(&text, "%s (%s)", vertices[i].name, vertices[i].id);
	return buf_steal(&text);
}

/* Those that were named and are not there. */
static void unknown_vertices(const struct parallelism *wanted,
			     const struct rescale_vertex *vertices, size_t count, struct buf *to)
{
	for (size_t i = 0; i < wanted->vertex_count; i++) {
		size_t at = 0;

		while (at < count && !is_named(&vertices[at], wanted->vertices[i].vertex))
			at++;
		if (at == count)
			add_item(to, "the job has no vertex '%s'", wanted->vertices[i].vertex);
	}
}

static void plan_vertex(const struct parallelism *wanted, const struct rescale_vertex *vertex,
			struct rescale_bounds *to, struct buf *problems)
{
	const struct vertex_parallelism *named = find_named(wanted, vertex);
	int64_t number = named ? named->parallelism : wanted->all;

	*to = (struct rescale_bounds){vertex->lower, vertex->upper};
	if (!number)
		return;
	if (vertex->max_parallelism > 0 && number > vertex->max_parallelism) {
		add_item(problems,
			 "the maximum parallelism of %s is %" PRId64 ", not %" PRId64
			 " (--vertex %s=N)",
			 vertex->name, vertex->max_parallelism, number,
			 named ? named->vertex : vertex->id);
		number = vertex->max_parallelism;
	}
	*to = (struct rescale_bounds){1, number};
}

static char *text_or_null(struct buf *text)
{
	return text->len_bytes ? buf_steal(text) : NULL;
}

void rescale_plan(const struct parallelism *wanted, const struct rescale_vertex *vertices,
		  size_t count, bool strict, struct rescale_plan *ret_plan)
{
	struct rescale_plan plan = {.verdict = RESCALE_SAME, .count = count};
	cleanup_buf struct buf unknown = BUF_INIT, problems = BUF_INIT;

	plan.bounds = xcalloc(count + 1, sizeof(*plan.bounds));
	for (size_t i = 0; i < count; i++) {
		plan_vertex(wanted, &vertices[i], &plan.bounds[i], &problems);
		if (plan.bounds[i].upper != vertices[i].upper ||
		    plan.bounds[i].lower != vertices[i].lower)
			plan.verdict = RESCALE_APPLY;
	}
	/* one request has no more, but they add up */
	if (strict && wanted->vertex_count > RESCALE_MAX_VERTICES)
		add_item(&problems,
			 "more than %d vertices are named; use --parallelism or --reset first",
			 RESCALE_MAX_VERTICES);
	unknown_vertices(wanted, vertices, count, &unknown);
	if (unknown.len_bytes && strict) {
		cleanup_free char *list = list_vertices(vertices, count);

		add_item(&problems, "%s; it has %s", buf_str(&unknown), list);
	} else if (unknown.len_bytes) {
		add_item(&problems, "%s", buf_str(&unknown));
	}
	if (problems.len_bytes && strict)
		plan.verdict = RESCALE_REFUSED;
	plan.why = text_or_null(&problems);
	*ret_plan = plan;
}

void rescale_plan_release(struct rescale_plan *plan)
{
	free(plan->bounds);
	free(plan->why);
	*plan = (struct rescale_plan){0};
}

char *rescale_body(const struct rescale_vertex *vertices, const struct rescale_bounds *bounds,
		   size_t count)
{
	cleanup_json struct json *doc = json_object();
	struct buf text = BUF_INIT;

	for (size_t i = 0; i < count; i++) {
		struct json *to =
			json_add_object(json_add_object(doc, vertices[i].id), "parallelism");

		json_add_i64(to, "lowerBound", bounds[i].lower);
		json_add_i64(to, "upperBound", bounds[i].upper);
	}
	json_print(doc, &text);
	return buf_steal(&text);
}

char *rescale_missing(const struct rescale_vertex *vertices, size_t count)
{
	cleanup_buf struct buf text = BUF_INIT;

	for (size_t i = 0; i < count; i++)
		if (vertices[i].parallelism != vertices[i].upper)
			add_item(&text, "%s: %" PRId64 " of %" PRId64, vertices[i].name,
				 vertices[i].parallelism, vertices[i].upper);
	return text_or_null(&text);
}

int64_t rescale_slots(const struct rescale_vertex *vertices, size_t count)
{
	cleanup_free struct slot_user *users = xcalloc(count + 1, sizeof(*users));

	for (size_t i = 0; i < count; i++)
		users[i] = (struct slot_user){vertices[i].slot_group, vertices[i].upper};
	return slots_needed(users, count);
}
