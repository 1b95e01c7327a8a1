/*
 * Any packets between drey-init and the agent, over a real socketpair. The first byte chooses: 'i' is what an agent
 * sends to drey-init, 'a' what drey-init sends to the agent, 'r' strings that the agent sends and drey-init takes, 'c'
 * a connection that ends. The second byte says how many descriptors come with it. drey-init is no part of the agent's
 * library: its end is compiled in here, as is that of the agent, of which the function is called that the loop would
 * call.
 */
#include "entrypoint/agent.c" /* NOLINT(bugprone-suspicious-include) */
#include "run/init_link.c"    /* NOLINT(bugprone-suspicious-include) */

#include "base/mem.h"
#include "must.h"

#define NOW_MS 1000

/* What the two need and do not do here. */
void say(const char *fmt, ...)
{
	must(fmt != NULL);
}

void say_more(const char *fmt, ...)
{
	must(fmt != NULL);
}

pid_t spawn(const struct spawn *unused, int *ret_report)
{
	(void)unused;
	(void)ret_report;
	must(false);
	return -1;
}

enum spawn_state spawn_report(int report, int *ret_errno)
{
	(void)report;
	(void)ret_errno;
	must(false);
	return SPAWN_FAILED;
}

struct ends {
	int init, agent;
	uint64_t
		open; /* the descriptors with the two, as bits: none is left open, and none is closed */
};

static uint64_t open_descriptors(void)
{
	uint64_t open = 0;

	for (int fd = 0; fd < 64; fd++)
		if (fcntl(fd, F_GETFD) >= 0)
			open |= UINT64_C(1) << fd;
	return open;
}

static struct ends ends_open(void)
{
	struct ends ends;
	int pair[2], size = 2 * LINK_PACKET_MAX_BYTES;

	must(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0);
	setsockopt(pair[1], SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	ends = (struct ends){.init = pair[0], .agent = pair[1]};
	ends.open = open_descriptors();
	return ends;
}

/* `init_is_closed`: drey-init has closed its end. */
static void ends_close(const struct ends *ends, bool init_is_closed)
{
	uint64_t init;

	must(ends->init >= 0 && ends->init < 64);
	init = UINT64_C(1) << ends->init;
	must(open_descriptors() == (init_is_closed ? ends->open & ~init : ends->open));
	if (!init_is_closed)
		close(ends->init);
	close(ends->agent);
}

/* ---- to drey-init ---- */

static void send_with(int fd, const uint8_t *bytes, size_t len_bytes, int fds)
{
	union {
		struct cmsghdr head;
		char space[CMSG_SPACE(3 * sizeof(int))];
	} control = {.space = {0}};
	const int passed[3] = {STDERR_FILENO, STDERR_FILENO, STDERR_FILENO};
	struct iovec iov = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = len_bytes};
	struct msghdr head = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fds) {
		head.msg_control = control.space;
		head.msg_controllen = CMSG_SPACE((size_t)fds * sizeof(int));
		control.head.cmsg_level = SOL_SOCKET;
		control.head.cmsg_type = SCM_RIGHTS;
		control.head.cmsg_len = CMSG_LEN((size_t)fds * sizeof(int));
		memcpy(CMSG_DATA(&control.head), passed, (size_t)fds * sizeof(int));
	}
	must(sendmsg(fd, &head, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len_bytes);
}

static size_t count_strings(char *const *list, const struct agent_launch *launch,
			    struct buf *packed)
{
	size_t count = 0;

	for (; list[count]; count++) {
		must(list[count] >= launch->text &&
		     list[count] < launch->text + sizeof(launch->text));
		buf_add(packed, list[count], strlen(list[count]) + 1);
	}
	return count;
}

/* Packed again, the strings are the bytes that came. */
static void check_launch(const struct link_msg *msg, const struct agent_launch *launch,
			 const uint8_t *text, size_t text_bytes)
{
	cleanup_buf struct buf packed = BUF_INIT;

	if (msg->sys_errno) {
		must(msg->sys_errno == EINVAL || msg->sys_errno == E2BIG);
		return;
	}
	must(msg->argc > 0 && msg->argc + msg->envc <= LINK_STRINGS_MAX);
	must(count_strings(launch->argv, launch, &packed) == msg->argc);
	must(count_strings(launch->envp, launch, &packed) == msg->envc);
	must(packed.len_bytes == text_bytes && !memcmp(packed.data, text, text_bytes));
}

