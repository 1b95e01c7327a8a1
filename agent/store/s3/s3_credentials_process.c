/* credential_process: a program that the user names prints the keys. */
#include <inttypes.h>
#include <string.h>

#include "base/child_output.h"
#include "base/json.h"
#include "base/mem.h"
#include "store/s3/s3_credentials_internal.h"

#define OUTPUT_MAX_BYTES ((size_t)64 * 1024)
#define ERRORS_BYTES     ((size_t)1024)
#define TIMEOUT_VALID_MS INT64_C(10000) /* while the keys before it are valid: it is asked again */
#define TELL_CHARS       200

int s3_keys_from_process(const char *text, size_t len_bytes, struct s3_keys *ret_keys,
			 struct err *err)
{
	cleanup_json struct json *doc = json_parse(text, len_bytes, OUTPUT_MAX_BYTES, err);
	const char *access, *secret, *token = NULL, *expiration = NULL;
	int64_t version;

	if (!doc || json_need_i64(doc, "Version", &version, err) < 0)
		return -1;
	if (version != 1)
		return err_set(err, ERR_FORMAT, 0, "it has \"Version\": %" PRId64 ", not 1",
			       version);
	if (json_need_str(doc, "AccessKeyId", &access, err) < 0 ||
	    json_need_str(doc, "SecretAccessKey", &secret, err) < 0 ||
	    json_opt_str(doc, "SessionToken", &token, err) < 0 ||
	    json_opt_str(doc, "Expiration", &expiration, err) < 0)
		return -1;
	return s3_keys_take(access, secret, token, expiration, ret_keys, err);
}

/* Its own last words; AWS requires of such a program that they contain no secret. */
static int refusal(int status, struct buf *errors, struct err *err)
{
	char *last = (char *)(uintptr_t)child_last_line(buf_str(errors));

	s3_printable(last);
	while (*last && last[strlen(last) - 1] == ' ')
		last[strlen(last) - 1] = '\0';
	return err_set(err, ERR_RETRY, 0, "exit status %d%s%.*s", status, *last ? ": " : "",
		       TELL_CHARS, last);
}

int s3_process_keys(struct s3_source_context *context, const char *command,
		    struct s3_keys *ret_keys, struct err *err)
{
	cleanup_wipe_buf struct buf output = BUF_INIT, errors = BUF_INIT;
	char *argv[] = {(char *)"sh", (char *)"-c", (char *)(uintptr_t)command, NULL};
	struct child_call call = {
		.path = "/bin/sh",
		.argv = argv,
		.timeout_ms = S3_PROCESS_TIMEOUT_MS,
		.max_bytes = OUTPUT_MAX_BYTES,
		.keep_bytes = ERRORS_BYTES,
		.errors = &errors,
	};
	struct err why = {0};
	int status;

	if (context->process_timeout_ms)
		call.timeout_ms = context->process_timeout_ms;
	if (context->have_keys && call.timeout_ms > TIMEOUT_VALID_MS)
		call.timeout_ms = TIMEOUT_VALID_MS;
	if (child_output(&call, &output, &status, &why) < 0) {
		if (why.kind == ERR_RETRY)
			err_set(err, ERR_RETRY, 0,
				"it was killed, for it had not ended after %" PRId64 " s",
				(call.timeout_ms + 999) / 1000);
		else if (why.kind == ERR_FORMAT)
			err_set(err, ERR_FORMAT, 0,
				"it was killed, for it had printed more than %zu bytes",
				OUTPUT_MAX_BYTES);
		else if (err)
			*err = why;
		return err_wrap(err, "credential_process");
	}
	if (status)
		return refusal(status, &errors, err), err_wrap(err, "credential_process");
	if (s3_keys_from_process(buf_str(&output), output.len_bytes, ret_keys, err) < 0)
		return err_wrap(err, "credential_process: its output");
	return 0;
}
