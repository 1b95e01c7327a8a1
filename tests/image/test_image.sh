#!/usr/bin/env bash
#
# The image of an engineer, made by the Dockerfile and by the four lines of docs/tasks/image.md, runs a real job as a restricted
# pod would: drey-init is PID 1, user 9999, a read-only root directory, no capability.
#
# IMAGES=DIR keeps the images there, and uses those that are there. As root, else skipped.

# shellcheck disable=SC2317 # functions that `ok` and `wait_for` call
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../contract/lib.sh"
# shellcheck source=tests/image/lib.sh
. tests/image/lib.sh

why=$(image_missing)
if [ -n "$why" ]; then
	[ -n "${DREY_TEST_REQUIRE:-}" ] || { echo "1..0 # SKIP $why" && exit 0; }
	echo "not ok 1 - $why, and DREY_TEST_REQUIRE is set"
	echo "1..1"
	exit 1
fi
image_alone tests/image/test_image.sh
contract_begin curl
WAIT_S=300 # JVMs without anything that makes a small one start fast
version=${FLINK_VERSION:-2.3.0}
images=${IMAGES:-$dir/images}
show=(jm tm)

at_exit() {
	[ "${#pids[@]}" -eq 0 ] || { kill -KILL "${pids[@]}" && wait "${pids[@]}"; } 2>/dev/null
	pids=()
	image_store "$images"
	"${BUILDAH[@]}" rm --all >/dev/null 2>&1
	[ -n "${IMAGES:-}" ] || "${BUILDAH[@]}" rmi --all --force >/dev/null 2>&1
	:
}

if ! tests/image/build.sh "$images" "$version"; then
	result 1 "the images can be built"
	contract_end
fi
result 0 "the images can be built"
image_store "$images"

# ---- what the image says of itself
container=$("${BUILDAH[@]}" from localhost/orders:1)
root=$("${BUILDAH[@]}" mount "$container")
config=$("${BUILDAH[@]}" inspect --type image localhost/orders:1 | jq .OCIv1.config)
mapfile -t entry_point < <(jq -r '.Entrypoint[]' <<<"$config")
mapfile -t ENVIRONMENT < <(jq -r '.Env[]' <<<"$config")
ok "its user is a number, which Kubernetes can prove not to be root" test "$(jq -r .User <<<"$config")" = 9999:9999
ok "there is no compiler in it" test ! -e "$root/usr/bin/gcc"
ok "nor lists of packages" test -z "$(find "$root/var/lib/apt/lists" -type f ! -name lock)"
ok "what reads storage with Flink's file systems is installed" test -f "$root/usr/lib/drey/files.jar"
ok "the class whose main() waits is in the lib directory of Flink" \
	test "$(readlink "$root/opt/flink/lib/drey-held.jar")" = /usr/lib/drey/held.jar
ok "what reads Flink's file systems for drey is beside drey" test -s "$root/usr/lib/drey/files.jar"
ok "so is the gate that a job may take into its own jar" test -s "$root/usr/lib/drey/gate.jar"

