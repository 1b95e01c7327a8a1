#!/usr/bin/env bash
#
# deps.sh - the tools and libraries for building and testing: installs missing ones, or lists them if it may not.
#
#   tools/deps.sh [GROUP...]      build (compile), test (run the tests and the demo), lint; without a group all of these;
#                                 jars (make jars; test has it as well), cluster (additional packages for make test-cluster),
#                                 release (make release),
#                                 browser (a headless Chromium, for tests/contract/test_page.sh; Debian only),
#                                 static (make static), static-arm64 (for ARCH=arm64 on amd64, with an emulator for its tests)
#   tools/deps.sh --list [GROUP...]   the packages, one a line
#
# Checks commands and libraries, not packages, so those from other sources count. Packages are those of
# Debian 12, Ubuntu 22.04 and 24.04. As root they are installed with apt-get; otherwise, or with DEPS_INSTALL=no, the
# command is printed. Exit status: 0 nothing is missing (any more), 1 installation failed, 2 usage, 3 missing.

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tools/ui.sh
. "$here/ui.sh"

# group, package, what shows that it is installed: command:NAME, library:PKG-CONFIG-NAME, file:PATH or
# python:MODULE
table='
build  gcc                      command:cc
build  libc6-dev                file:/usr/include/stdio.h
build  make                     command:make
build  git                      command:git
build  pkg-config               command:pkg-config
build  musl-tools               command:musl-gcc
build  libcurl4-openssl-dev     library:libcurl
build  libyaml-dev              library:yaml-0.1
build  libevent-dev             library:libevent_core
build  libssl-dev               library:libcrypto
build  libexpat1-dev            library:expat
jars   default-jdk-headless     command:javac
test   perl                     command:prove
test   curl                     command:curl
test   ca-certificates          file:/etc/ssl/certs/ca-certificates.crt
test   jq                       command:jq
test   procps                   command:ps
test   openjdk-17-jdk-headless  command:javac
test   maven                    command:mvn
test   python3-venv             python:ensurepip
test   openssl                  command:openssl
test   lua5.1                   command:lua5.1
test   tinyproxy-bin            command:tinyproxy
test   tmux                     command:tmux
test   zsh                      command:zsh
test   fish                     command:fish
cluster containerd              command:containerd
cluster runc                    command:runc
cluster containernetworking-plugins file:/usr/lib/cni/bridge
cluster iptables                command:iptables
cluster conntrack               command:conntrack
cluster iproute2                command:ip
cluster buildah                 command:buildah
cluster mmdebstrap              command:mmdebstrap
cluster python3-pip             python:pip
browser chromium-headless-shell command:chromium-headless-shell
browser nodejs                  command:node
browser npm                     command:npm
static gcc                      command:cc
static make                     command:make
static git                      command:git
static perl                     command:perl
static curl                     command:curl
static ca-certificates          file:/etc/ssl/certs/ca-certificates.crt
static linux-libc-dev           file:/usr/include/linux/limits.h
static-arm64 gcc-aarch64-linux-gnu   command:aarch64-linux-gnu-gcc
static-arm64 linux-libc-dev-arm64-cross  file:/usr/aarch64-linux-gnu/include/linux/limits.h
static-arm64 qemu-user-static   command:qemu-aarch64-static
release dpkg-dev                command:dpkg-shlibdeps
release jq                      command:jq
release openssl                 command:openssl
lint   clang-format-14          command:clang-format-14
lint   clang-tidy-14            command:clang-tidy-14
lint   cppcheck                 command:cppcheck
lint   shellcheck               command:shellcheck
'

is_there() { # KIND:NAME
	local name=${1#*:}
	case $1 in
	command:*) command -v "$name" >/dev/null 2>&1 ;;
	library:*) pkg-config --exists "$name" 2>/dev/null ;;
	file:*) [ -e "$name" ] ;;
	python:*) python3 -c "import $name" >/dev/null 2>&1 ;;
	esac
}

rows() { # GROUP...
	local group package proof wanted
	while read -r group package proof; do
		for wanted; do
			[ "$group" != "$wanted" ] || echo "$package $proof"
		done
	done <<<"$table"
}

missing() { # GROUP...
	local package proof
	rows "$@" | while read -r package proof; do
		is_there "$proof" || echo "$package"
	done
}

install() { # PACKAGE...
	local log
	log=$(mktemp)
	say "installing with apt-get: $*"
	export DEBIAN_FRONTEND=noninteractive
	if run_with_progress "apt-get update" "$log" apt-get update -q &&
		run_with_progress "apt-get install" "$log" apt-get install -q -y --no-install-recommends "$@"; then
		rm -f "$log"
		return 0
	fi
	die 1 "apt-get failed; its output is in $log"
}

list=
if [ "${1:-}" = --list ]; then
	list=yes
	shift
fi
[ $# -gt 0 ] || set -- build test lint
for group; do
	case $group in
	build | jars | test | cluster | release | browser | static | static-arm64 | lint) ;;
	*) die 2 "usage: tools/deps.sh [--list] [build] [jars] [test] [cluster] [release] [browser] [static] [static-arm64] [lint]" ;;
	esac
done
if [ -n "$list" ]; then
	rows "$@" | cut -d' ' -f1
	exit 0
fi
mapfile -t packages < <(missing "$@")
[ ${#packages[@]} -gt 0 ] || exit 0
if ! command -v apt-get >/dev/null; then
	die 3 "packages are missing, and there is no apt-get; install them (names as in Debian): ${packages[*]}"
elif [ "$(id -u)" -ne 0 ] || [ "${DEPS_INSTALL:-yes}" = no ]; then
	die 3 "packages are missing; run: sudo apt-get install -y --no-install-recommends ${packages[*]}"
fi
install "${packages[@]}"
mapfile -t packages < <(missing "$@")
[ ${#packages[@]} -eq 0 ] || die 1 "installed, but still not found: ${packages[*]}"
