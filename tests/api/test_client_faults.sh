#!/usr/bin/env bash
#
# drey's client of the API server while the server dies, hangs and comes back, and through a proxy that loses, cuts,
# delays and damages responses (fault_proxy.py). Every write must happen exactly once, the client must believe nothing
# that the server has not said, and nothing may exceed its time limit.

# shellcheck disable=SC2317 # functions are called by name

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/client.sh
. "$TOP/tests/api/client.sh"

api_begin client-faults own
proxy_begin
maps=/api/v1/namespaces/$NAMESPACE/configmaps
journal=$APPLICATION-drey-journal
watched=$APPLICATION-cluster-config-map # the Role lets it be watched
kubectl create configmap "$journal" --from-literal=a=0 >/dev/null
kubectl create configmap "$watched" --from-literal=a=0 >/dev/null

words_of() { # KEY
	kubectl get configmap "$journal" --output "jsonpath={.data.$1}" | tr ',' '\n'
}

expect_words() { # WHAT KEY WORD...: in any order, each once
	local what=$1 key=$2
	shift 2
	is "$(words_of "$key" | sort | tr '\n' ' ')" "$(printf '%s\n' "$@" | sort | tr '\n' ' ')" "$what"
}

# ---- each fault alone --------------------------------------------------------------------------------

client_as "$PROXY_KUBECONFIG"
proxy_faults
answers 'ok 200' get "$journal"
fault_gives() { # WANT FAULT METHOD [ARG]: the first request of that method has it, and those after it have not
	proxy_faults "$2 $3 configmaps/$journal 1 ${4:-}"
	if [ "$3" = GET ]; then
		answers "$1" get "$journal"
	else
		answers "$1" patch "$journal" "{\"metadata\":{\"resourceVersion\":\"$(current)\"},\"data\":{\"n\":\"$RANDOM\"}}"
	fi
}
current() {
	kubectl get configmap "$journal" --output 'jsonpath={.metadata.resourceVersion}'
}
# A GET is asked again when the answer did not come, and not when it came and is nonsense.
for fault in refuse lose 'cut 100' 'status 503' 'status 500' 'status 429 1'; do
	fault_gives 'ok 200' "${fault%% *}" GET "${fault#* }"
done
fault_gives 'ok 200' delay GET 2
check "a slow answer is waited for" test "$(field .tookMs)" -ge 2000
for fault in 'truncate 100' wrong html mangle; do
	fault_gives 'format 200' "${fault%% *}" GET "${fault#* }"
	is "$(field .maybeDone)" false "nothing was done"
done
# A change with a version goes over the connection that is kept. When that turns out to be dead before a byte of an answer came,
# libcurl sends it once more, and the server compares the version: a conflict is with the first of the two, if that was made.
# Whatever else happens, it is not sent again.
version=$(current)
fault_gives 'busy 409' lose PATCH
check "the first was made" test "$(current)" != "$version"
version=$(current)
fault_gives 'ok 200' refuse PATCH
check "it was made" test "$(current)" != "$version"
for fault in 'cut 100' 'status 500' 'status 503'; do
	version=$(current)
	fault_gives 'retry' "${fault%% *}" PATCH "${fault#* }"
	is "$(field .maybeDone)" true "the outcome is not known"
	case $fault in
	cut*) check "it was made" test "$(current)" != "$version" ;;
	*) is "$(current)" "$version" "it was not made" ;;
	esac
done
fault_gives 'ok 200' status PATCH '429 1'
for fault in 'truncate 100' wrong html; do
	fault_gives 'format 200' "${fault%% *}" PATCH "${fault#* }"
	is "$(field .maybeDone)" true "the outcome is not known"
done

# Half-open: the connection stands, and nothing comes.
ask timeout 3000
for fault in hang hang-after 'stall 50'; do
	proxy_faults "${fault%% *} GET configmaps/$journal 0 ${fault#* }"
	answers 'retry' call GET "$maps/$journal"
	check "it takes as long as it may" test "$(field .tookMs)" -le 4000
