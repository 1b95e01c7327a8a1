{{/* ---- names: independent of the job, so that the next version finds the objects and state of the last one ---- */}}

{{- define "flink-application.name" -}}
{{- $name := default .Release.Name .Values.application -}}
{{- if gt (len $name) 40 }}{{ fail (printf "application: '%s' has more than 40 characters; set a shorter one" $name) }}{{ end -}}
{{- if not (regexMatch "^[a-z]([-a-z0-9]*[a-z0-9])?$" $name) }}{{ fail (printf "application: '%s' is not a valid name of a Service; it must start with a letter and contain only a-z, 0-9 and '-'" $name) }}{{ end -}}
{{- $name -}}
{{- end -}}

{{- define "flink-application.clusterId" -}}
{{- default (include "flink-application.name" .) .Values.clusterId -}}
{{- end -}}

{{- define "flink-application.serviceAccount" -}}
{{- default (include "flink-application.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{/* The account of the Pods of something else: (list CONTEXT KEY SUFFIX). */}}
{{- define "flink-application.accountOf" -}}
{{- $root := index . 0 -}}
{{- default (printf "%s-%s" (include "flink-application.name" $root) (index . 2)) (get $root.Values.serviceAccount (index . 1)).name -}}
{{- end -}}

{{/* The Deployment or Job of the JobManager; also its headless Service. */}}
{{- define "flink-application.jobManager" -}}
{{- printf "%s-jobmanager" (include "flink-application.name" .) -}}
{{- end -}}

{{- define "flink-application.taskManager" -}}
{{- printf "%s-taskmanager" (include "flink-application.name" .) -}}
{{- end -}}

{{/* drey scales the TaskManagers to 0: "parked" or "finished", when; else nothing. */}}
{{- define "flink-application.scaleWhen" -}}
{{- if eq .Values.taskManager.whenParked "scaleToZero" }}parked{{ else if not (kindIs "invalid" .Values.ttlAfterFinished) }}finished{{ end -}}
{{- end -}}

{{/* drey's own objects; empty for those that are disabled ("none"). */}}
{{- define "flink-application.journal" -}}
{{- $name := default (printf "%s-drey-journal" (include "flink-application.name" .)) .Values.drey.kubernetes.journal -}}
{{- if ne $name "none" }}{{ $name }}{{ end -}}
{{- end -}}

{{- define "flink-application.control" -}}
{{- $name := default (printf "%s-drey-control" (include "flink-application.name" .)) .Values.drey.kubernetes.control -}}
{{- if ne $name "none" }}{{ $name }}{{ end -}}
{{- end -}}

{{- define "flink-application.resource" -}}
{{- $name := default (include "flink-application.name" .) .Values.drey.kubernetes.resource -}}
{{- if ne $name "none" }}{{ $name }}{{ end -}}
{{- end -}}

{{/* ---- what the chart makes for drey: maps.yaml ---- */}}

{{/* drey creates no ConfigMap of its own: "true" or nothing. */}}
{{- define "flink-application.makesMaps" -}}
{{- if eq (toString .Values.drey.kubernetes.createMaps) "false" }}true{{ end -}}
{{- end -}}

{{/* As JSON: name, component, keep. The maps of a candidate are there with every strategy: by the time of the first surge upgrade
somebody else could have made them. */}}
{{- define "flink-application.madeMaps" -}}
{{- $maps := list -}}
{{- if include "flink-application.makesMaps" . -}}
{{- with include "flink-application.journal" . }}{{ $maps = append $maps (dict "name" . "component" "journal" "keep" true) }}{{ end -}}
{{- if and (ne (include "flink-application.clusterIds" .) "null") (include "flink-application.journal" .) -}}
{{- $candidate := include "flink-application.candidate" . -}}
{{- $maps = append $maps (dict "name" $candidate "component" "candidate" "keep" true) -}}
{{- $maps = append $maps (dict "name" (printf "%s-journal" $candidate) "component" "candidate-journal" "keep" true) -}}
{{- end -}}
{{- with include "flink-application.flipConfigMap" . }}{{ $maps = append $maps (dict "name" . "component" "bluegreen" "keep" false) }}{{ end -}}
{{- end -}}
{{- toJson $maps -}}
{{- end -}}

{{/* As JSON: the names of all ConfigMaps that drey itself may change. */}}
{{- define "flink-application.ownMaps" -}}
{{- $names := list -}}
{{- with include "flink-application.journal" . }}{{ $names = append $names . }}{{ end -}}
{{- with include "flink-application.control" . }}{{ $names = append $names . }}{{ end -}}
{{- with include "flink-application.flipConfigMap" . }}{{ $names = append $names . }}{{ end -}}
{{- $candidate := include "flink-application.candidate" . -}}
{{- concat $names (list $candidate (printf "%s-journal" $candidate)) | toJson -}}
{{- end -}}

{{/* (list CONTEXT NAME): it does not exist, or Helm has made it for this release: "true" or nothing. */}}
{{- define "flink-application.ownsMap" -}}
{{- $release := (index . 0).Release -}}
{{- with lookup "v1" "ConfigMap" $release.Namespace (index . 1) -}}
{{- $annotations := .metadata.annotations | default dict -}}
{{- $by := .metadata.labels | default dict | dig "app.kubernetes.io/managed-by" "" -}}
{{- if and (eq $by "Helm") (eq (dig "meta.helm.sh/release-name" "" $annotations) $release.Name) (eq (dig "meta.helm.sh/release-namespace" "" $annotations) $release.Namespace) }}true{{ end -}}
{{- else -}}
true
{{- end -}}
{{- end -}}

{{- define "flink-application.claim" -}}
{{- default (printf "%s-state" (include "flink-application.name" .)) .Values.persistentVolumeClaim.existing -}}
{{- end -}}

{{/* ---- labels ---- */}}

{{- define "flink-application.labels" -}}
app.kubernetes.io/name: flink-application
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/version: {{ include "flink-application.version" . | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The same, and a map of labels that takes precedence over commonLabels: (list CONTEXT MAP). */}}
{{- define "flink-application.labelsAnd" -}}
{{- mergeOverwrite (include "flink-application.labels" (index . 0) | fromYaml) (deepCopy (index . 1)) | toYaml -}}
{{- end -}}

{{/* As a label: the tag of the image, or the digest. */}}
{{- define "flink-application.version" -}}
{{- .Values.image.tag | default (.Values.image.digest | replace ":" "-") | trunc 63 | trimAll "-_." -}}
{{- end -}}

{{/* The member `annotations` of an object's metadata, or nothing: (list CONTEXT MAP...); a later map takes precedence. */}}
{{- define "flink-application.annotations" -}}
{{- $annotations := deepCopy (index . 0).Values.commonAnnotations -}}
{{- range slice . 1 }}{{ $annotations = mergeOverwrite $annotations (deepCopy .) }}{{ end -}}
{{- with $annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
{{- end -}}
{{- end -}}

{{/* (list CONTEXT WHAT): an object that `keep` names outlives the release. */}}
{{- define "flink-application.kept" -}}
{{- if has (index . 1) (index . 0).Values.keep }}helm.sh/resource-policy: keep{{ end -}}
{{- end -}}

{{/* (list CONTEXT COMPONENT): labels of Pods that a selector may use: they never change. */}}
{{- define "flink-application.selector" -}}
{{- $component := index . 1 -}}
{{- with index . 0 -}}
app.kubernetes.io/name: flink-application
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: {{ $component }}
{{- end -}}
{{- end -}}

{{/* Labels of a Pod: (list CONTEXT COMPONENT MAP...); a later map takes precedence, but none over the selector. */}}
{{- define "flink-application.podLabels" -}}
{{- $labels := deepCopy (index . 0).Values.commonLabels -}}
{{- range slice . 2 }}{{ $labels = mergeOverwrite $labels (deepCopy .) }}{{ end -}}
{{- mergeOverwrite $labels (include "flink-application.selector" (slice . 0 2) | fromYaml) | toYaml -}}
{{- end -}}

{{/* Labels and annotations of the Pod of one of our own Jobs: (list CONTEXT COMPONENT). */}}
{{- define "flink-application.jobMetadata" -}}
{{- $root := index . 0 -}}
labels:
  {{- include "flink-application.podLabels" (list $root (index . 1) $root.Values.jobs.podLabels) | nindent 2 }}
{{- with mergeOverwrite (deepCopy $root.Values.commonAnnotations) (deepCopy $root.Values.jobs.podAnnotations) }}
annotations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* ---- resources ---- */}}

{{/* As YAML: (dict "own" TEXT "over" MAP "memory" MIB "at" KEY). `over` are those of the values. */}}
{{- define "flink-application.resources" -}}
{{- include "flink-application.guardMemory" (dict "limit" (dig "limits" "memory" "" .over) "least" .memory "at" (printf "%s.limits.memory" .at)) -}}
{{- mergeOverwrite (fromYaml .own) (deepCopy .over) | toYaml -}}
{{- end -}}

{{/* Of a container with Flink: (list VALUES MIB KEY). */}}
{{- define "flink-application.flinkResources" -}}
{{- $values := index . 0 -}}
{{- $memory := printf "%dMi" (index . 1 | int64) -}}
{{- $limits := dict "memory" $memory -}}
{{- with $values.cpuLimit }}{{ $_ := set $limits "cpu" (toString .) }}{{ end -}}
{{- $own := dict "requests" (dict "cpu" (toString $values.cpu) "memory" $memory) "limits" $limits | toYaml -}}
{{- include "flink-application.resources" (dict "own" $own "over" $values.resources "memory" (index . 1 | int64) "at" (index . 2)) -}}
{{- end -}}

{{/* Of what is small: the containers of Jobs, and the one that makes directories. */}}
{{- define "flink-application.jobResources" -}}
{{- include "flink-application.resources" (dict "own" "{requests: {cpu: 10m, memory: 32Mi}, limits: {memory: 64Mi}}" "over" .Values.jobs.resources "memory" 32 "at" "jobs.resources") -}}
{{- end -}}

{{/* (dict "limit" QUANTITY "least" MIB "at" PATH): a JVM takes what it was told to, and below that the kernel kills it. */}}
{{- define "flink-application.guardMemory" -}}
{{- if ne (toString .limit) "" -}}
{{- $unit := regexFind "[A-Za-z]*$" (toString .limit) -}}
{{- $factors := dict "" 1.0 "k" 1e3 "M" 1e6 "G" 1e9 "T" 1e12 "P" 1e15 "Ki" 1024.0 "Mi" 1048576.0 "Gi" 1073741824.0 "Ti" 1099511627776.0 "Pi" 1125899906842624.0 -}}
{{- if not (and (hasKey $factors $unit) (regexMatch "^[0-9]+([.][0-9]+)?[A-Za-z]*$" (toString .limit))) }}{{ fail (printf "%s: '%v' is not a size; write for example 2Gi" .at .limit) }}{{ end -}}
{{- if lt (mulf (regexFind "^[0-9.]+" (toString .limit) | float64) (get $factors $unit)) (mulf .least 1048576.0) }}
{{- fail (printf "%s: it is %v, but at least %dMi are needed; set it to that or more" .at .limit (int64 .least)) }}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Members of the spec of a Service, or nothing. */}}
{{- define "flink-application.ipFamilies" -}}
{{- with .Values.service.ipFamilyPolicy }}
  ipFamilyPolicy: {{ . }}
{{- end }}
{{- with .Values.service.ipFamilies }}
  ipFamilies: {{ toJson . }}
{{- end }}
{{- end -}}

{{/* What Flink and drey listen on. "::" is both families, but no address where the kernel has no IPv6. */}}
{{- define "flink-application.anyAddress" -}}
{{- $service := .Values.service -}}
{{- ternary "::" "0.0.0.0" (or (hasSuffix "DualStack" $service.ipFamilyPolicy) (has "IPv6" $service.ipFamilies)) -}}
{{- end -}}

{{/* ---- image, storage ---- */}}

{{- define "flink-application.image" -}}
{{- $image := .Values.image -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $image.tag }}
{{- end -}}
{{- end -}}

{{- define "flink-application.stateUri" -}}
{{- trimSuffix "/" .Values.state.uri -}}
{{- end -}}

{{/* Variables of every container that accesses the storage. */}}
{{- define "flink-application.storageEnv" -}}
{{- with .Values.s3.secret }}
{{- if .name }}
- name: AWS_ACCESS_KEY_ID
  valueFrom: {secretKeyRef: {name: {{ .name | quote }}, key: {{ .accessKey | quote }}}}
- name: AWS_SECRET_ACCESS_KEY
  valueFrom: {secretKeyRef: {name: {{ .name | quote }}, key: {{ .secretKey | quote }}}}
{{- end }}
{{- end }}
{{- end -}}

{{- define "flink-application.podEnv" -}}
- name: POD_NAME
  valueFrom: {fieldRef: {fieldPath: metadata.name}}
- name: POD_NAMESPACE
  valueFrom: {fieldRef: {fieldPath: metadata.namespace}}
- name: POD_UID
  valueFrom: {fieldRef: {fieldPath: metadata.uid}}
- name: POD_IP
  valueFrom: {fieldRef: {fieldPath: status.podIP}}
{{- end -}}

{{- define "flink-application.flinkEnv" -}}
- {name: FLINK_HOME, value: {{ .Values.flink.home | quote }}}
- {name: FLINK_CONF_DIR, value: "{{ .Values.flink.home }}/conf"}
- {name: FLINK_LOG_DIR, value: "{{ .Values.flink.home }}/log"}
- {name: FLINK_PID_DIR, value: /tmp}
{{- end -}}

{{/* What identifies the Pod template to drey, besides the generation. */}}
{{- define "flink-application.templateEnv" -}}
- name: POD_TEMPLATE_HASH
  valueFrom: {fieldRef: {fieldPath: "metadata.labels['pod-template-hash']"}}
- name: DREY_CHECKSUM
  valueFrom: {fieldRef: {fieldPath: "metadata.annotations['checksum/drey']"}}
{{- end -}}

{{- define "flink-application.pullSecrets" -}}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
- name: {{ . | quote }}
{{- end }}
{{- end }}
{{- end -}}

{{/* Pods of our own Jobs, from their spec on: (dict "root" CONTEXT). */}}
{{- define "flink-application.jobPod" -}}
enableServiceLinks: false
restartPolicy: Never
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- include "flink-application.pullSecrets" . }}
{{- end -}}

