#!/usr/bin/env bash
#
# The page at / in a headless Chromium (tests/page/page.mjs): every phase, every class of causes and hostile input, in light
# and dark and on a phone, with axe-core; keyboard, clipboard, refresh, without JavaScript; then the page of a real drey,
# and what it costs. SHOTS=DIR keeps the pictures.
#
# runs in: ci

set -uo pipefail
# shellcheck source=tests/contract/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
if ! command -v chromium-headless-shell >/dev/null && ! grep -q '^ID=debian$' /etc/os-release; then
	echo "1..0 # SKIP only Debian has the package chromium-headless-shell"
	exit
fi
contract_begin chromium-headless-shell node npm curl perl
show=(log)

AXE=$(tools/get-axe.sh) || { skip 'the page in a browser' 'axe-core cannot be fetched' && contract_end; }
export AXE

take_port port
take_port rest_port
flink_is "exec perl -e 'sleep 1000'"
# two savepoints without a journal: drey holds, and proposes the newest
for name in 0a0b01-000000000001 0a0b02-000000000002; do
	mkdir -p "$dir/sp/savepoint-$name"
	cp tests/fixtures/metadata/2.3.0-hashmap-chk "$dir/sp/savepoint-$name/_metadata"
	touch -d "$((9 - ${name: -1})) min ago" "$dir/sp/savepoint-$name" "$dir/sp/savepoint-$name/_metadata"
done
drey_yaml <<-YAML
	http:
	  address: 127.0.0.1
	  port: ${port:?}
YAML
start_drey

says() { # PHASE
	curl --silent --max-time 5 "http://127.0.0.1:$port/readyz" | grep -q "^$1"
}

# ---- what it says to paste

wait_for says Holding
agent=$(pgrep -P "$drey_pid" -f 'drey run')
curl --silent "http://127.0.0.1:$port/" >"$dir/page"
grep -q '<bdi>JournalLost</bdi></h2>' "$dir/page"
result $? 'a drey that holds: the page names the cause'
command=$(sed -n 's/^<div class="cmd"><code dir="ltr">\([^<]*\)<.*/\1/p' "$dir/page" | head -n 1 | perl -pe 's/&#39;/\x27/g; s/&quot;/"/g; s/&lt;/</g; s/&gt;/>/g; s/&amp;/&/g')
echo "# $command"
[[ $command == "drey resume --from file:$dir/sp/savepoint-0a0b02-000000000002 --config $dir/drey.yaml" ]]
result $? 'and a command with the snapshot that drey proposes'
PATH=$BUILD:$PATH bash -c "$command" >"$dir/out" 2>&1 </dev/null &
pids+=($!)
wait_for says Launching
result $? 'pasted into a shell, it starts the job'

# ---- what it costs

rss_kb() {
	awk '/^VmRSS/ { print $2 }' "/proc/$agent/status"
}


for path in /livez /status /metrics; do
	curl --silent --output /dev/null "http://127.0.0.1:$port$path"
done
before=$(rss_kb)
for _ in {1..50}; do
	curl --silent --output "$dir/page" "http://127.0.0.1:$port/"
done
after=$(rss_kb)
echo "# memory: $before kB before, $after kB after 50 pages of $(wc -c <"$dir/page") bytes"
if [[ $BUILD == */san || $BUILD == */tsan ]]; then
	skip 'the page takes at most 0.3 MB of memory' 'not with sanitizers'
else
	[ $((after - before)) -le 300 ]
	result $? 'the page takes at most 0.3 MB of memory'
fi

# ---- in the browser

node tests/page/page.mjs "http://127.0.0.1:$port/" >"$dir/tap"
ended=$?
while IFS= read -r line; do
	case $line in
	'ok '* | 'not ok '*) [[ $line == ok* ]] && result 0 "${line#* - }" || result 1 "${line#* - }" ;;
	'#'*) echo "$line" ;;
	esac
done <"$dir/tap"
[ "$ended" -eq 0 ] && grep -q '^1\.\.' "$dir/tap"
result $? 'the browser came to the end'
contract_end