done
proxy_faults "hang GET configmaps/$journal 1"
answers 'ok 200' get "$journal" # the second attempt has a connection that works
check "after $(field .tookMs) ms" test "$(field .tookMs)" -le 15000

# ---- all of them at once -----------------------------------------------------------------------------

# Three writers of one map, and each request may have any fault.
spawn_writer() { # N WORD...
	local n=$1
	shift
	printf 'append %s storm %s\n' "$journal" "$*" >"$RUN/commands$n"
	# shellcheck disable=SC2016
	spawn "writer$n" env "${POD_ENV[@]}" bash -c '"$1" "$2" <"$3"' - "$driver" "$WRITER_KUBECONFIG" "$RUN/commands$n"
}
writers_done() {
	[ -e "$RUN/writer1.status" ] && [ -e "$RUN/writer2.status" ] && [ -e "$RUN/writer3.status" ]
}
storm() { # KUBECONFIG: sets all
	local n
	WRITER_KUBECONFIG=$1
	kubectl patch configmap "$journal" --type merge --patch '{"data":{"storm":null}}' >/dev/null
	all=()
	for n in 1 2 3; do
		rm -f "$RUN/log/writer$n.log"
		mapfile -t mine < <(seq -f "w$n-%g" 40)
		all+=("${mine[@]}")
		spawn_writer "$n" "${mine[@]}"
	done
}
sum_of() { # FIELD
	cat "$RUN"/log/writer?.log | jq --slurp "map(.$1) | add"
}
proxy_faults "lose PATCH [02468]\$ 8" "lose PATCH journal 6" "cut PATCH journal 6 60" "truncate PATCH journal 5 80" \
	"status PATCH journal 5 503 1" "html PATCH journal 4" "refuse PATCH journal 5" "mangle PATCH journal 3" \
	"cut GET journal 6 60" "mangle GET journal 5" "wrong GET journal 3" "delay GET journal 5 1" "refuse GET journal 5"
storm "$PROXY_KUBECONFIG"
await "three writers through a proxy with every fault" writers_done
expect_words "each of 120 changes was made exactly once" storm "${all[@]}"
diag "conflicts: $(sum_of conflicts), outcomes that were not known: $(sum_of unknown)"
check "outcomes were unknown, and settled" test "$(sum_of unknown)" -ge 20
proxy_faults

# ---- the server dies in the middle ---------------------------------------------------------------------

has_words() { # COUNT
	[ "$(words_of storm | wc -l)" -ge "$1" ]
}
storm "$POD_KUBECONFIG"
await "they write" has_words 10
api_kill apiserver
api_start apiserver
await "they write on" has_words 40
api_stop apiserver
api_start apiserver
await "and on" has_words 70
api_kill etcd
api_start etcd
await "they come to an end" writers_done
expect_words "each of 120 changes was made exactly once" storm "${all[@]}"
diag "conflicts: $(sum_of conflicts), outcomes that were not known: $(sum_of unknown)"

client_as "$POD_KUBECONFIG"
answers 'ok 200' get "$journal"
api_kill apiserver
answers 'retry 0' get "$journal"
diag "no server: $(field .error)"
is "$(field .maybeDone)" false "nothing was done"
api_start apiserver
answers 'ok 200' get "$journal"
api_kill etcd
ask timeout 5000
answers 'retry' call GET "$maps/$journal"
diag "no etcd: $(field .error | cut -c1-200)"
api_start etcd
await "it is back" asking_gives ok get "$journal"

# ---- a watch through all of it -------------------------------------------------------------------------

