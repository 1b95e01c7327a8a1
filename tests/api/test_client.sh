#!/usr/bin/env bash
#
# drey's client of the API server, tested with a real one: how it handles each response of the server, tokens that change
# and expire, lists page by page, too many requests. test_client_faults.sh tests failures in between.
#
# runs in: ci

# shellcheck disable=SC2317 # functions are called by name

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/api/client.sh
. "$TOP/tests/api/client.sh"
# shellcheck source=tests/api/faults.sh
. "$TOP/tests/api/faults.sh"

api_begin client
maps=/api/v1/namespaces/$NAMESPACE/configmaps
journal=$APPLICATION-drey-journal
ha=$APPLICATION-cluster-config-map
app=/apis/drey.dev/v1/namespaces/$NAMESPACE/flinkapplications/$APPLICATION

# ---- what an answer becomes, under the Role of the chart ---------------------------------------------

client_as "$POD_KUBECONFIG"
answers 'absent 404 NotFound' get "$journal"
answers 'ok 201' create "$journal" a 1
answers 'busy 409 AlreadyExists' create "$journal" a 2
is "$(field .maybeDone)" false "which has surely not been made"
answers 'ok 200' get "$journal"
version=$(field .version)
is "$(field .data.a)" 1 "the value is there"
answers 'ok 200' set "$journal" a 3
check "another version" test "$(field .version)" != "$version"
answers 'busy 409 Conflict' cas "$journal" "$version" a 4
answers 'ok 200' patch "$journal" '{"data":{"b":"5","a":null}}'
is "$(field '.data | tostring')" '{"b":"5"}' "a merge patch takes out and puts in"
answers 'busy 409 Conflict' patch "$journal" "{\"metadata\":{\"resourceVersion\":\"$version\"},\"data\":{\"b\":\"6\"}}"
answers 'ok 200' get "$journal"
is "$(field .data.b)" 5 "nothing of what was refused was done"
answers 'denied 403 Forbidden' get of-somebody-else
check "the message says who may not do what" grep -q "system:serviceaccount:$NAMESPACE:$APPLICATION.*cannot get" <<<"$ANSWER"
answers 'denied 403 Forbidden' delete "$journal"
answers 'denied' list
answers 'ok 201' create "$ha" a 1
uid=$(field .uid)
answers 'busy 409 Conflict' delete "$ha" 00000000-0000-0000-0000-000000000000
answers 'ok 200' delete "$ha" "$uid"
answers 'absent 404 NotFound' delete "$ha"
answers 'absent 404 NotFound' call GET "$app"
answers 'config 422 Invalid' call POST "$maps" application/json \
	'{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},"data":{"a/b":"c"}}'
answers 'config 400 BadRequest' call POST "$maps" application/json '{"apiVersion":"v1","kind":"Secret","metadata":{"name":"x"}}'
answers 'config 415 UnsupportedMediaType' call PATCH "$maps/$journal" application/nonsense '{"data":{}}'
answers 'config 422 Invalid' patch "$journal" "{\"data\":{\"c\":\"$(head -c 1048577 /dev/zero | tr '\0' x)\"}}"
answers 'config 413 RequestEntityTooLarge' call POST "$maps" application/json \
	"{\"data\":{\"c\":\"$(head -c 3200000 /dev/zero | tr '\0' x)\"}}"
is "$(api_requests | jq --raw-output .userAgent | sort -u)" "drey/$(cat "$TOP/VERSION") (linux/$(dpkg --print-architecture))" \
	"it names itself"
is "$(kubectl get configmap "$journal" --output 'jsonpath={.data}')" '{"b":"5"}' "kubectl sees the same"

# ---- other ways to be somebody -----------------------------------------------------------------------

client_as "$ADMIN" "$NAMESPACE"
answers 'ok 200' get "$journal" # a certificate in the kubeconfig
answers 'config 404' call GET /apis/nobody.dev/v1/namespaces/default/things/t
is "$(field .pathUnknown)" true "what is not installed is told apart from what is not there"
answers 'absent 404 NotFound' call POST /api/v1/namespaces/no-such-namespace/configmaps application/json \
	'{"metadata":{"name":"x"}}'
apply='{"apiVersion":"drey.dev/v1","kind":"FlinkApplication","metadata":{"name":"'$APPLICATION'"}'
answers 'ok 201' call PATCH "$app?fieldManager=test&force=true" application/apply-patch+yaml "$apply,\"spec\":{}}"
answers 'config 500' call PATCH "$app?fieldManager=drey&force=true" application/apply-patch+yaml \
	"$apply,\"spec\":{\"noSuchField\":1}}"
diag "server-side apply of a field without a schema: $(field '"\(.status) \(.error)"' | cut -c1-200)"
answers 'config' call PATCH "$app?fieldManager=drey" application/strategic-merge-patch+json '{"spec":{}}'

"$KUBE_HOME/bin/kubectl" --kubeconfig "$ADMIN" config view --raw --output yaml >"$RUN/admin.yaml"
client_as "$RUN/admin.yaml" "$NAMESPACE"
answers 'ok 200' get "$journal"
client_as "pod:$POD_SECRETS"
answers 'ok 200' get "$journal"

with_cluster() { # JQ: a kubeconfig of the Pod with another cluster
	jq "$1" "$POD_KUBECONFIG" >"$RUN/other.conf"
	client_as "$RUN/other.conf"
}
with_cluster '.clusters[0].cluster |= (."tls-server-name" = "kubernetes.default.svc")'
answers 'ok 200' get "$journal"
with_cluster '.clusters[0].cluster |= (."tls-server-name" = "elsewhere.example")'
answers 'denied 0' get "$journal"
with_cluster '.clusters[0].cluster |= (.server |= sub("127.0.0.1"; "localhost"))'
answers 'ok 200' get "$journal"
with_cluster '.users[0].user |= {token: "nobody.signed.this"}'
answers 'denied 401 Unauthorized' get "$journal"
check "exec plugins are refused" not "$driver" <(jq '.users[0].user |= {exec: {command: "login"}}' "$POD_KUBECONFIG") </dev/null
client_end

