#include "core/lifecycle/owner.h"

#include "tap.h"

TEST(the_owner_tells_an_upgrade_from_an_eviction)
{
	static const struct {
		struct owner owner;
		const char *seen, *own;
		enum upgrade upgrade;
		const char *says;
	} rows[] = {
		{{.uid = "u", .replicas = 1, .generation = "g1"},
		 "u",
		 "g1",
		 UPGRADE_NO,
		 "the same"},
		{{.uid = "u", .replicas = 1, .generation = "g1"},
		 NULL,
		 "g1",
		 UPGRADE_NO,
		 "the same"},
		{{.uid = "u", .replicas = 1, .generation = "g2"},
		 "u",
		 "g1",
		 UPGRADE_YES,
		 "generation g2 follows g1"},
		{{.uid = "u", .replicas = 0, .generation = "g1"},
		 "u",
		 "g1",
		 UPGRADE_YES,
		 "scaled to zero"},
		{{.uid = "u", .replicas = 0}, "u", NULL, UPGRADE_YES, "scaled to zero"},
		{{.uid = "u", .replicas = 1, .suspended = true, .generation = "g1"},
		 "u",
		 "g1",
		 UPGRADE_YES,
		 "scaled to zero"},
		{{.uid = "u", .replicas = 1, .deleting = true, .generation = "g1"},
		 "u",
		 "g1",
		 UPGRADE_YES,
		 "being deleted"},
		{{.uid = "v", .replicas = 1, .generation = "g1"},
		 "u",
		 "g1",
		 UPGRADE_YES,
		 "created again"},
		{{.absent = true}, "u", "g1", UPGRADE_YES, "was deleted"},
		{{.absent = true}, NULL, "g1", UPGRADE_UNKNOWN, "no owner of this name"},
		{{.uid = "u", .replicas = 1}, "u", "g1", UPGRADE_UNKNOWN, "does not name"},
		{{.uid = "u", .replicas = 1, .generation = "g1"},
		 "u",
		 NULL,
		 UPGRADE_UNKNOWN,
		 "no generation is configured"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char reason[200] = "";

		CHECK_INT(owner_judge(&rows[i].owner, rows[i].seen, rows[i].own, reason,
				      sizeof(reason)),
			  ==, rows[i].upgrade);
		CHECK_HAS(reason, rows[i].says);
	}
}
