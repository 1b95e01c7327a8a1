#include "run/config/setup.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "core/journal/journal_copy.h"
#include "entrypoint/link.h"
#include "flink/command.h"
#include "run/config/setup_flinkfs.h"
#include "run/config/setup_kube.h"
#include "run/config/setup_schedule.h"
#include "run/config/setup_storage.h"
#include "run/inputs/control_dir.h"
#include "store/store_object.h"

/* Two requests a minute. With a longer interval a job could run twice for longer. */
#define JOURNAL_CHECK_MS   30000
#define LEASE_MS           30000 /* fencing: strict */
#define LEASE_CHECK_MS     6000
#define TAKEOVER_MARGIN_MS 5000 /* for the check of the other drey, and its SIGKILL */

static const char *const *environment(const struct setup *setup)
{
	return (const char *const *)setup->environment;
}

/* Is "NAME=value" in the list under the name of `entry`? */
static bool names(char **list, const char *entry)
{
	size_t len = strcspn(entry, "=") + 1;

	for (; list && *list; list++)
		if (strncmp(*list, entry, len) == 0)
			return true;
	return false;
}

static void add_variable(struct setup *setup, size_t *count, char *owned)
{
	setup->environment =
		xreallocarray(setup->environment, *count + 2, sizeof(*setup->environment));
	setup->environment[(*count)++] = owned;
	setup->environment[*count] = NULL;
}

/* What Flink inherits: ours, flink.environment over it, and where its configuration is, so that
 * Flink's scripts read the same directory. */
static void build_environment(struct setup *setup)
{
	extern char **environ;
	const struct config *config = &setup->config;
	char **added = config->flink.environment;
	cleanup_free char *conf_dir =
		config->flink.config_directory && !names(added, "FLINK_CONF_DIR=")
			? xasprintf("FLINK_CONF_DIR=%s", config->flink.config_directory)
			: NULL;
	size_t count = 0;

	for (char **entry = environ; *entry; entry++)
		/* the tuning by drey-init is for the agent only */
		if (!names(added, *entry) && strcmp(*entry, LINK_MALLOC_ENV "=" LINK_MALLOC) != 0 &&
		    !(conf_dir && strncmp(*entry, "FLINK_CONF_DIR=", 15) == 0))
			add_variable(setup, &count, xstrdup(*entry));
	for (; added && *added; added++)
		add_variable(setup, &count, xstrdup(*added));
	if (conf_dir)
		add_variable(setup, &count, xstrdup(conf_dir));
}

/* Flink's configuration, as its JVM will get it. */
static int load_flink_conf(struct setup *setup, struct err *err)
{
	const struct config *config = &setup->config;
	const struct flink_conf_sources sources = {
		.command = (const char *const *)config->flink.command,
		.env = environment(setup),
		.directory = config->flink.config_directory,
		.version = setup->version,
		.properties = config->flink.properties,
		.property_count = config->flink.property_count,
	};

	if (flink_conf_read(&sources, &setup->flink_conf, err) < 0 ||
	    flink_conf_check(&setup->flink_conf, err) < 0)
		return -1;
	return flink_conf_settings(&setup->flink_conf, &setup->settings, err);
}

static int find_version(struct setup *setup, struct err *err)
{
	const struct config *config = &setup->config;

	if (config->flink.version)
		return flink_version_parse(config->flink.version, &setup->version, err);
	if (flink_version_detect((const char *const *)config->flink.command, environment(setup),
				 &setup->version, NULL, err) == 0)
		return 0;
	return err_wrap(
		err,
		"could not find Flink's version; install Flink, correct flink.command, or set flink.version");
}

/* What a newer line writes or answers in another way would be seen at the first failover, and not at the first start. */
static int check_line(const struct setup *setup, struct err *err)
{
	char text[FLINK_VERSION_TEXT_BYTES];

	if (flink_version_is_of_known_line(setup->version) ||
	    setup->config.flink.unknown_version == UNKNOWN_VERSION_ALLOW)
		return 0;
	return err_set(err, ERR_CONFIG, 0,
		       "drey does not know the line of Flink %s, but " FLINK_LINES
		       "; use a newer drey, or set flink.unknownVersion: allow",
		       flink_version_print(setup->version, text));
}

