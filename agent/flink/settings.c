#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "flink/conf.h"
#include "flink/reserved.h"

/* ---- durations ---- */

/* Units that Flink's TimeUtils knows, in milliseconds; smaller ones count as 0. */
static const struct unit {
	const char *name;
	int64_t ms;
} units[] = {
	{"d", 86400000},     {"day", 86400000},  {"days", 86400000}, {"h", 3600000},
	{"hour", 3600000},   {"hours", 3600000}, {"m", 60000},       {"min", 60000},
	{"minute", 60000},   {"minutes", 60000}, {"s", 1000},        {"sec", 1000},
	{"secs", 1000},      {"second", 1000},   {"seconds", 1000},  {"", 1},
	{"ms", 1},           {"milli", 1},       {"millis", 1},      {"millisecond", 1},
	{"milliseconds", 1},
};

/* One number and its unit, "10 s". */
static int parse_simple(const char *text, int64_t *ret_ms)
{
	char *end;
	long long number;

	errno = 0;
	number = strtoll(text, &end, 10);
	if (end == text || errno || number < 0)
		return -1;
	while (*end == ' ')
		end++;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcasecmp(end, units[i].name) != 0)
			continue;
		return __builtin_mul_overflow((int64_t)number, units[i].ms, ret_ms) ? -1 : 0;
	}
	return -1;
}

/* ISO 8601 as java.time.Duration writes it: "PT1H10M5.5S", "P1DT2H". */
static int parse_iso(const char *text, int64_t *ret_ms)
{
	int64_t total = 0;
	bool time = false, any = false;

	for (text++; *text; text++) {
		char *end;
		double number, ms;

		if (*text == 'T' && !time) {
			time = true;
			continue;
		}
		if (!isdigit((unsigned char)*text))
			return -1;
		number = strtod(text, &end);
		switch (toupper((unsigned char)*end)) {
		case 'D':
			ms = time ? -1 : 86400000;
			break;
		case 'H':
			ms = time ? 3600000 : -1;
			break;
		case 'M':
			ms = time ? 60000 : -1;
			break;
		case 'S':
			ms = time ? 1000 : -1;
			break;
		default:
			return -1;
		}
		if (ms < 0 || number * ms > 1e15)
			return -1;
		total += (int64_t)(number * ms);
		any = true;
		text = end;
	}
	*ret_ms = total;
	return any ? 0 : -1;
}

int flink_duration_parse(const char *text, int64_t *ret_ms, struct err *err)
{
	int64_t ms;

	while (isspace((unsigned char)*text))
		text++;
	if ((*text == 'P' ? parse_iso(text, &ms) : parse_simple(text, &ms)) < 0)
		return err_set(err, ERR_CONFIG, 0, "'%.40s' is not a duration such as '10 s'",
			       text);
	*ret_ms = ms;
	return 0;
}

/* ---- settings ---- */

/* The value of the first name that is set; the current name comes first, as in Flink. */
static const char *either(const struct flink_conf *conf, const char *key, const char *old)
{
	const char *value = flink_conf_get(conf, key);

	return value ? value : flink_conf_get(conf, old);
}

static int read_duration(const struct flink_conf *conf, const char *key, int64_t *ret_ms,
			 struct err *err)
{
	const char *text = flink_conf_get(conf, key);

	if (text && flink_duration_parse(text, ret_ms, err) < 0)
		return err_wrap(err, "%s", key);
	return 0;
}

/* rest.bind-port wins if it is a single port: Flink listens there. */
static int read_port(const struct flink_conf *conf, int *ret_port, struct err *err)
{
	const char *key = flink_conf_get(conf, "rest.bind-port") ? "rest.bind-port" : "rest.port";
	const char *text = flink_conf_get(conf, key);
	char *end;
	long port;

	if (!text)
		return 0;
	port = strtol(text, &end, 10);
	if (end == text || *end || port < 1 || port > 65535)
		return err_set(err, ERR_CONFIG, 0,
			       "%s is '%.40s': set a single port, so that drey can reach Flink",
			       key, text);
	*ret_port = (int)port;
	return 0;
}

bool flink_conf_is_true(const char *value)
{
	return value && strcasecmp(value, "true") == 0;
}

