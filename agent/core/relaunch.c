#include "core/relaunch.h"

#include <stdio.h>
#include <string.h>

enum relaunch_why relaunch_why(const struct relaunch *relaunch,
			       const struct relaunch_outside *outside)
{
	if (!outside->configured)
		return RELAUNCH_OFF;
	if (!outside->has_java && !outside->has_script)
		return RELAUNCH_OWN_SCRIPT;
	if (!relaunch->made_of[0])
		return RELAUNCH_UNKNOWN;
	/* MUT: a line that has failed is used again */
	if (relaunch->distrusted)
		return RELAUNCH_DISTRUSTED;
	if (!outside->now)
		return RELAUNCH_UNREAD;
	/* MUT: a line is used although what it was made of has changed */
	if (strcmp(relaunch->made_of, outside->now) != 0)
		return RELAUNCH_CHANGED;
	return outside->has_java ? RELAUNCH_NO_SCRIPTS : RELAUNCH_WELL;
}

void relaunch_learns(struct relaunch *relaunch, const char *made_of)
{
	snprintf(relaunch->made_of, sizeof(relaunch->made_of), "%s", made_of ? made_of : "");
	relaunch->distrusted = false;
}

void relaunch_begins(struct relaunch *relaunch, bool direct)
{
	relaunch->direct = direct;
	relaunch->answered = false;
}

void relaunch_answers(struct relaunch *relaunch)
{
	relaunch->answered = true;
}

bool relaunch_ends(struct relaunch *relaunch)
{
	bool failed = relaunch->direct && !relaunch->answered;

	relaunch->direct = false;
	if (failed)
		relaunch->distrusted = true;
	return failed;
}

const char *relaunch_why_sentence(enum relaunch_why why)
{
	switch (why) {
	case RELAUNCH_WELL:
	case RELAUNCH_NO_SCRIPTS:
	case RELAUNCH_OWN_SCRIPT:
	case RELAUNCH_OFF:
	case RELAUNCH_UNKNOWN:
	case RELAUNCH_WHYS:
		break;
	case RELAUNCH_DISTRUSTED:
		return "the last start without them ended before its REST API was up";
	case RELAUNCH_UNREAD:
		return "what they read could not be read in time";
	case RELAUNCH_CHANGED:
		return "what they read has changed: the command, its environment, the configuration, a script, the Java, or a file of the class path";
	}
	return NULL;
}
