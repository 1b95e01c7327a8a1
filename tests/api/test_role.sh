#!/usr/bin/env bash
#
# The Role of the chart: what Flink and drey need, by name, and nothing else. Checked with a real API server.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"

api_begin role
core=/api/v1/namespaces/$NAMESPACE
ours=/apis/drey.dev/v1/namespaces/$NAMESPACE/flinkapplications

ha_map() { # N
	echo "$APPLICATION-$(job_id_of "$1")-config-map"
}

# As the ServiceAccount; WANT is yes or no. The server decides about a request before it looks whether the object is
# there, so 404 and 409 are as good as 200. A patch that is no patch is allowed, and then found wrong.
may() { # WANT METHOD PATH [BODY]
	local got=yes
	curl_pod "$2" "$3" --header 'Content-Type: application/merge-patch+json' ${4:+--data "$4"}
	case $HTTP_STATUS in
	403) got=no ;;
	401 | 000 | 5*) got="$HTTP_STATUS: $(cat "$RUN/answer")" ;;
	esac
	is "$got" "$1" "$1: $2 ${3#"$core"}"
}

# ---- the names -------------------------------------------------------------------------------------

SECONDS=0
api_template role.yaml >"$RUN/template"
check "200 names are rendered within a second or so" test "$SECONDS" -le 1
mapfile -t names < <(grep -o "$APPLICATION-[0-9a-f]\{32\}-config-map" "$RUN/template")
is "${#names[@]}" 200 "all of them"
is "${names[0]} ${names[199]}" "$(ha_map 0) $(ha_map 199)" "by the rule of the journal's job ids"
api_template role.yaml --set drey.kubernetes.salt=again,drey.kubernetes.launches=3,clusterId=flink >"$RUN/template"
is "$(grep -o "flink-[0-9a-f]\{32\}-config-map" "$RUN/template" | tr '\n' ' ')" \
	"$(for n in 0 1 2; do printf 'flink-%s-config-map ' "$(job_id_of $n again)"; done)" "salt, number and cluster id"

# ---- what is allowed, and what is not --------------------------------------------------------------

for name in "$APPLICATION-cluster-config-map" "$(ha_map 0)" "$(ha_map 199)"; do
	may yes GET "$core/configmaps/$name"
	may yes GET "$core/configmaps?fieldSelector=metadata.name=$name"
	may yes GET "$core/configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=$name"
	may yes PUT "$core/configmaps/$name" '{}'
	may yes PATCH "$core/configmaps/$name" '{}'
	may yes DELETE "$core/configmaps/$name"
done
may yes POST "$core/configmaps" '{}'
may no GET "$core/configmaps"
api_role --set highAvailability.enabled=false,drey.kubernetes.createMaps=false
await "where the chart makes drey's maps, and Flink needs none, it may create none" eval '! api_may create configmaps'
may no GET "$core/configmaps?labelSelector=app=$APPLICATION"
may no DELETE "$core/configmaps"
may no GET "$core/configmaps/$(ha_map 200)"
may no GET "$core/configmaps/of-somebody-else"
may no DELETE "$core/configmaps/of-somebody-else"
may yes GET "$core/configmaps/$APPLICATION-drey-journal"
may no PUT "$core/configmaps/$APPLICATION-drey-journal" '{}'
may no GET "$core/configmaps?fieldSelector=metadata.name=$APPLICATION-drey-journal"
may yes PATCH "$core/configmaps/$APPLICATION-drey-journal" '{}'
may no DELETE "$core/configmaps/$APPLICATION-drey-journal"
may yes GET "$core/configmaps/$APPLICATION-drey-control"
may yes GET "$core/configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=$APPLICATION-drey-control"
may yes PATCH "$core/configmaps/$APPLICATION-drey-control" '{}'
may no PUT "$core/configmaps/$APPLICATION-drey-control" '{}'
may yes GET "$ours/$APPLICATION"
may yes GET "$ours?fieldSelector=metadata.name=$APPLICATION"
may yes PATCH "$ours/$APPLICATION/status?fieldManager=drey" '{}'
may yes PATCH "$ours/$APPLICATION" '{}'
may no PUT "$ours/$APPLICATION" '{}'
may no GET "$ours/of-somebody-else"
may no GET "$ours"
may yes POST "/apis/events.k8s.io/v1/namespaces/$NAMESPACE/events" '{}'
may no GET "/apis/events.k8s.io/v1/namespaces/$NAMESPACE/events"
may yes GET "/apis/apps/v1/namespaces/$NAMESPACE/deployments/$APPLICATION-jobmanager"
may no PATCH "/apis/apps/v1/namespaces/$NAMESPACE/deployments/$APPLICATION-jobmanager" '{}'
may no GET "/apis/apps/v1/namespaces/$NAMESPACE/deployments/of-somebody-else"
may yes PATCH "/apis/apps/v1/namespaces/$NAMESPACE/deployments/$APPLICATION-jobmanager/status?fieldManager=drey" '{}'
may no PUT "/apis/apps/v1/namespaces/$NAMESPACE/deployments/$APPLICATION-jobmanager/status" '{}'
may no PATCH "/apis/apps/v1/namespaces/$NAMESPACE/deployments/$APPLICATION-jobmanager/scale" '{}'
may no PATCH "/apis/apps/v1/namespaces/$NAMESPACE/deployments/of-somebody-else/status" '{}'
may no GET "$core/secrets/any"
may no GET "$core/pods"
may no GET "/api/v1/namespaces/default/configmaps/$APPLICATION-cluster-config-map"

# ---- other values ----------------------------------------------------------------------------------

api_role --set highAvailability.enabled=false
await "without high availability: the maps are only read" api_may_not delete "configmaps/$(ha_map 0)"
for name in "$APPLICATION-cluster-config-map" "$(ha_map 199)"; do
	may yes GET "$core/configmaps/$name"
	may no GET "$core/configmaps?watch=1&timeoutSeconds=1&fieldSelector=metadata.name=$name"
	may no PUT "$core/configmaps/$name" '{}'
	may no PATCH "$core/configmaps/$name" '{}'
	may no DELETE "$core/configmaps/$name"
done
may yes POST "$core/configmaps" '{}'
may no GET "$core/configmaps"
api_role --set drey.kubernetes.launches=0,drey.kubernetes.resource=none,jobManager.kind=Job
await "another Role counts" api_may list configmaps
is "$(grep -c resourceNames "$RUN/role.yaml")" 2 "random ids: no names but the owner's"
may yes GET "$core/configmaps?labelSelector=app=$APPLICATION"
may no GET "$ours/$APPLICATION"
may no GET "/apis/apps/v1/namespaces/$NAMESPACE/deployments/$APPLICATION-jobmanager"
may no PATCH "/apis/apps/v1/namespaces/$NAMESPACE/deployments/$APPLICATION-jobmanager/status" '{}'
may yes GET "/apis/batch/v1/namespaces/$NAMESPACE/jobs/$APPLICATION-jobmanager"
may no PATCH "/apis/batch/v1/namespaces/$NAMESPACE/jobs/$APPLICATION-jobmanager" '{}'
may yes PATCH "/apis/batch/v1/namespaces/$NAMESPACE/jobs/$APPLICATION-jobmanager/status" '{}'
e2e_end
