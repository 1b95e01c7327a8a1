/*
 * resource_desired - the spec of a FlinkApplication, as if given under the keys of the control
 * inputs. Pure.
 */
#ifndef DREY_RUN_RESOURCE_DESIRED_H
#define DREY_RUN_RESOURCE_DESIRED_H

#include "core/desired.h"

struct json;

/* spec NULL: it asks for nothing. A member of a wrong type, or that contradicts another one, makes
 * all of it bad, except for a do-not-restart that is set. Release *ret_desired. */
void resource_desired(const struct json *spec, struct desired *ret_desired);

/* The member of the spec that has this key of the control inputs. */
const char *resource_desired_member(enum desired_key key);

#endif
