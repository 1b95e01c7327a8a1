#include "core/ha_names.h"

#include <string.h>

#include "base/mem.h"
#include "core/job_id.h"

bool *ha_names_read(const struct journal *journal, const char *id_space, int64_t id_count)
{
	bool all = !journal || (!journal->launch_count && !journal->former_job_count) ||
		   !journal->id_space || strcmp(journal->id_space, id_space) != 0;
	bool *read = xcalloc((size_t)id_count + 1, sizeof(*read));
	int ahead = HA_READ_AHEAD;
	char job_id[JOB_ID_BYTES];

	for (int64_t i = 0; i < id_count; i++) {
		/* in the order in which the next launch looks for a free one */
		int64_t n = all ? i : (journal->id_next % id_count + i) % id_count;

		job_id_name(id_space, n, job_id);
		/* MUT: the HA map of the job id that a hand-over has reserved is not read */
		if (!all && !strcmp(journal->handover.job_id, job_id))
			read[n] = true;
		if (all || journal_knows_job(journal, job_id) || ahead-- > 0)
			read[n] = true;
	}
	return read;
}
