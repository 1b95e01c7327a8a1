#include "run/handover/wanted.h"

#include "base/mem.h"
#include "kube/workload.h"

enum wanted handover_wanted(struct kube *kube, const struct setup *setup, const char *template,
			    int64_t timeout_ms)
{
	struct workload workload = {0};
	struct workload_wants wants;
	cleanup_free char *text = NULL;
	enum wanted wanted = WANTED_NO;
	struct err err = {0};

	if (workload_get(kube, WORKLOAD_DEPLOYMENT, setup->kube.owner, timeout_ms, &workload, NULL,
			 &err) < 0)
		return err.kind == ERR_ABSENT ? WANTED_NO : WANTED_UNKNOWN;
	wants = workload_wants(&workload);
	if (!wants.known) {
		wanted = WANTED_UNKNOWN;
	} else if (!wants.none) {
		text = template_text(wants.generation, wants.checksum, NULL);
		wanted = template_same_content(text, template) ? WANTED_YES : WANTED_NO;
	}
	workload_release(&workload);
	return wanted;
}
