{{/* ---- podTemplate: what the values merge over a Pod of the chart ---- */}}

{{/*
The Pod template as YAML: (dict "pod" TEXT "chart" TEXT "over" MAP "at" KEY "main" CONTAINER "env" LIST "grace" SECONDS "memory" MIB
"ends" BOOL). `pod` is what this returns if MAP is empty; `chart` is what the chart makes, if another podTemplate was merged into
`pod` already; MAP is the podTemplate at KEY of the values; `env` are the variables of the values, which MAP may override; `grace`
and `memory` are the least that MAP may set for Pod and main container; `ends`: the Pod is one of a Job.

It merges as Kubernetes merges a strategic patch: maps by their keys, the lists in mergeKeys by the keys of their items,
every other list is replaced, and null removes. It differs in three points: tolerations and envFrom are appended, a variable is
replaced and not merged, and directives ($patch) are refused. What drey needs is refused with its path.
*/}}
{{- define "flink-application.merged" -}}
{{- if .over -}}
{{- $pod := fromYaml .pod -}}
{{- $chart := default .pod .chart | fromYaml -}}
{{- $spec := default dict .over.spec -}}
{{- $at := printf "%s.spec" .at -}}
{{- include "flink-application.guardSpec" (dict "pod" $chart.spec "over" $spec "at" $at "grace" .grace) -}}
{{- range $list := list "initContainers" "containers" -}}
{{- $own := dict -}}
{{- range default list (get $chart.spec $list) }}{{ $_ := set $own .name . }}{{ end -}}
{{- $there := list -}}
{{- range default list (get $pod.spec $list) }}{{ $there = append $there .name }}{{ end -}}
{{- range $n, $over := default list (get $spec $list) -}}
{{- $item := printf "%s.%s[%d]" $at $list $n -}}
{{- if not (and (kindIs "map" $over) (dig "name" "" (default dict $over))) }}{{ fail (printf "%s: it has no name" $item) }}{{ end -}}
{{- $item = printf "%s.%s[name=%s]" $at $list $over.name -}}
{{- if hasKey $own $over.name }}
{{- include "flink-application.guardContainer" (dict "own" (get $own $over.name) "over" $over "at" $item "env" $.env "memory" (ternary $.memory 0 (eq $over.name $.main))) -}}
{{- else if has $over.name $there }}
{{- else if not $over.image }}
{{- fail (printf "%s.image: it is missing, and the chart has no container of this name; its own are %s" $item (append (keys $own) $.main | uniq | sortAlpha | join ", ")) }}
{{- else if and $.ends (eq $list "containers") }}
{{- fail (printf "%s: a Job would wait for it for ever; make it an init container with restartPolicy: Always, which Kubernetes ends with the Pod" $item) }}
{{- end }}
{{- end -}}
{{- end -}}
{{- $metadata := include "flink-application.mergedMap" (dict "base" $pod.metadata "over" (default dict .over.metadata) "at" (printf "%s.metadata" .at)) | fromJson -}}
{{- $merged := include "flink-application.mergedMap" (dict "base" $pod.spec "over" $spec "at" $at) | fromJson -}}
{{- dict "metadata" $metadata "spec" $merged | toYaml -}}
{{- else -}}
{{- .pod -}}
{{- end -}}
{{- end -}}

{{/* The keys by which items of a list are the same; a list that is not here is replaced. */}}
{{- define "flink-application.mergeKeys" -}}
containers: [name]
initContainers: [name]
env: [name]
volumes: [name]
imagePullSecrets: [name]
resourceClaims: [name]
claims: [name]
schedulingGates: [name]
volumeMounts: [mountPath]
volumeDevices: [devicePath]
ports: [containerPort, protocol]
hostAliases: [ip]
topologySpreadConstraints: [topologyKey, whenUnsatisfiable]
tolerations: []
envFrom: []
{{- end -}}

