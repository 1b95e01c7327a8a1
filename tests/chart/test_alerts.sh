#!/usr/bin/env bash
#
# The chart's alerts in Prometheus itself: each fires when it must and is silent when it must be (alerts.yaml); the keys and uids
# of the dashboards are one release's own.
#
# runs in: ci

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
CHART=$TOP/chart/flink-application

RUN=$(mktemp -d "${TMPDIR:-/tmp}/drey-alerts.XXXXXX") || die 1 "cannot make a run directory in ${TMPDIR:-/tmp}"
trap 'ui_is_main && rm -rf "$RUN"' EXIT
PROMTOOL=$("$TOP/tools/get-promtool.sh") || {
	# 4: it cannot be downloaded here
	[ $? -eq 4 ] || [ -z "${DREY_TEST_REQUIRE:-}" ] || die 1 "promtool is not to be had"
	echo "1..0 # SKIP promtool is not to be had"
	exit 0
}
HELM=$("$TOP/tools/get-kube.sh" helm)/bin/helm || die 1 "helm is not to be had"

rendered() { # RELEASE NAMESPACE FILE [OPTION...]
	"$HELM" template "$1" "$CHART" --namespace "$2" --values "$CHART/examples/full.yaml" --set monitoring.rules.enabled=true \
		--set monitoring.dashboard.enabled=true --show-only "templates/$3" "${@:4}"
}

rules() { # [OPTION...]: of release orders in prod, as Prometheus reads them
	rendered orders prod alerts.yaml "$@" | sed -n '/^spec:/,$s/^  //p'
}

# A JSON array of the dashboards, each with its key.
dashboards() { # RELEASE NAMESPACE [OPTION...]
	rendered "$1" "$2" monitoring.yaml "${@:3}" | awk '
		/^---/ { inside = 0 }
		inside && /^    / { print substr($0, 5) }
		/^  [^ ]*[.]json: [|]/ { inside = 1; key = $1; sub(/:$/, "", key); printf "\"%s\"\n", key }' |
		jq --slurp '[range(0; length; 2) as $i | {key: .[$i], dashboard: .[$i + 1]}]'
}

# shellcheck disable=SC2317 # called through check
promtool() { # ARG...
	(cd "$RUN" && "$PROMTOOL" "$@" >"$RUN/promtool" 2>&1) && return
	sed 's/^/# /' "$RUN/promtool"
	return 1
}

rules --set upgrade.strategy=blueGreen --set drey.blueGreen.sourcesCanBeReadTwice=true --set jobManager.progressDeadlineSeconds=7200 --set monitoring.rules.runbookUrl=https://wiki.example/drey/ >"$RUN/rules.yaml"
cp "$TOP/tests/chart/alerts.yaml" "$RUN/"
check "Prometheus takes the rules" promtool check rules rules.yaml
check "each alert fires when it must, and is silent when it must be" promtool test rules alerts.yaml
sed -n 's/.*- alert: //p' "$RUN/rules.yaml" | sort >"$RUN/alerts"
grep -o 'Drey[A-Za-z]*' "$TOP/tests/chart/alerts.yaml" | grep -v 'DreyHandover$\|DreyCheckpoint$' | sort -u >"$RUN/tested"
check "each alert is tested" diff "$RUN/alerts" "$RUN/tested"
sed -n 's|.*runbook_url: "https://wiki.example/drey/\(.*\)"$|\1|p' "$RUN/rules.yaml" >"$RUN/links"
is "$(wc -l <"$RUN/links")" "$(wc -l <"$RUN/alerts")" "each links to a page of the runbook"
while read -r page; do
	check "docs/runbook/$page is there" test -f "$TOP/docs/runbook/$page"
done < <(sort -u "$RUN/links")
is "$(rules | grep -c runbook_url)" 0 "without a URL there are no links"

for release in "orders prod" "orders test" "bills prod"; do
	read -r name namespace <<<"$release"
	dashboards "$name" "$namespace" >"$RUN/$name-$namespace.json"
done
is "$(jq --slurp '[.[][].key] | length == (unique | length)' "$RUN"/{orders,bills}-*.json)" true "the keys of three releases differ"
is "$(jq --slurp '[.[][].dashboard.uid] | length == (unique | length)' "$RUN"/{orders,bills}-*.json)" true "and so do their uids"
is "$(jq --raw-output '.[0].dashboard | .title, (.templating.list[] | select(.name == "application").current.value)' "$RUN/orders-prod.json" | paste -sd' ')" \
	"orders in prod (drey) orders" "a dashboard begins with its application"
is "$(dashboards orders prod --set monitoring.fleetDashboard.enabled=true | jq --raw-output '.[] | select(.key == "drey-fleet.json") | .dashboard.uid')" \
	drey-fleet "the fleet has one of its own"
is "$(dashboards orders prod --set monitoring.fleetDashboard.enabled=true |
	jq --compact-output '[.[].dashboard | any(.panels[].targets[]?.expr; test("drey_lost_state_seconds"))]')" "[true,true]" "both show the state that was given up"
is "$(dashboards orders prod --set monitoring.fleetDashboard.enabled=true |
	jq '[.[].dashboard.panels | map(.gridPos as $at | range($at.x; $at.x + $at.w) as $x | range($at.y; $at.y + $at.h) as $y | [$x, $y]) | length == (unique | length)] | all')" \
	true "and no panel lies on another"
dashboards orders prod --set monitoring.fleetDashboard.enabled=true | jq --raw-output '.[].dashboard.panels[].targets[]?.expr' |
	sed -e "s/\\\$namespace/prod/g; s/\\\$application/orders/g" | jq --raw-input --slurp '{groups: [{name: "panels", rules: [split("\n")[] | select(. != "") | {record: "panel:expression", expr: .}]}]}' >"$RUN/panels.yaml"
check "Prometheus takes every expression of the dashboards" promtool check rules --lint=none panels.yaml
is "$(rendered orders prod monitoring.yaml --set monitoring.monitor=PodMonitor | grep -c 'targetLabel: application, replacement: orders}')" 1 \
	"what is scraped has the label application"
e2e_end