static bool is_acceptable(const struct link_msg *sent, size_t len_bytes)
{
	return len_bytes >= sizeof(*sent) && sent->version == LINK_VERSION &&
	       sent->type >= LINK_LAUNCH && sent->type <= LINK_SPARE_END;
}

static void to_init(const uint8_t *packet, size_t len_bytes, int fds, bool busy)
{
	static struct agent_launch launch;
	struct ends ends = ends_open();
	struct agent agent = {.pid = 4711, .link = ends.init, .report = -1, .kill_ms = STOP_NEVER};
	struct link_msg msg, sent = {0};
	enum agent_event event;

	memset(&msg, 0x5a, sizeof(msg));
	launch.fd = -1;
	memcpy(&sent, packet, len_bytes < sizeof(sent) ? len_bytes : sizeof(sent));
	send_with(ends.agent, packet, len_bytes, fds);
	event = agent_receive(&agent, &msg, busy ? NULL : &launch, NOW_MS);
	must((event == AGENT_MESSAGE) == is_acceptable(&sent, len_bytes));
	if (event == AGENT_NOTHING) {
		must(launch.fd == -1 && agent.link == -1 &&
		     agent.kill_ms <= NOW_MS + CLOSED_LINK_MS);
		must(msg.version == 0x5a5a && msg.envc == 0x5a5a5a5a); /* untouched */
		must(agent.wrong_version ==
		     (len_bytes >= sizeof(sent.version) && sent.version != LINK_VERSION));
		ends_close(&ends, true);
		return;
	}
	must(agent.link == ends.init && agent.kill_ms == STOP_NEVER && !agent.wrong_version);
	must(memchr(msg.launch_id, '\0', sizeof(msg.launch_id)) &&
	     memchr(msg.spare_id, '\0', sizeof(msg.spare_id)));
	if (has_strings(&msg) && !busy) {
		must((launch.fd >= 0) == (fds > 0));
		check_launch(&msg, &launch, packet + sizeof(msg), len_bytes - sizeof(msg));
	} else {
		must(launch.fd == -1);
	}
	if (launch.fd >= 0)
		close(launch.fd);
	ends_close(&ends, false);
}

/* The agent closes its end: it has time to exit. */
static void end_of_agent(void)
{
	struct ends ends = ends_open();
	struct agent agent = {.pid = 4711, .link = ends.init, .report = -1, .kill_ms = STOP_NEVER};
	struct link_msg msg = {.type = LINK_STOPPING};

	must(agent_receive(&agent, &msg, NULL, NOW_MS) == AGENT_NOTHING && agent.link == ends.init);
	must(shutdown(ends.agent, SHUT_RDWR) == 0);
	must(agent_receive(&agent, &msg, NULL, NOW_MS) == AGENT_NOTHING && agent.link == -1);
	must(agent.kill_ms == NOW_MS + CLOSED_LINK_MS && msg.type == LINK_STOPPING);
	agent_send(&agent, &msg, NOW_MS); /* without a link nothing happens */
	ends_close(&ends, true);
}

/* The other order: drey-init writes first; and an agent that does not read is killed. */
static void send_to_the_dead(bool full)
{
	struct ends ends = ends_open();
	struct agent agent = {.pid = 4711, .link = ends.init, .report = -1, .kill_ms = STOP_NEVER};
	struct link_msg msg = {.type = LINK_STOPPING};

	if (!full)
		must(shutdown(ends.agent, SHUT_RDWR) == 0);
	for (int i = 0; agent.link >= 0 && i < 100000; i++)
		agent_send(&agent, &msg, NOW_MS);
	must(agent.link == -1 && agent.kill_ms == (full ? NOW_MS : NOW_MS + CLOSED_LINK_MS));
	ends_close(&ends, true);
}

/* ---- to the agent ---- */

struct heard {
	int calls, broken;
	struct link_msg msg;
};

static void hear(void *arg, const struct link_msg *msg)
{
	struct heard *heard = arg;

	heard->calls++;
	if (msg)
		heard->msg = *msg;
	else
		heard->broken++;
}

