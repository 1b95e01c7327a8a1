/*
 * setup - the complete configuration: drey.yaml, Flink's own configuration, its version and all
 * paths. Read once at the start; changes nothing.
 *
 * Life cycle: setup_load() -> setup_release(). Its addresses stay valid: the driver and the core
 * borrow from it.
 */
#ifndef DREY_RUN_SETUP_H
#define DREY_RUN_SETUP_H

#include "base/err.h"
#include "core/lifecycle/lifecycle.h"
#include "flink/conf.h"
#include "flink/rest.h"
#include "flink/version.h"
#include "run/config/config.h"
#include "run/config/setup_ha.h"
#include "run/config/setup_handover.h"
#include "run/config/setup_kube.h"
#include "run/observe/observe.h"
#include "store/store_config.h"

struct setup {
	struct config config;
	char *config_file; /* that it was read from */
	/* Flink's: drey's own and flink.environment over it; built first, and what drey reads of
	 * Flink is read with it. Drey's private variables are taken out later
	 * (flink_env_passes()) */
	char **environment;
	struct flink_conf flink_conf; /* with every overlay, as Flink's JVM sees it */
	struct flink_settings settings;
	struct flink_version version; /* 0.0.0 = not known */
	char version_text[FLINK_VERSION_TEXT_BYTES];
	struct lifecycle_config life;
	char *place;       /* lifecycle_config.place */
	char *zone_before; /* the original variable TZ, for hooks; NULL = not set */
	struct store_config storage;
	struct setup_kube kube;
	struct setup_ha ha;
	struct setup_handover handover;
	char *checkpoint_dir, *savepoint_dir; /* as listed: without Flink's entropy key */
	/* where a copy of the journal is kept, and of a candidate's; NULL: none is, and `copy_off` says why */
	char *copy_uri, *candidate_copy_uri, *copy_off;
	const char *copy_dir; /* the one of the two directories; borrowed */
	struct observe_places places;
	/* without a handle (NULL) by setup_load_without_flink() */
	struct flink_rest rest;
	struct rest_tls *rest_tls;
	char rest_url[FLINK_REST_URL_BYTES];
};

/* ERR_CONFIG and others: the message names file, key and remedy. */
int setup_load(const char *path, struct setup *ret_setup, struct err *err);
/* The same on a machine without Flink, for what only reads storage: its version stays 0.0.0 if it is not
 * found. */
int setup_load_without_flink(const char *path, struct setup *ret_setup, struct err *err);
void setup_release(struct setup *setup);
#define cleanup_setup __attribute__((cleanup(setup_release)))

/* Before the first launch: are the directories readable, is Flink found, is its REST port free? The
 * message names what to change. Skipped while a Flink of ours is running. */
int setup_check(const struct setup *setup, struct err *err);

/* ERR_BUSY if a process is listening on Flink's REST port. */
int setup_check_port(const struct setup *setup, struct err *err);

/* What every launch has in common: from the configuration, with the environment and the version of
 * Flink. Everything is borrowed. */
void setup_launch(const struct setup *setup, struct flink_launch *ret_launch);

#endif
