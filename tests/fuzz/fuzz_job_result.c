/* Any bytes as an entry of the job result store and as an archive. What is accepted keeps its promises. */
#include <string.h>

#include "format/job_result.h"
#include "must.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes);

typedef int parse_fn(const char *text, size_t len_bytes, struct job_result *ret_result,
		     struct err *err);

static void as(parse_fn *parse, const unsigned char *data, size_t len_bytes)
{
	struct job_result result = {0};
	struct err err = {0};

	if (parse((const char *)data, len_bytes, &result, &err) < 0) {
		must((err.kind == ERR_FORMAT || err.kind == ERR_CONFIG) && err.msg[0]);
		must(!result.job_id[0] && !result.stop);
		return;
	}
	must(err.kind == ERR_NONE);
	must(strlen(result.job_id) == 32);
	must(strspn(result.job_id, "0123456789abcdef") == 32);
	must(job_result_status_name(result.status) != NULL);
	must(!result.stop || result.status == JOB_RESULT_SUCCEEDED);
	job_result_release(&result);
}

static void as_application(const unsigned char *data, size_t len_bytes)
{
	struct err err = {0};
	bool failed = true;

	if (application_archive_parse((const char *)data, len_bytes,
				      "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaa09", &failed, &err) < 0)
		must(err.kind == ERR_FORMAT && err.msg[0] && failed);
	else
		must(err.kind == ERR_NONE);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t len_bytes)
{
	as_application(data, len_bytes);
	as(job_result_parse, data, len_bytes);
	as(job_archive_parse, data, len_bytes);
	return 0;
}
