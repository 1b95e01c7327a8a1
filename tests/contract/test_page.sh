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
drey_yaml <<-YAML
	http:
	  address: 127.0.0.1
	  port: ${port:?}
YAML
start_drey

launches() {
	curl --silent --max-time 5 "http://127.0.0.1:$port/readyz" | grep -q '^Launching'
}

wait_for launches
agent=$(pgrep -P "$drey_pid" -f 'drey run')

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
if [[ $BUILD == */san ]]; then
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
