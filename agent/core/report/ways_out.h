/*
 * ways_out - the ways out of a cause, with the commands as people have to paste them here, and what each of them
 * loses. Pure: from the status document and the runbook (runbook_ways.h).
 *
 * A command is complete: with the Pod, the namespace, the names of this application, and the snapshot that the decision
 * proposes; quoted for a shell. What is incomplete or for another place ("`drey suspend` there") is no command, and a
 * name that a reader does not see as it is never is part of one.
 */
#ifndef DREY_CORE_WAYS_OUT_H
#define DREY_CORE_WAYS_OUT_H

struct json;

/* What the document does not have. Borrowed; NULL: not known. */
struct ways_out_facts {
	const char *pod, *namespace; /* that drey runs in; outside Kubernetes NULL */
	const char *deployment;      /* that the pod belongs to */
	const char *config_file;     /* that a command needs; NULL: it finds it without help */
};

/* Add `runbook`, from `cause` and what the document knows; null: the runbook has no such page. */
void status_add_runbook(struct json *doc, const struct ways_out_facts *facts);

#endif
