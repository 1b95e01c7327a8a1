#!/usr/bin/env bash
#
# Both Helms reject invalid values, and name their path, before they create anything: those of refused.txt, and for every
# key of the schema another type, an unknown key, and a removed default. One chart that has the tested chart as a
# dependency many times, each time with another mistake, lets Helm report all of them in one run.

# shellcheck source=tests/e2e/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/../e2e/tap.sh"
# shellcheck source=tests/api/lib.sh
. "$TOP/tests/api/lib.sh"
# shellcheck source=tests/chart/lib.sh
. "$TOP/tests/chart/lib.sh"
chart_begin chart-values
SCHEMA=$CHART/values.schema.json

# What it does not do without, as defaults of the copy, so that a line is only what is wrong.
mkdir -p "$RUN/many/charts"
cp -r "$CHART" "$RUN/many/charts/"
sed -i 's/^  repository: ""/  repository: registry.example\/orders/; s/^  tag: ""/  tag: "1.4.0"/; s/^  uri: ""/  uri: s3:\/\/flink\/orders/' \
	"$RUN/many/charts/flink-application/values.yaml"
version=$(sed -n 's/^version: //p' "$CHART/Chart.yaml")

# Lines "PATH VALUES": what of it is refused as it should be, as lines "PATH VALUES" again.
refused() { # FILE
	local lines number
	mapfile -t lines <"$1"
	{
		printf 'apiVersion: v2\nname: many\nversion: 0.1.0\ndependencies:\n'
		for number in "${!lines[@]}"; do
			printf -- '- {name: flink-application, version: %s, alias: row%s}\n' "$version" "$number"
		done
	} >"$RUN/many/Chart.yaml"
	for number in "${!lines[@]}"; do
		printf 'row%s: %s\n' "$number" "${lines[number]#* }"
	done >"$RUN/many.yaml"
	! helm template orders "$RUN/many" --values "$RUN/many.yaml" >"$RUN/said" 2>&1 || return 0
	# "row7:", then what is wrong with it: "- at '/image/tag': got number, want string", also further to the right
	awk 'NR == FNR { row = "row" FNR - 1; path[row] = $1; line[row] = $0; next }
		/^row[0-9]+:$/ { row = substr($0, 1, length($0) - 1); next }
		index($0, "- at " quote path[row] quote ":") && row in line { print line[row]; delete line[row] }' quote="'" "$1" "$RUN/said"
}

all_are_refused() { # HELM FILE
	local part
	for part in "$2".*; do
		HELM=$1 refused "$part"
	done >"$RUN/refused"
	diff <(sort "$2") <(sort "$RUN/refused") | sed -n 's/^</# not refused with its path:/p'
	cmp --quiet <(sort "$2") <(sort "$RUN/refused")
}

# ---- values that are wrong -------------------------------------------------------------------------

grep --extended-regexp '^/' "$TOP/tests/chart/refused.txt" >"$RUN/lines"

# {path: ["a", "b"], schema} of every key, with what a reference refers to; not inside of lists
keys='def resolved($all): if has("$ref") then $all.definitions[.["$ref"] | split("/")[-1]] else . end;
	def keys_of($all; $path): resolved($all) | (.properties // {} | to_entries[] | select(.value | type == "object") |
		{path: ($path + [.key]), schema: (.value | resolved($all))} |
		., (select(.schema.properties) | . as $own | .schema | keys_of($all; $own.path)));
	def at: "/" + join("/");
	def values($value): reduce (reverse[]) as $key ($value; {($key): .});
	. as $all | keys_of($all; [])'

# a list of lists is nowhere right, and where a list is right a number is not
jq --raw-output "$keys"' | select(.path != ["global"] and .path != ["customResource"]) |
	(if .schema.type == "array" then 7 else [["x"]] end) as $wrong | "\(.path | at) \(.path | values($wrong) | tojson)"' "$SCHEMA" >"$RUN/types"
