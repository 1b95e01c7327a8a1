#include "flink/reserved.h"

#include <string.h>
#include <strings.h>

#include "base/mem.h"

static const struct reserved {
	const char *key; /* ending in '*': a prefix */
	const char *why;
} reserved_keys[] = {
	{"job-result-store.*", "drey gives every launch its own result store"},
	{"application-result-store.*", "drey gives every launch its own result store"},
	{"$internal.application.id", "drey gives every launch its own application id"},
	{"$internal.pipeline.job-id", "drey gives every launch its own job id"},
	{"execution.shutdown-on-application-finish",
	 "drey reads the final state of the job before Flink exits"},
	{"execution.submit-failed-job-on-application-error",
	 "drey reads the final state of the job before Flink exits"},
	{"execution.state-recovery.*", "drey decides what the job starts from"},
	{"execution.savepoint.path", "drey decides what the job starts from"},
	{"execution.savepoint.ignore-unclaimed-state", "drey decides what the job starts from"},
	{"execution.savepoint-restore-mode", "drey decides what the job starts from"},
};

/* Source: StandaloneApplicationClusterEntryPoint, which writes what its command line says of the restore into the
 * configuration (SavepointRestoreSettings.toConfiguration), also what it does not say: the entry point has no
 * option for the claim mode on any line, so it is always the default there. */
static const char *const overwritten[] = {
	"execution.state-recovery.claim-mode",
	"execution.savepoint-restore-mode",
	"execution.state-recovery.ignore-unclaimed-state",
	"execution.savepoint.ignore-unclaimed-state",
	NULL,
};

const char *const *flink_overwritten_keys(void)
{
	return overwritten;
}

/* Words of Flink's own list (GlobalConfiguration), and a few synonyms. */
static const char *const secret_words[] = {
	"password",
	"passwd",
	"secret",
	"token",
	"credential",
	"apikey",
	"api-key",
	"auth-params",
	"basic-auth",
	"jaas.config",
	"service-key",
	"private-key",
	"fs.azure.account.key",
	"http-headers",
};

static const char *const env_denied[] = {"DREY_*",         "NOTIFY_SOCKET", "WATCHDOG_PID",
					 "WATCHDOG_USEC",  "LISTEN_PID",    "LISTEN_FDS",
					 "LISTEN_FDNAMES", "LISTEN_PIDFDID"};

static bool matches(const char *pattern, const char *text, size_t len)
{
	size_t pattern_len = strlen(pattern);

	if (pattern[pattern_len - 1] == '*')
		return len >= pattern_len - 1 && strncmp(pattern, text, pattern_len - 1) == 0;
	return len == pattern_len && strncmp(pattern, text, len) == 0;
}

const char *flink_reserved(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(reserved_keys); i++)
		if (matches(reserved_keys[i].key, key, strlen(key)))
			return reserved_keys[i].why;
	return NULL;
}

bool flink_key_is_secret(const char *key)
{
	for (size_t i = 0; i < ARRAY_LEN(secret_words); i++) {
		/* security.delegation.token... are settings about tokens */
		if (strcmp(secret_words[i], "token") == 0 && strcasestr(key, "delegation"))
			continue;
		if (strcasestr(key, secret_words[i]))
			return true;
	}
	return false;
}

bool flink_env_passes(const char *entry)
{
	size_t len = strcspn(entry, "=");

	for (size_t i = 0; i < ARRAY_LEN(env_denied); i++)
		if (matches(env_denied[i], entry, len))
			return false;
	return len > 0 && entry[len] == '=';
}
