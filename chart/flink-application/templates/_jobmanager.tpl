{{/* Refuses an upgrade that Kubernetes would refuse in the middle, or that would leave two JobManagers for a while. Without
access to the cluster (helm template) it finds nothing. */}}
{{- define "flink-application.canBeChanged" -}}
{{- if .Release.IsUpgrade -}}
{{- $name := include "flink-application.jobManager" . -}}
{{- $delete := printf "kubectl --namespace %s delete %%s %s --cascade=foreground --wait" .Release.Namespace $name -}}
{{- $job := lookup "batch/v1" "Job" .Release.Namespace $name -}}
{{- if and (eq .Values.jobManager.kind "Deployment") $job }}
{{- fail (printf "jobManager.kind: it is Deployment, but the JobManager is still a Job; delete it first: %s" (printf $delete "job")) }}
{{- else if eq .Values.jobManager.kind "Job" }}
{{- if lookup "apps/v1" "Deployment" .Release.Namespace $name }}
{{- fail (printf "jobManager.kind: it is Job, but the JobManager is still a Deployment; delete it first: %s" (printf $delete "deployment")) }}
{{- end }}
{{- with $job }}
{{- $new := include "flink-application.jobManagerPod" $ | fromYaml }}
{{- if or .metadata.deletionTimestamp (ne (toJson .spec.template.metadata.annotations) (toJson $new.metadata.annotations)) }}
{{- fail (printf "jobManager.kind: it is Job, and a Job cannot be changed; delete it first: %s" (printf $delete "job")) }}
{{- end }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* What runs in its container: Flink, drey, and the spare JVM, beside which Flink must not have less. */}}
{{- define "flink-application.jobManagerMiB" -}}
{{- with .Values.jobManager -}}
{{- add .memoryMiB .dreyMemoryMiB (ternary .spare.memoryMiB 0 .spare.enabled) -}}
{{- end -}}
{{- end -}}

{{/* The Pod of the JobManager, the same in a Deployment and in a Job. */}}
{{- define "flink-application.jobManagerPod" -}}
{{- $ends := eq .Values.jobManager.kind "Job" -}}
{{- include "flink-application.merged" (dict "pod" (include "flink-application.jobManagerOwnPod" .) "over" .Values.jobManager.podTemplate "at" "jobManager.podTemplate" "main" "jobmanager" "env" .Values.jobManager.env "grace" .Values.jobManager.terminationGracePeriodSeconds "memory" (include "flink-application.jobManagerMiB" . | int64) "ends" $ends) -}}
{{- end -}}