jq --raw-output "$keys"' | select(.schema.additionalProperties == false and (.schema | has("patternProperties") | not)) | "\(.path | at) \(.path + ["unknownKey"] | values(1) | tojson)"' "$SCHEMA" >"$RUN/unknown"
jq --raw-output "$keys"' | .path as $path | select($path != ["global"]) | .schema.required // [] | .[] |
	"\($path | at) \($path + [.] | values(null) | tojson)"' "$SCHEMA" >"$RUN/taken"

for kind in lines types unknown taken; do
	split --lines 150 --numeric-suffixes "$RUN/$kind" "$RUN/$kind."
	check "$kind: there are many ($(wc -l <"$RUN/$kind"))" test "$(wc -l <"$RUN/$kind")" -ge 20
	for helm in 3 4; do
		check "$kind: all of them are refused with their path by Helm $helm" all_are_refused "$helm" "$RUN/$kind"
	done
done
mapfile -t sections < <(jq --raw-output '.required[]' "$SCHEMA")
for helm in 3 4; do
	missed=''
	for section in "${sections[@]}"; do
		! HELM=$helm helm template orders "$RUN/many/charts/flink-application" --set "$section=null" >"$RUN/said" 2>&1 &&
			grep --quiet "missing propert.*'$section'" "$RUN/said" || missed+=" $section"
	done
	is "$missed" "" "a section that is taken away is missed, by Helm $helm"
done

# ---- the schema ------------------------------------------------------------------------------------

is "$(diff <(jq --raw-output '.properties | keys[] | select(. != "global")' "$SCHEMA" | sort) \
	<(sed -n 's/^\([a-zA-Z0-9]*\):.*/\1/p' "$CHART/values.yaml" | sort))" "" "the schema and values.yaml have the same sections"
is "$(jq --raw-output "$keys"' | select(.schema.type == "object" and (.schema | has("additionalProperties") | not)) | .path | join(".")' "$SCHEMA" | tr '\n' ' ')" \
	"global jobManager.affinity.nodeAffinity jobManager.affinity.podAffinity jobManager.affinity.podAntiAffinity jobManager.podTemplate.spec \
taskManager.affinity.nodeAffinity taskManager.affinity.podAffinity taskManager.affinity.podAntiAffinity taskManager.podTemplate.spec \
podSecurityContext.appArmorProfile podSecurityContext.seLinuxOptions podSecurityContext.seccompProfile \
containerSecurityContext.appArmorProfile containerSecurityContext.seLinuxOptions containerSecurityContext.seccompProfile jobs.podTemplate.spec " \
	"every map knows its keys, but for those of Kubernetes that are handed on"
is "$(jq --raw-output "$keys"' | select(.schema.type == "integer" and (.schema | has("minimum") and (has("maximum") or has("not")) | not)) | .path | join(".")' "$SCHEMA" | tr '\n' ' ')" \
	"podSecurityContext.fsGroup podSecurityContext.runAsGroup podSecurityContext.runAsUser containerSecurityContext.runAsGroup containerSecurityContext.runAsUser " \
	"every number has its limits, but for those of users and groups"
# what has neither a line in refused.txt nor anything that could be wrong but its type
is "$(jq --raw-output "$keys"' | select(.schema.type != "boolean" and (.schema.type != "object" or .schema.patternProperties)) | .path | join("/") | "/" + .' "$SCHEMA" |
	while read -r path; do
		grep --quiet --extended-regexp "^${path}[/ ]" "$RUN/lines" || printf '%s ' "$path"
	done)" \
	"/flink/log4j " "every key has something in refused.txt, but for those that take any text"

# ---- values in the docs ----------------------------------------------------------------------------

