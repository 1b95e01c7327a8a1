/* s3_world - a store with its own stub (s3_stub.h), for the tests of the S3 store. */
#ifndef DREY_TESTS_S3_WORLD_H
#define DREY_TESTS_S3_WORLD_H

#include "s3_stub.h"
#include "store/store.h"

/* A stub and a store that uses it, with the keys in the configuration. */
struct world {
	struct s3_stub *stub;
	struct store_config config;
	struct store *store;
	struct err err;
};

S3_FN void begin(struct world *world)
{
	*world = (struct world){.stub = s3_stub_new()};
	world->config.s3.endpoint = xstrdup(world->stub->url);
	world->config.s3.endpoint_from = xstrdup("storage.s3.endpoint in drey.yaml");
	world->config.s3.access_key = xstrdup(S3_STUB_KEY);
	world->config.s3.secret_key = xstrdup(S3_STUB_SECRET);
	if (!CHECK_INT(store_open(&world->config, "s3://b/", &world->store, &world->err), ==, 0))
		tap_note("%s", world->err.msg);
}

S3_FN void end(struct world *world)
{
	store_close(world->store);
	s3_stub_free(world->stub);
	store_config_release(&world->config);
}

S3_FN void set_fault_with(struct world *world,
			  bool (*fault)(struct s3_stub *, const struct http_stub_request *,
					struct http_stub_answer *),
			  const void *arg)
{
	pthread_mutex_lock(&world->stub->lock);
	world->stub->fault = fault;
	world->stub->faults = 0;
	world->stub->fault_arg = arg;
	pthread_mutex_unlock(&world->stub->lock);
}

S3_FN void set_fault(struct world *world,
		     bool (*fault)(struct s3_stub *, const struct http_stub_request *,
				   struct http_stub_answer *))
{
	set_fault_with(world, fault, NULL);
}

/* The message contains no secret of this world. */
S3_FN void check_hush(const struct err *err)
{
	CHECK(!strstr(err->msg, S3_STUB_SECRET));
	CHECK(!strstr(err->msg, S3_STUB_KEY));
	CHECK(!strstr(err->msg, "Signature="));
}

S3_FN int no_entry(void *ctx, const struct store_entry *entry, struct err *err)
{
	(void)ctx;
	return err_set(err, ERR_BUSY, 0, "'%s' was listed", entry->name);
}

S3_FN void check_no_list(struct world *world, const char *uri, enum err_kind kind, const char *why)
{
	world->err = (struct err){0};
	CHECK_INT(store_list(world->store, uri, no_entry, NULL, &world->err), ==, -1);
	if (!CHECK_INT(world->err.kind, ==, kind))
		tap_note("%s", world->err.msg);
	CHECK_HAS(world->err.msg, why);
	check_hush(&world->err);
}

S3_FN bool denied(struct s3_stub *stub, const struct http_stub_request *request,
		  struct http_stub_answer *answer)
{
	(void)stub;
	(void)request;
	s3_stub_error(answer, 403, "AccessDenied", "<Message>User x may not</Message>");
	return true;
}

#endif
