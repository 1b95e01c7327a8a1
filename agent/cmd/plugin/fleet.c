#include "cmd/plugin/fleet.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cmd/plugin/table.h"
#include "cmd/status_text.h"
#include "cmd/status_view.h"

#define UNREADABLE "Unreadable"

static void row_release(struct fleet_row *row)
{
	free(row->namespace);
	free(row->application);
	free(row->phase);
	free(row->cause);
	free(row->reason);
	free(row->desired);
	free(row->savepoint);
	free(row->error);
}

void fleet_release(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->count; i++)
		row_release(&fleet->rows[i]);
	free(fleet->rows);
	*fleet = (struct fleet){0};
}

/* ---- what is known of each ---- */

/* Takes over the row; of two of one application the later one stays, and of the same age the first. */
static void fleet_add(struct fleet *fleet, struct fleet_row *row)
{
	for (size_t i = 0; i < fleet->count; i++) {
		struct fleet_row *old = &fleet->rows[i];

		if (strcmp(old->namespace, row->namespace) != 0 ||
		    strcmp(old->application, row->application) != 0)
			continue;
		/* what says nothing gives way to anything */
		if (!*old->phase || (*row->phase && !row->error &&
				     (old->error || row->changed_unix_ms > old->changed_unix_ms))) {
			struct fleet_row spare = *old;

			*old = *row;
			*row = spare;
		}
		row_release(row);
		return;
	}
	fleet->rows = xreallocarray(fleet->rows, fleet->count + 1, sizeof(*fleet->rows));
	fleet->rows[fleet->count++] = *row;
}

static struct fleet_row row_of(const char *namespace, const char *name,
			       const struct status_view *view)
{
	return (struct fleet_row){
		.namespace = xstrdup(namespace ? namespace : ""),
		.application = xstrdup(*view->application || !name ? view->application : name),
		.phase = xstrdup(view->phase),
		.cause = xstrdup(view->cause),
		.reason = xstrdup(view->reason),
		.desired = xstrdup(view->desired_state),
		.ready = view->ready,
		.ready_known = *view->phase,
		.do_not_restart = view->do_not_restart,
		.phase_unix_ms = view->phase_unix_ms,
		.changed_unix_ms = status_view_changed(view),
		.savepoint = xstrdup(view->savepoint_path),
		.savepoint_unix_ms = view->savepoint_unix_ms,
	};
}

void fleet_add_resource(struct fleet *fleet, const struct json *object)
{
	const struct json *metadata = json_get(object, "metadata");
	struct status_view view;
	struct fleet_row row;

	status_view_read(json_get(object, "status"), &view);
	row = row_of(json_str(metadata, "namespace"), json_str(metadata, "name"), &view);
	fleet_add(fleet, &row);
}

void fleet_add_journal(struct fleet *fleet, const char *namespace, const struct json *doc)
{
	struct status_view view;
	struct fleet_row row;

	status_view_read(doc, &view);
	row = row_of(namespace, NULL, &view);
	row.ready_known = false;
	fleet_add(fleet, &row);
}

/* One of which no status is known. */
static struct fleet_row row_without_status(const char *namespace, const char *application)
{
	struct status_view view;
	struct fleet_row row;

	status_view_read(NULL, &view);
	row = row_of(namespace, application, &view);
	row.ready_known = false;
	return row;
}

void fleet_add_broken(struct fleet *fleet, const char *namespace, const char *application,
		      const char *why)
{
	struct fleet_row row = row_without_status(namespace, application);

	xstrset(&row.phase, UNREADABLE);
	row.error = xstrdup(why);
	fleet_add(fleet, &row);
}

void fleet_add_unstarted(struct fleet *fleet, const char *namespace, const char *application,
			 const char *word, const char *text)
{
	struct fleet_row row = row_without_status(namespace, application);

	xstrset(&row.cause, word);
	xstrset(&row.reason, text);
	fleet_add(fleet, &row);
}

bool fleet_knows(const struct fleet *fleet, const char *namespace, const char *application)
{
	for (size_t i = 0; i < fleet->count; i++)
		if (!strcmp(fleet->rows[i].namespace, namespace) &&
		    !strcmp(fleet->rows[i].application, application))
			return *fleet->rows[i].phase;
	return false;
}