/* "<job id>-<number>", as it came and as it is told. */
static void check_id(const char came[LINK_LAUNCH_ID_BYTES], const char *told, uint32_t number)
{
	size_t len = strlen(told);

	must(len < LINK_LAUNCH_ID_BYTES && !strchr(told, '-') && !memcmp(came, told, len));
	must(number <= NUMBER_MAX);
	if (number) {
		must(came[len] == '-' && memchr(came, '\0', LINK_LAUNCH_ID_BYTES));
		must(!came[len + 1 + strspn(came + len + 1, "0123456789")]);
		must(strtoul(came + len + 1, NULL, 10) == number);
	}
}

static void to_agent(const uint8_t *packet, size_t len_bytes)
{
	struct ends ends = ends_open();
	struct heard heard = {.calls = 0};
	struct init_link link = {.fd = ends.agent, .fn = hear, .arg = &heard};
	struct link_msg sent = {0};

	readable(&link, ends.agent, LOOP_READ); /* nothing came yet */
	must(!heard.calls);
	memcpy(&sent, packet, len_bytes < sizeof(sent) ? len_bytes : sizeof(sent));
	send_with(ends.init, packet, len_bytes, 0);
	readable(&link, ends.agent, LOOP_READ);
	must(heard.calls == 1);
	/* a longer packet is read as if it ended */
	must(heard.broken == (len_bytes < sizeof(sent) || sent.version != LINK_VERSION));
	if (!heard.broken) {
		check_id(sent.launch_id, heard.msg.launch_id, heard.msg.argc);
		check_id(sent.last_launch_id, heard.msg.last_launch_id, heard.msg.envc);
		must(heard.msg.type == sent.type && heard.msg.flags == sent.flags &&
		     heard.msg.pid == sent.pid);
		must(heard.msg.last_ended_unix_ms == sent.last_ended_unix_ms &&
		     heard.msg.until_ms == sent.until_ms);
	}
	ends_close(&ends, false);
}

/* ---- from the one to the other, and back ---- */

struct words {
	char *list[64];
	size_t count;
};

static struct words words_of(char *text, size_t len_bytes)
{
	struct words words = {.count = 0};

	for (size_t at = 0; at < len_bytes && words.count < ARRAY_LEN(words.list) - 1;
	     at += strlen(text + at) + 1)
		words.list[words.count++] = text + at;
	return words;
}

static void check_words(const struct words *words, size_t skip, char *const *list)
{
	size_t i = 0;

	for (; list[i]; i++)
		must(skip + i < words->count && xstris(words->list[skip + i], list[i]));
}

/* What the agent says with a packet of its own, as drey-init hears it. */
static struct link_msg heard_by_init(struct agent *agent)
{
	static struct agent_launch launch;
	struct link_msg msg;

	launch.fd = -1;
	must(agent_receive(agent, &msg, &launch, NOW_MS) == AGENT_MESSAGE && launch.fd == -1);
	return msg;
}

static void check_orders(struct init_link *link, struct agent *agent, const char *id, int number)
{
	struct link_msg msg;

	must(init_link_signal(link, id, number, number & 1, NULL) == 0);
	msg = heard_by_init(agent);
	must(msg.type == LINK_SIGNAL && msg.signo == number && !strcmp(msg.launch_id, id));
	must(msg.flags == (number & 1 ? LINK_GROUP : 0));
	must(init_link_lease(link, number, NULL) == 0);
	msg = heard_by_init(agent);
	must(msg.type == LINK_LEASE && msg.until_ms == number);
	must(init_link_exit(link, number, NULL) == 0);
	msg = heard_by_init(agent);
	must(msg.type == LINK_EXIT && msg.exit_status == number);
	must(init_link_stop_ack(link, NULL) == 0 && init_link_spare_end(link, id, NULL) == 0);
	must(heard_by_init(agent).type == LINK_STOP_ACK);
	msg = heard_by_init(agent);
	must(msg.type == LINK_SPARE_END && !strcmp(msg.launch_id, id));
}

/* It is refused before anything is sent. */
static void check_too_large(struct init_link *link, struct agent *agent)
{
	cleanup_free char *word = xcalloc(1, LINK_PACKET_MAX_BYTES + 1);
	char *argv[] = {word, NULL};
	struct init_link_launch launch = {.job_id = "0", .argv = argv, .lock_fd = -1};
	struct agent_launch *none = NULL;
	struct link_msg msg;
	struct err err = {0};

	memset(word, 'x', LINK_PACKET_MAX_BYTES);
	must(init_link_launch(link, &launch, &err) < 0 && err.kind == ERR_CONFIG && err.msg[0]);
	must(agent_receive(agent, &msg, none, NOW_MS) == AGENT_NOTHING && agent->link >= 0);
}

