#include "core/lifecycle/owner.h"

#include <stdio.h>
#include <string.h>

enum upgrade owner_judge(const struct owner *owner, const char *seen_uid, const char *generation,
			 char *ret_reason, size_t reason_bytes)
{
	enum upgrade upgrade = UPGRADE_YES;
	const char *reason = NULL;

	if (owner->absent && !seen_uid) {
		reason = "there is no owner of this name, and never was";
		upgrade = UPGRADE_UNKNOWN;
	} else if (owner->absent) {
		reason = "the owner of the pod was deleted";
	} else if (owner->deleting) {
		reason = "the owner of the pod is being deleted";
	} else if (seen_uid && strcmp(owner->uid, seen_uid) != 0) {
		reason = "the owner of the pod was deleted and created again";
	} else if (owner->replicas == 0 || owner->suspended) {
		reason = "the owner of the pod is scaled to zero or suspended";
	} else if (!generation || !owner->generation) {
		reason = generation ? "the owner of the pod does not name a generation"
				    : "no generation is configured to compare it with";
		upgrade = UPGRADE_UNKNOWN;
	} else if (strcmp(owner->generation, generation) != 0) {
		snprintf(ret_reason, reason_bytes, "generation %.64s follows %.64s",
			 owner->generation, generation);
		return UPGRADE_YES;
	} else {
		reason = "the same generation starts again";
		upgrade = UPGRADE_NO;
	}
	snprintf(ret_reason, reason_bytes, "%s", reason);
	return upgrade;
}
