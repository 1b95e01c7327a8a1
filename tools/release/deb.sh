#!/usr/bin/env bash
#
# deb.sh - the Debian package of build/drey: linked with the libraries of the distribution that it was built on.
#
#   tools/release/deb.sh DEST
#
# What runs inside Flink's JVM (/usr/lib/drey/*.jar, `make jars`) is part of it.

set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tools/release/lib.sh
. tools/release/lib.sh
release_begin "$1"
arch=$(dpkg --print-architecture)
tree=$WORK/drey
doc=$tree/usr/share/doc/drey

tools/image/pack.sh build "$tree" >/dev/null 2>&1
rm -rf "${tree:?}/etc" "$tree"/usr/share/drey/{LICENSE,packages,install}
install -m 755 build/drey-migrate "$tree/usr/bin/drey-migrate" # images do not have it
strip --strip-unneeded --remove-section=.comment --remove-section=.note "$tree"/usr/bin/{drey,drey-init,drey-migrate}
ln -s drey "$tree/usr/bin/kubectl-drey"
mkdir -p "$doc" "$tree/DEBIAN" "$tree/usr/share/lintian/overrides"
mkdir -p "$tree/usr/share/man/man1"
for name in drey-init drey-class-archive; do
	tools/release/man.sh "$name" | gzip -9n >"$tree/usr/share/man/man1/$name.1.gz"
done
ln -s drey.1.gz "$tree/usr/share/man/man1/kubectl-drey.1.gz"
for page in build/man/*.1; do
	gzip -9nc "$page" >"$tree/usr/share/man/man1/${page##*/}.gz"
done
install -D -m 644 build/completions/bash "$tree/usr/share/bash-completion/completions/drey"
install -D -m 644 build/completions/zsh "$tree/usr/share/zsh/vendor-completions/_drey"
install -D -m 644 build/completions/fish "$tree/usr/share/fish/vendor_completions.d/drey.fish"
{
	printf 'Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: drey\n\nFiles: *\n'
	printf 'Copyright: 2026 The drey authors\nLicense: Apache-2.0\n'
	printf ' On Debian systems, the full text is in /usr/share/common-licenses/Apache-2.0.\n'
} >"$doc/copyright"
printf 'drey (%s) unstable; urgency=medium\n\n  * See CHANGELOG.md.gz.\n\n -- The drey authors <drey@drey.dev>  %s\n' "$VERSION" \
	"$(date --utc --date="@$SOURCE_DATE_EPOCH" -R)" | gzip -9n >"$doc/changelog.gz"
gzip -9nc CHANGELOG.md >"$doc/CHANGELOG.md.gz"
# drey-init is process 1: it must not need anything of the image that it runs in. The jars are no libraries: drey gives them to its
# own JVMs, and looks for them beside its directory.
{
	echo 'drey: statically-linked-binary [usr/bin/drey-init]'
	for jar in "$tree"/usr/lib/drey/*.jar; do
		echo "drey: jar-not-in-usr-share [usr/lib/drey/${jar##*/}]"
	done
} >"$tree/usr/share/lintian/overrides/drey"
find "$tree" -type d -exec chmod 755 {} +

mkdir -p "$WORK/debian"
printf 'Source: drey\n\nPackage: drey\nArchitecture: any\n' >"$WORK/debian/control"
depends=$(cd "$WORK" && dpkg-shlibdeps -O drey/usr/bin/drey 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$tree/DEBIAN/control" <<EOF
Package: drey
Version: $VERSION
Architecture: $arch
Maintainer: The drey authors <drey@drey.dev>
Depends: $depends
Recommends: ca-certificates
Section: admin
Priority: optional
Installed-Size: $(find "$tree/usr" -type f -printf '%s\n' | awk '{sum += int(($1 + 1023) / 1024)} END {print sum}')
Description: in-pod supervisor for Apache Flink application clusters
 drey is the entrypoint of a Flink JobManager. It starts the job from its
 newest good state, proves what Flink restored, takes periodic savepoints,
 stops the job safely, and reports to Kubernetes; without an operator.
EOF
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
dpkg-deb --root-owner-group -Zxz --build "$tree" "$DEST/drey_${VERSION}_$arch.deb" >&2