#define RESULTS_DIRECTORY "job-results"

/* The copy of the journal is beside the checkpoints, or else beside the savepoints: where drey can write. */
static void find_copy(struct setup *setup)
{
	const char *dirs[] = {setup->checkpoint_dir, setup->savepoint_dir};
	const char *application = setup->config.application;

	if (setup->config.journal.copy == JOURNAL_COPY_OFF) {
		setup->copy_off = xstrdup("journal.copy is off");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(dirs) && !setup->copy_dir; i++)
		if (store_object_is_writable(dirs[i]))
			setup->copy_dir = dirs[i];
	if (!setup->copy_dir) {
		setup->copy_off = xasprintf("drey itself does not write to the store of %s",
					    setup->checkpoint_dir);
		return;
	}
	setup->copy_uri = journal_copy_uri(setup->copy_dir, application, false);
	setup->candidate_copy_uri = journal_copy_uri(setup->copy_dir, application, true);
}

/* The directories of snapshots: those of drey.yaml, else those of Flink's configuration. */
static int find_places(struct setup *setup, struct err *err)
{
	struct config *config = &setup->config;

	if (!config->flink.checkpoint_directory && setup->settings.checkpoint_dir)
		config->flink.checkpoint_directory = xstrdup(setup->settings.checkpoint_dir);
	if (!config->flink.savepoint_directory && setup->settings.savepoint_dir)
		config->flink.savepoint_directory = xstrdup(setup->settings.savepoint_dir);
	if (!config->flink.checkpoint_directory)
		return err_set(
			err, ERR_CONFIG, 0,
			"no checkpoint directory: set flink.checkpointDirectory, or execution.checkpointing.dir in Flink's configuration");
	if (!config->flink.savepoint_directory)
		return err_set(
			err, ERR_CONFIG, 0,
			"no savepoint directory: set flink.savepointDirectory, or execution.checkpointing.savepoint-dir in Flink's configuration");
	if (!setup->settings.checkpoint_subdir)
		return err_set(
			err, ERR_CONFIG, 0,
			"execution.checkpointing.create-subdir is false: checkpoints of different "
			"launches would share a directory; remove it from Flink's configuration");
	setup->checkpoint_dir =
		flink_conf_listed_dir(&setup->flink_conf, config->flink.checkpoint_directory);
	setup->savepoint_dir =
		flink_conf_listed_dir(&setup->flink_conf, config->flink.savepoint_directory);
	/* as durable as the checkpoints: the results there prevent a
	 * finished job from running again */
	if (!config->flink.result_store_directory)
		config->flink.result_store_directory =
			xasprintf("%s/" RESULTS_DIRECTORY, setup->checkpoint_dir);
	find_copy(setup);
	setup->places = (struct observe_places){
		.copy_uri = setup->copy_uri,
		.checkpoint_dir = setup->checkpoint_dir,
		.savepoint_dir = setup->savepoint_dir,
		.initial = config->restore.initial_savepoint,
		.results_dir = config->flink.result_store_directory,
		.max_metadata_version = flink_version_metadata_max(setup->version),
		.ignore_foreign = config->restore.foreign == FOREIGN_IGNORE,
	};
	return 0;
}

/* flink.rpcAddress: pod. Each Pod has another address, so no file can contain it. */
static int find_rpc_address(struct config *config, struct err *err)
{
	const char *pod = getenv("POD_IP");

	if (!config->flink.rpc_address || strcmp(config->flink.rpc_address, "pod") != 0)
		return 0;
	if (!pod || !*pod)
		return err_set(
			err, ERR_CONFIG, 0,
			"flink.rpcAddress is pod, but POD_IP is not in the environment; set it from status.podIP");
	xstrset(&config->flink.rpc_address, pod);
	return 0;
}

static int check_launch(const struct setup *setup, struct err *err)
{
	struct flink_launch launch;

	config_launch(&setup->config, &launch);
	launch.version = setup->version;
	return flink_launch_check(&launch, err);
}

