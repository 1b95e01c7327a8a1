#include "cmd/places.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/mem.h"
#include "cmd/ticker.h"
#include "run/config/setup_side.h"
#include "run/config/setup_storage.h"
#include "run/ha/ha_file.h"
#include "run/ha/ha_observe.h"
#include "run/journal/journal_store.h"
#include "store/uri.h"

/* ---- journal ---- */

/* ERR_ABSENT: there is no journal, the application has never run. */
static void take_journal(struct places *places, int result, const struct err *err,
			 const char *application)
{
	places->journal_given = true;
	if (result == 0)
		return;
	journal_init(&places->journal, application);
	if (err->kind != ERR_ABSENT)
		places->journal_error = xstrdup(err->msg);
}

static int read_copy(struct places *places, const char *path)
{
	cleanup_buf struct buf text = BUF_INIT;
	struct err err = {0};

	if (fs_read(path, 4 * (size_t)JOURNAL_MAX_BYTES, &text, &err) < 0)
		return cli_fail(places->cli, CLI_USAGE, "--journal: %s", err.msg);
	if (journal_decode(buf_str(&text), text.len_bytes, &places->journal, &err) < 0)
		return cli_fail(places->cli, CLI_USAGE, "--journal %s: %s", path, err.msg);
	places->journal_given = true;
	return CLI_OK;
}

static void places_read_journal(struct places *places)
{
	const struct config *config = &places->setup.config;
	struct err err = {0};
	struct journal_store *store = journal_store_open(config, &places->setup.kube);
	int result;

	journal_store_guard_reader(store, &places->setup.kube);
	result = journal_store_read(store, &places->journal, &err);
	take_journal(places, result, &err, config->application);
	journal_store_free(store);
}

/* ---- HA maps ---- */

static int read_ha(struct places *places)
{
	const char *files[CLI_MAX_REPEATS];
	size_t count = cli_values(places->cli, "ha-map", files);
	struct err err = {0};

	for (size_t i = 0; i < count; i++)
		if (ha_file_load(files[i], &places->ha, &err) < 0)
			return cli_fail(places->cli, CLI_USAGE, "--ha-map: %s", err.msg);
	places->ha_given = count > 0;
	return CLI_OK;
}

/* ---- by hand ---- */

static int directory(const struct places *places, const char *name, char **ret_uri)
{
	const char *value = cli_value(places->cli, name);
	struct uri uri = {0};
	struct err err = {0};
	char *text;

	if (!value)
		return CLI_OK;
	text = uri_of_argument(value);
	if (uri_parse(text, &uri, &err) < 0) {
		free(text);
		return cli_fail(places->cli, CLI_USAGE, "--%s: %s", name, err.msg);
	}
	uri_release(&uri);
	*ret_uri = text;
	return CLI_OK;
}

static int take_policy(struct places *places)
{
	const char *name = cli_value(places->cli, "policy");
	const char *version = cli_value(places->cli, "flink-version");
	struct flink_version parsed = {0};
	struct err err = {0};

	if (name && strcmp(name, "latest") != 0 && strcmp(name, "savepoint") != 0)
		return cli_fail(places->cli, CLI_USAGE, "--policy %s: expected latest or savepoint",
				name);
	if (name && !strcmp(name, "savepoint"))
		places->policy.restore = POLICY_SAVEPOINT;
	if (!version)
		return CLI_OK;
	if (flink_version_parse(version, &parsed, &err) < 0)
		return cli_fail(places->cli, CLI_USAGE, "--flink-version: %s", err.msg);
	places->where.max_metadata_version = flink_version_metadata_max(parsed);
	flink_version_print(parsed, places->version_text);
	places->policy.flink_version = places->version_text;
	return CLI_OK;
}

static int check_job_ids(const struct places *places)
{
	const char *ids[CLI_MAX_REPEATS];
	size_t count = cli_values(places->cli, "job-id", ids);

	for (size_t i = 0; i < count; i++)
		if (strlen(ids[i]) != JOB_ID_BYTES - 1 ||
		    strspn(ids[i], "0123456789abcdef") != JOB_ID_BYTES - 1)
			return cli_fail(places->cli, CLI_USAGE,
					"--job-id %s: expected 32 digits of lower-case hex",
					ids[i]);
	return CLI_OK;
}

