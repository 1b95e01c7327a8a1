#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "control/control_path.h"
#include "control/control_request.h"
#include "control/control_socket.h"
#include "tests/unit/tap.h"

#define LIMIT_MS 20000

/* A server on its own directory, and what its handler does. */
struct fixture {
	char directory[64];
	struct loop *loop;
	struct control_server *server;
	bool keep; /* do not answer: remember the call */
	struct control_call *calls[CONTROL_MAX_CLIENTS];
	int kept, served;
	char *last_command;
};

static void handle(void *arg, struct control_call *call, const struct json *request)
{
	struct fixture *fix = arg;
	cleanup_json struct json *answer = control_answer_ok(++fix->served);

	xstrset(&fix->last_command, json_str(request, "command"));
	if (fix->keep)
		fix->calls[fix->kept++] = call;
	else
		control_reply(call, answer);
}

static void open_fixture(struct fixture *fix)
{
	struct err err = {0};

	*fix = (struct fixture){.directory = "/tmp/drey-test-control-XXXXXX"};
	CHECK(mkdtemp(fix->directory) != NULL);
	fix->loop = loop_new(&err);
	fix->server = control_server_new(fix->loop, fix->directory, handle, fix, &err);
	if (!CHECK(fix->server != NULL))
		tap_note("%s", err.msg);
}

static void close_fixture(struct fixture *fix)
{
	control_server_free(fix->server);
	loop_free(fix->loop);
	free(fix->last_command);
	CHECK(rmdir(fix->directory) == 0);
}

/* control_ask() on a thread of its own, while the loop of the test goes round. */
struct asking {
	pthread_t thread;
	const char *directory, *command;
	int64_t timeout_ms;
	int result;
	struct json *answer;
	struct err err;
	bool done;
};

