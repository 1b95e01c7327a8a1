/* store_s3: buckets of Amazon S3 and of every compatible server. */
#include <stdlib.h>

#include "base/mem.h"
#include "store/s3/s3_store.h"

static void s3_close(struct store *store)
{
	struct s3_store *s3 = (struct s3_store *)store;

	s3_ahead_free(s3->ahead);
	http_free(s3->http);
	s3_credentials_free(s3->credentials);
	s3_endpoint_release(&s3->endpoint);
	free(s3);
}

static int s3_open(const struct store_config *config, const struct uri *uri, struct store **ret,
		   struct err *err)
{
	struct http_config http = {.ca_file = config->s3.ca_file,
				   .ca_setting = "storage.s3.caFile or AWS_CA_BUNDLE"};
	struct s3_store *s3 = xcalloc(1, sizeof(*s3));

	s3->http = http_new(&http, err);
	if (!s3->http || s3_endpoint_of(&config->s3, uri->authority, &s3->endpoint, err)) {
		s3_close(&s3->base);
		return -1;
	}
	s3->credentials = s3_credentials_new(&config->s3, NULL);
	*ret = &s3->base;
	return 0;
}

/* s3a and s3p are the names of Flink's Hadoop and Presto file systems */
static const char *const schemes[] = {"s3", "s3a", "s3p", NULL};

const struct store_ops store_s3_ops = {
	.schemes = schemes,
	.list_page = 1000,
	.absence = "answered 404",
	.lists_ghosts = true, /* a bucket with versions (MinIO) */
	.open = s3_open,
	.close = s3_close,
	.stat = s3_stat,
	.list = s3_list,
	.list_dirs = s3_list_dirs,
	.look_many = s3_look_many,
	.list_tree = s3_list_tree,
	.named = s3_named,
	.ahead = s3_fetch_ahead,
	.delete_many = s3_delete_many,
	.read_open = s3_read_open,
	.read = s3_read,
	.read_close = s3_read_close,
	.object_put = s3_object_put,
	.object_read = s3_object_read,
	.object_write = s3_object_write,
};