{{/* (dict "base" MAP "over" MAP "at" PATH) as JSON. */}}
{{- define "flink-application.mergedMap" -}}
{{- $merged := deepCopy .base -}}
{{- $lists := include "flink-application.mergeKeys" . | fromYaml -}}
{{- range $key, $value := .over -}}
{{- $at := printf "%s.%s" $.at $key -}}
{{- $old := get $.base $key -}}
{{- if hasPrefix "$" $key }}
{{- fail (printf "%s: directives of a strategic patch are not supported; write the value, or null to remove one" $at) }}
{{- else if kindIs "invalid" $value }}
{{- $_ := unset $merged $key }}
{{- else if and (kindIs "slice" $old) (not (kindIs "slice" $value)) }}
{{- fail (printf "%s: it must be a list" $at) }}
{{- else if and (kindIs "map" $old) (not (kindIs "map" $value)) }}
{{- fail (printf "%s: it must be a map" $at) }}
{{- else if and (kindIs "slice" $value) (hasKey $lists $key) }}
{{- $_ := set $merged $key (include "flink-application.mergedList" (dict "base" (default list $old) "over" $value "at" $at "list" $key "by" (get $lists $key)) | fromJsonArray) }}
{{- else if kindIs "map" $value }}
{{- $_ := set $merged $key (include "flink-application.mergedMap" (dict "base" (default dict $old) "over" $value "at" $at) | fromJson) }}
{{- else }}
{{- $_ := set $merged $key $value }}
{{- end }}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{/* (dict "base" LIST "over" LIST "at" PATH "list" KEY "by" KEYS) as JSON: what is new comes last. */}}
{{- define "flink-application.mergedList" -}}
{{- $merged := .base -}}
{{- range $n, $over := .over -}}
{{- $at := printf "%s[%d]" $.at $n -}}
{{- if not (kindIs "map" $over) }}{{ fail (printf "%s: it must be a map" $at) }}{{ end -}}
{{- $same := -1 -}}
{{- if $.by -}}
{{- $key := first $.by -}}
{{- if not (hasKey $over $key) }}{{ fail (printf "%s: it has no %s" $at $key) }}{{ end -}}
{{- $at = printf "%s[%s=%v]" $.at $key (get $over $key) -}}
{{- range $i, $old := $merged -}}
{{- $equal := true -}}
{{- range $.by }}{{ $equal = and $equal (eq (get $old . | default (ternary "TCP" "" (eq . "protocol")) | toString) (get $over . | default (ternary "TCP" "" (eq . "protocol")) | toString)) }}{{ end -}}
{{- if $equal }}{{ $same = $i }}{{ end -}}
{{- end -}}
{{- end -}}
{{- if lt $same 0 }}
{{- $merged = append $merged (include "flink-application.mergedMap" (dict "base" dict "over" $over "at" $at) | fromJson) }}
{{- else }}
{{- $old := index $merged $same -}}
{{- $base := $old -}}
{{- /* a variable or a volume has one source */ -}}
{{- if or (eq $.list "env") (and (eq $.list "volumes") (ne (keys $old | sortAlpha | toJson) (keys $over | sortAlpha | toJson))) }}{{ $base = dict }}{{ end -}}
{{- $items := list -}}
{{- range $i, $item := $merged -}}
{{- if eq $i $same }}{{ $item = include "flink-application.mergedMap" (dict "base" $base "over" $over "at" $at) | fromJson }}{{ end -}}
{{- $items = append $items $item -}}
{{- end -}}
{{- $merged = $items -}}
{{- end }}
{{- end -}}
{{- toJson $merged -}}
{{- end -}}

{{/* ---- what is not for a podTemplate ---- */}}

