{{/* The name of the application. */}}
{{- define "flink-application.name" -}}
{{- default .Release.Name .Values.application -}}
{{- end -}}

{{- define "flink-application.clusterId" -}}
{{- default (include "flink-application.name" .) .Values.clusterId -}}
{{- end -}}

{{- define "flink-application.serviceAccount" -}}
{{- default (include "flink-application.name" .) .Values.serviceAccount.name -}}
{{- end -}}

{{/* The Deployment or Job of the JobManager. */}}
{{- define "flink-application.jobManager" -}}
{{- printf "%s-jobmanager" (include "flink-application.name" .) -}}
{{- end -}}

{{/* drey's own objects; empty for the ones that are not wanted ("none"). */}}
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

{{- define "flink-application.labels" -}}
app.kubernetes.io/name: flink-application
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end -}}

{{/*
The ConfigMaps of Flink's high availability, as a YAML list. The n-th job id is made as drey makes it: the first 32 hex
digits of sha256("NAMESPACE/APPLICATION/SALT/n").
*/}}
{{- define "flink-application.haConfigMaps" -}}
{{- $cluster := include "flink-application.clusterId" . -}}
{{- $ids := printf "%s/%s/%s" .Release.Namespace (include "flink-application.name" .) .Values.drey.kubernetes.salt -}}
- {{ $cluster }}-cluster-config-map
{{- range $n := until (int .Values.drey.kubernetes.launches) }}
- {{ $cluster }}-{{ printf "%s/%d" $ids $n | sha256sum | trunc 32 }}-config-map
{{- end }}
{{- end -}}