# ---- tokens ------------------------------------------------------------------------------------------

client_as "$POD_KUBECONFIG"
answers 'ok 200' get "$journal"
api_give_token "$(api_token 8)"
answers 'ok 200' get "$journal"
await "a token that has ended is refused" asking_gives denied get "$journal"
is "$(field '"\(.status) \(.reason)"')" "401 Unauthorized" "with 401"
api_give_token "$(api_token 600)"
answers 'ok 200' get "$journal" # the file is another one: noticed before the request

# The file looks as it did, with another token in it: only the 401 tells.
api_give_token "$(api_token 8)"
answers 'ok 200' get "$journal"
cp --preserve=timestamps "$POD_SECRETS/token" "$RUN/old-token"
await "it has ended" sh -c '[ "$(curl --silent --output /dev/null --write-out "%{http_code}" --cacert "$1" \
	--header "Authorization: Bearer $(cat "$2")" "$3")" = 401 ]' - "$POD_SECRETS/ca.crt" "$RUN/old-token" "$API_URL$maps/$journal"
api_token 500 | tr -d '\n' >"$RUN/new-token"
is "$(stat --format %s "$RUN/new-token")" "$(stat --format %s "$RUN/old-token")" "the new token has the same length"
cat "$RUN/new-token" >"$POD_SECRETS/token"
touch --reference "$RUN/old-token" "$POD_SECRETS/token"
answers 'ok 200' set "$journal" c 1
newest_codes_are() { # CODES: the log has a request a moment after its answer
	api_requests '.userAgent != null' |
		jq --slurp --exit-status --argjson codes "$1" '[.[] | select(.userAgent | startswith("drey/"))][-3:] | map(.code) == $codes' >/dev/null
}
await "one request was refused, and sent again with the new token" newest_codes_are '[401,200,200]'
: >"$POD_SECRETS/token"
answers 'ok 200' get "$journal" # an empty file leaves the old one
rm "$POD_SECRETS/token"
answers 'ok 200' get "$journal"
api_give_token "$(api_token 3600)"
answers 'ok 200' get "$journal"

# ---- many --------------------------------------------------------------------------------------------

make_maps() { # COUNT NAME BYTES
	head -c "$3" /dev/zero | tr '\0' x >"$RUN/text"
	jq --null-input --compact-output --argjson count "$1" --arg name "$2" --rawfile text "$RUN/text" '
		range($count) | {apiVersion: "v1", kind: "ConfigMap", metadata: {name: "\($name)-\(.)", labels: {app: $name}},
		data: {text: $text}}' | kubectl create --filename - >/dev/null
}
api_role --set drey.kubernetes.launches=0 >/dev/null
await "maps may be listed now" asking_gives ok list app=nobody
check "230 maps are made" make_maps 230 many 10
check "and 9 of nearly 1 MiB" make_maps 9 large 1040000
answers 'ok' list app=many
is "$(field '.names | unique | length')" 230 "all of them are in the list"
diag "230 maps listed in $(field .tookMs) ms"
check "in three pages" test "$(api_requests '.path | test("limit=100&labelSelector=app%3Dmany")' | wc -l)" = 3
answers 'ok' list app=large
is "$(field '.names | length')" 9 "a page that is too large is asked for in parts"
diag "9 maps of 1 MB listed in $(field .tookMs) ms"
answers 'ok' list app=nobody
is "$(field '.names | length')" 0 "an empty list is empty"
client_as "$POD_KUBECONFIG"
answers 'ok' gets 200 many-
is "$(field .found)" 200 "200 maps are read by name"
diag "one after another in $(field .tookMs) ms"
client_as "$POD_KUBECONFIG"
answers 'ok' many 200 many-
is "$(field .found)" 200 "200 maps are read several at a time"
diag "in $(field .tookMs) ms"
client_as "$POD_KUBECONFIG"
answers 'ok' many 200 absent-
is "$(field .found)" 0 "200 that are not there"
diag "in $(field .tookMs) ms"

# ---- 429 ---------------------------------------------------------------------------------------------

# For this ServiceAccount there is room for one request at a time, and others use it.
crowd() { # COUNT
	local n
	for ((n = 0; n < $1; n++)); do
		spawn "crowd$n" sh -c 'while :; do curl --silent --output /dev/null --cacert "$1" \
			--header "Authorization: Bearer $(cat "$2")" "$3"; done' - "$POD_SECRETS/ca.crt" "$POD_SECRETS/token" \
			"$API_URL$maps?labelSelector=app=large"
	done
}
turned_away() {
	api_requests '.code == 429 and (.userAgent | startswith("drey/"))' | wc -l
}
client_as "$POD_KUBECONFIG"
check "the ServiceAccount gets a narrow place" api_no_seats
crowd 4
words=()
while [ "$(turned_away)" -lt 10 ] && [ "${#words[@]}" -lt 300 ]; do
	words+=("w${#words[@]}")
	ask append "$journal" words "${words[-1]}"
done
check "requests were turned away with 429 ($(turned_away) of them, in ${#words[@]} changes)" test "$(turned_away)" -ge 10
is "$(kubectl get configmap "$journal" --output 'jsonpath={.data.words}')" "$(IFS=, && echo "${words[*]}")" \
	"and every change was made once"
kubectl delete flowschema,prioritylevelconfiguration "$NAMESPACE" >/dev/null
client_end
e2e_end