/* The journal can be reached from other machines: two dreys share nothing else. */
static void fill_fencing(struct setup *setup)
{
	const struct setup_kube *kube = &setup->kube;
	struct lifecycle_config *life = &setup->life;
	bool strict = setup->config.fencing == FENCING_STRICT;
	char host[65] = "";

	gethostname(host, sizeof(host) - 1);
	setup->place = kube->pod_name && kube->pod_uid
			       ? xasprintf("%s/%s", kube->pod_name, kube->pod_uid)
			       : xstrdup(host);
	life->place = setup->place;
	life->journal_check_ms = strict ? LEASE_CHECK_MS : JOURNAL_CHECK_MS;
	life->lease_ms = strict ? LEASE_MS : 0;
	/* Flink's leader election keeps the other one out, except for the promise of strict */
	if (strict)
		life->takeover_ms = LEASE_MS + TAKEOVER_MARGIN_MS;
	else if (!setup->ha.on)
		life->takeover_ms = JOURNAL_CHECK_MS + TAKEOVER_MARGIN_MS;
}

/* A Flink that cannot reach the API server leads no more, and may lead again later: on its own side,
 * where no election keeps it out while the job runs on the other one. So it lives no longer than this
 * without a drey that has seen the journal, and a start on another side waits that long. Flink itself
 * ends its job after 15 s without the API server. */
#define SIDE_LEASE_MS 45000
#define SIDE_CHECK_MS 10000

static struct blue_green blue_green_of(const struct config *config)
{
	return (struct blue_green){
		.policy = {.gate = (enum transition_gate)config->blue_green.gate,
			   .after_cut = (enum after_cut)config->blue_green.after_cut,
			   .manual = config->blue_green.promote == BLUE_GREEN_PROMOTE_MANUAL,
			   .idle_passes = config->blue_green.idle == BLUE_GREEN_IDLE_PASS,
			   .lead_ms = config->blue_green.lead_ms,
			   .align_ms = config->blue_green.align_ms,
			   .tries = config->handover.tries},
		.caught_up_ms = config->blue_green.caught_up_ms,
		.settle_ms = config->blue_green.settle_ms,
		.deadline_ms = config->blue_green.deadline_ms,
		.allow_non_restored = config->blue_green.sink_uids != NULL,
	};
}

static void fill_handover(struct setup *setup)
{
	const struct setup_kube *kube = &setup->kube;
	const struct config *config = &setup->config;

	if (!setup->handover.on)
		return;
	setup->life.handover = (struct handover_config){
		.mode = (enum handover_mode)config->handover.mode,
		.me = {.pod = kube->pod_name, .uid = kube->pod_uid, .template = kube->pod_template},
		.prepare_ms = config->handover.prepare_deadline_ms,
		.stop_ms = config->handover.stop_deadline_ms,
		.take_ms = config->handover.take_deadline_ms,
		.run_ms = config->handover.run_deadline_ms,
		.probation_ms = config->handover.probation_ms,
		.takeover_ms = SIDE_LEASE_MS + TAKEOVER_MARGIN_MS,
		.tries = config->handover.tries,
		.return_on_failure = config->handover.on_failure == HANDOVER_FAILURE_RETURN,
		.blue_green = blue_green_of(config),
	};
	if (!setup->life.lease_ms) {
		setup->life.lease_ms = SIDE_LEASE_MS;
		setup->life.journal_check_ms = SIDE_CHECK_MS;
	}
}

static void find_file_systems(struct setup *setup)
{
	const struct config *config = &setup->config;
	const struct setup_flinkfs_sources sources = {
		.command = (const char *const *)config->flink.command,
		.env = environment(setup),
		.conf_dir = config->flink.config_directory,
		.conf = &setup->flink_conf,
	};
	struct flinkfs_config flinkfs;

	setup_flinkfs(&sources, &flinkfs);
	setup->storage.flinkfs = flinkfs_new(&flinkfs);
}

