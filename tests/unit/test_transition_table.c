/*
 * The rules of a transition, and what the gates are told in each state. They are the tables between the two
 * marks in docs/development/transition.md, which must be what the code does:
 *
 *   make docs-lifecycle        rewrites them (DREY_RENEW_DOCS=1 does the same here)
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "core/handover/flip.h"
#include "core/handover/transition_rules.h"
#include "doc_file.h"

#define DOC   "docs/development/transition.md"
#define BEGIN "<!-- tables: begin (make docs-lifecycle) -->\n"
#define END   "<!-- tables: end -->\n"

static const char *state_name(enum transition_state state, bool surge)
{
	return surge ? handover_state_name(transition_outside(state))
		     : transition_state_name(state);
}

static void add_owner(struct buf *out, const char *title, const struct transition_rule *rules,
		      size_t count, bool surge)
{
	buf_addf(out,
		 "\n### %s\n\n"
		 "| In | The first that is true decides | It becomes | Then | A try |\n"
		 "|---|---|---|---|---|\n",
		 title);
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "| `%s` | %s | `%s` | %s%s%s | %s |\n",
			 state_name(rules[i].state, surge), rules[i].when,
			 rules[i].act == ACT_RETURN ? handover_state_name(HANDOVER_RETURNED)
						    : state_name(rules[i].next, surge),
			 rules[i].act ? "`" : "",
			 rules[i].act ? transition_act_name(rules[i].act) : "-",
			 rules[i].act ? "`" : "", rules[i].counts ? "yes" : "-");
}

static void add_candidate(struct buf *out)
{
	size_t count;
	const struct shadow_rule *rules = transition_candidate_rules(&count);

	buf_addstr(out, "\n### The candidate\n\n"
			"| The first that is true decides | It is | It does |\n"
			"|---|---|---|\n");
	for (size_t i = 0; i < count; i++)
		buf_addf(out, "| %s | %s%s%s | %s%s%s |\n", rules[i].when,
			 rules[i].next < SHADOW_STATES ? "`" : "",
			 rules[i].next < SHADOW_STATES ? shadow_state_name(rules[i].next)
						       : "as before",
			 rules[i].next < SHADOW_STATES ? "`" : "", rules[i].act ? "`" : "",
			 rules[i].act ? shadow_act_name(rules[i].act) : "-",
			 rules[i].act ? "`" : "");
}

static struct handover in_state(enum transition_state state)
{
	struct handover handover = {.id = (char *)"h1-0",
				    .state = transition_outside(state),
				    .transition = {.output_side = SIDE_GREEN}};

	handover.transition.id = handover.id;
	handover.transition.state = state;
	handover.transition.toggle_unix_ms = state >= TRANSITION_ARMING;
	return handover;
}

/* Who owns the journal then; the owner was on blue. */
static enum side owner_in(enum transition_state state)
{
	bool given = state >= TRANSITION_GRANTED && state <= TRANSITION_DONE;

	return given ? SIDE_GREEN : SIDE_BLUE;
}

static void add_words(struct buf *out)
{
	const struct transition_policy policy = {.gate = TRANSITION_GATE_DREY};

	buf_addstr(
		out,
		"\n### What is true in each state\n\n"
		"| State | `handover.state` | Gates of the owner's job | of the candidate's | Both may run | Cut in force | FLIP-504: active | first | stage | its cut |\n"
		"|---|---|---|---|---|---|---|---|---|---|\n");
	for (int i = 0; i < TRANSITION_STATES; i++) {
		enum transition_state state = (enum transition_state)i;
		struct handover handover = in_state(state);
		struct flip_keys keys = flip_keys(&handover, owner_in(state), false, 30000);
		bool over = state >= TRANSITION_TAKEN && state != TRANSITION_ABORTING;
		bool runs = state >= TRANSITION_SEEDED && state != TRANSITION_REFUSED;

		buf_addf(out, "| `%s` | `%s` | %s | %s | %s | %s | %s | %s | %s%s | %s |\n",
			 transition_state_name(state),
			 handover_state_words[transition_outside(state)],
			 over && state != TRANSITION_REFUSED
				 ? "-"
				 : gate_words[transition_owner_order(&handover, &policy).word],
			 runs ? gate_words[transition_candidate_order(&handover, &policy).word]
			      : "-",
			 transition_permits_two(&handover) ? "yes" : "-",
			 transition_is_cut(state) ? "yes" : "-", side_name(keys.active),
			 keys.is_first ? "true" : "false", flip_stage_words[keys.stage],
			 keys.stage_is_theirs ? ", or theirs" : "",
			 keys.toggle == FLIP_LEFT ? "left" : "removed");
	}
	buf_addstr(out, "\n");
}

TEST(the_document_has_the_tables_of_the_code)
{
	cleanup_buf struct buf tables = BUF_INIT;
	const struct transition_rule *rules;
	size_t count;

	add_words(&tables);
	rules = transition_owner_rules(&count);
	add_owner(&tables, "The owner", rules, count, false);
	rules = surge_owner_rules(&count);
	add_owner(&tables, "The owner, with surge", rules, count, true);
	add_candidate(&tables);
	buf_addstr(&tables, "\n");
	doc_check_tables(DOC, BEGIN, END, &tables);
}
