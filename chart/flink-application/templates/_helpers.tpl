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

{{- define "flink-application.claim" -}}
{{- default (printf "%s-state" (include "flink-application.name" .)) .Values.persistentVolumeClaim.existing -}}
{{- end -}}

{{/* ---- labels ---- */}}

{{- define "flink-application.labels" -}}
app.kubernetes.io/name: flink-application
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
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
