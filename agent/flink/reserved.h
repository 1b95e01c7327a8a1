/*
 * reserved - which properties and variables are reserved for drey, and which properties are secret.
 */
#ifndef DREY_FLINK_RESERVED_H
#define DREY_FLINK_RESERVED_H

#include <stdbool.h>

/* Is this property reserved for drey? The reason, for an error message; NULL: the user may set
 * it. */
const char *flink_reserved(const char *key);

/* Does the name of a property mark its value as secret? (Flink's own list of words.) */
bool flink_key_is_secret(const char *key);

/* May a variable be passed on to Flink? Not: DREY_*, NOTIFY_SOCKET, WATCHDOG_*, LISTEN_*: they are
 * drey's secrets and descriptors, or would let Flink speak for drey. `entry` is "NAME=value". */
bool flink_env_passes(const char *entry);

/* Keys that Flink's entry point overwrites, whatever its files say: only the code of a job can set them. NULL at
 * the end. */
const char *const *flink_overwritten_keys(void);

#endif