static int fill_derived(struct setup *setup, struct err *err)
{
	const struct config *config = &setup->config;

	find_file_systems(setup);
	flink_version_print(setup->version, setup->version_text);
	config_lifecycle(config, &setup->life);
	if (setup_schedule(config, &setup->life.savepoints, &setup->zone_before, err) < 0)
		return -1;
	setup->life.listed_checkpoint_dir = setup->checkpoint_dir;
	setup->life.configured_interval_ms = setup->settings.checkpoint_interval_ms;
	setup->life.forst = setup->settings.forst;
	setup->life.async_state = setup->settings.async_state;
	setup->life.listed_savepoint_dir = setup->savepoint_dir;
	setup->life.ha_cluster_id = setup->ha.on ? setup->ha.cluster_id : NULL;
	setup->life.flink_version = setup->life.policy.flink_version = setup->version_text;
	setup->places.storage = &setup->storage;
	setup->life.policy.max_loss.interval_ms = setup->settings.checkpoint_interval_ms;
	if (setup->kube.on)
		setup->places.name_space = setup->kube.config.namespace;
	if (setup->kube.id_space) {
		setup->life.id_space = setup->places.id_space = setup->kube.id_space;
		setup->life.id_count = setup->places.id_count = setup->kube.launches;
	}
	if (setup->kube.on && setup->kube.journal)
		fill_fencing(setup);
	fill_handover(setup);
	setup->life.application_ids = flink_version_has_applications(setup->version);
	setup->life.native_loses_claimed = flink_version_native_loses_claimed(setup->version);
	setup->life.legacy_claim = flink_version_has_legacy_claim(setup->version);
	return 0;
}

/* Whoever only reads storage asks Flink nothing, and may not be allowed to read its keys. */
static int fill_rest(struct setup *setup, bool needs_flink, struct err *err)
{
	const struct config *config = &setup->config;

	setup->rest_tls = rest_tls_new(&setup->flink_conf);
	flink_rest_url(config->flink.rest_address, (int)config->flink.rest_port, setup->rest_tls,
		       setup->rest_url);
	setup->rest = (struct flink_rest){.base_url = setup->rest_url, .tls = setup->rest_tls};
	if (!needs_flink)
		return 0;
	setup->rest.http = rest_tls_http(setup->rest_tls, err);
	return setup->rest.http ? 0 : -1;
}

static int setup_load_with(const char *path, bool needs_flink, struct setup *ret_setup,
			   struct err *err)
{
	struct setup *setup = ret_setup;

	memset(setup, 0, sizeof(*setup));
	if (config_load(path, &setup->config, err) < 0)
		return -1;
	setup->config_file = xstrdup(path);
	build_environment(setup);
	if (find_rpc_address(&setup->config, err) < 0 ||
	    setup_kube(&setup->config, &setup->kube, err) < 0 ||
	    (find_version(setup, err) < 0 && needs_flink) ||
	    (needs_flink && check_line(setup, err) < 0) || load_flink_conf(setup, err) < 0 ||
	    find_places(setup, err) < 0 ||
	    setup_ha(&setup->config, &setup->kube, &setup->flink_conf, &setup->settings, &setup->ha,
		     err) < 0 ||
	    setup_handover(&setup->config, &setup->kube, &setup->ha, &setup->settings,
			   &setup->handover, err) < 0 ||
	    setup_storage(&setup->config, &setup->flink_conf, &setup->storage, err) < 0 ||
	    check_launch(setup, err) < 0 || fill_derived(setup, err) < 0 ||
	    fill_rest(setup, needs_flink, err) < 0) {
		setup_release(setup);
		return err_wrap(err, "%s", path);
	}
	return 0;
}

int setup_load(const char *path, struct setup *ret_setup, struct err *err)
{
	return setup_load_with(path, true, ret_setup, err);
}

int setup_load_without_flink(const char *path, struct setup *ret_setup, struct err *err)
{
	return setup_load_with(path, false, ret_setup, err);
}

