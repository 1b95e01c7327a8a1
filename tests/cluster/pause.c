// The first process of a Pod: it holds the namespaces until it is told to end.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal)
{
	(void)signal;
	_exit(0);
}

static void reap(int signal)
{
	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

int main(void)
{
	struct sigaction action = {.sa_handler = end};

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	action.sa_handler = reap;
	sigaction(SIGCHLD, &action, NULL);
	for (;;)
		pause();
}
