#include "signals.h"

#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static struct {
	volatile sig_atomic_t count[SIGNALS_MAX + 1];
	volatile sig_atomic_t int_typed;
	sigset_t mask;        /* as we were started */
	uint64_t was_ignored; /* bit n-1: signal n was SIG_IGN when we were started */
	uint64_t touched;     /* bit n-1: we have changed its disposition */
} signals;

static uint64_t bit(int signo)
{
	return UINT64_C(1) << (signo - 1);
}

static bool is_fault(int signo)
{
	return signo == SIGSEGV || signo == SIGBUS || signo == SIGFPE || signo == SIGILL ||
	       signo == SIGTRAP || signo == SIGSYS || signo == SIGABRT;
}

static void on_signal(int signo, siginfo_t *info, void *context)
{
	(void)context;
	/* SIGPIPE from our own write after the reader has closed */
	if (info->si_code == SI_USER && info->si_pid == getpid())
		return;
	if (signo == SIGINT)
		signals.int_typed = info->si_code == SI_KERNEL;
	signals.count[signo]++;
}

void signals_block(void)
{
	sigset_t all;

	sigfillset(&all);
	for (int signo = 1; signo <= SIGNALS_MAX; signo++)
		if (is_fault(signo))
			sigdelset(&all, signo);
	sigprocmask(SIG_SETMASK, &all, &signals.mask);
}

void signals_catch(void)
{
	for (int signo = 1; signo <= SIGNALS_MAX; signo++) {
		struct sigaction ours = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO}, old;

		if (is_fault(signo) || signo == SIGKILL || signo == SIGSTOP)
			continue;
		if (signo == SIGCHLD)
			ours.sa_flags |= SA_NOCLDSTOP;
		if (signo == SIGTTIN || signo == SIGTTOU)
			ours = (struct sigaction){.sa_handler = SIG_IGN};
		sigfillset(&ours.sa_mask);
		if (sigaction(signo, &ours, &old) < 0)
			continue;
		signals.touched |= bit(signo);
		if (old.sa_handler == SIG_IGN)
			signals.was_ignored |= bit(signo);
	}
}

int signals_wait(struct pollfd *fds, unsigned nfds, int64_t timeout_ms)
{
	struct timespec ts = {.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1000000};
	sigset_t none;
	int n;

	sigemptyset(&none);
	n = ppoll(fds, nfds, timeout_ms < 0 ? NULL : &ts, &none);
	if (n < 0)
		for (unsigned i = 0; i < nfds; i++)
			fds[i].revents = 0;
	/*
	 * ppoll delivers no signal if a descriptor is ready, and otherwise only one:
	 * take the others too, so that a flood of packets does not delay signals, and
	 * the first is handled first.
	 */
	for (int i = 0; i < SIGNALS_MAX && ppoll(NULL, 0, &(struct timespec){0}, &none) < 0; i++)
		;
	return n < 0 ? 0 : n;
}

bool signals_take(int signo)
{
	if (!signals.count[signo])
		return false;
	signals.count[signo]--;
	return true;
}

bool signals_int_was_typed(void)
{
	return signals.int_typed;
}

void signals_restore(void)
{
	struct sigaction act = {0};

	for (int signo = 1; signo <= SIGNALS_MAX; signo++) {
		bool ignore = signals.was_ignored & bit(signo);

		if (!(signals.touched & bit(signo)))
			continue;
		act.sa_handler = ignore && signo != SIGCHLD && signo != SIGPIPE ? SIG_IGN : SIG_DFL;
		sigaction(signo, &act, NULL);
	}
	/* Last: what has arrived since the fork must meet the dispositions of the new program. */
	sigprocmask(SIG_SETMASK, &signals.mask, NULL);
}