static void *ask_work(void *arg)
{
	struct asking *asking = arg;
	cleanup_json struct json *request = json_object();

	json_add_str(request, "command", asking->command);
	asking->result = control_ask(asking->directory, request, asking->timeout_ms,
				     &asking->answer, &asking->err);
	__atomic_store_n(&asking->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void ask_begin(struct asking *asking, const struct fixture *fix, const char *command,
		      int64_t timeout_ms)
{
	*asking = (struct asking){
		.directory = fix->directory, .command = command, .timeout_ms = timeout_ms};
	pthread_create(&asking->thread, NULL, ask_work, asking);
}

static void ask_end(struct asking *asking, struct fixture *fix)
{
	while (!__atomic_load_n(&asking->done, __ATOMIC_ACQUIRE))
		loop_step(fix->loop, 20, NULL);
	pthread_join(asking->thread, NULL);
}

/* Turn the loop until *counter has reached the value. */
static bool turn_until(struct fixture *fix, const int *counter, int value)
{
	int64_t until_ms = clock_mono_ms() + LIMIT_MS;

	while (*counter < value && clock_mono_ms() < until_ms)
		loop_step(fix->loop, 20, NULL);
	return *counter >= value;
}

static int connect_raw(const struct fixture *fix)
{
	struct sockaddr_un address;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	control_path(fix->directory, &address, NULL);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return fd;
	close(fd);
	return -1;
}

/* What the server says on the connection until it closes it. */
static void read_raw(struct fixture *fix, int fd, struct buf *text)
{
	int64_t until_ms = clock_mono_ms() + LIMIT_MS;
	char bytes[512];
	ssize_t got;

	while (clock_mono_ms() < until_ms) {
		loop_step(fix->loop, 10, NULL);
		got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);
		if (got > 0)
			buf_add(text, bytes, (size_t)got);
		else if (got == 0 || errno != EAGAIN)
			return;
	}
	buf_addstr(text, "(not closed)");
}

#define FIXTURE_TEST(name) TEST_WITH(name, struct fixture, fix, open_fixture, close_fixture)

FIXTURE_TEST(answers_a_request_at_once)
{
	struct asking asking;

	ask_begin(&asking, fix, "status", LIMIT_MS);
	ask_end(&asking, fix);
	CHECK_INT(asking.result, ==, 0);
	CHECK(json_bool_or(asking.answer, "ok", false));
	CHECK_INT(json_i64_or(asking.answer, "sequence", 0), ==, 1);
	CHECK_STR(fix->last_command, "status");
	json_free(asking.answer);
}

FIXTURE_TEST(answers_a_request_later)
{
	cleanup_json struct json *answer = control_answer_error("no");
	struct asking asking;

	fix->keep = true;
	ask_begin(&asking, fix, "suspend", LIMIT_MS);
	CHECK(turn_until(fix, &fix->kept, 1));
	CHECK(!__atomic_load_n(&asking.done, __ATOMIC_ACQUIRE));
	control_reply(fix->calls[0], answer);
	ask_end(&asking, fix);
	CHECK_INT(asking.result, ==, 0);
	CHECK(!json_bool_or(asking.answer, "ok", true));
	CHECK_STR(json_str(asking.answer, "error"), "no");
	json_free(asking.answer);
}

FIXTURE_TEST(a_client_that_has_gone_can_be_answered)
{
	cleanup_json struct json *answer = control_answer_ok(1);
	struct asking asking;

	fix->keep = true;
	ask_begin(&asking, fix, "suspend", 50);
	CHECK(turn_until(fix, &fix->kept, 1));
	ask_end(&asking, fix);
	CHECK_INT(asking.result, ==, -1);
	CHECK(asking.err.kind == ERR_RETRY);
	CHECK_HAS(asking.err.msg, "did not respond in time");
	while (loop_step(fix->loop, 50, NULL) > 0)
		;
	control_reply(fix->calls[0], answer);
}

FIXTURE_TEST(a_call_outlives_the_server)
{
	cleanup_json struct json *answer = control_answer_ok(1);
	struct asking asking;

	fix->keep = true;
	ask_begin(&asking, fix, "suspend", LIMIT_MS);
	CHECK(turn_until(fix, &fix->kept, 1));
	control_server_free(fix->server);
	fix->server = NULL;
	ask_end(&asking, fix);
	CHECK_INT(asking.result, ==, -1);
	CHECK_HAS(asking.err.msg, "closed the connection");
	control_reply(fix->calls[0], answer);
}

TEST(says_the_way_out_when_nobody_listens)
{
	struct fixture fix = {.directory = "/tmp/drey-test-control-XXXXXX"};
	cleanup_json struct json *request = json_object();
	struct json *answer = NULL;
	struct err err = {0};

	CHECK(mkdtemp(fix.directory) != NULL);
	CHECK_INT(control_ask(fix.directory, request, 1000, &answer, &err), ==, -1);
	CHECK(err.kind == ERR_ABSENT);
	CHECK_HAS(err.msg, "no drey is running for /tmp/drey-test-control-");
	CHECK_HAS(err.msg, "drey run --config FILE");
	rmdir(fix.directory);
	CHECK_INT(control_ask(fix.directory, request, 1000, &answer, &err), ==, -1);
	CHECK(err.kind == ERR_ABSENT);
}

TEST(names_the_limit_of_a_long_path)
{
	cleanup_free char *directory = xasprintf("/%0120d", 0);
	cleanup_json struct json *request = json_object();
	struct json *answer = NULL;
	struct err err = {0};

	CHECK_INT(control_ask(directory, request, 1000, &answer, &err), ==, -1);
	CHECK(err.kind == ERR_CONFIG);
	CHECK_HAS(err.msg, "too long for a socket (at most 107 bytes)");
}

TEST(only_the_user_may_open_the_socket)
{
	struct sockaddr_un address;
	struct fixture fix;
	struct stat st;

	open_fixture(&fix);
	control_path(fix.directory, &address, NULL);
	CHECK(stat(address.sun_path, &st) == 0);
	CHECK_INT(st.st_mode & 0777, ==, 0600);
	close_fixture(&fix);
	CHECK(stat(address.sun_path, &st) < 0);
}

FIXTURE_TEST(replaces_a_socket_that_nobody_listens_on)
{
	struct sockaddr_un address;
	struct asking asking;
	struct err err = {0};
	int dead;

	control_server_free(fix->server);
	control_path(fix->directory, &address, NULL);
	dead = socket(AF_UNIX, SOCK_STREAM, 0);
	CHECK(bind(dead, (struct sockaddr *)&address, sizeof(address)) == 0);
	close(dead);
	fix->server = control_server_new(fix->loop, fix->directory, handle, fix, &err);
	CHECK(fix->server != NULL);
	ask_begin(&asking, fix, "status", LIMIT_MS);
	ask_end(&asking, fix);
	CHECK_INT(asking.result, ==, 0);
	json_free(asking.answer);
}

FIXTURE_TEST(leaves_alone_what_is_in_use_or_no_socket)
{
	struct sockaddr_un address;
	struct err err = {0};
	FILE *file;

	CHECK(!control_server_new(fix->loop, fix->directory, handle, fix, &err));
	CHECK(err.kind == ERR_BUSY);
	CHECK_HAS(err.msg, "another drey is listening on");
	control_server_free(fix->server);
	control_path(fix->directory, &address, NULL);
	file = fopen(address.sun_path, "w");
	CHECK(file != NULL);
	fclose(file);
	fix->server = control_server_new(fix->loop, fix->directory, handle, fix, &err);
	CHECK(!fix->server);
	CHECK(err.kind == ERR_CONFIG);
	CHECK_HAS(err.msg, "not a socket; remove it");
	unlink(address.sun_path);
}

FIXTURE_TEST(refuses_what_is_not_json)
{
	cleanup_buf struct buf text = BUF_INIT;
	int fd;

	fd = connect_raw(fix);
	CHECK(send(fd, "hello\n", 6, 0) == 6);
	read_raw(fix, fd, &text);
	CHECK_HAS(buf_str(&text), "{\"ok\":false,\"error\":\"request: ");
	CHECK_INT(fix->served, ==, 0);
	close(fd);
}

FIXTURE_TEST(takes_a_request_in_pieces)
{
	cleanup_buf struct buf text = BUF_INIT;
	static const char request[] = "{\"command\":\"status\"}\n";
	int fd;

	fd = connect_raw(fix);
	for (size_t i = 0; i + 1 < sizeof(request); i++) {
		CHECK(send(fd, request + i, 1, 0) == 1);
		loop_step(fix->loop, 0, NULL);
		loop_step(fix->loop, 0, NULL);
	}
	read_raw(fix, fd, &text);
	CHECK_STR(buf_str(&text), "{\"ok\":true,\"sequence\":1}\n");
	close(fd);
}

TEST(refuses_a_request_without_end)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct fixture fix;
	char spaces[4096];
	size_t sent = 0;
	int fd;

	memset(spaces, ' ', sizeof(spaces));
	open_fixture(&fix);
	fd = connect_raw(&fix);
	while (sent <= CONTROL_MAX_REQUEST_BYTES + sizeof(spaces)) {
		ssize_t done = send(fd, spaces, sizeof(spaces), MSG_DONTWAIT | MSG_NOSIGNAL);

		loop_step(fix.loop, 10, NULL);
		if (done < 0 && errno != EAGAIN)
			break;
		sent += done > 0 ? (size_t)done : 0;
	}
	read_raw(&fix, fd, &text);
	CHECK_HAS(buf_str(&text), "too long");
	close(fd);
	close_fixture(&fix);
}