static int open_by_hand(struct places *places, bool decides)
{
	const char *journal = cli_value(places->cli, "journal");
	int status = CLI_OK;

	if (cli_value(places->cli, "config"))
		return cli_fail(
			places->cli, CLI_USAGE,
			"--config cannot be combined with --checkpoints or --savepoints: they exclude each other");
	if (directory(places, "checkpoints", &places->checkpoints) != CLI_OK ||
	    directory(places, "savepoints", &places->savepoints) != CLI_OK ||
	    check_job_ids(places) != CLI_OK)
		return CLI_USAGE;
	if (decides && take_policy(places) != CLI_OK)
		return CLI_USAGE;
	places->policy.max_loss.max_ms = LOSS_MAX_AUTO;
	setup_storage_environment(&places->storage);
	places->where.storage = &places->storage;
	places->where.checkpoint_dir = places->checkpoints;
	places->where.savepoint_dir = places->savepoints;
	if (journal) {
		status = read_copy(places, journal);
	} else {
		journal_init(&places->journal, "by-hand");
		places->policy.adopt = true;
	}
	return status;
}

/* ---- by drey.yaml ---- */

/* Options that make sense only by hand. */
static int refuse_by_hand(const struct places *places, bool decides)
{
	static const char *const names[] = {"job-id", "flink-version", "policy"};

	for (size_t i = 0; i < (decides ? ARRAY_LEN(names) : 1); i++)
		if (cli_has(places->cli, names[i]))
			return cli_fail(
				places->cli, CLI_USAGE,
				"--%s needs --checkpoints or --savepoints; otherwise drey.yaml and the journal determine it",
				names[i]);
	return CLI_OK;
}

static int open_by_config(struct places *places, bool decides)
{
	const char *journal = cli_value(places->cli, "journal");
	struct err err = {0};
	int status = CLI_OK;

	if (refuse_by_hand(places, decides) != CLI_OK)
		return CLI_USAGE;
	if ((decides ? setup_load : setup_load_without_flink)(cli_config_path(places->cli),
							      &places->setup, &err) < 0)
		return cli_fail(places->cli, CLI_USAGE, "%s", err.msg);
	places->configured = true;
	places->where = places->setup.places;
	places->policy = places->setup.life.policy;
	if (journal)
		status = read_copy(places, journal);
	else
		places_read_journal(places);
	return status;
}

/* ---- all ---- */

int places_open(struct places *places, const struct cli *cli, bool decides)
{
	int status;

	*places = (struct places){.cli = cli};
	places->by_hand = cli_has(cli, "checkpoints") || cli_has(cli, "savepoints");
	status = places->by_hand ? open_by_hand(places, decides) : open_by_config(places, decides);
	if (status == CLI_OK) { /* a thread: not before zone_use() */
		places->ticker = ticker_new(cli);
		status = read_ha(places);
	}
	if (status != CLI_OK)
		places_close(places);
	return status;
}

void places_close(struct places *places)
{
	ticker_free(places->ticker);
	journal_release(&places->journal);
	ha_maps_release(&places->ha);
	free(places->journal_error);
	free(places->checkpoints);
	free(places->savepoints);
	store_config_release(&places->storage);
	if (places->configured)
		setup_release(&places->setup);
	*places = (struct places){0};
}

static void report_progress(void *ctx, enum source_kind source, size_t found)
{
	const struct places *places = ctx;

	ticker_set(places->ticker, "reading the %s: %zu so far", source_kind_name(source), found);
}

void places_read(struct places *places)
{
	ticker_free(places->ticker);
	places->ticker = NULL;
}

static void take_job_ids(const struct places *places, struct observe_plan *plan)
{
	const char *ids[CLI_MAX_REPEATS];
	size_t count = cli_values(places->cli, "job-id", ids);

	if (!count)
		return;
	free(plan->job_ids);
	plan->job_ids = xcalloc(count, sizeof(*plan->job_ids));
	plan->job_id_count = count;
	plan->only_job_ids = true;
	for (size_t i = 0; i < count; i++)
		memcpy(plan->job_ids[i], ids[i], JOB_ID_BYTES);
}

static void read_former(const struct places *places, struct observe_plan *plan)
{
	const struct setup *setup = &places->setup;
	const struct journal *journal = &places->journal;
	struct ha_former former;

	ha_former_init(&former, setup, setup_cluster_id(setup, setup_side(setup, journal)),
		       journal);
	ha_former_observe(&former, setup, plan);
	ha_former_release(&former);
}

void places_plan(struct places *places, struct observe_plan *ret_plan)
{
	struct observe_plan *plan = ret_plan;

	observe_plan_init(plan, &places->where, places->journal_error ? NULL : &places->journal,
			  places->journal_error);
	if (!places->journal_given) {
		plan->journal_state = SOURCE_NOT_CONFIGURED;
		xstrset(&plan->journal_detail, NULL);
	}
	take_job_ids(places, plan);
	if (places->ha_given)
		observe_plan_add_ha(plan, &places->ha, SOURCE_PRESENT, NULL);
	else if (places->configured && places->setup.ha.on)
		ha_observe_once(&places->setup, places->journal_error ? NULL : &places->journal,
				plan);
	if (places->configured && !places->ha_given && !places->journal_error)
		read_former(places, plan);
	plan->progress = report_progress;
	plan->progress_ctx = places;
}
