/*
 * The launches as a picture: one row a launch, the newest on top, time to the right. What is in it is also in the table
 * of the launches, for those who do not see it.
 */
#include <inttypes.h>
#include <string.h>

#include "base/mem.h"
#include "core/web/web_axis.h"
#include "core/web/web_internal.h"

#define ROWS   20 /* older launches are only in the table */
#define WIDTH  1000
#define LEFT   150 /* where the time begins */
#define RIGHT  (WIDTH - 24)
#define TOP    16
#define HEIGHT 30 /* of a row */
#define PAUSES 64

struct line {
	const struct json *launch;
	int64_t number, from, start_ms, end_ms;
	int64_t restore_ms; /* completion of what it was started from; 0 = empty, or not known */
	int64_t newest_ms;  /* of its own snapshots */
	int64_t restore_id, newest_id; /* their checkpoint ids; 0 = not known */
	bool empty, alive, stopped;
};

/* Holding or parked. */
struct pause {
	int64_t from_ms, to_ms;
	bool parked;
};

struct picture {
	const struct web *page;
	struct web_axis axis;
	struct line lines[ROWS]; /* newest first */
	size_t line_count;
	struct pause pauses[PAUSES];
	size_t pause_count;
	int first_y; /* of the newest launch: the present may have a row above it */
};

/* ---- what is in the picture ---- */

static void snapshots_of(const struct web *page, struct line *line)
{
	const struct json *each;

	json_each (each, json_get(page->status, "snapshots")) {
		const char *origin = json_str(each, "origin");
		int64_t unix_ms = web_date(each, "completedAt"), id;

		if (json_i64_or(each, "launch", 0) != line->number)
			continue;
		line->newest_ms = unix_ms > line->newest_ms ? unix_ms : line->newest_ms;
		id = json_i64_or(each, "checkpointId", 0);
		line->newest_id = id > line->newest_id ? id : line->newest_id;
		line->stopped = line->stopped || (origin && !strcmp(origin, "stop"));
	}
}

static void read_line(struct picture *picture, const struct json *launch, const struct line *next)
{
	const struct json *restore = json_get(launch, "restorePoint");
	int64_t now_ms = picture->page->facts->now_unix_ms;
	struct line *line = &picture->lines[picture->line_count++];

	*line = (struct line){
		.launch = launch,
		.number = json_i64_or(launch, "number", 0),
		.from = json_i64_or(launch, "restoredFromLaunch", 0),
		.start_ms = json_i64_or(launch, "startedUnixMs", 0),
		.end_ms = json_i64_or(launch, "endedUnixMs", 0),
		.restore_ms = json_i64_or(restore, "completedUnixMs", 0),
		.restore_id = json_i64_or(restore, "checkpointId", 0),
		.newest_ms = json_i64_or(json_get(launch, "lastCheckpoint"), "completedUnixMs", 0),
		.newest_id = json_i64_or(json_get(launch, "lastCheckpoint"), "id", 0),
		.empty = json_kind(restore) != JSON_OBJECT,
	};
	if (!line->start_ms)
		line->start_ms = json_i64_or(launch, "intendedUnixMs", 0);
	line->alive = !line->end_ms && !next;
	if (!line->end_ms) /* an end that nobody has seen was before the next launch */
		line->end_ms = next ? next->start_ms : now_ms;
	if (line->end_ms < line->start_ms)
		line->end_ms = line->start_ms;
	snapshots_of(picture->page, line);
}

static void add_pause(struct picture *picture, int64_t from_ms, int64_t to_ms, bool parked)
{
	if (picture->pause_count < PAUSES && from_ms > 0 && to_ms > from_ms)
		picture->pauses[picture->pause_count++] = (struct pause){from_ms, to_ms, parked};
}

static bool word_is(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (!strncmp(text, *words, strlen(*words)) && text[strlen(*words)] == ':')
			return true;
	return false;
}

static void read_pauses(struct picture *picture)
{
	static const char *const held[] = {"Holding", "Failed", NULL}, *const skipped[] = {
									       "skipped", NULL};
	static const char *const parked[] = {"Suspended", "Cancelled", "Finished", NULL};
	const struct json *each;
	int64_t since_ms = 0;
	bool is_parked = false;

	json_each (each, json_get(picture->page->status, "transitions")) {
		const char *text = json_str(each, "text");
		int64_t unix_ms = json_i64_or(each, "unixMs", 0);
		bool begins;

		if (!text || word_is(text, skipped))
			continue;
		begins = word_is(text, held) || word_is(text, parked);
		if (since_ms && (!begins || is_parked != word_is(text, parked))) {
			add_pause(picture, since_ms, unix_ms, is_parked);
			since_ms = 0;
		}
		if (begins && !since_ms) {
			since_ms = unix_ms;
			is_parked = word_is(text, parked);
		}
	}
	add_pause(picture, since_ms, picture->page->facts->now_unix_ms, is_parked);
}