# ---- as a pod
mkdir -p "$dir"/{conf,drey,data/{ck,sp}} "$root"/{data,var/lib/drey}
chown -R 9999 "$dir/data"
cp "$root"/opt/flink/conf/* "$dir/conf/"
cat >"$dir/conf/config.yaml" <<-YAML
	jobmanager.rpc.address: 127.0.0.1
	jobmanager.bind-host: 127.0.0.1
	jobmanager.memory.process.size: 1000m
	rest.address: 127.0.0.1
	rest.bind-address: 127.0.0.1
	taskmanager.host: 127.0.0.1
	taskmanager.bind-host: 127.0.0.1
	taskmanager.memory.process.size: 1400m
	heartbeat.interval: 1000
	heartbeat.timeout: 5000
	execution.checkpointing.interval: 1 s
	env.java.opts.jobmanager: -Dmine=kept
YAML
sed -n '/^ *env:/,$p; /^env\./p' "$root/opt/flink/conf/config.yaml" | sed -n '/all:/{s/.*all:/env.java.opts.all:/p;q}' >>"$dir/conf/config.yaml"
cat >"$dir/drey/drey.yaml" <<-YAML
	application: orders
	stateDirectory: /var/lib/drey
	flink:
	  command: [/docker-entrypoint.sh, standalone-job]
	  jobClass: drey.ContinuityJob
	  arguments: [--log, /data/events.log]
	  checkpointDirectory: file:///data/ck
	  savepointDirectory: file:///data/sp
YAML
# a ConfigMap twice, and emptyDirs
volumes="
	mount --bind -o ro '$dir/conf' \$root/opt/flink/conf
	mount -o remount,ro,bind \$root/opt/flink/conf
	mount --bind '$dir/drey' \$root/etc/drey
	mount --bind '$dir/data' \$root/data
	for volume in tmp opt/flink/log var/lib/drey; do mount -t tmpfs -o mode=1777 volume \$root/\$volume; done"

start() { # NAME [NSENTER...] -- CMD...: its PID 1 is ${first[NAME]}
	local name=$1 enter=()
	shift
	while [ "$1" != -- ]; do
		enter+=("$1")
		shift
	done
	shift
	"${enter[@]}" bash -c '. tests/image/lib.sh; readarray -t ENVIRONMENT <<<"$1"; shift; image_run "$@"' sh \
		"$(printf '%s\n' "${ENVIRONMENT[@]}")" "$root" "$volumes" "$@" >"$dir/$name" 2>&1 </dev/null &
	pids+=($!)
	shells[$name]=$!
}

# The commands that prepare the container become drey-init one after the other: only then is it what it is looked at for.
first_process() { # NAME
	local unshare=${shells[$1]}
	first[$1]=$(tr -d ' ' <"/proc/$unshare/task/$unshare/children") && [ -n "${first[$1]}" ] &&
		[[ $(readlink "/proc/${first[$1]}/exe") == */drey-init ]]
}

# The value of a line of /proc/PID/status.
of() { # NAME LINE
	awk -v line="$2:" '$1 == line { print $2 }' "/proc/${first[$1]}/status"
}

ready() {
	nsenter --target "${first[jm]}" --net curl --silent --fail --max-time 5 http://127.0.0.1:8085/readyz
}

jvm() {
	pgrep --ns "${first[jm]}" --nslist pid -f StandaloneApplicationClusterEntryPoint
}

jvm_has() { # FILE WORD
	tr '\0' '\n' <"/proc/$(jvm)/$1" | grep -qF -- "$2"
}

ended() {
	! kill -0 "${shells[$1]}" 2>/dev/null
}

declare -A shells first
start jm unshare --net sh -c 'ip link set lo up && exec "$@"' sh -- "${entry_point[@]}"
ok "drey-init is started" wait_for first_process jm
start tm nsenter --target "${first[jm]}" --net -- /usr/bin/drey-init -- /docker-entrypoint.sh taskmanager
ok "also for the TaskManager" wait_for first_process tm
ok "it is PID 1" test "$(awk '$1 == "NSpid:" { print $NF }' "/proc/${first[jm]}/status")" = 1
ok "its user is 9999" test "$(of jm Uid) $(of jm Gid)" = "9999 9999"
ok "it has no capability, and can get none" test "$(of jm CapEff)$(of jm CapBnd)$(of jm NoNewPrivs)" = \
	000000000000000000000000000000001
ok "the root directory is read-only" grep -qE ' / / ro[ ,]|^[0-9]+ [0-9]+ [^ ]+ [^ ]+ / ro[ ,]' "/proc/${first[jm]}/mountinfo"
ok "/readyz answers: the job runs" wait_for ready
ok "the job has written" test -s "$dir/data/events.log"
ok "the JobManager has its classes from the archive of the image" jvm_has maps /usr/lib/drey/flink.jsa
ok "beside the user's options" jvm_has cmdline -Dmine=kept
kill -TERM "${first[jm]}" "${first[tm]}"
ok "both end by SIGTERM" wait_for ended jm
ok "both end by SIGTERM" wait_for ended tm
contract_end
