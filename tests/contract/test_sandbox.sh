#!/usr/bin/env bash
#
# What the agent gives up, with the real program: no core file has its keys, no process of the same user reads its
# memory or its environment, and it gains no privileges. Flink, its hooks and drey-init have what they had.

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
contract_begin setpriv setsid
show=(log)
KEY=kEy-$RANDOM-of-the-agent
NOBODY=65534

# As root drey runs as another user, because root may read everything. A directory of its own: core files are written
# into the directory where the process was started.
as_user=()
if [ "$(id -u)" = 0 ]; then
	as_user=(setpriv --reuid "$NOBODY" --regid "$NOBODY" --clear-groups)
fi
mkdir -p "$dir/cwd" "$dir/hooks" "$dir/state" "$dir/ck" "$dir/sp"

# A line of /proc/PID/status.
line_of() { # PID NAME
	awk -v name="$2:" '$1 == name { print $2 }' "/proc/$1/status"
}

# Flink and the hook write what they have, and Flink stays.
cat >"$dir/hooks/pre-launch" <<SH
#!/bin/sh
grep -E '^(NoNewPrivs|Cap|Seccomp:)' /proc/self/status >"$dir/state/hook.new" && mv "$dir/state/hook.new" "$dir/state/hook"
SH
flink_is "grep -E '^(NoNewPrivs|Cap|Seccomp:)' /proc/self/status >$dir/state/flink; ulimit -c >$dir/state/limit; exec sleep 1000"
chmod 755 "$dir/hooks/pre-launch" "$dir/flink"
echo "$KEY" >"$dir/key"
drey_yaml <<-YAML
	hooks:
	  directory: $dir/hooks
	storage:
	  s3:
	    endpoint: http://127.0.0.1:1
	    accessKeyFile: $dir/key
	    secretKeyFile: $dir/key
YAML
chmod -R a+rwX "$dir"
[ "${#as_user[@]}" -eq 0 ] || "${as_user[@]}" test -x "$DREY" || {
	# the tree is not readable for others here
	cp "$DREY" "$BUILD/drey-init" "$dir/" && DREY=$dir/drey && BUILD=$dir
}
export AWS_SECRET_ACCESS_KEY=env-$KEY
(
	cd "$dir/cwd" && ulimit -c unlimited
	exec "${as_user[@]}" "$BUILD/drey-init" --agent -- "$DREY" run --config "$dir/drey.yaml" >"$dir/log" 2>&1 </dev/null
) &
drey_pid=$!
pids+=("$drey_pid")
wait_for test -s "$dir/state/limit"
result $? 'a job is launched'
agent=$(pgrep -P "$drey_pid" -x drey)
flink=$(pgrep -P "$drey_pid" -x sleep)

# ---- what it has given up

ok 'the agent gains no privileges' test "$(line_of "$agent" NoNewPrivs)" = 1
ok 'drey-init may, as the container says' test "$(line_of "$drey_pid" NoNewPrivs)" = "$(line_of $$ NoNewPrivs)"
ok 'Flink may, as the container says' test "$(line_of "$flink" NoNewPrivs)" = "$(line_of $$ NoNewPrivs)"
sets() { grep -E '^(Cap|Seccomp:)' "$1"; }
ok 'a hook has the capabilities and the system calls of Flink' test "$(sets "$dir/state/hook")" = "$(sets "$dir/state/flink")"
ok 'the agent has those of drey-init' test "$(sets "/proc/$agent/status")" = "$(sets "/proc/$drey_pid/status")"
ok 'Flink may write a core file' test "$(cat "$dir/state/limit")" = unlimited

# ---- who reads it

reads() { # PID FILE: a process of the same user
	"${as_user[@]}" head -c 1 "/proc/$1/$2" >/dev/null 2>&1
}
if [ "${#as_user[@]}" -eq 0 ] && [ "$(id -u)" = 0 ]; then
	skip 'no process of its user reads its environment' 'root reads everything'
else
	ok 'control: a process of its user reads the environment of drey-init' reads "$drey_pid" environ
	ok 'no process of its user reads its environment' eval '! reads "$agent" environ'
	ok 'nor its memory' eval '! reads "$agent" maps'
	ok 'nor what it has open' eval '! "${as_user[@]}" ls /proc/$agent/fd >/dev/null 2>&1'
fi

# ---- who may tell it what to do

# Even if the mode of the socket lets it: another user than the agent's and root.
other=(setpriv --reuid 65533 --regid 65533 --clear-groups)
asks() { # WHO...
	"$@" "$DREY" status --json --config "$dir/drey.yaml" >"$dir/out" 2>"$dir/err"
	grep -q '"application"' "$dir/out"
}
refuses() { ! asks "$@"; }
if [ "${#as_user[@]}" -eq 0 ]; then
	skip 'another user of the Pod is refused' 'only root can be another user'
else
	find "$dir/state" -type s -exec chmod 666 {} +
	ok 'control: its user is answered' asks "${as_user[@]}"
	ok 'another user of the Pod is refused' refuses "${other[@]}"
	echo "# $(cat "$dir/err")"
fi

# ---- core files

# With `core` in /proc/sys/kernel/core_pattern they are beside us; otherwise another program takes them.
cores() { find "$dir/cwd" -name 'core*' -size +0; }
has_key() { grep -qF -- "$KEY" "$1"; }
{ (
	cd "$dir/cwd" && ulimit -c unlimited
	# the shell has the key in its memory; its program is readable for its user
	exec "${as_user[@]}" bash -c "key=$KEY; kill -ABRT \$\$"
) } >/dev/null 2>&1
if [ -n "$(cores)" ] && has_key "$(cores | head -n 1)"; then
	result 0 'control: a core file of a shell has its key'
	rm -f "$dir/cwd"/core*
	kill -ABRT "$agent"
	another() { [ "$(pgrep -P "$drey_pid" -x drey)" != "$agent" ] && pgrep -P "$drey_pid" -x drey; }
	ok 'drey-init sees its end, and starts another' wait_for another
	for file in $(cores); do ! has_key "$file" || echo "# ${file##*/} has the key"; done
	ok 'the agent writes no core file' test -z "$(cores)"
	ok 'Flink runs on' test -d "/proc/$flink"
	agent=$(pgrep -P "$drey_pid" -x drey)
	given_up() { [ "$(line_of "$(pgrep -P "$drey_pid" -x drey)" NoNewPrivs)" = 1 ]; }
	ok 'it gains none, either' wait_for given_up
	rm -f "$dir/cwd"/core*
	kill -ABRT "$flink"
	has_core() { [ -n "$(cores)" ]; }
	ok 'control: Flink does write one' wait_for has_core
else
	skip 'the agent writes no core file' "core files are not written here: $(cat /proc/sys/kernel/core_pattern)"
fi
end_drey
ok 'drey-init ends it' test ! -d "/proc/$agent"
contract_end