static void read_picture(struct picture *picture)
{
	const struct json *list = json_get(picture->page->status, "launches"), *each;
	size_t count = json_len(list);

	for (size_t i = count; i-- > 0 && picture->line_count < ROWS;)
		read_line(picture, json_at(list, i),
			  picture->line_count ? &picture->lines[picture->line_count - 1] : NULL);
	read_pauses(picture);
	web_axis_add(&picture->axis, picture->page->facts->now_unix_ms);
	for (size_t i = 0; i < picture->line_count; i++) {
		web_axis_add(&picture->axis, picture->lines[i].start_ms);
		web_axis_add(&picture->axis, picture->lines[i].end_ms);
		web_axis_add(&picture->axis,
			     json_i64_or(json_get(picture->lines[i].launch, "lastCheckpoint"),
					 "completedUnixMs", 0));
	}
	for (size_t i = 0; i < picture->pause_count; i++)
		web_axis_add(&picture->axis, picture->pauses[i].from_ms);
	json_each (each, json_get(picture->page->status, "snapshots"))
		if (web_date(each, "completedAt") >=
		    picture->lines[picture->line_count - 1].start_ms)
			web_axis_add(&picture->axis, web_date(each, "completedAt"));
	web_axis_scale(&picture->axis, LEFT, RIGHT);
}

/* ---- drawing ---- */

static int x_of(const struct picture *picture, int64_t unix_ms)
{
	return web_axis_x(&picture->axis, unix_ms);
}

static int y_of(const struct picture *picture, size_t row)
{
	return picture->first_y + (int)row * HEIGHT;
}

static const struct line *line_of(const struct picture *picture, int64_t number, size_t *ret_row)
{
	for (size_t i = 0; i < picture->line_count; i++)
		if (number > 0 && picture->lines[i].number == number) {
			*ret_row = i;
			return &picture->lines[i];
		}
	return NULL;
}

/* From what it was started from to its start. */
static void draw_branch(const struct picture *picture, size_t row)
{
	const struct line *line = &picture->lines[row];
	size_t parent = 0;
	int to = x_of(picture, line->start_ms), y = y_of(picture, row), from;

	if (!line_of(picture, line->from, &parent) || !line->restore_ms)
		return;
	from = x_of(picture, line->restore_ms);
	buf_addf(picture->page->out, "<path class=\"branch\" d=\"M%d %dC%d %d %d %d %d %d\"/>\n",
		 from, y_of(picture, parent), from, y + HEIGHT / 2, (from + to) / 2, y, to, y);
}

static void draw_span(const struct picture *picture, const char *kind, int64_t from_ms,
		      int64_t to_ms, int y)
{
	int from = x_of(picture, from_ms), to = x_of(picture, to_ms);

	buf_addf(picture->page->out, "<path class=\"%s\" d=\"M%d %dH%d\"/>\n", kind, from, y,
		 to > from ? to : from + 1);
}

/* Was there newer state than what this one was started from? By the ids, which both have from one job: one savepoint has several
 * dates, such as that of its file and that of drey's record. */
static bool went_back(const struct line *line, const struct line *later)
{
	if (later->restore_id > 0 && line->newest_id > 0)
		return later->restore_id < line->newest_id;
	return later->restore_ms < line->newest_ms;
}

/* Where a later launch went back to, if there was newer state: what came after it is abandoned. */
static int64_t left_behind_ms(const struct picture *picture, const struct line *line)
{
	for (size_t i = 0; i < picture->line_count; i++) {
		const struct line *later = &picture->lines[i];

		if (later->from == line->number && later->number > line->number &&
		    later->restore_ms && went_back(line, later))
			return later->restore_ms;
	}
	return 0;
}