FIXTURE_TEST(a_silent_client_is_dropped)
{
	cleanup_buf struct buf text = BUF_INIT;
	int64_t began_ms = clock_mono_ms();
	int fd;

	fd = connect_raw(fix);
	read_raw(fix, fd, &text);
	CHECK_STR(buf_str(&text), "");
	CHECK_INT(clock_mono_ms() - began_ms, >=, CONTROL_CLIENT_MS - 100);
	close(fd);
}

FIXTURE_TEST(the_seventeenth_connection_is_told_to_come_again)
{
	cleanup_buf struct buf text = BUF_INIT;
	int fds[CONTROL_MAX_CLIENTS + 1];
	struct asking asking;

	for (int i = 0; i <= CONTROL_MAX_CLIENTS; i++) {
		fds[i] = connect_raw(fix);
		loop_step(fix->loop, 10, NULL);
	}
	read_raw(fix, fds[CONTROL_MAX_CLIENTS], &text);
	CHECK_HAS(buf_str(&text), "too many connections");
	for (int i = 0; i <= CONTROL_MAX_CLIENTS; i++)
		close(fds[i]);
	for (int i = 0; i <= CONTROL_MAX_CLIENTS; i++)
		loop_step(fix->loop, 10, NULL);
	ask_begin(&asking, fix, "status", LIMIT_MS);
	ask_end(&asking, fix);
	CHECK_INT(asking.result, ==, 0);
	json_free(asking.answer);
}

/* ---- control_request ---- */

static const char *decode_error(const char *text)
{
	static struct err err;
	struct control_request request;
	cleanup_json struct json *doc = json_parse(text, strlen(text), 65536, NULL);

	err = (struct err){0};
	if (control_request_decode(doc, &request, &err) < 0)
		return err.msg;
	control_request_release(&request);
	return "(accepted)";
}

