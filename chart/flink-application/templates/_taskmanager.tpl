{{/* ---- TaskManagers: pools, the objects of each, and their Pods ---- */}}

{{/*
The pools as JSON, a list of {name, fullName, at, values, templates}: first the unnamed one, which taskManager describes, then
those of taskManager.pools, whose values replace those of taskManager. `at` is the key of the values.
*/}}
{{- define "flink-application.pools" -}}
{{- $own := omit .Values.taskManager "pools" "podTemplate" -}}
{{- $name := include "flink-application.taskManager" . -}}
{{- $template := dict "at" "taskManager.podTemplate" "over" .Values.taskManager.podTemplate -}}
{{- $pools := list (dict "name" "" "fullName" $name "at" "taskManager" "values" $own "templates" (list $template)) -}}
{{- range .Values.taskManager.pools -}}
{{- $values := deepCopy $own -}}
{{- range $key, $value := omit . "podTemplate" "name" }}{{ $_ := set $values $key $value }}{{ end -}}
{{- $at := printf "taskManager.pools[name=%s]" .name -}}
{{- $templates := list $template -}}
{{- with .podTemplate }}{{ $templates = append $templates (dict "at" (printf "%s.podTemplate" $at) "over" .) }}{{ end -}}
{{- $pools = append $pools (dict "name" .name "fullName" (printf "%s-%s" $name .name) "at" $at "values" $values "templates" $templates) -}}
{{- end -}}
{{- toJson $pools -}}
{{- end -}}

{{/* The name of the n-th StatefulSet of a pool: (list POOL N). */}}
{{- define "flink-application.setName" -}}
{{- printf "%s-%d" (index . 0).fullName (int (index . 1)) -}}
{{- end -}}

{{/* All objects of the TaskManagers as JSON, a list of {kind, name}. */}}
{{- define "flink-application.taskManagerObjects" -}}
{{- $kind := .Values.taskManager.kind -}}
{{- $objects := list -}}
{{- range $pool := include "flink-application.pools" . | fromJsonArray -}}
{{- if eq $kind "StatefulSet" -}}
{{- range $n := until (int .values.replicas) }}{{ $objects = append $objects (dict "kind" $kind "name" (include "flink-application.setName" (list $pool $n))) }}{{ end -}}
{{- else -}}
{{- $objects = append $objects (dict "kind" $kind "name" .fullName) -}}
{{- end -}}
{{- end -}}
{{- toJson $objects -}}
{{- end -}}

{{/* The Pod: (merge POOL (dict "root" CONTEXT "labels" MAP "set" BOOL)). */}}
{{- define "flink-application.taskManagerPod" -}}
{{- $chart := include "flink-application.taskManagerOwnPod" . -}}
{{- $pod := $chart -}}
{{- $grace := add (include "flink-application.awaitStopSeconds" .root) 30 -}}
{{- $main := dict "main" "taskmanager" "env" .values.env "grace" $grace "memory" .values.memoryMiB -}}
{{- range .templates }}{{ $pod = include "flink-application.merged" (merge (dict "pod" $pod "chart" $chart) . $main) }}{{ end -}}
{{- $pod -}}
{{- end -}}

{{/* What runs in it, with what differs between pools. */}}
{{- define "flink-application.taskManagerCommand" -}}
{{- $of := . -}}
{{- with .root -}}
- "{{ .Values.flink.home }}/bin/taskmanager.sh"
- start-foreground
- -D
- taskmanager.host=$(POD_IP)
{{- if ne (int $of.values.slots) (int .Values.taskManager.slots) }}
- -D
- taskmanager.numberOfTaskSlots={{ $of.values.slots }}
{{- end }}
{{- if ne (int $of.values.memoryMiB) (int .Values.taskManager.memoryMiB) }}
- -D
- taskmanager.memory.process.size={{ $of.values.memoryMiB }}m
{{- end }}
{{- end -}}
{{- end -}}

{{/* ---- volumes for local recovery ---- */}}

{{- define "flink-application.localDirectory" -}}
/flink/local
{{- end -}}

{{/* What runs first, with the id of the TaskManager: the rest of a list of words, or nothing. */}}
{{- define "flink-application.localScript" -}}
{{- if .Values.taskManager.localRecovery.enabled -}}
, bash, /etc/drey/local.sh, {{ include "flink-application.localDirectory" . }}, {{ if .Values.highAvailability.enabled }}{{ include "flink-application.generation" . }}-{{ end }}$(POD_NAME)
{{- end -}}
{{- end -}}