{{- define "flink-application.jobManagerOwnPod" -}}
metadata:
  labels:
    {{- include "flink-application.podLabels" (list . "jobmanager" .Values.jobManager.podLabels) | nindent 4 }}
    {{- if include "flink-application.surge" . }}
    # for the Service of the new version
    drey.dev/generation: {{ include "flink-application.generation" . | quote }}
    {{- end }}
  annotations:
    # if it differs from that of the running Pod, this is an upgrade
    drey.dev/generation: {{ include "flink-application.generation" . | quote }}
    # read once at the start; what is reread at runtime (control, log4j) is not part of it
    checksum/drey: {{ include "flink-application.dreyYaml" . | sha256sum | trunc 16 | quote }}
    {{- if include "flink-application.surge" . }}
    # with two versions of the Pod, each needs its own configuration, also when it is replaced
    drey.dev/drey-yaml: |
      {{- include "flink-application.dreyYaml" . | nindent 6 }}
    {{- include "flink-application.configAnnotation" . | nindent 4 }}
    {{- end }}
    {{- with mergeOverwrite (deepCopy .Values.commonAnnotations) (deepCopy .Values.jobManager.podAnnotations) }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "flink-application.serviceAccount" . }}
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ .Values.jobManager.terminationGracePeriodSeconds }}
  {{- if eq .Values.jobManager.kind "Job" }}
  restartPolicy: Never
  {{- end }}
  securityContext:
    {{- toYaml .Values.podSecurityContext | nindent 4 }}
  {{- with include "flink-application.pullSecrets" . }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- $makes := and .Values.persistentVolumeClaim.enabled (hasPrefix "file:" .Values.state.uri) }}
  {{- if or $makes .Values.flink.configurationFrom }}
  initContainers:
  {{- end }}
  {{- with include "flink-application.configurationContainer" (list . "flink-chart") }}
  {{- . | nindent 2 }}
  {{- end }}
  {{- if $makes }}
  {{- $directory := include "flink-application.stateUri" . | trimPrefix "file://" | trimPrefix "file:" }}
  # to drey a missing directory means that the volume is not mounted; on a new volume it is only not created yet
  - name: directories
    image: {{ include "flink-application.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [mkdir, -p, "{{ $directory }}/checkpoints", "{{ $directory }}/savepoints"]
    resources:
      {{- include "flink-application.jobResources" . | nindent 6 }}
    securityContext:
      {{- toYaml .Values.containerSecurityContext | nindent 6 }}
    volumeMounts:
    - {name: state, mountPath: {{ .Values.persistentVolumeClaim.mountPath | quote }}}
  {{- end }}
  containers:
  - name: jobmanager
    image: {{ include "flink-application.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    command: [drey-init, --agent, --, drey, run, --config, /etc/drey/drey.yaml]
    env:
    {{- include "flink-application.podEnv" . | nindent 4 }}
    - name: NODE_NAME
      valueFrom: {fieldRef: {fieldPath: spec.nodeName}}
    {{- if .Values.highAvailability.enabled }}
    {{- include "flink-application.templateEnv" . | nindent 4 }}
    {{- end }}
    - {name: DREY_GRACE_SECONDS, value: {{ .Values.jobManager.terminationGracePeriodSeconds | quote }}}
    {{- include "flink-application.flinkEnv" . | nindent 4 }}
    {{- with include "flink-application.storageEnv" . }}
    {{- . | nindent 4 }}
    {{- end }}
    {{- with .Values.jobManager.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .Values.jobManager.envFrom }}
    envFrom:
    {{- toYaml . | nindent 4 }}
    {{- end }}
    ports:
    - {name: rpc, containerPort: 6123}
    - {name: blob, containerPort: 6124}
    - {name: rest, containerPort: 8081}
    - {name: drey, containerPort: {{ include "flink-application.httpPort" . }}}
    {{- if .Values.monitoring.flinkMetrics }}
    - {name: metrics, containerPort: 9249}
    {{- end }}
    startupProbe:
      httpGet: {path: /livez, port: drey}
      periodSeconds: 2
      failureThreshold: 60
    # checks drey, never Flink or the job: drey supervises those
    livenessProbe:
      httpGet: {path: /livez, port: drey}
      periodSeconds: 10
      timeoutSeconds: 5
      failureThreshold: 6
    # ready: the job runs
    readinessProbe:
      httpGet: {path: /readyz, port: drey}
      {{- if include "flink-application.surge" . }}
      periodSeconds: 1
      timeoutSeconds: 5
      # at the hand-over the drey of the old Pod begins anew, as reserve: for a moment nobody answers
      failureThreshold: 5
      {{- else }}
      periodSeconds: 5
      timeoutSeconds: 5
      failureThreshold: 1
      {{- end }}
    resources:
      {{- include "flink-application.flinkResources" (list .Values.jobManager (include "flink-application.jobManagerMiB" . | int64) "jobManager.resources") | nindent 6 }}
    securityContext:
      {{- toYaml .Values.containerSecurityContext | nindent 6 }}
    volumeMounts:
    {{- if include "flink-application.surge" . }}
    # subPath: an annotation that somebody changes on a living Pod changes nothing
    - {name: drey, mountPath: /etc/drey/drey.yaml, subPath: drey.yaml}
    {{- else }}
    - {name: drey, mountPath: /etc/drey}
    {{- end }}
    {{- if include "flink-application.control" . }}
    - {name: control, mountPath: /etc/drey-control}
    {{- end }}
    - {name: run, mountPath: /var/lib/drey}
    {{- include "flink-application.flinkMounts" . | nindent 4 }}
    {{- with .Values.jobManager.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
  - name: drey
    {{- if include "flink-application.surge" . }}
    downwardAPI:
      items:
      - {path: drey.yaml, fieldRef: {fieldPath: "metadata.annotations['drey.dev/drey-yaml']"}}
    {{- else }}
    configMap: {name: {{ include "flink-application.name" . }}-drey}
    {{- end }}
  {{- with include "flink-application.control" . }}
  # optional: a deleted ConfigMap requests nothing
  - name: control
    configMap: {name: {{ . }}, optional: true}
  {{- end }}
  - name: run
    emptyDir: {medium: Memory, sizeLimit: 16Mi}
  {{- include "flink-application.flinkVolumes" (list . .Values.jobManager.tmpSize) | nindent 2 }}
  {{- with .Values.jobManager.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- include "flink-application.placement" .Values.jobManager | nindent 2 }}
{{- end -}}

{{- define "flink-application.configAnnotation" -}}
drey.dev/flink-config: |
  {{- include "flink-application.flinkConfiguration" . | nindent 2 }}
{{- end -}}

{{/* Flink's configuration where it is without what is in Secrets, these, and both together. */}}
{{- define "flink-application.configurationPath" -}}
/etc/flink-configuration
{{- end -}}

{{/* (list CONTEXT VOLUME): an init container, or nothing. */}}
{{- define "flink-application.configurationContainer" -}}
{{- $volume := index . 1 -}}
{{- with index . 0 -}}
{{- if .Values.flink.configurationFrom -}}
{{- $path := include "flink-application.configurationPath" . -}}
- name: configuration
  image: {{ include "flink-application.image" . | quote }}
  imagePullPolicy: {{ .Values.image.pullPolicy }}
  command: [sh, -c]
  args:
  - |
    {{- .Files.Get "files/configuration.sh" | nindent 4 }}
  - configuration.sh
  - {{ $path }}/chart
  - {{ $path }}/secrets
  - {{ $path }}/joined
  resources:
    {{- include "flink-application.jobResources" . | nindent 4 }}
  securityContext:
    {{- toYaml .Values.containerSecurityContext | nindent 4 }}
  terminationMessagePolicy: FallbackToLogsOnError
  volumeMounts:
  - {name: {{ $volume }}, mountPath: {{ $path }}/chart}
  - {name: flink-secrets, mountPath: {{ $path }}/secrets, readOnly: true}
  - {name: flink, mountPath: {{ $path }}/joined}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What the init container writes to, and where it finds the Secrets. */}}
{{- define "flink-application.configurationVolumes" -}}
{{- if .Values.flink.configurationFrom -}}
- name: flink
  emptyDir: {medium: Memory, sizeLimit: 4Mi}
- name: flink-secrets
  projected:
    sources:
    {{- range $key, $from := .Values.flink.configurationFrom }}
    - secret:
        name: {{ $from.secret | quote }}
        items: [{key: {{ $from.key | quote }}, path: {{ $key | quote }}}]
    {{- end }}
{{- end -}}
{{- end -}}

{{- define "flink-application.secretMounts" -}}
{{- range $n, $from := .Values.flink.secretVolumes }}
- {name: secret-{{ $n }}, mountPath: {{ $from.path | quote }}, readOnly: true}
{{- end }}
{{- end -}}

{{- define "flink-application.secretVolumes" -}}
{{- range $n, $from := .Values.flink.secretVolumes }}
- name: secret-{{ $n }}
  secret: {secretName: {{ $from.secret | quote }}}
{{- end }}
{{- end -}}

{{- define "flink-application.flinkMounts" -}}
- {name: flink, mountPath: "{{ .Values.flink.home }}/conf"{{ if .Values.flink.configurationFrom }}, readOnly: true{{ end }}}
{{- if .Values.flink.configurationFrom }}
# what is a link in there
- {name: flink-chart, mountPath: {{ include "flink-application.configurationPath" . }}/chart}
{{- end }}
{{- with include "flink-application.secretMounts" . | trim }}
{{ . }}
{{- end }}
- {name: log, mountPath: "{{ .Values.flink.home }}/log"}
- {name: tmp, mountPath: /tmp}
{{- if .Values.persistentVolumeClaim.enabled }}
- {name: state, mountPath: {{ .Values.persistentVolumeClaim.mountPath | quote }}}
{{- end }}
{{- end -}}

{{/* (list CONTEXT SIZE_OF_TMP) */}}
{{- define "flink-application.flinkVolumes" -}}
{{- $size := index . 1 -}}
{{- with index . 0 -}}
{{- with include "flink-application.configurationVolumes" . }}
{{- . }}
{{ end -}}
- name: {{ ternary "flink-chart" "flink" (not (empty .Values.flink.configurationFrom)) }}
  {{- if include "flink-application.surge" . }}
  projected:
    sources:
    - downwardAPI:
        items:
        - {path: config.yaml, fieldRef: {fieldPath: "metadata.annotations['drey.dev/flink-config']"}}
    # not part of a version: Flink rereads it
    - configMap:
        name: {{ include "flink-application.name" . }}-flink
        items:
        - {key: log4j-console.properties, path: log4j-console.properties}
  {{- else }}
  configMap: {name: {{ include "flink-application.name" . }}-flink}
  {{- end }}
{{- with include "flink-application.secretVolumes" . | trim }}
{{ . }}
{{- end }}
- name: log
  emptyDir: {sizeLimit: 256Mi}
- name: tmp
  emptyDir: {sizeLimit: {{ $size | quote }}}
{{- if .Values.persistentVolumeClaim.enabled }}
- name: state
  persistentVolumeClaim: {claimName: {{ include "flink-application.claim" . }}}
{{- end }}
{{- end -}}
{{- end -}}

{{/* For .Values.jobManager or .Values.taskManager. */}}
{{- define "flink-application.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 0 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 0 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- end -}}