{{/* (dict "pod" SPEC "over" SPEC "at" PATH "grace" SECONDS) */}}
{{- define "flink-application.guardSpec" -}}
{{- $over := .over -}}
{{- $why := dict
	"restartPolicy" "the chart sets it"
	"activeDeadlineSeconds" "it would end the job"
	"serviceAccountName" "set serviceAccount in the values"
	"serviceAccount" "set serviceAccount in the values"
	"shareProcessNamespace" "drey-init must be process 1 of its container"
	"hostPID" "drey-init must be process 1 of its container" -}}
{{- range $key, $reason := $why -}}
{{- if and (hasKey $over $key) (ne (get $over $key | toString) "false") }}{{ fail (printf "%s.%s: not for a podTemplate: %s" $.at $key $reason) }}{{ end -}}
{{- end -}}
{{- if hasKey $over "automountServiceAccountToken" }}{{ fail (printf "%s.automountServiceAccountToken: not for a podTemplate: the chart sets it" .at) }}{{ end -}}
{{- if hasKey $over "terminationGracePeriodSeconds" -}}
{{- $grace := get $over "terminationGracePeriodSeconds" -}}
{{- if or (kindIs "invalid" $grace) (lt (int64 $grace) (int64 .grace)) }}
{{- fail (printf "%s.terminationGracePeriodSeconds: it must be at least %d; jobManager.terminationGracePeriodSeconds is the time for the savepoint" .at (int64 .grace)) }}
{{- end -}}
{{- end -}}
{{- range $list := list "containers" "initContainers" "volumes" }}
{{- if and (hasKey $over $list) (not (kindIs "slice" (get $over $list))) }}{{ fail (printf "%s.%s: it must be a list" $.at $list) }}{{ end -}}
{{- end -}}
{{- range $over.volumes -}}
{{- $name := dig "name" "" (ternary . dict (kindIs "map" .)) -}}
{{- if has $name (list "drey" "flink" "flink-chart" "flink-secrets" "control" "run" "state" "check" "local") -}}
{{- range $.pod.containers }}{{ range .volumeMounts }}{{ if eq .name $name }}{{ fail (printf "%s.volumes[name=%s]: not for a podTemplate: the chart sets it" $.at $name) }}{{ end }}{{ end }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* (dict "own" CONTAINER "over" CONTAINER "at" PATH "env" LIST "memory" MIB) */}}
{{- define "flink-application.guardContainer" -}}
{{- $over := .over -}}
{{- range list "command" "args" "livenessProbe" "readinessProbe" "startupProbe" "lifecycle" "restartPolicy" "terminationMessagePath" -}}
{{- if hasKey $over . }}{{ fail (printf "%s.%s: not for a podTemplate: drey needs it as it is" $.at .) }}{{ end -}}
{{- end -}}
{{- if hasKey $over "image" }}{{ fail (printf "%s.image: not for a podTemplate: set image in the values, from which drey knows an upgrade" .at) }}{{ end -}}
{{- range $over.ports -}}
{{- $port := . -}}
{{- range $.own.ports -}}
{{- if or (eq (dig "containerPort" 0 $port | int) (int .containerPort)) (eq (dig "name" "" $port) .name) }}
{{- fail (printf "%s.ports[containerPort=%d]: not for a podTemplate: the chart has this port, or one of this name" $.at (dig "containerPort" 0 $port | int)) }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $theirs := list -}}
{{- range .env }}{{ $theirs = append $theirs .name }}{{ end -}}
{{- range $over.env -}}
{{- $name := dig "name" "" . -}}
{{- range $.own.env -}}
{{- if and (eq .name $name) (not (has $name $theirs)) }}{{ fail (printf "%s.env[name=%s]: not for a podTemplate: the chart sets it" $.at $name) }}{{ end -}}
{{- end -}}
{{- end -}}
{{- range $over.volumeMounts -}}
{{- $path := dig "mountPath" "" . | clean -}}
{{- range $.own.volumeMounts -}}
{{- if or (and (eq $path .mountPath) (has .name (list "drey" "control" "run" "check" "state" "local" "flink" "flink-chart" "log" "tmp"))) (and (has .name (list "drey" "control" "run" "check" "state" "local")) (hasPrefix (printf "%s/" .mountPath) $path)) (and (eq .name "flink") (eq $path (printf "%s/config.yaml" .mountPath))) }}
{{- fail (printf "%s.volumeMounts[mountPath=%s]: not for a podTemplate: the chart mounts the volume %s there" $.at $path .name) }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- include "flink-application.guardMemory" (dict "limit" (dig "resources" "limits" "memory" "" $over) "least" .memory "at" (printf "%s.resources.limits.memory" .at)) -}}
{{- end -}}

{{/* Pods of our own Jobs: (dict "root" CONTEXT "job" NAME "pod" TEXT). A podTemplate for all of them may name the containers of
each; here the others are left out. */}}
{{- define "flink-application.jobTemplate" -}}
{{- $over := deepCopy .root.Values.jobs.podTemplate -}}
{{- $containers := list -}}
{{- $others := without (list "check" "savepoint" "uninstall" "test") .job -}}
{{- range dig "spec" "containers" list $over -}}
{{- if not (and (kindIs "map" .) (has (dig "name" "" (default dict .)) $others)) }}{{ $containers = append $containers . }}{{ end -}}
{{- end -}}
{{- if dig "spec" "containers" list $over }}{{ $_ := set $over.spec "containers" $containers }}{{ end -}}
{{- include "flink-application.merged" (dict "pod" .pod "over" $over "at" "jobs.podTemplate" "main" .job "env" (ternary .root.Values.jobManager.env list (eq .job "check")) "grace" 30 "memory" 0 "ends" true) -}}
{{- end -}}
