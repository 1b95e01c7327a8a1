#include "store/swift/swift_object.h"

#include "store/swift/swift_call.h"

int swift_object_read(struct store *store, const struct uri *uri, int64_t timeout_ms,
		      struct store_object *ret, struct err *err)
{
	const struct swift_request request = {
		.object = uri->path, .max_bytes = STORE_OBJECT_MAX_BYTES, .timeout_ms = timeout_ms};
	cleanup_http_response struct http_response response = {0};

	if (swift_call((struct swift_store *)store, &request, &response, err) < 0)
		return -1;
	ret->body = response.body;
	response.body = (struct buf)BUF_INIT;
	ret->etag[0] = '\0';
	return 0;
}

int swift_object_put(struct store *store, const struct uri *uri, size_t kept,
		     const struct store_object *object, int64_t timeout_ms,
		     char ret_etag[STORE_ETAG_BYTES], struct err *err)
{
	const struct swift_request request = {.method = "PUT",
					      .object = uri->path,
					      .body = object->body.data,
					      .body_len_bytes = object->body.len_bytes,
					      .timeout_ms = timeout_ms};
	cleanup_http_response struct http_response response = {0};

	(void)kept; /* a container has no directories */
	if (swift_call((struct swift_store *)store, &request, &response, err) < 0)
		return -1;
	ret_etag[0] = '\0';
	return 0;
}
