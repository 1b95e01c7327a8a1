/*
 * handover_role - the table behind handover_role(), for the documentation and its test.
 */
#ifndef DREY_CORE_HANDOVER_ROLE_H
#define DREY_CORE_HANDOVER_ROLE_H

#include "core/handover/handover.h"

struct question;

struct role_rule {
	bool (*holds)(const struct question *question);
	enum role role;
	enum claim claim;
	const char *when; /* for the documentation */
	const char *why;  /* for people */
};

/* In the order in which they are asked; the last one always holds. */
const struct role_rule *handover_role_rules(size_t *ret_count);

#endif