static void draw_life(const struct picture *picture, size_t row)
{
	const struct line *line = &picture->lines[row];
	int64_t cut_ms = left_behind_ms(picture, line);
	int y = y_of(picture, row);

	if (json_bool_or(line->launch, "mismatched", false))
		cut_ms = line->start_ms;
	if (!cut_ms || cut_ms < line->start_ms || cut_ms > line->end_ms)
		cut_ms = line->end_ms;
	if (cut_ms > line->start_ms)
		draw_span(picture, line->alive ? "life alive" : "life", line->start_ms, cut_ms, y);
	if (cut_ms < line->end_ms)
		draw_span(picture, "life abandoned", cut_ms, line->end_ms, y);
}

/* A mark with its explanation; the shape is around 0, 0. */
static void draw_mark(const struct picture *picture, const char *kind, const char *shape, int x,
		      int y, const char *what, int64_t id, int64_t unix_ms)
{
	struct buf *out = picture->page->out;

	buf_addf(out, "<g class=\"%s\" transform=\"translate(%d %d)\"><title>%s", kind, x, y, what);
	if (id > 0)
		buf_addf(out, " %" PRId64, id);
	buf_addstr(out, ", ");
	web_clock(picture->page, unix_ms);
	buf_addf(out, "</title>%s</g>\n", shape);
}

#define DOT      "<circle r=\"4\"/>"
#define RING     "<circle r=\"5\"/>"
#define DIAMOND  "<path d=\"M0-6L6 0L0 6L-6 0Z\"/>"
#define CROSS    "<path d=\"M-5-5L5 5M-5 5L5-5\"/>"
#define BARS     "<path d=\"M-3-6V6M3-6V6\"/>"
#define END      "<path d=\"M0-6V6\"/>"
#define EXCHANGE "<path d=\"M-6-3H5L2-6M6 3H-5L-2 6\"/>"

static void draw_snapshots(const struct picture *picture, size_t row)
{
	const struct line *line = &picture->lines[row];
	const struct json *checkpoint = json_get(line->launch, "lastCheckpoint"), *each;
	int64_t done_ms = json_i64_or(checkpoint, "completedUnixMs", 0);
	int y = y_of(picture, row);

	if (done_ms > 0)
		draw_mark(picture, "mark checkpoint", DOT, x_of(picture, done_ms), y, "checkpoint",
			  json_i64_or(checkpoint, "id", 0), done_ms);
	json_each (each, json_get(picture->page->status, "snapshots")) {
		const char *kind = json_str(each, "kind");

		if (json_i64_or(each, "launch", 0) != line->number || !kind ||
		    strcmp(kind, "savepoint") != 0)
			continue;
		done_ms = web_date(each, "completedAt");
		if (done_ms > 0)
			draw_mark(picture, "mark savepoint", DIAMOND, x_of(picture, done_ms), y,
				  "savepoint", json_i64_or(each, "checkpointId", 0), done_ms);
	}
}

static bool ended_well(const struct line *line)
{
	const char *end = json_str(line->launch, "end");

	return line->stopped || (end && !strcmp(end, "exited with 0"));
}

static void draw_ends(const struct picture *picture, size_t row)
{
	const struct line *line = &picture->lines[row], *before = line + 1;
	const char *pod = json_str(line->launch, "pod");
	int y = y_of(picture, row), start = x_of(picture, line->start_ms),
	    end = x_of(picture, line->end_ms);

	if (line->empty)
		draw_mark(picture, "mark empty", RING, start, y, "started empty", 0,
			  line->start_ms);
	else
		draw_mark(picture, "mark start", END, start, y, "started", 0, line->start_ms);
	if (row + 1 < picture->line_count && pod && json_str(before->launch, "pod") &&
	    strcmp(pod, json_str(before->launch, "pod")) != 0)
		draw_mark(picture, "mark moved", EXCHANGE, start - 14, y, "in another Pod", 0,
			  line->start_ms);
	if (line->alive)
		draw_mark(picture, "mark alive", DOT, end, y, "now", 0, line->end_ms);
	else if (line->stopped)
		draw_mark(picture, "mark stopped", BARS, end + 6, y, "stopped with a savepoint", 0,
			  line->end_ms);
	else if (ended_well(line))
		draw_mark(picture, "mark ended", END, end, y, "ended", 0, line->end_ms);
	else
		draw_mark(picture, "mark killed", CROSS, end, y, "killed or failed", 0,
			  line->end_ms);
}

static void draw_label(const struct picture *picture, size_t row)
{
	const struct line *line = &picture->lines[row];
	struct buf *out = picture->page->out;

	buf_addf(out, "<text x=\"0\" y=\"%d\"><tspan class=\"n\">%" PRId64 "</tspan> ",
		 y_of(picture, row) + 4, line->number);
	web_clock(picture->page, line->start_ms);
	buf_addstr(out, "</text>\n");
}

