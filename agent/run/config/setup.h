/*
 * setup - the configuration made complete: drey.yaml, Flink's own configuration, its version and
 * where things are. Read once at the start; nothing is changed.
 *
 * Life cycle: setup_load() -> setup_release(). Everything in it stays where it is: the driver and the
 * core borrow from it.
 */
#ifndef DREY_RUN_SETUP_H
#define DREY_RUN_SETUP_H

#include "base/err.h"
#include "core/lifecycle.h"
#include "flink/conf.h"
#include "flink/rest.h"
#include "flink/version.h"
#include "run/config/config.h"
#include "run/config/setup_ha.h"
#include "run/config/setup_kube.h"
#include "run/observe/observe.h"
#include "store/store_config.h"

struct setup {
	struct config config;
	/* Flink's: drey's own and flink.environment over it; built first, and what drey reads of
	 * Flink is read with it. Drey's private variables are taken out later
	 * (flink_env_passes()) */
	char **environment;
	struct flink_conf flink_conf; /* with every overlay, as Flink's JVM gets it */
	struct flink_settings settings;
	struct flink_version version; /* 0.0.0 = not known */
	char version_text[FLINK_VERSION_TEXT_BYTES];
	struct lifecycle_config life;
	char *place;       /* lifecycle_config.place */
	char *zone_before; /* the variable TZ as it was, for hooks; NULL = not set */
	struct store_config storage;
	struct setup_kube kube;
	struct setup_ha ha;
	char *checkpoint_dir, *savepoint_dir; /* as they are listed: without Flink's entropy key */
	struct observe_places places;
	struct flink_rest rest;
	char rest_url[300];
};

/* ERR_CONFIG and others: the message names file, key and way out. */
int setup_load(const char *path, struct setup *ret_setup, struct err *err);
void setup_release(struct setup *setup);

/* Before the first launch: can the places be read, can Flink be found, is its REST port free? The
 * message says what to change. Not asked while a Flink of ours runs. */
int setup_check(const struct setup *setup, struct err *err);

/* ERR_BUSY when somebody listens on Flink's REST port. */
int setup_check_port(const struct setup *setup, struct err *err);

#endif
