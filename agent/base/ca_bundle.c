#include "base/ca_bundle.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"

char *ca_bundle_find(const char *root)
{
	/* the order of Go's crypto/x509 (root_linux.go), so that kubectl and drey trust the same */
	static const char *const places[] = {
		"/etc/ssl/certs/ca-certificates.crt", /* Debian, Ubuntu, Alpine, distroless */
		"/etc/pki/tls/certs/ca-bundle.crt",   /* Fedora, RHEL 6 to 9 */
		"/etc/ssl/ca-bundle.pem",             /* openSUSE */
		"/etc/pki/tls/cacert.pem",            /* OpenELEC */
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL 7 and later */
		"/etc/ssl/cert.pem", /* Alpine without the package */
	};

	for (size_t i = 0; i < ARRAY_LEN(places); i++) {
		char *path = xasprintf("%s%s", root, places[i]);

		if (access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}
