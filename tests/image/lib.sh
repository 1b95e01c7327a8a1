# shellcheck shell=bash
#
# lib.sh - images without a daemon and without a registry. Sourced by the scripts of tests/image.
#
#   image_missing              prints what this machine lacks; no output: it can build and run images
#   image_alone SCRIPT ARG...  starts SCRIPT, its caller, again in its own mount namespace: everything that buildah and
#                              the test mount ends with the script, also if it is killed
#   image_store DIR            sets BUILDAH, the command to call buildah with
#   image_ubuntu_keys DIR      fetches the keys of Ubuntu's archive: DIR/$IMAGE_UBUNTU_KEYRING, for mmdebstrap
#   image_run ROOT SETUP CMD...
#                              becomes `unshare`, whose only child is CMD as PID 1, in its own namespaces except that of
#                              the network: root directory ROOT, read-only, as user 9999 without capabilities. Before that,
#                              SETUP, shell text, runs as root with $root: it mounts what must be writable. Variables for
#                              CMD: arguments of `env` in ENVIRONMENT

image_missing() {
	local tool missing=''
	for tool in buildah mmdebstrap unshare nsenter setpriv ip jq; do
		command -v "$tool" >/dev/null || missing+=" $tool"
	done
	if [ "$(id -u)" -ne 0 ]; then
		echo "images are built and run as root"
	elif [ -n "$missing" ]; then
		echo "missing:$missing (apt-get install --no-install-recommends buildah mmdebstrap util-linux iproute2 jq)"
	elif ! unshare --mount --pid --net --fork true 2>/dev/null; then
		echo "this machine does not let root make namespaces"
	fi
}

image_alone() { # SCRIPT ARG...
	[ "${IMAGE_ALONE:-}" != "$(readlink /proc/self/ns/mnt)" ] || return 0
	# shellcheck disable=SC2016 # expanded in the namespace
	exec unshare --mount --propagation private bash -c \
		'IMAGE_ALONE=$(readlink /proc/self/ns/mnt) exec "$@"' bash "$@"
}

# Mounts of an earlier script are not in this namespace, so buildah's records of them are invalid.
image_store() { # DIR
	mkdir -p "$1/store"
	if [ ! -e "$1/run/$IMAGE_ALONE" ]; then
		rm -rf "$1/run"
		mkdir -p "$1/run/$IMAGE_ALONE"
	fi
	# shellcheck disable=SC2034 # for the caller
	BUILDAH=(buildah --root "$1/store" --runroot "$1/run")
}

# Debian has no package with the keys of Ubuntu, and Ubuntu's own is signed by them. So it is pinned here; the key of 2018 in it is
# F6EC B376 2474 EDA9 D21B 7022 8719 20D1 991B C93C.
# shellcheck disable=SC2034 # for the caller
IMAGE_UBUNTU_KEYRING=keys/usr/share/keyrings/ubuntu-archive-keyring.gpg

image_ubuntu_keys() { # DIR
	local url=https://archive.ubuntu.com/ubuntu/pool/main/u/ubuntu-keyring/ubuntu-keyring_2021.03.26_all.deb
	if ! curl --fail --silent --show-error --location --output "$1/keys.deb" "$url" 9>&-; then
		echo "could not fetch $url; check the network" >&2
		return 1
	fi
	if ! echo "0d0e7ed6b112f5d03eabf3c7eb01ebdacf9c57714b279e90495cfc58c8c4520f  $1/keys.deb" | sha256sum --check --status; then
		echo "$url is not what is pinned in tests/image/lib.sh" >&2
		return 1
	fi
	dpkg-deb --extract "$1/keys.deb" "$1/keys"
}

# As a container runtime does it, in short; bash needs /dev/fd.
image_run() { # ROOT SETUP CMD...
	local root=$1 setup=$2
	shift 2
	# shellcheck disable=SC2016 # expanded by that shell
	exec unshare --mount --pid --ipc --uts --fork --kill-child=KILL --propagation private sh -euc '
		root=$1 setup=$2
		shift 2
		mount --bind "$root" "$root"
		mount -t proc proc "$root/proc"
		mount -t tmpfs -o mode=755 dev "$root/dev"
		for name in null zero full random urandom; do
			: >"$root/dev/$name"
			mount --bind "/dev/$name" "$root/dev/$name"
		done
		ln -s /proc/self/fd "$root/dev/fd"
		hostname container
		echo "127.0.0.1 localhost container" >"$root/etc/hosts"
		eval "$setup"
		mount -o remount,ro,bind "$root"
		exec chroot "$root" /usr/bin/setpriv --reuid 9999 --regid 9999 --clear-groups --no-new-privs \
			--bounding-set=-all --inh-caps=-all "$@"
	' sh "$root" "$setup" env -i --chdir=/opt/flink "${ENVIRONMENT[@]}" "$@"
}
