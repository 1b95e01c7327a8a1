#!/usr/bin/env bash
#
# get-static.sh - builds what a static drey is linked with, once, and prints its directory.
#
#   tools/get-static.sh amd64|arm64
#
# The directory has bin/cc, a compiler for static programs with musl as their C library; include and lib, with musl, OpenSSL,
# libcurl, libyaml, expat and libevent; and licenses.txt, which goes along with every program that is linked with them.
# tools/static/sources.txt has their versions, where they are fetched, and their sha256. The compiler is the distribution's:
# cc, or for the other architecture its cross compiler (tools/deps.sh static).
#
# It is kept in ${XDG_CACHE_HOME:-~/.cache}/drey, with the files that were fetched (65 MB), so the second architecture needs no
# network. On two idle cores it takes about 4 minutes for each; it needs 500 MB of disk meanwhile.
#
# Safe to call from several processes at once. A directory appears only when it is complete. Exit status: 0 done,
# 1 this machine (disk, permissions), 2 usage, 3 a tool is missing, 4 the build failed, 5 a file that was fetched is not
# the pinned one.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"
# shellcheck source=tools/cache.sh
. "$here/cache.sh"

# The variables of a make that calls this, ARCH above all, mean something else in the libraries.
unset MAKEFLAGS MFLAGS MAKEOVERRIDES MAKELEVEL ARCH CC AR

table=$here/static/sources.txt
cache=${XDG_CACHE_HOME:-$HOME/.cache}/drey
jobs=$(nproc)

# The same for all of them. Small code takes less memory, and what has to be fast in OpenSSL is assembler. Functions have sections
# of their own so that the linker drops those that drey does not call. Unwind tables would only take memory.
common="-Os -fPIE -fstack-protector-strong -fstack-clash-protection -ffunction-sections -fdata-sections -fvisibility=hidden -fno-asynchronous-unwind-tables -fno-unwind-tables -fno-strict-aliasing"

usage() {
	sed -n '5p' "${BASH_SOURCE[0]}" | sed 's/^# *//' >&2
	exit 2
}

choose() { # ARCH: sets machine, compiler, flags
	case $1 in
	amd64) machine=x86_64 extra=-fcf-protection=full ;;
	# gcc's atomics in libgcc want a symbol of glibc
	arm64) machine=aarch64 extra=-mno-outline-atomics ;;
	*) usage ;;
	esac
	compiler=$machine-linux-gnu-gcc
	if ! command -v "$compiler" >/dev/null; then
		[ "$(uname -m)" = "$machine" ] || die 3 "$compiler is missing; install it: tools/deps.sh static"
		compiler=gcc
	fi
	for tool in "$compiler" curl perl make tar; do
		command -v "$tool" >/dev/null || die 3 "$tool is missing; install it: tools/deps.sh static"
	done
	flags="$common $extra"
}

# ---- fetching ------------------------------------------------------------------------------------

fetch() { # NAME VERSION SHA256 URL...: to $sources/NAME-VERSION.tar.gz
	local file=$sources/$1-$2.tar.gz name="$1 $2" want=$3 url
	! is_pinned "$file" "$want" || return 0
	shift 3
	for url; do
		if run_with_progress "fetching $name" "$tmp/log" curl --fail --silent --show-error --location --connect-timeout 15 \
			--max-time 900 --output "$tmp/file" "$url" 9>&-; then
			is_pinned "$tmp/file" "$want" || die 5 "$url is not the pinned $name; nothing was installed"
			mv "$tmp/file" "$file"
			return 0
		fi
	done
	die 4 "could not fetch $name; check the network, or put the file at $file"
}

is_pinned() { # FILE SHA256
	[ -f "$1" ] && echo "$2  $1" | sha256sum --check --status
}