/* A spare is the same but for its id; a launch into it says how much it has already. */
static void check_spare(struct init_link *link, struct agent *agent, struct init_link_launch launch,
			size_t argc)
{
	static struct agent_launch taken;
	struct link_msg msg;

	taken.fd = -1;
	must(init_link_spare(link, &launch, 4711, NULL) == 0);
	must(agent_receive(agent, &msg, &taken, NOW_MS) == AGENT_MESSAGE && msg.type == LINK_SPARE);
	must(msg.argc == argc && msg.until_ms == 4711 && !strcmp(msg.launch_id, launch.job_id));
	if (taken.fd >= 0)
		close(taken.fd);
	launch.spare = "spare-1";
	launch.spare_argc = 1;
	must(init_link_launch(link, &launch, NULL) == 0);
	must(agent_receive(agent, &msg, &taken, NOW_MS) == AGENT_MESSAGE &&
	     msg.type == LINK_LAUNCH);
	must(msg.flags == LINK_INTO_SPARE && msg.spare_argc == 1 &&
	     !strcmp(msg.spare_id, "spare-1"));
	if (taken.fd >= 0)
		close(taken.fd);
}

static void round_trip(char *text, size_t len_bytes, int number, bool with_fd)
{
	static struct agent_launch taken;
	struct words words = words_of(text, len_bytes);
	size_t argc = words.count ? 1 + words.count / 2 : 0;
	struct words env = {.count = words.count - argc};
	struct ends ends = ends_open();
	struct heard heard = {.calls = 0};
	struct init_link link = {.fd = ends.agent, .fn = hear, .arg = &heard};
	struct agent agent = {.pid = 4711, .link = ends.init, .report = -1, .kill_ms = STOP_NEVER};
	struct init_link_launch launch = {.job_id = "0123456789abcdef0123456789abcdef",
					  .number = number};
	struct link_msg msg;

	memcpy(env.list, words.list + argc, env.count * sizeof(env.list[0]));
	words.list[argc] = NULL;
	launch.argv = words.list;
	launch.env = env.list;
	launch.lock_fd = with_fd ? STDERR_FILENO : -1;
	taken.fd = -1;
	must(init_link_launch(&link, &launch, NULL) == 0);
	must(agent_receive(&agent, &msg, &taken, NOW_MS) == AGENT_MESSAGE &&
	     msg.type == LINK_LAUNCH);
	must(msg.argc == argc && msg.envc == env.count && (taken.fd >= 0) == with_fd);
	must(msg.sys_errno == (argc ? 0 : EINVAL));
	if (argc) {
		check_words(&words, 0, taken.argv);
		check_words(&env, 0, taken.envp);
	}
	if (taken.fd >= 0)
		close(taken.fd);
	msg.type = LINK_STARTED;
	agent_send(&agent, &msg, NOW_MS);
	readable(&link, ends.agent, LOOP_READ);
	must(heard.calls == 1 && !heard.broken && !strcmp(heard.msg.launch_id, launch.job_id));
	check_orders(&link, &agent, launch.job_id, number);
	check_spare(&link, &agent, launch, argc);
	check_too_large(&link, &agent);
	must(heard.msg.argc == (number > 0 && number <= NUMBER_MAX ? (uint32_t)number : 0));
	ends_close(&ends, false);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size_bytes)
{
	cleanup_free char *text = NULL;
	int number = 0;

	/* an empty packet is the end of the connection */
	if (size_bytes < 3 || size_bytes > LINK_PACKET_MAX_BYTES + 1000)
		return 0;
	switch (data[0]) {
	case 'i':
		to_init(data + 2, size_bytes - 2, data[1] % 4, data[1] & 64);
		break;
	case 'a':
		to_agent(data + 2, size_bytes - 2);
		break;
	case 'r':
		memcpy(&number, data + 2, size_bytes - 2 < 4 ? size_bytes - 2 : 4);
		text = xcalloc(1, size_bytes + 1);
		memcpy(text, data + 2, size_bytes - 2);
		round_trip(text, size_bytes - 2, number, data[1] & 1);
		break;
	case 'c':
		end_of_agent();
		send_to_the_dead(data[1] & 1);
		break;
	default:
		break;
	}
	return 0;
}
