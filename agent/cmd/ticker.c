#include "cmd/ticker.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"

#define LINE_BYTES 512

struct ticker {
	const struct cli *cli;
	int64_t began_ms;
	pthread_t thread;
	pthread_mutex_t lock; /* guards the two below */
	pthread_cond_t ended_changed;
	bool ended;
	char line[LINE_BYTES];
};

static void print_line(const struct ticker *ticker)
{
	struct out err = ticker->cli->err;

	out_put(err, "%s %s: %s (%lld s)\n", cli_program(ticker->cli->command),
		ticker->cli->command->name, ticker->line,
		(long long)((clock_mono_ms() - ticker->began_ms) / 1000));
	out_flush(err);
}

static void *tick(void *arg)
{
	struct ticker *ticker = arg;
	struct timespec next;

	clock_gettime(CLOCK_MONOTONIC, &next);
	pthread_mutex_lock(&ticker->lock);
	while (!ticker->ended) {
		next.tv_sec += TICKER_MS / 1000;
		while (!ticker->ended &&
		       pthread_cond_timedwait(&ticker->ended_changed, &ticker->lock, &next) == 0)
			;
		if (!ticker->ended)
			print_line(ticker);
	}
	pthread_mutex_unlock(&ticker->lock);
	return NULL;
}

struct ticker *ticker_new(const struct cli *cli)
{
	struct ticker *ticker;
	pthread_condattr_t attr;

	if (!out_is_terminal(cli->err))
		return NULL;
	ticker = xcalloc(1, sizeof(*ticker));
	ticker->cli = cli;
	ticker->began_ms = clock_mono_ms();
	snprintf(ticker->line, sizeof(ticker->line), "reading");
	pthread_mutex_init(&ticker->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&ticker->ended_changed, &attr);
	pthread_condattr_destroy(&attr);
	if (pthread_create(&ticker->thread, NULL, tick, ticker) == 0)
		return ticker;
	pthread_cond_destroy(&ticker->ended_changed);
	pthread_mutex_destroy(&ticker->lock);
	free(ticker);
	return NULL;
}

void ticker_set(struct ticker *ticker, const char *fmt, ...)
{
	va_list ap;

	if (!ticker)
		return;
	va_start(ap, fmt);
	pthread_mutex_lock(&ticker->lock);
	vsnprintf(ticker->line, sizeof(ticker->line), fmt, ap);
	pthread_mutex_unlock(&ticker->lock);
	va_end(ap);
}

void ticker_free(struct ticker *ticker)
{
	if (!ticker)
		return;
	pthread_mutex_lock(&ticker->lock);
	ticker->ended = true;
	pthread_cond_signal(&ticker->ended_changed);
	pthread_mutex_unlock(&ticker->lock);
	pthread_join(ticker->thread, NULL);
	pthread_cond_destroy(&ticker->ended_changed);
	pthread_mutex_destroy(&ticker->lock);
	free(ticker);
}