# Blocks of YAML, one a file in RUN/docs.
mkdir -p "$RUN/docs"
for file in "$CHART/README.md" "$TOP/docs/tasks/chart.md" "$TOP/docs/start/getting-started.md"; do
	awk -v out="$RUN/docs/$(basename "$(dirname "$file")")-$(basename "$file" .md)" '
		/^ *```yaml/ { on = 1; n++; indent = index($0, "`"); next }
		/^ *```/ { on = 0 }
		on { print substr($0, indent) > (out "-" n ".yaml") }' "$file"
done
docs=0
for file in "$RUN"/docs/*.yaml; do
	check "$(basename "$file"): these values are taken" helm template orders "$CHART" --values "$TOP/tests/chart/least.yaml" --values "$file"
	docs=$((docs + 1))
done
check "values of the docs were looked at ($docs)" test "$docs" -ge 3

# ---- what only the templates know ------------------------------------------------------------------

# Lines "KEY VALUES" of refused.txt.
templates_refuse() { # HELM
	local key values missed=0
	while read -r key values; do
		! HELM=$1 helm template orders "$RUN/many/charts/flink-application" --values <(echo "$values") >/dev/null 2>"$RUN/said" &&
			grep --quiet --fixed-strings "): $key: " "$RUN/said" && continue
		echo "# not refused with its key: $key $values"
		missed=1
	done <"$RUN/together"
	return "$missed"
}

grep --extended-regexp '^[a-z]' "$TOP/tests/chart/refused.txt" >"$RUN/together"
check "there are values that do not go together ($(wc -l <"$RUN/together"))" test "$(wc -l <"$RUN/together")" -ge 10
for helm in 3 4; do
	check "all of them are refused with their key by Helm $helm" templates_refuse "$helm"
	HELM=$helm check "a second more for a hand-over, and it is taken by Helm $helm" helm template orders "$RUN/many/charts/flink-application" \
		--set upgrade.strategy=surge,jobManager.progressDeadlineSeconds=796
done

mkdir -p "$RUN/one/charts"
cp -r "$RUN/many/charts/flink-application" "$RUN/one/charts/"
printf 'apiVersion: v2\nname: one\nversion: 0.1.0\ndependencies:\n- {name: flink-application, version: %s}\n' "$version" >"$RUN/one/Chart.yaml"
for helm in 3 4; do
	mapfile -t s3 < <(values s3)
	HELM=$helm helm template orders "$CHART" "${s3[@]}" --set drey.kubernetes.control=none,onDelete=nothing >"$RUN/said" 2>&1
	check "a CronJob without the control ConfigMap is refused by Helm $helm" grep --quiet 'savepointCronJob: ' "$RUN/said"
	for name in 1orders orders.v2 a234567890b234567890c234567890d234567890e; do
		HELM=$helm helm template "$name" "$CHART" "${s3[@]}" >"$RUN/said" 2>&1
		check "a release $name is refused by Helm $helm" grep --quiet "application: '$name'" "$RUN/said"
	done
	HELM=$helm helm template orders "$CHART" "${s3[@]}" --set global.imageRegistry=registry.example >"$RUN/said" 2>&1
	check "globals that nothing reads are refused by Helm $helm" grep --quiet 'global: the chart reads nothing from it, but imageRegistry' "$RUN/said"
	HELM=$helm check "but as a dependency the chart gets those of others, by Helm $helm" helm template orders "$RUN/one" --set global.imageRegistry=registry.example
done

# Every key of drey.yaml is known here, but for those that are the chart's own business.
schema_keys() {
	jq -r '.properties.drey | paths(type == "object" and (has("type") or has("enum") or has("$ref") or has("allOf") or has("anyOf")) and (has("properties") | not)) |
		select((index("items") or index("allOf") or index("anyOf") or index("not")) | not) | map(select(. != "properties")) | join(".")' "$SCHEMA" | sort
}
own='application|stateDirectory|generation|flink\.(spare|version|unknownVersion|configDirectory|properties|jobClass|jars|arguments|restAddress|restPort|rpcAddress)'
own+='|handover\.(mode|clusterIds|candidate|probation)|kubernetes\.(enabled|kubeconfig|namespace|owner|taskManagers|scale|scaleWhen|scaleFinishedAfter)|control\.directory'
is "$(schema_keys | tr '\n' ' ')" \
	"$(grep -oE '^\| `[a-zA-Z0-9.]+` ' "$TOP/docs/reference/configuration.md" | tr -d '|` ' | grep -vxE "$own" | sort | tr '\n' ' ')" \
	"drey: has the keys of docs/reference/configuration.md"
e2e_end