static int by_name(const void *left, const void *right)
{
	const struct fleet_row *a = left, *b = right;
	int order = strcmp(a->namespace, b->namespace);

	return order ? order : strcmp(a->application, b->application);
}

void fleet_sort(struct fleet *fleet)
{
	if (fleet->count)
		qsort(fleet->rows, fleet->count, sizeof(*fleet->rows), by_name);
}

/* ---- for people ---- */

static void add_heads(struct table *table, const struct fleet_layout *layout)
{
	static const char *const heads[] = {"NAME", "PHASE", "AGE", "SAVEPOINT", "CAUSE"};

	if (layout->namespaces)
		table_add(table, "NAMESPACE");
	for (size_t i = 0; i < ARRAY_LEN(heads); i++)
		table_add(table, heads[i]);
	if (layout->wide) {
		table_add(table, "DESIRED");
		table_add(table, "DO-NOT-RESTART");
		table_add(table, "PATH");
	}
	table->columns = table->count;
}

static void fleet_line(struct table *table, const struct fleet_row *row,
		       const struct fleet_layout *layout)
{
	if (layout->namespaces)
		table_add(table, row->namespace);
	table_add(table, row->application);
	table_add(table, row->phase);
	table_add_age(table, row->phase_unix_ms, layout->now_unix_ms);
	table_add_age(table, row->savepoint_unix_ms, layout->now_unix_ms);
	table_add(table, row->cause);
	if (layout->wide) {
		table_add(table, row->desired);
		table_add(table, row->do_not_restart ? "on" : "off");
		table_add(table, row->savepoint);
	}
}

static enum term_colour colour_of(const struct fleet_row *row)
{
	struct status_view view = {
		.phase = row->phase, .cause = row->cause, .ready = row->ready || !row->ready_known};

	return row->error ? TERM_RED : *row->phase ? status_colour(&view) : TERM_PLAIN;
}

void fleet_text(const struct fleet *fleet, const struct fleet_layout *layout,
		struct shown *ret_text)
{
	struct table table = {0};
	enum term_colour *colours;

	if (!fleet->count)
		return;
	colours = xcalloc(fleet->count, sizeof(*colours));
	add_heads(&table, layout);
	for (size_t i = 0; i < fleet->count; i++) {
		fleet_line(&table, &fleet->rows[i], layout);
		colours[i] = colour_of(&fleet->rows[i]);
	}
	table_text(&table, &layout->term, layout->namespaces ? 2 : 1, colours, ret_text);
	table_release(&table);
	free(colours);
}

/* ---- as a document ---- */

static void add_known_text(struct json *to, const char *key, const char *text)
{
	json_add_str(to, key, text && *text ? text : NULL);
}

struct json *fleet_document(const struct fleet *fleet, const struct json *unreadable)
{
	struct json *doc = json_object(), *list = json_add_array(doc, "applications");

	for (size_t i = 0; i < fleet->count; i++) {
		const struct fleet_row *row = &fleet->rows[i];
		struct json *to = json_add_object(list, NULL), *savepoint;

		json_add_str(to, "namespace", row->namespace);
		json_add_str(to, "application", row->application);
		add_known_text(to, "phase", row->error ? NULL : row->phase);
		json_add_known(to, "phaseUnixMs", row->phase_unix_ms, 1);
		if (row->ready_known)
			json_add_bool(to, "ready", row->ready);
		else
			json_add_null(to, "ready");
		add_known_text(to, "desired", row->desired);
		json_add_bool(to, "doNotRestart", row->do_not_restart);
		if (*row->savepoint) {
			savepoint = json_add_object(to, "lastSavepoint");
			json_add_str(savepoint, "path", row->savepoint);
			json_add_known(savepoint, "completedUnixMs", row->savepoint_unix_ms, 1);
		} else {
			json_add_null(to, "lastSavepoint");
		}
		add_known_text(to, "cause", row->cause);
		add_known_text(to, "reason", row->reason);
		add_known_text(to, "error", row->error);
	}
	json_add(doc, "unreadable", unreadable ? json_copy(unreadable) : json_array());
	return doc;
}
