#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ca_bundle.h"
#include "base/fs.h"
#include "base/mem.h"
#include "tests/unit/tap.h"

/* A system with that one file, and what is found in it. */
static char *found_with(const char *file)
{
	char root[] = "/tmp/drey-ca.XXXXXX";
	cleanup_free char *path = NULL, *found = NULL;
	char *end;

	CHECK(mkdtemp(root) != NULL);
	path = xasprintf("%s%s", root, file);
	end = strrchr(path, '/');
	*end = '\0';
	CHECK_INT(fs_mkdirs(path, 0700, NULL), ==, 0);
	*end = '/';
	CHECK_INT(fs_write_atomic(path, "PEM", 3, 0600, NULL), ==, 0);
	found = ca_bundle_find(root);
	unlink(path);
	while ((end = strrchr(path, '/')) && end > path + strlen(root)) {
		*end = '\0';
		rmdir(path);
	}
	rmdir(root);
	return found ? xstrdup(found + strlen(root)) : NULL;
}

#define CHECK_FOUND(file)                                                                          \
	do {                                                                                       \
		cleanup_free char *found_ = found_with(file);                                      \
		CHECK_STR(found_, file);                                                           \
	} while (0)

TEST(each_distribution_has_its_own_place)
{
	CHECK_FOUND("/etc/ssl/certs/ca-certificates.crt");
	CHECK_FOUND("/etc/pki/tls/certs/ca-bundle.crt");
	CHECK_FOUND("/etc/ssl/ca-bundle.pem");
	CHECK_FOUND("/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem");
	CHECK_FOUND("/etc/ssl/cert.pem");
}

TEST(a_system_without_CAs_has_none)
{
	CHECK(found_with("/etc/ssl/openssl.cnf") == NULL);
}
