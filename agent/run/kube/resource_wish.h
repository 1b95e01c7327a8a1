/*
 * resource_wish - what the spec of a FlinkApplication asks for, as if it stood under the keys of the
 * control inputs. Pure.
 */
#ifndef DREY_RUN_RESOURCE_WISH_H
#define DREY_RUN_RESOURCE_WISH_H

#include "run/control/control_wish.h"

struct json;

/* spec NULL: it asks for nothing. A member of a wrong type, or that contradicts another one, makes
 * all of it bad, but for a brake that is set. Release *ret_wish. */
void resource_wish(const struct json *spec, struct control_wish *ret_wish);

#endif