TEST(requests_survive_the_way)
{
	struct control_request request = {.command = COMMAND_RESUME}, back = {0};
	cleanup_json struct json *doc = NULL;
	struct event event;

	request.restore = (struct restore_request){.kind = RESTORE_PATH,
						   .token = xstrdup("t1"),
						   .path = xstrdup("file:/sp/1"),
						   .allow_non_restored = true,
						   .foreign = true};
	doc = control_request_encode(&request);
	CHECK_INT(control_request_decode(doc, &back, NULL), ==, 0);
	control_request_event(&back, &event);
	CHECK(event.type == EVENT_CONTROL);
	CHECK_INT(event.control.fields, ==, CONTROL_STATE | CONTROL_NEW_START | CONTROL_RESTORE);
	CHECK(event.control.intent.state == DESIRED_RUNNING);
	CHECK_STR(event.control.intent.restore.path, "file:/sp/1");
	CHECK_STR(event.control.intent.restore.token, "t1");
	CHECK(event.control.intent.restore.allow_non_restored);
	CHECK(event.control.intent.restore.foreign);
	control_request_release(&request);
	control_request_release(&back);
}

TEST(each_command_sets_its_fields_only)
{
	static const struct {
		struct control_request request;
		unsigned fields;
	} cases[] = {
		{{.command = COMMAND_SAVEPOINT, .nonce = (char *)"n"}, CONTROL_SAVEPOINT},
		{{.command = COMMAND_RESTART, .nonce = (char *)"n"}, CONTROL_RESTART},
		{{.command = COMMAND_RESCALE, .nonce = (char *)"n", .parallelism = {.all = 4}},
		 CONTROL_PARALLELISM},
		{{.command = COMMAND_RESCALE, .nonce = (char *)"n", .parallelism = {.reset = true}},
		 CONTROL_PARALLELISM},
		{{.command = COMMAND_SUSPEND}, CONTROL_STATE},
		{{.command = COMMAND_CANCEL}, CONTROL_STATE},
		{{.command = COMMAND_RESUME}, CONTROL_STATE | CONTROL_NEW_START},
		{{.command = COMMAND_DO_NOT_RESTART, .on = true}, CONTROL_DO_NOT_RESTART},
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		cleanup_json struct json *doc = control_request_encode(&cases[i].request);
		struct control_request back;
		struct event event;

		if (!CHECK_INT(control_request_decode(doc, &back, NULL), ==, 0))
			continue;
		control_request_event(&back, &event);
		CHECK_INT(event.control.fields, ==, cases[i].fields);
		CHECK_INT(event.control.intent.do_not_restart, ==, cases[i].request.on);
		control_request_release(&back);
	}
}

TEST(a_request_for_another_parallelism_survives_the_way)
{
	struct control_request request = {.command = COMMAND_RESCALE, .nonce = xstrdup("n1")};
	struct control_request back;
	cleanup_json struct json *doc = NULL;
	struct event event;

	request.parallelism.merge = true;
	parallelism_set(&request.parallelism, "count", 2);
	parallelism_set(&request.parallelism, "the sink", 7);
	doc = control_request_encode(&request);
	if (!CHECK_INT(control_request_decode(doc, &back, NULL), ==, 0))
		return;
	control_request_event(&back, &event);
	CHECK_STR(event.control.intent.parallelism.nonce, "n1");
	CHECK(event.control.intent.parallelism.merge && !event.control.intent.parallelism.reset);
	CHECK(parallelism_same(&event.control.intent.parallelism, &request.parallelism));
	control_request_release(&request);
	control_request_release(&back);
}

TEST(a_parallelism_that_no_job_can_have_is_refused)
{
	static const char *const bad[][2] = {
		{"{}", "'all', 'vertices' or 'reset' is missing"},
		{"{\"all\":0}", "'all' must be 1 to 32768, not 0"},
		{"{\"all\":-1}", "'all' must be"},
		{"{\"all\":32769}", "'all' must be"},
		{"{\"all\":\"4\"}", "'all'"},
		{"{\"vertices\":{\"count\":0}}", "'count' must be 1 to"},
		{"{\"vertices\":{\"\":1}}", "1 to 256 bytes"},
		{"{\"vertices\":[1]}", "'vertices'"},
		{"{\"vertices\":{}}", "is missing"},
		{"{\"all\":1,\"reset\":true}", "'reset' takes no other member"},
		{"{\"reset\":true,\"merge\":true}", "'reset' takes no other member"},
		{"{\"all\":1,\"lower\":1}", "unknown member 'lower'"},
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		cleanup_free char *text = xasprintf(
			"{\"command\":\"rescale\",\"nonce\":\"n\",\"parallelism\":%s}", bad[i][0]);

		CHECK_HAS(decode_error(text), bad[i][1]);
	}
	CHECK_HAS(decode_error("{\"command\":\"rescale\",\"parallelism\":{\"all\":1}}"), "'nonce'");
	CHECK_HAS(decode_error("{\"command\":\"rescale\",\"nonce\":\"n\"}"), "'parallelism'");
}