watch_as() { # KUBECONFIG STALL_MS: its input is a pipe that stays open until watch_end
	rm -f "$RUN/watch.in" "$RUN/log/watch.log"
	mkfifo "$RUN/watch.in"
	# shellcheck disable=SC2016
	spawn watch env "${POD_ENV[@]}" bash -c '"$1" watch "$2" "$3" "$4" "$5" <"$6"' - "$driver" "$1" "$maps" "$watched" "$2" \
		"$RUN/watch.in"
	exec {watch_in}>"$RUN/watch.in"
	await "the first look" woken 1
}
woken() { # COUNT: at least
	[ "$(grep -c changed "$RUN/log/watch.log")" -ge "$1" ]
}
change_wakes() { # WHAT
	local before
	before=$(grep -c changed "$RUN/log/watch.log")
	kubectl patch configmap "$watched" --type merge --patch "{\"data\":{\"a\":\"$RANDOM$RANDOM\"}}" >/dev/null
	await "$1" woken $((before + 1))
}
watch_end() { # sets ANSWER
	echo >&"$watch_in"
	exec {watch_in}>&-
	await "the watch has ended" test -e "$RUN/watch.status"
	ANSWER=$(tail -n 1 "$RUN/log/watch.log")
	check "within a second ($(field .endMs) ms)" test "$(field .endMs)" -lt 1000
	diag "$ANSWER"
}
watch_as "$PROXY_KUBECONFIG" 5000
change_wakes "a change wakes"
kubectl delete configmap "$watched" >/dev/null
await "a deletion wakes" woken 3
kubectl create configmap "$watched" --from-literal=a=0 >/dev/null
await "so does a creation" woken 4
api_kill apiserver
api_start apiserver
change_wakes "a change wakes when the server has come back"
proxy_faults "stall GET watch=1 1 0"
api_kill apiserver # the watch has to begin anew, and then nothing comes
api_start apiserver
await "the silent watch has begun" grep -q 'watch=1.* stall' "$RUN/log/proxy.log"
change_wakes "a connection that fell silent is given up"
proxy_faults "cut GET watch=1 3 40" "mangle GET fieldSelector 1"
api_kill apiserver
api_start apiserver
change_wakes "what was cut is begun anew"
is "$(grep -c 'watch=1.* cut' "$RUN/log/proxy.log")" 3 "three watches were cut in the middle of the event"
# too old a version: the server has forgotten what was before it was started
proxy_faults "status GET fieldSelector 0 503"
api_kill apiserver
api_start apiserver
for n in 1 2 3; do
	kubectl patch configmap "$watched" --type merge --patch "{\"data\":{\"a\":\"old$n\"}}" >/dev/null
done
api_kill apiserver
api_start apiserver
before=$(grep -c changed "$RUN/log/watch.log")
proxy_faults
await "what changed meanwhile is noticed" woken $((before + 1))
change_wakes "and what changes then"
proxy_faults "hang GET . 0"
api_kill apiserver
api_start apiserver
await "it waits for an answer that does not come" grep -q ' hang ' "$RUN/log/proxy.log"
watch_end
proxy_faults
watch_as "$POD_KUBECONFIG" 150000
api_hang apiserver
watch_end
api_resume apiserver

# ---- another CA ----------------------------------------------------------------------------------------

openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 1 -subj /CN=next-ca -keyout "$RUN/next-ca.key" \
	-out "$RUN/next-ca.crt" 2>/dev/null
client_as "$PROXY_KUBECONFIG"
answers 'ok 200' get "$journal"
cp "$POD_SECRETS/ca.crt" "$RUN/ca.crt"
cp "$RUN/next-ca.crt" "$POD_SECRETS/ca.crt"
proxy_faults "refuse GET . 1" # the connection that was kept is gone
answers 'denied 0' get "$journal"
check "the message says that the certificate is not trusted" grep -q 'certificate' <<<"$ANSWER"
cat "$RUN/next-ca.crt" "$RUN/ca.crt" >"$POD_SECRETS/ca.crt"
answers 'ok 200' get "$journal"
client_end
e2e_end