/* A pause belongs to the launch that ended it; one that lasts has the row above all. */
static int pause_y(const struct picture *picture, const struct pause *pause)
{
	for (size_t i = picture->line_count; i-- > 0;)
		if (picture->lines[i].start_ms >= pause->to_ms)
			return y_of(picture, i);
	return TOP;
}

static void draw_pauses(const struct picture *picture)
{
	for (size_t i = 0; i < picture->pause_count; i++) {
		const struct pause *pause = &picture->pauses[i];

		draw_span(picture, pause->parked ? "pause parked" : "pause held", pause->from_ms,
			  pause->to_ms, pause_y(picture, pause));
	}
}

static void draw_legend(const struct web *page)
{
	static const struct {
		const char *kind, *shape, *text;
	} signs[] = {
		{"mark checkpoint", DOT, "newest checkpoint"},
		{"mark savepoint", DIAMOND, "savepoint"},
		{"mark empty", RING, "started empty"},
		{"mark killed", CROSS, "killed or failed"},
		{"mark stopped", BARS, "stopped with a savepoint"},
		{"mark moved", EXCHANGE, "in another Pod"},
		{"life abandoned", "<path d=\"M-8 0H8\"/>", "abandoned"},
		{"pause held", "<path d=\"M-8 0H8\"/>", "holding or failed"},
		{"pause parked", "<path d=\"M-8 0H8\"/>", "parked"},
	};

	buf_addstr(page->out, "<ul class=\"legend\">");
	for (size_t i = 0; i < ARRAY_LEN(signs); i++)
		buf_addf(page->out,
			 "<li><svg width=\"20\" height=\"16\" viewBox=\"-10 -8 20 16\" "
			 "aria-hidden=\"true\"><g class=\"%s\">%s</g></svg>%s</li>",
			 signs[i].kind, signs[i].shape, signs[i].text);
	buf_addstr(page->out, "</ul>\n");
}

static void draw_present(const struct picture *picture)
{
	buf_addf(picture->page->out, "<text class=\"present\" x=\"0\" y=\"%d\">", TOP + 4);
	html_cut(picture->page->out, picture->page->phase, 24);
	buf_addstr(picture->page->out, "</text>\n");
}

static void draw(const struct picture *picture)
{
	struct buf *out = picture->page->out;
	int height = y_of(picture, picture->line_count) + 8;

	buf_addf(
		out,
		"<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Picture of the launches\">"
		"<svg class=\"lineage\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
		"aria-labelledby=\"lineage-t\"><title id=\"lineage-t\">The newest %zu launches, one row "
		"each, the newest on top, time to the right; the table of the launches below has the "
		"same</title>\n",
		WIDTH, height, WIDTH, height, picture->line_count);
	for (size_t i = 0; i < picture->line_count; i++)
		buf_addf(out, "<path class=\"guide\" d=\"M%d %dH%d\"/>\n", LEFT, y_of(picture, i),
			 RIGHT);
	for (size_t i = 0; i < picture->line_count; i++)
		draw_branch(picture, i);
	draw_pauses(picture);
	for (size_t i = 0; i < picture->line_count; i++) {
		draw_label(picture, i);
		draw_life(picture, i);
		draw_snapshots(picture, i);
		draw_ends(picture, i);
	}
	if (picture->first_y > TOP)
		draw_present(picture);
	buf_addf(out,
		 "<text class=\"axis\" x=\"%d\" y=\"%d\">time to the right; quiet stretches are "
		 "shortened</text></svg></div>\n",
		 LEFT, height - 6);
}

void web_lineage(const struct web *page)
{
	cleanup_free struct picture *picture = NULL;

	if (!json_len(json_get(page->status, "launches")))
		return;
	picture = xcalloc(1, sizeof(*picture));
	picture->page = page;
	picture->first_y = TOP;
	read_picture(picture);
	for (size_t i = 0; i < picture->pause_count; i++)
		if (pause_y(picture, &picture->pauses[i]) == TOP &&
		    picture->pauses[i].to_ms > picture->lines[0].start_ms)
			picture->first_y = TOP + HEIGHT;
	buf_addstr(
		page->out,
		"<section id=\"lineage\" aria-labelledby=\"lineage-h\"><h2 id=\"lineage-h\">Lineage</h2>\n");
	draw(picture);
	draw_legend(page);
	buf_addstr(page->out, "</section>\n");
}