void setup_release(struct setup *setup)
{
	http_free(setup->rest.http);
	rest_tls_free(setup->rest_tls);
	store_config_release(&setup->storage);
	setup_handover_release(&setup->handover);
	setup_ha_release(&setup->ha);
	setup_kube_release(&setup->kube);
	free(setup->zone_before);
	free(setup->place);
	free(setup->config_file);
	free(setup->copy_uri);
	free(setup->candidate_copy_uri);
	free(setup->copy_off);
	free(setup->checkpoint_dir);
	free(setup->savepoint_dir);
	flink_conf_release(&setup->flink_conf);
	for (size_t i = 0; setup->environment && setup->environment[i]; i++)
		free(setup->environment[i]);
	free(setup->environment);
	config_release(&setup->config);
	memset(setup, 0, sizeof(*setup));
}

/* ---- before the first launch ---- */

static int check_command(const struct setup *setup, struct err *err)
{
	const char *program = setup->config.flink.command[0];
	const char *path = command_env(environment(setup), "PATH"); /* as drey-init searches it */
	char *copy, *rest, *dir;
	bool found = false;

	if (strchr(program, '/')) {
		if (access(program, X_OK) < 0)
			return err_set(err, ERR_CONFIG, errno,
				       "flink.command: install Flink, or correct the path %s",
				       program);
		return 0;
	}
	copy = xstrdup(path ? path : "/usr/local/bin:/usr/bin:/bin");
	for (dir = strtok_r(copy, ":", &rest); dir && !found; dir = strtok_r(NULL, ":", &rest)) {
		char *file = xasprintf("%s/%s", dir, program);

		found = access(file, X_OK) == 0;
		free(file);
	}
	free(copy);
	if (!found)
		return err_set(
			err, ERR_CONFIG, 0,
			"flink.command: program '%s' not found in PATH; install it, or set its absolute path",
			program);
	return 0;
}

static int try_bind(const struct addrinfo *address)
{
	int on = 1, result, sys;
	int fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return errno;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	result = bind(fd, address->ai_addr, address->ai_addrlen);
	if (result == 0)
		result = listen(fd, 1);
	sys = result < 0 ? errno : 0;
	close(fd);
	return sys;
}

int setup_check_port(const struct setup *setup, struct err *err)
{
	struct addrinfo hints = {.ai_socktype = SOCK_STREAM,
				 .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
	struct addrinfo *addresses = NULL;
	char port[16];
	int sys;

	snprintf(port, sizeof(port), "%d", (int)setup->config.flink.rest_port);
	/* a name is not resolved: that could take long, and only an early hint is lost */
	if (getaddrinfo(setup->config.flink.rest_address, port, &hints, &addresses) != 0)
		return 0;
	sys = try_bind(addresses);
	freeaddrinfo(addresses);
	if (sys == EADDRINUSE)
		return err_set(
			err, ERR_BUSY, 0,
			"Flink's REST port %s on %s is in use by another process; stop that process, or set flink.restPort to another port",
			port, setup->config.flink.rest_address);
	return 0;
}

/* Only a wrong configuration prevents the start. Storage that is unavailable, denied or broken may
 * recover: drey then holds, and retries. */
static int check_directory(const struct setup *setup, const char *what, const char *uri,
			   struct err *err)
{
	struct err why = {0};

	if (observe_directory(&setup->storage, uri, &why) == 0 || why.kind != ERR_CONFIG)
		return 0;
	err_pass(err, &why);
	return err_wrap(err, "%s", what);
}

/* A missing directory is an error: do-not-restart could be on in it. */
static int check_control(const struct setup *setup, struct err *err)
{
	const char *directory = setup->config.control.directory;
	cleanup_desired struct desired desired = {0};
	struct err why = {0};

	if (!directory || control_dir_read(directory, &desired, &why) == 0 || why.kind == ERR_RETRY)
		return 0;
	err_pass(err, &why);
	return err_wrap(err, "control.directory");
}

int setup_check(const struct setup *setup, struct err *err)
{
	if (check_command(setup, err) < 0)
		return -1;
	if (check_directory(setup, "checkpoint directory", setup->places.checkpoint_dir, err) < 0 ||
	    check_directory(setup, "savepoint directory", setup->places.savepoint_dir, err) < 0)
		return -1;
	if (check_control(setup, err) < 0)
		return -1;
	return setup_check_port(setup, err);
}
