#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tests/sim/bluegreen.h"
#include "tests/sim/sim.h"

/* In one of this many histories the journal is encoded and decoded when an agent reads it, or at every write. A decision does
 * not depend on it (the same histories pass either way), and it would be most of what the simulator does. */
#define READ_AS_TEXT_EVERY 32
#define AS_TEXT_EVERY      128

static double seconds(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void print_figures(const struct figures *f)
{
	printf("# %" PRIu64 " steps, %" PRIu64 " launches, %" PRIu64 " savepoints, %" PRIu64
	       " stops, %" PRIu64 " cancels, %" PRIu64 " restore requests\n",
	       f->steps, f->launches, f->savepoints, f->stops, f->cancels, f->requests);
	printf("# %" PRIu64 " agent deaths, %" PRIu64 " container ends, %" PRIu64
	       " snapshots damaged, %" PRIu64 " wrong restores, %" PRIu64 " jobs finished, %" PRIu64
	       " launches continued, %" PRIu64 " journals lost or put back, %" PRIu64
	       " pods replaced\n",
	       f->agent_crashes, f->container_deaths, f->damaged, f->mismatches, f->finished,
	       f->continued, f->journals_changed, f->replaced);
	if (f->asked)
		printf("# %" PRIu64 " requested checkpoints\n", f->asked);
	if (f->lies)
		printf("# %" PRIu64 " lies, %" PRIu64 " journals taken from their copy\n", f->lies,
		       f->adopted);
	if (f->ids_again || f->ids_used_up)
		printf("# %" PRIu64 " job ids given again, %" PRIu64 " times none was left\n",
		       f->ids_again, f->ids_used_up);
	if (f->leases)
		printf("# %" PRIu64 " leases of another installation, %" PRIu64 " buckets copied\n",
		       f->leases, f->buckets);
	if (f->handovers)
		printf("# %" PRIu64 " hand-overs, %" PRIu64 " returned, %" PRIu64
		       " forced, %" PRIu64 " upgrades\n",
		       f->handovers, f->returned, f->forced, f->upgrades);
	if (f->transitions)
		printf("# %" PRIu64 " transitions, %" PRIu64 " given up, %" PRIu64
		       " jobs started again from before the cut, %" PRIu64
		       " versions refused, %" PRIu64 " records written twice and reported\n",
		       f->transitions, f->given_up, f->replayed, f->refused, f->doubled);
	if (f->flip_done)
		printf("# of them with gates of FLIP-504: %" PRIu64 ", %" PRIu64
		       " given up, %" PRIu64 " jobs started again, %" PRIu64
		       " records that they do not divide, %" PRIu64
		       " histories with a write undone\n",
		       f->flip_done, f->flip_given_up, f->flip_replayed, f->flip_excused,
		       f->flip_trampled);
	if (f->spares)
		printf("# %" PRIu64 " spares, %" PRIu64 " launches in one\n", f->spares,
		       f->spare_launches);
}

static enum text text_of(uint64_t seed)
{
	return seed % AS_TEXT_EVERY == 0        ? TEXT_ALL
	       : seed % READ_AS_TEXT_EVERY == 0 ? TEXT_READ
						: TEXT_NONE;
}

static bool run(uint64_t seed, unsigned features, bool verbose, struct memory *memory,
		struct figures *figures, char failure[600])
{
	if (features & (1U << FEATURE_BLUEGREEN))
		return bluegreen_run(seed, verbose, figures, failure);
	return world_run(seed, features, verbose, text_of(seed), memory, figures, failure);
}

static int one_history(uint64_t seed, unsigned features)
{
	struct figures figures = {0};
	struct memory memory;
	char failure[600];
	bool well;

	memory_init(&memory);
	well = run(seed, features, true, &memory, &figures, failure);
	memory_release(&memory);
	printf("seed %" PRIu64 ": %s\n", seed, well ? "all is well" : failure);
	return well ? 0 : 1;
}

static int usage(void)
{
	fprintf(stderr,
		"usage: sim [--first N] [--seeds N] [--seconds N] [--keep-going]\n"
		"                                                    many histories, figures\n"
		"       sim --seed N [--verbose]                     one, told in full\n"
		"       --world none|all|NAME,...                    with these features: rollback, moved, lines, rivals, spare, lease, lies; or handover; or bluegreen\n");
	return 2;
}

/* Stop early after `most_seconds`, if that is not 0. */
static int many(uint64_t first, uint64_t count, unsigned features, double most_seconds,
		bool keep_going)
{
	struct figures figures = {0};
	double begin = seconds(CLOCK_MONOTONIC), took, used;
	uint64_t failed = 0, done = 0;
	struct memory memory;
	char failure[600];

	memory_init(&memory);
	for (uint64_t seed = first; seed < first + count; seed++) {
		if (most_seconds > 0 && done % 64 == 0 &&
		    seconds(CLOCK_MONOTONIC) - begin > most_seconds)
			break;
		done++;
		if (run(seed, features, false, &memory, &figures, failure))
			continue;
		failed++;
		printf("seed %" PRIu64 ": %s\n", seed, failure);
		fflush(stdout);
		if (!keep_going) {
			one_history(seed, features);
			break;
		}
	}
	memory_release(&memory);
	took = seconds(CLOCK_MONOTONIC) - begin;
	used = seconds(CLOCK_PROCESS_CPUTIME_ID);
	print_figures(&figures);
	printf("# histories %016" PRIx64 "\n", figures.hash);
	printf("# %" PRIu64 " seeds from %" PRIu64 ", %" PRIu64
	       " failed, %.1f s, %.0f seeds/s, %.0f in a second of CPU time\n",
	       done, first, failed, took, (double)done / (took > 0 ? took : 1),
	       (double)done / (used > 0 ? used : 1));
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"seed", required_argument, NULL, 's'},  {"verbose", no_argument, NULL, 'v'},
		{"first", required_argument, NULL, 'f'}, {"seeds", required_argument, NULL, 'n'},
		{"keep-going", no_argument, NULL, 'k'},  {"seconds", required_argument, NULL, 't'},
		{"world", required_argument, NULL, 'w'}, {0}};
	uint64_t first = 1, count = 1000, seed = 0;
	double most_seconds = 0;
	bool keep_going = false, single = false;
	unsigned features = FEATURES_DEFAULT;
	int option;

	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (option) {
		case 's':
			seed = strtoull(optarg, NULL, 10);
			single = true;
			break;
		case 'v':
			break; /* one history is always printed in full */
		case 'f':
			first = strtoull(optarg, NULL, 10);
			break;
		case 'n':
			count = strtoull(optarg, NULL, 10);
			break;
		case 't':
			most_seconds = strtod(optarg, NULL);
			break;
		case 'w':
			if (!features_parse(optarg, &features))
				return usage();
			break;
		case 'k':
			keep_going = true;
			break;
		default:
			return usage();
		}
	}
	if (optind != argc)
		return usage();
	return single ? one_history(seed, features)
		      : many(first, count, features, most_seconds, keep_going);
}