fetch_all() {
	local row
	while read -ra row; do
		[[ ${row[0]-#} == \#* ]] || fetch "${row[@]}"
	done <"$table"
}

unpack() { # NAME: enters its directory
	local version
	version=$(awk -v name="$1" '$1 == name { print $2 }' "$table")
	mkdir -p "$tmp/$1"
	tar -xzf "$sources/$1-$version.tar.gz" --strip-components 1 --no-same-owner -C "$tmp/$1"
	cd "$tmp/$1"
}

# ---- building --------------------------------------------------------------------------------------

build_musl() {
	unpack musl
	CC=$compiler CFLAGS="$flags" CROSS_COMPILE=${compiler%gcc} ./configure --target="$machine" --prefix="$root" \
		--syslibdir="$root/lib" --disable-shared --disable-gcc-wrapper
	make -s -j"$jobs" install
	# the kernel's own, for what musl does not wrap
	local headers
	for headers in linux asm asm-generic; do
		link_headers "$headers" "/usr/$machine-linux-gnu/include" "/usr/include/$machine-linux-gnu" /usr/include
	done
}

link_headers() { # NAME DIR...: the first of them that has it
	local name=$1 dir
	shift
	for dir; do
		if [ -e "$dir/$name/." ]; then
			ln -s "$dir/$name" "$root/include/$name"
			return 0
		fi
	done
	echo "no headers of the kernel: $name" >&2
	return 1
}

# Like musl's own wrapper, but every program is static; it is position-independent, too, unless -static or -no-pie says otherwise.
make_compiler() {
	cat >"$root/lib/musl.specs" <<-END
		%rename cpp_options old_cpp_options

		*cpp_options:
		-nostdinc -isystem $final/include -isystem include%s %(old_cpp_options)

		*cc1:
		%(cc1_cpu) -nostdinc -isystem $final/include -isystem include%s

		*link_libgcc:
		-L$final/lib -L .%s

		*libgcc:
		libgcc.a%s %:if-exists(libgcc_eh.a%s)

		*startfile:
		%{static|no-pie:$final/lib/crt1.o;:$final/lib/rcrt1.o} $final/lib/crti.o %{static|no-pie:crtbegin.o%s;:crtbeginS.o%s}

		*endfile:
		%{static|no-pie:crtend.o%s;:crtendS.o%s} $final/lib/crtn.o

		*link:
		-nostdlib -static %{static|no-pie:;:-pie --no-dynamic-linker -z text}

		*esp_link:


		*esp_options:


		*esp_cpp_options:


	END
	sed "s|$final|$root|g" "$root/lib/musl.specs" >"$tmp/musl.specs"
	mkdir -p "$root/bin"
	printf '#!/bin/sh\nexec %s "$@" -specs "%s"\n' "$compiler" "$tmp/musl.specs" >"$tmp/cc"
	printf '#!/bin/sh\nexec %s "$@" -specs "%s"\n' "$compiler" "$final/lib/musl.specs" >"$root/bin/cc"
	chmod +x "$tmp/cc" "$root/bin/cc"
	ln -s "$(command -v "${compiler%gcc}ar")" "$root/bin/ar"
}

compile() { # LIBRARY FLAGS FILE...
	local library=$1 options=$2
	shift 2
	# shellcheck disable=SC2016 # for that sh
	printf '%s\n' "$@" | xargs -P "$jobs" -I{} sh -c '$1 -c "$2" -o "$(basename "$2" .c).o"' sh "$tmp/cc $flags $options" {}
	"${compiler%gcc}ar" rcs "$root/lib/$library" ./*.o
}

build_libyaml() {
	unpack libyaml
	compile libyaml.a '-Iinclude -DYAML_VERSION_MAJOR=0 -DYAML_VERSION_MINOR=2 -DYAML_VERSION_PATCH=5 -DYAML_VERSION_STRING="" -DYAML_DECLARE_STATIC' src/*.c
	cp include/yaml.h "$root/include/"
}

build_expat() {
	unpack expat
	cd expat/lib
	echo >expat_config.h
	compile libexpat.a '-O2 -I. -DHAVE_GETRANDOM -DXML_NS -DXML_GE=1 -DXML_CONTEXT_BYTES=1024 -DXML_STATIC' xmlparse.c xmlrole.c xmltok.c \
		random_getrandom.c
	cp expat.h expat_external.h "$root/include/"
}

build_libevent() {
	unpack libevent
	./configure --host="$machine-linux-musl" --prefix="$root" --disable-shared --enable-static --disable-openssl \
		--disable-samples --disable-libevent-regress --disable-debug-mode CC="$tmp/cc" CFLAGS="$flags"
	make -s include/event2/event-config.h
	make -s -j"$jobs" libevent_core.la
	cp .libs/libevent_core.a "$root/lib/"
	cp -r include/event2 "$root/include/"
}

# TLS 1.2 and 1.3, the certificates that are used on the web and in clusters, SHA-2. Not the protocols of which most of
# OpenSSL's security advisories were about, and nothing that is read from the image's file system at the start.
build_openssl() {
	unpack openssl
	./Configure "linux-$machine" --prefix="$root" --libdir=lib --openssldir=/etc/ssl CC="$tmp/cc" AR="${compiler%gcc}ar" \
		RANLIB="${compiler%gcc}ranlib" CFLAGS="$flags" \
		no-shared no-pinshared no-module no-dso no-engine no-legacy no-apps no-tests no-docs no-autoload-config no-secure-memory \
		no-afalgeng no-ktls no-async no-ui-console no-thread-pool no-default-thread-pool no-sslkeylog no-trace no-ssl-trace \
		no-quic no-dtls no-sctp no-srtp no-srp no-psk no-comp no-nextprotoneg no-tfo no-http no-ocsp no-cms no-cmp no-ts no-ct \
		no-rfc3779 no-ssl3 no-tls1 no-tls1_1 no-weak-ssl-ciphers no-tls-deprecated-ec no-dsa no-ec2m no-ml-dsa no-slh-dsa \
		no-argon2 no-aria no-bf no-blake2 no-camellia no-cast no-gost no-idea no-md4 no-mdc2 no-ocb no-rc2 no-rc4 no-rmd160 \
		no-scrypt no-seed no-siphash no-siv no-sm2 no-sm3 no-sm4 no-whirlpool no-multiblock
	make -s -j"$jobs" build_libs
	make -s install_dev
}

# HTTP and HTTPS. The CA bundle is looked for when drey runs (agent/base/ca_bundle.h).
build_curl() {
	unpack curl
	./configure --host="$machine-linux-musl" --prefix="$root" --disable-shared --enable-static --with-openssl="$root" \
		--without-ca-bundle --without-ca-path --enable-threaded-resolver --enable-ipv6 \
		--without-zlib --without-brotli --without-zstd --without-libpsl --without-libidn2 --without-nghttp2 --without-libssh2 \
		--disable-ftp --disable-file --disable-ipfs --disable-ldap --disable-ldaps --disable-rtsp --disable-dict --disable-telnet \
		--disable-tftp --disable-pop3 --disable-imap --disable-smb --disable-smtp --disable-gopher --disable-mqtt \
		--disable-websockets --disable-docs --disable-manual --disable-libcurl-option --disable-openssl-auto-load-config \
		--disable-kerberos-auth --disable-negotiate-auth --disable-digest-auth --disable-bearer-auth --disable-aws --disable-ntlm \
		--disable-tls-srp --disable-unix-sockets --disable-cookies --disable-doh --disable-mime --disable-form-api \
		--disable-netrc --disable-alt-svc --disable-hsts --disable-sha512-256 --disable-get-easy-options \
		--disable-dependency-tracking CC="$tmp/cc" CFLAGS="$flags" CPPFLAGS="-I$root/include" LDFLAGS="-L$root/lib"
	make -s -j"$jobs" -C lib libcurl.la # not all: its unit tests have a copy of the library
	cp lib/.libs/libcurl.a "$root/lib/"
	cp -r include/curl "$root/include/"
}

licenses() {
	local name
	for name in musl/COPYRIGHT openssl/LICENSE.txt curl/COPYING libyaml/License expat/COPYING libevent/LICENSE; do
		printf '==== %s\n\n' "${name%/*}"
		cat "$tmp/$name"
		echo
	done >"$root/licenses.txt"
}

# A shell of its own ends at the first failure; a function whose status is looked at would not.
build_one() { # NAME
	local script
	script=$(declare -p table sources tmp root machine compiler flags jobs && declare -f unpack link_headers compile "build_$1")
	run_with_progress "building $1 for $arch" "$tmp/log" bash -euo pipefail -c "$script"$'\n'"build_$1" 9>&- ||
		die 4 "could not build $1"
}

build() {
	sources=$cache/static-sources
	mkdir -p "$sources"
	fetch_all
	root=$tmp/new final=$dest
	mkdir -p "$root"
	build_one musl
	make_compiler
	for name in libyaml expat libevent openssl curl; do
		build_one "$name"
	done
	rm -rf "$root/bin/openssl" "$root/bin/c_rehash" "$root/lib/pkgconfig" "$root/lib/cmake" "$root/share" "$root"/lib/*.la
	licenses
	mv --no-target-directory "$root" "$dest"
}

[ $# -eq 1 ] || usage
arch=$1
choose "$arch"
dest=$cache/static-$arch-$( (cat "${BASH_SOURCE[0]}" "$table"; "$compiler" --version; echo "$compiler") | sha256sum | head -c 12)
if [ ! -d "$dest" ]; then
	cache_lock "$cache" "static-$arch"
	cache_scratch "$cache" "static-$arch"
	[ -d "$dest" ] || build
fi
echo "$dest"