TEST(wishes_for_a_transition_are_events_of_their_own)
{
	struct control_request promote = {
		.command = COMMAND_PROMOTE, .nonce = (char *)"p1", .at_unix_ms = 1700000000000};
	struct control_request abort = {.command = COMMAND_ABORT, .nonce = (char *)"a1"};
	cleanup_json struct json *first = control_request_encode(&promote);
	cleanup_json struct json *second = control_request_encode(&abort);
	struct control_request back;
	struct event event;

	CHECK_INT(control_request_decode(first, &back, NULL), ==, 0);
	control_request_event(&back, &event);
	CHECK_INT(event.control.fields, ==, CONTROL_PROMOTE);
	CHECK_STR(event.control.promote_nonce, "p1");
	CHECK_INT(event.control.promote_at_unix_ms, ==, 1700000000000);
	control_request_release(&back);
	CHECK_INT(control_request_decode(second, &back, NULL), ==, 0);
	control_request_event(&back, &event);
	CHECK_INT(event.control.fields, ==, CONTROL_ABORT);
	CHECK_STR(event.control.abort_nonce, "a1");
	control_request_release(&back);
	CHECK_HAS(decode_error("{\"command\":\"promote\"}"), "'nonce'");
	CHECK_HAS(decode_error("{\"command\":\"promote\",\"nonce\":\"n\",\"atUnixMs\":-1}"),
		  "'atUnixMs' must be 0 to");
	CHECK_HAS(decode_error("{\"command\":\"promote\",\"nonce\":\"n\","
			       "\"atUnixMs\":9007199254740991}"),
		  "'atUnixMs' must be 0 to");
	CHECK_HAS(decode_error("{\"command\":\"abort\",\"nonce\":\"n\",\"atUnixMs\":1}"),
		  "unknown member 'atUnixMs'");
}

TEST(half_understood_requests_are_refused)
{
	CHECK_STR(decode_error("{\"command\":\"status\"}"), "(accepted)");
	CHECK_HAS(decode_error("[]"), "not an object");
	CHECK_HAS(decode_error("{}"), "'command'");
	CHECK_HAS(decode_error("{\"command\":\"explode\"}"), "unknown command 'explode'");
	CHECK_HAS(decode_error("{\"command\":\"suspend\",\"drain\":true}"),
		  "request 'suspend': unknown member 'drain'");
	CHECK_HAS(decode_error("{\"command\":\"savepoint\"}"), "'nonce'");
	CHECK_HAS(decode_error("{\"command\":\"savepoint\",\"nonce\":\"\"}"), "1 to 64 bytes");
	CHECK_HAS(decode_error("{\"command\":\"savepoint\",\"nonce\":\"a b\"}"), "not printable");
	CHECK_HAS(decode_error("{\"command\":\"do-not-restart\",\"on\":\"yes\"}"), "'on'");
	CHECK_HAS(decode_error("{\"command\":\"resume\",\"restore\":{\"kind\":\"path\","
			       "\"token\":\"t\"}}"),
		  "restore: 'path'");
	CHECK_HAS(decode_error("{\"command\":\"resume\",\"restore\":{\"kind\":\"empty\","
			       "\"token\":\"t\",\"path\":\"x\"}}"),
		  "'kind: empty' takes no 'path'");
	CHECK_HAS(decode_error("{\"command\":\"resume\",\"restore\":{\"kind\":\"oldest\","
			       "\"token\":\"t\"}}"),
		  "must be newest, path or empty, not 'oldest'");
	CHECK_HAS(decode_error("{\"command\":\"resume\",\"restore\":{\"kind\":\"empty\"}}"),
		  "'token'");
	CHECK_HAS(decode_error("{\"command\":\"resume\",\"restore\":{\"kind\":\"empty\","
			       "\"token\":\"t\",\"pat\":1}}"),
		  "unknown member 'pat'");
}

TEST(an_acknowledgement_is_an_event_of_its_own)
{
	struct control_request request = {.command = COMMAND_ACKNOWLEDGE, .nonce = (char *)"k1"};
	cleanup_json struct json *doc = control_request_encode(&request);
	struct control_request back;
	struct event event;

	if (!CHECK_INT(control_request_decode(doc, &back, NULL), ==, 0))
		return;
	control_request_event(&back, &event);
	CHECK_INT(event.control.fields, ==, CONTROL_ACKNOWLEDGE);
	CHECK_STR(event.control.acknowledge_nonce, "k1");
	control_request_release(&back);
	CHECK_HAS(decode_error("{\"command\":\"acknowledge\"}"), "'nonce'");
}