{{/* The spec of a claim. */}}
{{- define "flink-application.localClaim" -}}
{{- with .Values.taskManager.localRecovery -}}
accessModes: [ReadWriteOnce]
{{- with .storageClass }}
storageClassName: {{ . | quote }}
{{- end }}
resources:
  requests:
    storage: {{ .size | quote }}
{{- end -}}
{{- end -}}

{{/* ---- what does not go together ---- */}}

{{- define "flink-application.canHaveSets" -}}
{{- $seen := list -}}
{{- range $n, $pool := .Values.taskManager.pools -}}
{{- if has .name $seen }}{{ fail (printf "taskManager.pools[%d].name: '%s' is there twice" $n .name) }}{{ end -}}
{{- $seen = append $seen .name -}}
{{- end -}}
{{- if eq .Values.taskManager.kind "StatefulSet" -}}
{{- if include "flink-application.surge" . }}
{{- fail (printf "upgrade.strategy: it is %s, but taskManager.kind is StatefulSet, of which Kubernetes starts a new Pod only after the old one has ended, but the TaskManagers of both versions run at the same time; set it to recreate, or taskManager.kind to Deployment" .Values.upgrade.strategy) }}
{{- end }}
{{- range include "flink-application.pools" . | fromJsonArray -}}
{{- if kindIs "invalid" .values.replicas }}
{{- fail (printf "%s.replicas: it is null, but taskManager.kind is StatefulSet, of which the chart makes one for each TaskManager; set a number" .at) }}
{{- end }}
{{- if gt (len (printf "%s-%d" .fullName (max 0 (sub (int .values.replicas) 1)))) 52 }}
{{- fail (printf "taskManager.kind: it is StatefulSet, whose names Kubernetes puts into labels, and %s-%d has more than 52 characters; set a shorter application" .fullName (max 0 (sub (int .values.replicas) 1))) }}
{{- end }}
{{- if $.Release.IsUpgrade -}}
{{- with lookup "apps/v1" "StatefulSet" $.Release.Namespace (printf "%s-0" .fullName) -}}
{{- $old := dict -}}
{{- range .spec.volumeClaimTemplates }}{{ $old = dict "size" .spec.resources.requests.storage "storageClass" (default "" .spec.storageClassName) }}{{ end -}}
{{- $new := ternary (pick $.Values.taskManager.localRecovery "size" "storageClass") dict $.Values.taskManager.localRecovery.enabled -}}
{{- if ne (toJson $old) (toJson $new) }}
{{- fail (printf "taskManager.localRecovery: the volumes of a StatefulSet cannot be changed; delete the StatefulSets first, the job waits for the new ones: kubectl --namespace %s delete statefulset --selector %s" $.Release.Namespace (printf "app.kubernetes.io/instance=%s,app.kubernetes.io/component=taskmanager" $.Release.Name)) }}
{{- end }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* ---- the Pod ---- */}}