int flink_conf_settings(const struct flink_conf *conf, struct flink_settings *ret_settings,
			struct err *err)
{
	const char *subdir = either(conf, "execution.checkpointing.create-subdir",
				    "state.checkpoints.create-subdir");
	const char *backend = either(conf, "state.backend.type", "state.backend");
	struct flink_settings settings = {
		.checkpoint_dir =
			either(conf, "execution.checkpointing.dir", "state.checkpoints.dir"),
		.savepoint_dir = either(conf, "execution.checkpointing.savepoint-dir",
					"state.savepoints.dir"),
		.rest_address = either(conf, "rest.address", "jobmanager.rpc.address"),
		.ha_type = either(conf, "high-availability.type", "high-availability"),
		.ha_storage_dir = flink_conf_get(conf, "high-availability.storageDir"),
		.ha_cluster_id = flink_conf_get(conf, "high-availability.cluster-id"),
		.kubernetes_cluster_id = flink_conf_get(conf, "kubernetes.cluster-id"),
		.kubernetes_namespace = flink_conf_get(conf, "kubernetes.namespace"),
		.retention = flink_conf_get(
			conf, "execution.checkpointing.externalized-checkpoint-retention"),
		.checkpoint_subdir = !subdir || strcasecmp(subdir, "false") != 0,
	};

	settings.changelog = flink_conf_is_true(
		either(conf, "state.changelog.enabled", "state.backend.changelog.enabled"));
	settings.forst = backend && strcasecmp(backend, "forst") == 0;
	settings.async_state =
		flink_conf_is_true(flink_conf_get(conf, "table.exec.async-state.enabled"));
	settings.ha = settings.ha_type && strcasecmp(settings.ha_type, "none") != 0;
	if (read_port(conf, &settings.rest_port, err) < 0 ||
	    read_duration(conf, "execution.checkpointing.interval",
			  &settings.checkpoint_interval_ms, err) < 0 ||
	    read_duration(conf, "heartbeat.interval", &settings.heartbeat_interval_ms, err) < 0 ||
	    read_duration(conf, "heartbeat.timeout", &settings.heartbeat_timeout_ms, err) < 0)
		return err_wrap(err, "%s", conf->file ? conf->file : "Flink's configuration");
	*ret_settings = settings;
	return 0;
}

/* Where the value of `key` comes from: "flink.properties", or the path of the file. */
static const char *origin(const struct flink_conf *conf, const char *key)
{
	const struct flink_conf_entry *entry = flink_conf_find(conf, key);

	if (entry && entry->overlay)
		return entry->overlay;
	return conf->file ? conf->file : "Flink's configuration";
}

int flink_conf_check(const struct flink_conf *conf, struct err *err)
{
	static const char *const forbidden[] = {"execution.state-recovery.path",
						"execution.savepoint.path"};

	for (size_t i = 0; i < ARRAY_LEN(forbidden); i++)
		if (flink_conf_get(conf, forbidden[i]))
			return err_set(
				err, ERR_CONFIG, 0,
				"%s: %s: %s; remove it, and set a first savepoint with restore.initialSavepoint",
				origin(conf, forbidden[i]), forbidden[i],
				flink_reserved(forbidden[i]));
	return 0;
}

/* The path of an S3 URI; NULL for any other. */
static const char *s3_path(const char *uri)
{
	static const char *const schemes[] = {"s3://", "s3a://", "s3p://"};

	for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
		if (strncmp(uri, schemes[i], strlen(schemes[i])) == 0)
			return strchr(uri + strlen(schemes[i]), '/');
	return NULL;
}

char *flink_conf_listed_dir(const struct flink_conf *conf, const char *uri)
{
	const char *entropy = flink_conf_get(conf, "s3.entropy.key");
	const char *path = s3_path(uri);
	const char *at = entropy && *entropy && path ? strstr(path, entropy) : NULL;
	char *listed, *to;

	if (!at)
		return xstrdup(uri);
	listed = xasprintf("%.*s%s", (int)(at - uri), uri, at + strlen(entropy));
	to = listed + (path - uri);
	for (const char *from = to; *from; from++)
		if (*from != '/' || from[1] != '/')
			*to++ = *from;
	*to = '\0';
	return listed;
}
