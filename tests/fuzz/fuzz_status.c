/*
 * Any JSON as the status document of an application, from a custom resource or a socket: every text of it is there,
 * and what `drey status`, `kubectl drey status` and `kubectl drey list` print has nothing that a terminal obeys.
 */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "base/visible.h"
#include "cmd/cli.h"
#include "cmd/plugin/fleet.h"
#include "cmd/status_text.h"
#include "core/report/status.h"
#include "must.h"

#define NOW_UNIX_MS INT64_C(1795662720000)
#define MAX_BYTES   65536

static const struct term terms[] = {{0}, {.width = 20}, {.width = 80, .colour = true}};

/* The sequence of term.c at this place: its length; 0 = there is none. */
static size_t colour_len(const char *text)
{
	size_t digits;

	if (strncmp(text, "\x1b[", 2) != 0)
		return 0;
	digits = strspn(text + 2, "0123456789;");
	return digits <= 4 && text[2 + digits] == 'm' ? digits + 3 : 0;
}

static void check_shown(const struct shown *text, bool colour)
{
	for (const char *at = shown_str(text); *at;) {
		size_t len = colour ? colour_len(at) : 0;

		if (!len && *at == '\n')
			len = 1;
		if (!len) {
			len = utf8_char_bytes(at, strlen(at));
			must(len && !visible_is_harmful(utf8_code_point(at, len)));
		}
		at += len;
	}
}

static void check_text(const struct status_view *view)
{
	for (size_t i = 0; i < 2 * ARRAY_LEN(terms); i++) {
		struct status_layout layout = {
			.term = terms[i / 2], .wide = i % 2, .now_unix_ms = NOW_UNIX_MS};
		cleanup_shown struct shown text = {0};

		status_text(view, &layout, &text);
		check_shown(&text, layout.term.colour);
	}
}

static void check_texts(const struct status_view *view)
{
	const char *const texts[] = {
		view->application,
		view->phase,
		view->cause,
		view->reason,
		view->last_error,
		view->desired_state,
		view->job_id,
		view->generation,
		view->flink_version,
		view->job_state,
		view->restore_path,
		view->restore_kind,
		view->checkpoint_path,
		view->savepoint_path,
		view->savepoint_origin,
		view->savepoint_format,
		view->lost_path,
		view->lost_reason,
		view->operation_kind,
		view->operation_reason,
		view->operation_format,
		view->last_kind,
		view->last_reason,
		view->last_nonce,
		view->last_location,
		view->last_operation_error,
		view->role,
		view->owner_pod,
		view->handover_state,
		view->handover_to,
		view->handover_why,
		view->returned,
		view->scale_kind,
		view->scale_name,
		view->scale_error,
		view->spare,
		view->spare_reason,
		view->journal_error,
	};
	int end = status_view_exit(view);

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		must(texts[i] != NULL);
	must(end == CLI_OK || end == CLI_FAILED || end == CLI_PARKED || end == CLI_HELD);
	must((end == CLI_OK) == (status_view_is(view, "Running") && view->ready));
	must(!status_view_handed_over(view) || *view->owner_pod);
	must(!status_view_stands(view) || !status_view_parked(view));
	must(view->scale_objects >= 0 && (!view->scale_objects || view->scale_back >= 0));
	must(status_colour(view) != TERM_GREEN || end != CLI_HELD);
}

/* No text of a document: it is not UTF-8. */
#define NO_NONCE "\xff"

/* The answers to requests. A request that is not named has none. */
static void check_answers(const struct json *doc, const char *nonce)
{
	struct status_savepoint savepoint;
	struct status_checkpoint checkpoint;
	struct status_rescale rescale;

	status_view_savepoint(doc, nonce, &savepoint);
	must(savepoint.location && savepoint.error && (savepoint.ended || !savepoint.ok));
	status_view_checkpoint(doc, nonce, &checkpoint);
	must(checkpoint.location && checkpoint.error && (checkpoint.ended || !checkpoint.ok));
	status_view_savepoint(doc, NO_NONCE, &savepoint);
	must(!savepoint.ended && !savepoint.ok && !*savepoint.location);
	status_view_rescale(doc, &rescale);
	must(rescale.waiting && rescale.state && rescale.missing && rescale.nonce &&
	     rescale.error && rescale.left_out);
	(void)status_view_takes_application(doc);
}

static void check_table(const struct fleet *fleet)
{
	cleanup_json struct json *unreadable = json_array(),
				 *list = fleet_document(fleet, unreadable);

	must(json_len(json_get(list, "applications")) == fleet->count);
	for (size_t i = 0; i < 2 * ARRAY_LEN(terms); i++) {
		struct fleet_layout layout = {.term = terms[i / 2],
					      .wide = i % 2,
					      .namespaces = i % 2,
					      .now_unix_ms = NOW_UNIX_MS};
		cleanup_shown struct shown text = {0};

		fleet_text(fleet, &layout, &text);
		check_shown(&text, layout.term.colour);
	}
}

static void check_fleet(const struct json *doc)
{
	cleanup_json struct json *object = json_object();
	struct fleet fleet = {0};

	json_add(object, "metadata", json_copy(doc));
	json_add(object, "status", json_copy(doc));
	fleet_add_resource(&fleet, object);
	fleet_add_resource(&fleet, doc);
	fleet_add_journal(&fleet, "shop", doc);
	fleet_add_journal(&fleet, "shop", doc); /* the same application */
	must(fleet.count >= 1 && fleet.count <= 3);
	fleet_sort(&fleet);
	check_table(&fleet);
	fleet_release(&fleet);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_json struct json *doc = json_parse((const char *)data, size_bytes, MAX_BYTES, NULL);
	struct status_view view;

	if (!doc)
		return 0;
	status_view_read(doc, &view);
	check_texts(&view);
	check_text(&view);
	check_answers(doc, view.last_nonce);
	check_fleet(doc);
	return 0;
}