{{- define "flink-application.httpPort" -}}
{{- $http := default dict .Values.drey.http -}}
{{- if hasKey $http "port" }}{{ int $http.port }}{{ else }}8085{{ end -}}
{{- end -}}

{{/*
The ConfigMaps of Flink's high availability, of both sides, as a YAML list. The n-th job id is generated like in drey: the first 32 hex
digits of sha256("NAMESPACE/APPLICATION/SALT/n").
*/}}
{{- define "flink-application.haConfigMaps" -}}
{{- $clusters := include "flink-application.clusterIds" . | fromJsonArray | default (list (include "flink-application.clusterId" .)) -}}
{{- $ids := printf "%s/%s/%s" .Release.Namespace (include "flink-application.name" .) .Values.drey.kubernetes.salt -}}
{{- $launches := until (int .Values.drey.kubernetes.launches) -}}
{{- $names := list -}}
{{- range $cluster := $clusters -}}
{{- $names = append $names (printf "%s-cluster-config-map" $cluster) -}}
{{- range $n := $launches }}{{ $names = append $names (printf "%s-%s-config-map" $cluster (printf "%s/%d" $ids $n | sha256sum | trunc 32)) }}{{ end -}}
{{- end -}}
{{- toYaml $names -}}
{{- end -}}

{{/* Refuses values that nothing would read. As a dependency the chart gets the globals of all charts, and most are for others. */}}
{{- define "flink-application.readsAll" -}}
{{- if and .Chart.IsRoot .Values.global }}
{{- fail (printf "global: the chart reads nothing from it, but %s is set there; set image, commonLabels and so on instead" (keys .Values.global | sortAlpha | join ", ")) }}
{{- end -}}
{{- end -}}
