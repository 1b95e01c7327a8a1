/*
 * join - to which side does a TaskManager belong? What drey answers to GET /join?generation=G and
 * GET /readyz?generation=G, and how such an answer is read. Pure.
 *
 *   200 {"generation":"G","side":"green","clusterId":"orders-green"}   this drey's TaskManagers;
 *       and "rehearse":true while they wait for the job, if they are to be warm when it comes
 *   503 {"generation":"G","why":"..."}                                 its generation, no side (yet)
 *   404 {"generation":"H"}                                             another generation
 *
 * An answer comes from the network: whatever is not one of these three is an error, and an error
 * says nothing about whether a drey of that generation is there.
 */
#ifndef DREY_CORE_JOIN_H
#define DREY_CORE_JOIN_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"

#define JOIN_ANSWER_BYTES     16384 /* of a body; a longer one is refused */
#define JOIN_CLUSTER_ID_BYTES 254   /* a name of Kubernetes, with the NUL */
#define JOIN_SIDE_BYTES       32
#define JOIN_TEXT_BYTES       200 /* for people; a longer text is cut */

/* ---- the answer ---- */

enum join_role {
	JOIN_ROLE_UNKNOWN,     /* the journal is being read */
	JOIN_ROLE_OWNER,       /* the journal names this drey */
	JOIN_ROLE_CANDIDATE,   /* prepares to take over, on a side of its own */
	JOIN_ROLE_STANDBY,     /* waits, and has no side */
	JOIN_ROLE_HANDED_OVER, /* another drey has the application now */
};

struct join_facts {
	const char *generation; /* its own; NULL = none is configured, which is "" */
	enum join_role role;
	const char *side, *cluster_id; /* NULL = not known */
	bool job_runs;                 /* here */
	bool rehearses;                /* is configured (handover.rehearse) */
};

/* Texts are borrowed from the facts, or constant; NULL = no such member. */
struct join_answer {
	int status;
	const char *generation, *side, *cluster_id, *why;
	bool rehearse;
};

/* What to answer a TaskManager of the generation `asked`. */
void join_decide(const char *asked, const struct join_facts *facts, struct join_answer *ret_answer);

/* Is a TaskManager of this generation ready: does its job run here? */
bool join_ready(const char *asked, const struct join_facts *facts);

/*
 * The body of that answer. The status alone is not believed: a drey of before hand-overs knows no
 * generation, and answers 200 while its own job runs.
 */
const char *join_ready_text(bool ready);
bool join_is_ready(int status, const char *body, size_t len_bytes);

/* Append the body, with a newline at its end. */
void join_print(const struct join_answer *answer, struct buf *body);

/* ---- as the one who asks ---- */

enum join_kind {
	JOIN_OTHER, /* 404: another generation answers */
	JOIN_WAIT,  /* 503: the generation that was asked for, without a side */
	JOIN_GO,    /* 200 */
};

struct join_reply {
	enum join_kind kind;
	char cluster_id[JOIN_CLUSTER_ID_BYTES], side[JOIN_SIDE_BYTES]; /* JOIN_GO */
	bool rehearse;                                                 /* JOIN_GO */
	char why[JOIN_TEXT_BYTES];                                     /* JOIN_WAIT */
	char generation[JOIN_TEXT_BYTES];                              /* for people */
};

/* Read the answer to a question about the generation `asked`. ERR_FORMAT: it is none. */
int join_read(int status, const char *body, size_t len_bytes, const char *asked,
	      struct join_reply *ret_reply, struct err *err);

#endif
