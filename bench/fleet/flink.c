/*
 * The REST API of a Flink whose job runs and completes a checkpoint a minute, as far as drey asks while all is well.
 * One connection at a time.
 *
 *   flink PORT JOB_ID [WHATEVER...]
 *
 * JOB_ID "-": it is in WHATEVER, behind --job-id. What is behind --fromSavepoint was restored; the id of such a savepoint is
 * taken from its name, as bench/resolve/fixtures.c gives it. REQUESTS=FILE gets a byte for each request.
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_MS 60000
#define FIRST_ID  1000000 /* larger than that of any fixture */

static long long begin_ms;
static const char *restored;

static long long now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

static void checkpoints(char *to, size_t bytes, const char *job)
{
	long long count = (now_ms() - begin_ms) / PERIOD_MS + 1, number = FIRST_ID + count;
	long long at_ms = begin_ms + (count - 1) * PERIOD_MS, id = 0;
	char newest[600], origin[1200] = "null";
	const char *name = restored ? strstr(restored, "savepoint-") : NULL;

	if (name && sscanf(name, "savepoint-%llx", &id) == 1)
		snprintf(origin, sizeof(origin),
			 "{\"id\":%lld,\"restore_timestamp\":%lld,\"is_savepoint\":true,"
			 "\"external_path\":\"%.1000s\"}",
			 id + 1, begin_ms, restored);

	snprintf(newest, sizeof(newest),
		 "{\"id\":%lld,\"status\":\"COMPLETED\",\"is_savepoint\":false,\"trigger_"
		 "timestamp\":%lld,"
		 "\"latest_ack_timestamp\":%lld,\"end_to_end_duration\":10,\"state_size\":1000,"
		 "\"discarded\":false,\"checkpoint_type\":\"CHECKPOINT\","
		 "\"external_path\":\"file:///checkpoints/%s/chk-%lld\"}",
		 number, at_ms, at_ms, job, number);
	snprintf(to, bytes,
		 "{\"counts\":{\"restored\":%d,\"total\":%lld,\"in_progress\":0,\"completed\":%lld,"
		 "\"failed\":0},"
		 "\"latest\":{\"completed\":%s,\"savepoint\":null,\"failed\":null,\"restored\":"
		 "%s},"
		 "\"history\":[%s]}",
		 restored != NULL, count, count, newest, origin, newest);
}

/* False: there is no such thing. */
static int find(const char *path, const char *job, char *to, size_t bytes)
{
	if (strstr(path, "/checkpoints"))
		checkpoints(to, bytes, job);
	else if (strstr(path, "/exceptions"))
		snprintf(to, bytes, "{\"exceptionHistory\":{\"entries\":[],\"truncated\":false}}");
	else if (strstr(path, "/metrics"))
		snprintf(to, bytes, "[{\"id\":\"numRestarts\",\"value\":\"0\"}]");
	else if (!strcmp(path, "/jobs/overview"))
		snprintf(to, bytes,
			 "{\"jobs\":[{\"jid\":\"%s\",\"name\":\"job\",\"state\":\"RUNNING\","
			 "\"start-time\":%lld,"
			 "\"end-time\":-1,\"tasks\":{\"total\":1,\"running\":1,\"finished\":0}}]}",
			 job, begin_ms);
	else if (!strcmp(path, "/overview"))
		snprintf(to, bytes, "{\"taskmanagers\":1,\"slots-total\":1,\"slots-available\":0}");
	else if (!strcmp(path, "/jobs"))
		snprintf(to, bytes, "{\"jobs\":[{\"id\":\"%s\",\"status\":\"RUNNING\"}]}", job);
	else
		return 0;
	return 1;
}

static void serve(int fd, const char *job)
{
	char request[8192], path[512] = "", body[4096] = "{\"errors\":[\"not found\"]}";
	size_t len = 0;
	int found;

	while (len < sizeof(request) - 1) {
		ssize_t got = read(fd, request + len, sizeof(request) - 1 - len);

		if (got <= 0)
			return;
		len += (size_t)got;
		request[len] = '\0';
		if (strstr(request, "\r\n\r\n"))
			break;
	}
	if (sscanf(request, "GET %511s", path) != 1)
		return;
	found = find(path, job, body, sizeof(body));
	dprintf(fd,
		"HTTP/1.1 %s\r\nContent-Type: application/json\r\nConnection: close\r\n"
		"Content-Length: %zu\r\n\r\n%s",
		found ? "200 OK" : "404 Not Found", strlen(body), body);
}

int main(int argc, char **argv)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval limit = {.tv_sec = 10};
	const char *job, *log = getenv("REQUESTS");
	int on = 1,
	    requests = log ? open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644) : -1,
	    server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (argc < 3)
		return 2;
	signal(SIGPIPE, SIG_IGN);
	begin_ms = now_ms();
	job = argv[2];
	for (int i = 3; i + 1 < argc; i++) {
		if (!strcmp(argv[i], "--job-id") && !strcmp(argv[2], "-"))
			job = argv[i + 1];
		if (!strcmp(argv[i], "--fromSavepoint"))
			restored = argv[i + 1];
	}
	address.sin_port = htons((unsigned short)strtol(argv[1], NULL, 10));
	setsockopt(server, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (server < 0 || bind(server, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    listen(server, 16) < 0) {
		perror("flink");
		return 1;
	}
	for (;;) {
		int fd = accept4(server, NULL, NULL, SOCK_CLOEXEC);

		if (fd < 0)
			continue;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
		serve(fd, job);
		if (requests >= 0 && write(requests, ".", 1) < 0)
			return 1;
		close(fd);
	}
}