{{- define "flink-application.taskManagerOwnPod" -}}
{{- $of := . -}}
{{- $values := .values -}}
{{- with .root -}}
metadata:
  labels:
    {{- include "flink-application.podLabels" (list . "taskmanager" $values.podLabels $of.labels) | nindent 4 }}
    {{- if include "flink-application.surge" . }}
    drey.dev/generation: {{ include "flink-application.generation" . | quote }}
    {{- end }}
  annotations:
    checksum/flink: {{ include "flink-application.flinkConfiguration" . | sha256sum | trunc 16 | quote }}
    {{- if .Values.highAvailability.enabled }}
    drey.dev/generation: {{ include "flink-application.generation" . | quote }}
    {{- end }}
    {{- if include "flink-application.surge" . }}
    {{- include "flink-application.configAnnotation" . | nindent 4 }}
    {{- end }}
    {{- with mergeOverwrite (deepCopy .Values.commonAnnotations) (deepCopy $values.podAnnotations) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "flink-application.accountOf" (list . "taskManager" "taskmanager") }}
  # only for Flink's HA, to find the leader
  automountServiceAccountToken: {{ .Values.highAvailability.enabled }}
  enableServiceLinks: false
  # longer than preStop waits
  terminationGracePeriodSeconds: {{ add (include "flink-application.awaitStopSeconds" .) 30 }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- with include "flink-application.pullSecrets" . }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- with include "flink-application.configurationContainer" (list . "flink-chart") }}
  initContainers:
  {{- . | nindent 2 }}
  {{- end }}
  containers:
  - name: taskmanager
    image: {{ include "flink-application.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    {{- if .Values.highAvailability.enabled }}
    # starts Flink when drey of the same generation says on which side, with its cluster id and a resource id
    command: [drey-init, --remap, "143", --{{ include "flink-application.localScript" . }}, drey, join]
    args:
    {{- include "flink-application.joinOptions" . | nindent 4 }}
    - --
    {{- include "flink-application.taskManagerCommand" $of | nindent 4 }}
    {{- else }}
    command: [drey-init, --remap, "143", --{{ include "flink-application.localScript" . }}]
    args:
    {{- include "flink-application.taskManagerCommand" $of | nindent 4 }}
    - -D
    - taskmanager.resource-id=$(POD_NAME)
    {{- end }}
    env:
    {{- include "flink-application.podEnv" . | nindent 4 }}
    - {name: DREY_GRACE_SECONDS, value: "30"}
    {{- include "flink-application.flinkEnv" . | nindent 4 }}
    {{- if .Values.flink.jemalloc }}
    - {name: LD_PRELOAD, value: "/usr/$LIB/libjemalloc.so"}
    {{- end }}
    {{- with include "flink-application.storageEnv" . }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with $values.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with $values.envFrom }}
    envFrom:
    {{- toYaml . | nindent 4 }}
    {{- end }}
    lifecycle:
      preStop:
        exec:
          command:
          - bash
          - /etc/drey/await-stop.sh
          - {{ include "flink-application.jobManager" . }}
          - {{ include "flink-application.httpPort" . | quote }}
          - {{ include "flink-application.awaitStopSeconds" . | quote }}
          {{- if .Values.highAvailability.enabled }}
          - {{ include "flink-application.generation" . | quote }}
          {{- end }}
          {{- if include "flink-application.lateTaskManagers" . }}
          - late
          {{- end }}
    ports:
    - {name: data, containerPort: 6121}
    - {name: rpc, containerPort: 6122}
    - {name: query, containerPort: 6125}
    {{- if .Values.monitoring.flinkMetrics }}
    - {name: metrics, containerPort: 9249}
    {{- end }}
    {{- if .Values.highAvailability.enabled }}
    # waiting for a JobManager is alive, too
    livenessProbe:
      exec: {command: [bash, /etc/drey/alive.sh, "6122"]}
      periodSeconds: 20
      timeoutSeconds: 5
      # do not restart because of a busy node
      failureThreshold: 30
    {{- else }}
    startupProbe:
      tcpSocket: {port: rpc}
      periodSeconds: 2
      # do not restart because of a busy node
      failureThreshold: 300
    livenessProbe:
      tcpSocket: {port: rpc}
      periodSeconds: 20
      timeoutSeconds: 5
      failureThreshold: 6
    {{- end }}
    {{- if include "flink-application.earlyTaskManagers" . }}
    # ready: the job of this generation runs, so the old TaskManagers can end
    readinessProbe:
      exec:
        command:
        - drey
        - join
        - --ready
        {{- include "flink-application.joinOptions" . | nindent 8 }}
      periodSeconds: 5
      timeoutSeconds: 10
      failureThreshold: 1
    {{- end }}
    resources:
      {{- include "flink-application.flinkResources" (list $values $values.memoryMiB (printf "%s.resources" $of.at)) | nindent 6 }}
    securityContext:
      {{- toYaml .Values.containerSecurityContext | nindent 6 }}
    volumeMounts:
    - {name: drey, mountPath: /etc/drey}
    {{- if .Values.taskManager.localRecovery.enabled }}
    - {name: local, mountPath: {{ include "flink-application.localDirectory" . }}}
    {{- end }}
    {{- include "flink-application.flinkMounts" . | nindent 4 }}
    {{- with $values.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
  - name: drey
    configMap: {name: {{ include "flink-application.name" . }}-drey, items: [{key: await-stop.sh, path: await-stop.sh}{{ if .Values.highAvailability.enabled }}, {key: alive.sh, path: alive.sh}{{ end }}{{ if .Values.taskManager.localRecovery.enabled }}, {key: local.sh, path: local.sh}{{ end }}]}
  {{- if and .Values.taskManager.localRecovery.enabled (not $of.set) }}
  - name: local
    {{- if .Values.taskManager.localRecovery.storageClass }}
    ephemeral:
      volumeClaimTemplate:
        spec:
          {{- include "flink-application.localClaim" . | nindent 10 }}
    {{- else }}
    emptyDir: {sizeLimit: {{ .Values.taskManager.localRecovery.size | quote }}}
    {{- end }}
  {{- end }}
  {{- include "flink-application.flinkVolumes" (list . $values.tmpSize) | nindent 2 }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- include "flink-application.placement" $values | nindent 2 }}
{{- end -}}
{{- end -}}
