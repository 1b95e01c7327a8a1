/*
 * What comes from outside, and where people look: every function that prints gets each of the hostile texts in
 * every place where a text from outside can stand.
 */
#include "hostile.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/json.h"
#include "base/log.h"
#include "cmd/cli.h"
#include "cmd/consent.h"
#include "cmd/history_text.h"
#include "cmd/inspect_map.h"
#include "cmd/output.h"
#include "cmd/plugin/fleet.h"
#include "cmd/progress.h"
#include "cmd/reasons.h"
#include "cmd/status_text.h"
#include "cmd/text.h"
#include "cmd/watch.h"
#include "core/report/condition.h"
#include "core/report/notification.h"
#include "core/web/web.h"
#include "run/outputs/exposition.h"
#include "tap.h"

#define NOW INT64_C(1795662720000)

/* The colours of status and list; a frame of status --watch. */
static const char *const colours[] = {"\x1b[0m",  "\x1b[1m",  "\x1b[31m", "\x1b[32m",
				      "\x1b[33m", "\x1b[36m", NULL};
static const char *const spaces[] = {"\t", NULL}; /* white space of HTML */
static const char *const frames[] = {"\x1b[H", "\x1b[K", "\x1b[J", NULL};

/* Each text of the table, one after another. */
#define each_hostile(text)                                                                         \
	for (size_t text##_i = 0; text##_i < HOSTILE_COUNT; text##_i++)                            \
		for (char *text = hostile_new(text##_i); text; free(text), text = NULL)

static char *hostile_new(size_t i)
{
	struct buf text = BUF_INIT;

	hostile_add(i, &text);
	return buf_steal(&text);
}

static void harmless(const char *printed, const char *const *own, const char *what)
{
	const char *left = hostile_left(printed, own);

	if (left)
		tap_note("%s: %s", what, printed);
	CHECK_STR(left, NULL);
}

TEST(the_table_is_hostile)
{
	size_t harmless_ones = 0;

	each_hostile(text) harmless_ones += !hostile_left(text, NULL);
	CHECK_INT(harmless_ones, ==, 0);
}

/* ---- commands ---- */

static const char *message;

static int hostile_run(const struct cli *cli)
{
	out_put(cli->out, "%s%-12s|%.40s\n", message, message, message);
	text_print_lines(message, "  ", cli->out);
	text_print_shell(message, cli->out);
	out_lines(cli->out, "own\n");
	consent_would(cli, "restore %s", message);
	return cli_fail(cli, CLI_FAILED, "refused: %s", message);
}

static const struct cli_option options[] = {CLI_END};
static const struct cli_command probe = {.name = "probe",
					 .max_args = 1,
					 .summary = "probe",
					 .description = "Probes.\n",
					 .options = options,
					 .statuses = "0  fine\n",
					 .run = hostile_run};
static const struct cli_command *const commands[] = {&probe, NULL};

static char *command_prints(const char *first, const char *second)
{
	char *argv[] = {(char *)"drey", (char *)first, (char *)second, NULL}, *text = NULL;
	size_t len;
	FILE *out = open_memstream(&text, &len);

	cli_main(commands, second ? 3 : 2, argv, out, out);
	fclose(out);
	return text;
}

TEST(a_command_prints_nothing_hostile)
{
	each_hostile(text)
	{
		cleanup_free char *wrong = command_prints(text, NULL), *printed = NULL;
		cleanup_free char *option = xasprintf("--%s", text), *refused = NULL;

		message = text;
		printed = command_prints("probe", NULL);
		refused = command_prints("probe", option);
		/* text_print_lines() is for texts of lines, which it indents */
		harmless(printed, NULL, "a command");
		CHECK_HAS(printed, "drey probe: refused: ");
		harmless(wrong, NULL, "an unknown command");
		harmless(refused, NULL, "an unknown option");
	}
}

/* ---- documents ---- */

/* Add to `to` a copy of each member of `from` in which each text is that one. */
static void poison(struct json *to, const struct json *from, const char *text)
{
	const struct json *child;

	json_each (child, from) {
		if (json_text(child))
			json_add_str(to, json_name(child), text);
		else if (json_kind(child) == JSON_OBJECT)
			poison(json_add_object(to, json_name(child)), child, text);
		else if (json_kind(child) == JSON_ARRAY)
			poison(json_add_array(to, json_name(child)), child, text);
		else
			json_add(to, json_name(child), json_copy(child));
	}
}

static struct json *poisoned(const struct json *from, const char *text)
{
	struct json *to = json_object();

	poison(to, from, text);
	return to;
}

static struct json *read_status(const char *name)
{
	cleanup_free char *path = xasprintf("tests/golden/status/%s.json", name);
	cleanup_buf struct buf text = BUF_INIT;

	CHECK(fs_read(path, 1 << 20, &text, NULL) == 0);
	return json_parse(buf_str(&text), text.len_bytes, 1 << 20, NULL);
}

TEST(no_member_of_a_status_reaches_the_terminal)
{
	static const char *const names[] = {"running", "failed", "candidate"};
	static const struct status_layout layouts[] = {
		{.term = {.width = 80, .colour = true}, .wide = true, .now_unix_ms = NOW},
		{.term = {0}, .now_unix_ms = NOW},
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		cleanup_json struct json *plain = read_status(names[i]);

		each_hostile(text)
		{
			cleanup_json struct json *doc = poisoned(plain, text);
			cleanup_shown struct shown first = {0}, second = {0}, frame = {0};
			struct status_view view;

			status_view_read(doc, &view);
			status_text(&view, &layouts[0], &first);
			harmless(shown_str(&first), colours, "status in colour");
			status_text(&view, &layouts[1], &second);
			harmless(shown_str(&second), NULL, "status");
			watch_frame(&second, 40, 80, &frame);
			harmless(shown_str(&frame), frames, "status --watch");
		}
	}
}

TEST(no_name_reaches_the_terminal_from_a_list)
{
	static const struct fleet_layout layout = {
		.term = {.colour = true}, .now_unix_ms = NOW, .namespaces = true, .wide = true};
	cleanup_json struct json *plain = read_status("holding");

	each_hostile(text)
	{
		cleanup_json struct json *status = poisoned(plain, text), *object = json_object();
		cleanup_shown struct shown printed = {0};
		struct json *metadata = json_add_object(object, "metadata");
		struct fleet fleet = {0};

		json_add_str(metadata, "name", text);
		json_add_str(metadata, "namespace", text);
		json_add(object, "status", json_copy(status));
		fleet_add_resource(&fleet, object);
		fleet_add_broken(&fleet, text, "a", text);
		fleet_add_journal(&fleet, "b", status);
		fleet_text(&fleet, &layout, &printed);
		harmless(shown_str(&printed), colours, "list");
		fleet_release(&fleet);
	}
}

TEST(documents_are_harmless_as_json_and_as_yaml)
{
	cleanup_json struct json *plain = read_status("running");

	each_hostile(text)
	{
		cleanup_json struct json *doc = poisoned(plain, text), *again = NULL;
		cleanup_buf struct buf json = BUF_INIT, yaml = BUF_INIT;

		json_add_str(doc, text, "a name is a text, too");
		json_print_pretty(doc, &json);
		harmless(buf_str(&json), NULL, "JSON");
		again = json_parse(buf_str(&json), json.len_bytes, 1 << 20, NULL);
		CHECK(again != NULL);
		output_yaml(doc, &yaml);
		harmless(buf_str(&yaml), NULL, "YAML");
	}
}

/* ---- what is laid out for people ---- */

TEST(a_journal_is_printed_harmless)
{
	static const struct history_layout layout = {.term = {.width = 80},
						     .now_unix_ms = NOW,
						     .launches = 3,
						     .transitions = 3,
						     .wide = true};

	each_hostile(text)
	{
		cleanup_shown struct shown printed = {0};
		struct journal journal;
		struct launch *launch;

		journal_init(&journal, "orders");
		launch = journal_add_launch(&journal);
		xstrset(&launch->restore_path, text);
		xstrset(&launch->generation, text);
		xstrset(&launch->flink_version, text);
		xstrset(&launch->writer, text);
		journal_add_log(&journal, NOW, text);
		history_text(&journal, &layout, &printed);
		harmless(shown_str(&printed), NULL, "history");
		journal_release(&journal);
	}
}

TEST(a_decision_is_printed_harmless)
{
	each_hostile(text)
	{
		const char *const args[] = {"java", text, NULL};
		struct facts facts = {.now_unix_ms = NOW};
		struct snapshot snapshot = {.path = text, .size_bytes = -1, .file_count = -1};
		struct decision decision = {.kind = DECISION_START_FROM};
		struct reasons reasons = {.facts = &facts,
					  .decision = &decision,
					  .job_id = text,
					  .args = args,
					  .lifted = &decision};
		char *printed = NULL;
		size_t len;
		FILE *out = open_memstream(&printed, &len);

		snprintf(decision.reason, sizeof(decision.reason), "%s", text);
		facts_set_source(&facts, SOURCE_JOURNAL, SOURCE_UNREADABLE, text);
		facts_add(&facts, SOURCE_CHECKPOINTS, &snapshot)->reason = xstrdup(text);
		reasons_print(&reasons, out_of(out));
		fclose(out);
		harmless(printed, NULL, "resolve");
		facts_release(&facts);
		free(printed);
	}
}

TEST(a_map_of_flink_is_printed_harmless)
{
	each_hostile(text)
	{
		struct ha_maps maps = {0};
		struct ha_map *map = ha_maps_add(&maps, text);
		char *printed = NULL;
		size_t len;
		FILE *out = open_memstream(&printed, &len);

		map->space = xstrdup(text);
		ha_map_put(map, "checkpointID-0000000000000000001", text, strlen(text));
		inspect_map_print(&maps, out_of(out));
		fclose(out);
		harmless(printed, NULL, "inspect");
		ha_maps_release(&maps);
		free(printed);
	}
}

TEST(what_is_waited_for_is_printed_harmless)
{
	each_hostile(text)
	{
		struct progress_facts facts = {
			.command = "suspend", .what = "the savepoint", .doing = text};
		cleanup_shown struct shown line = {0}, cut = {0};

		progress_line(&facts, 0, &line);
		progress_line(&facts, 40, &cut);
		harmless(shown_str(&line), NULL, "progress");
		harmless(shown_str(&cut), NULL, "progress, cut");
	}
}

/* ---- what drey says of itself ---- */

TEST(a_line_of_the_log_is_harmless)
{
	static const enum log_format formats[] = {LOG_JSON, LOG_TEXT};
	char line[LOG_LINE_BYTES + 1];

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		int ends[2];
		struct log *log;

		CHECK(pipe2(ends, O_CLOEXEC) == 0);
		log = log_new(ends[1], formats[i], LOG_INFO);
		each_hostile(text)
		{
			ssize_t got;

			log_info(log, text, LOG_STR("why", text));
			got = read(ends[0], line, LOG_LINE_BYTES);
			line[got > 0 ? got : 0] = '\0';
			harmless(line, NULL, "log");
			CHECK(strchr(line, '\n') == line + strlen(line) - 1);
		}
		log_free(log);
		close(ends[0]);
		close(ends[1]);
	}
}

TEST(a_condition_is_harmless)
{
	each_hostile(text)
	{
		struct condition condition = {0};

		condition_say(&condition, TRUTH_FALSE, "JobFailing", "it fails: %s", text);
		harmless(condition.message, NULL, "condition");
	}
}

TEST(events_notifications_and_metrics_are_harmless)
{
	each_hostile(text)
	{
		struct notice notice = {.type = NOTICE_FENCED, .text = text};
		struct event_text event;
		struct notification notification = {.id = "1",
						    .application = text,
						    .name_space = text,
						    .notice = &notice,
						    .text = &event};
		cleanup_buf struct buf cloud = BUF_INIT, slack = BUF_INIT, metric = BUF_INIT;

		CHECK(event_text(&notice, &event));
		notification_body(NOTIFICATION_CLOUDEVENTS, &notification, &cloud);
		notification_body(NOTIFICATION_SLACK, &notification, &slack);
		harmless(buf_str(&cloud), NULL, "CloudEvent");
		harmless(buf_str(&slack), NULL, "Slack");
		harmless(event.note, NULL, "Event");
		event_text_release(&event);
		exposition_labelled(&metric, "drey_info", "generation", text, 1);
		harmless(buf_str(&metric), NULL, "metric");
	}
}

TEST(the_page_is_harmless)
{
	static const struct web_facts facts = {
		.now_unix_ms = NOW, .version = "1", .application = "orders"};
	cleanup_json struct json *plain = read_status("running");

	each_hostile(text)
	{
		cleanup_json struct json *doc = poisoned(plain, text);
		cleanup_buf struct buf page = BUF_INIT;

		web_render(doc, &facts, &page);
		for (char *at = page.data; (at = strchr(at, '\n'));)
			*at = ' '; /* no line is one for a reader */
		harmless(buf_str(&page), spaces, "page");
	}
}

int main(int argc, char **argv)
{
	return tap_main(argc, argv);
}
