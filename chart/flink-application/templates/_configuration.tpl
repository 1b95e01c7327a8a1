{{/* ---- Flink's config.yaml, for the JobManager and the TaskManagers ---- */}}

{{/* The JVM options that Flink needs since Java 11: they are in Flink's own config.yaml, which ours replaces. */}}
{{- define "flink-application.jvmOptions" -}}
-XX:+IgnoreUnrecognizedVMOptions
{{- range list "java.base/sun.net.util" "java.management/sun.management" "java.rmi/sun.rmi.registry" "java.security.jgss/sun.security.krb5" "jdk.compiler/com.sun.tools.javac.api" "jdk.compiler/com.sun.tools.javac.file" "jdk.compiler/com.sun.tools.javac.parser" "jdk.compiler/com.sun.tools.javac.tree" "jdk.compiler/com.sun.tools.javac.util" }} --add-exports={{ . }}=ALL-UNNAMED{{ end }}
{{- range list "java.lang" "java.net" "java.io" "java.nio" "sun.nio.ch" "java.lang.reflect" "java.text" "java.time" "java.util" "java.util.concurrent" "java.util.concurrent.atomic" "java.util.concurrent.locks" }} --add-opens=java.base/{{ . }}=ALL-UNNAMED{{ end }}
{{- end -}}

{{/* Ports are fixed, so that a NetworkPolicy can name them: Flink would choose some at random. */}}
{{- define "flink-application.flinkDefaults" -}}
jobmanager.rpc.address: {{ include "flink-application.jobManager" . }}
jobmanager.rpc.port: 6123
jobmanager.bind-host: {{ include "flink-application.anyAddress" . | quote }}
jobmanager.memory.process.size: {{ .Values.jobManager.memoryMiB }}m
blob.server.port: 6124
rest.bind-address: {{ include "flink-application.anyAddress" . | quote }}
taskmanager.bind-host: {{ include "flink-application.anyAddress" . | quote }}
taskmanager.rpc.port: 6122
taskmanager.data.port: 6121
taskmanager.numberOfTaskSlots: {{ .Values.taskManager.slots }}
taskmanager.memory.process.size: {{ .Values.taskManager.memoryMiB }}m
metrics.internal.query-service.port: 6125
parallelism.default: {{ .Values.job.parallelism }}
{{- if .Values.job.jars }}
# Flink copies them; its default is in the image, which is read-only
user.artifacts.base-dir: /tmp/artifacts
{{- end }}
execution.checkpointing.interval: 60 s
env.java.opts.all: {{ printf "%s %s" (include "flink-application.jvmOptions" .) .Values.flink.javaOptions | trim | quote }}
{{- if .Values.highAvailability.enabled }}
high-availability.type: kubernetes
high-availability.storageDir: {{ printf "%s/ha" (include "flink-application.stateUri" .) | quote }}
high-availability.cluster-id: {{ include "flink-application.clusterId" . | quote }}
high-availability.jobmanager.port: 6123
kubernetes.cluster-id: {{ include "flink-application.clusterId" . | quote }}
kubernetes.namespace: {{ .Release.Namespace | quote }}
# how often it is noticed that a TaskManager refuses connections; one that does not answer has heartbeat.timeout, as ever
heartbeat.interval: 3 s
{{- else }}
# a TaskManager is not informed of a restarted JobManager: it has to detect that soon
heartbeat.timeout: 5 s
cluster.registration.error-delay: 500 ms
taskmanager.registration.timeout: 30 s
# how long it keeps the slots of a job whose JobManager is gone
taskmanager.slot.timeout: 2 s
{{- end }}
{{- if .Values.taskManager.localRecovery.enabled }}
process.taskmanager.working-dir: {{ include "flink-application.localDirectory" . }}
# on the same volume, where a copy of its files is a link
state.backend.rocksdb.localdir: {{ include "flink-application.localDirectory" . }}/rocksdb
{{- if hasPrefix "1.19" .Values.flink.version }}
state.backend.local-recovery: true
{{- else }}
execution.checkpointing.local-backup.enabled: true
execution.state-recovery.from-local: true
{{- end }}
{{- end }}
{{- with .Values.s3 }}
{{- if .endpoint }}
s3.endpoint: {{ .endpoint | quote }}
{{- end }}
{{- if .region }}
s3.endpoint.region: {{ .region | quote }}
{{- end }}
{{- if .pathStyle }}
s3.path.style.access: true
{{- end }}
{{- end }}
{{- if .Values.monitoring.flinkMetrics }}
metrics.reporters: prom
metrics.reporter.prom.factory.class: org.apache.flink.metrics.prometheus.PrometheusReporterFactory
metrics.reporter.prom.port: 9249
{{- end }}
{{- end -}}

{{/* Flink's own default for a job with checkpoints, but with a first pause of 0.1 s instead of 1 s; Flink reads that only where
the type is set, too. Without checkpoints the type would make a job start again, empty, that Flink lets fail. */}}
{{- define "flink-application.restartDefaults" -}}
restart-strategy.type: exponential-delay
restart-strategy.exponential-delay.initial-backoff: 100 ms
{{- end -}}

{{- define "flink-application.flinkConfiguration" -}}
{{- $configuration := mergeOverwrite (include "flink-application.flinkDefaults" . | fromYaml) (deepCopy .Values.flink.configuration) -}}
{{- $interval := index $configuration "execution.checkpointing.interval" | default "0" | toString -}}
{{- $own := regexMatch "^0+([^0-9]|$)" $interval -}}
{{- range $key, $_ := .Values.flink.configuration }}{{ $own = or $own (hasPrefix "restart-strategy" $key) }}{{ end -}}
{{- if not $own }}{{ $configuration = merge $configuration (include "flink-application.restartDefaults" . | fromYaml) }}{{ end -}}
{{- toYaml $configuration -}}
{{- end -}}

{{/* Is Flink's REST API behind TLS? As Flink reads it. */}}
{{- define "flink-application.restTls" -}}
{{- $of := .Values.flink.configuration -}}
{{- if eq (get $of "security.ssl.rest.enabled" | default (get $of "security.ssl.enabled") | toString) "true" }}true{{ end -}}
{{- end -}}

{{/* Identifies the job. A different one means an upgrade: it does not depend on labels, replicas or drey's own
settings. */}}
{{- define "flink-application.generation" -}}
{{- $of := list (include "flink-application.image" .) .Values.job (include "flink-application.flinkConfiguration" .) -}}
{{- with .Values.flink.configurationFrom }}{{ $of = append $of . }}{{ end -}}
{{- with .Values.flink.secretVolumes }}{{ $of = append $of . }}{{ end -}}
{{- $of | toJson | sha256sum | trunc 16 -}}
{{- end -}}

{{/* ---- drey.yaml ---- */}}

{{- define "flink-application.dreyDefaults" -}}
application: {{ include "flink-application.name" . | quote }}
generation: {{ include "flink-application.generation" . | quote }}
stateDirectory: /var/lib/drey
{{- if eq .Values.jobManager.kind "Job" }}
whenFinished: exit
{{- end }}
flink:
  command: ["{{ .Values.flink.home }}/bin/standalone-job.sh", start-foreground]
  configDirectory: {{ .Values.flink.home }}/conf
  {{- if .Values.jobManager.spare.enabled }}
  spare: warm
  {{- end }}
  {{- with .Values.flink.version }}
  version: {{ . | quote }}
  {{- end }}
  {{- if eq .Values.flink.unknownVersion "allow" }}
  unknownVersion: allow
  {{- else if and .Values.flink.version (not (regexMatch "^(1\\.(19|20)|2\\.[0-4])(\\.|$)" .Values.flink.version)) }}
  {{- fail (printf "flink.version: drey does not know the line of Flink %s, but 1.19, 1.20 and 2.0 to 2.4; use a newer drey and chart, or set flink.unknownVersion to allow" .Values.flink.version) }}
  {{- end }}
  {{- with .Values.job.class }}
  jobClass: {{ . | quote }}
  {{- end }}
  {{- with .Values.job.jars }}
  jars: {{ toJson . }}
  {{- end }}
  {{- with .Values.job.args }}
  arguments: {{ toJson . }}
  {{- end }}
  # a name could resolve to a deleted Pod, for as long as it is cached
  rpcAddress: {{ ternary "pod" (include "flink-application.jobManager" .) .Values.highAvailability.enabled }}
  checkpointDirectory: {{ printf "%s/checkpoints" (include "flink-application.stateUri" .) | quote }}
  savepointDirectory: {{ printf "%s/savepoints" (include "flink-application.stateUri" .) | quote }}
  resultStoreDirectory: {{ printf "%s/results" (include "flink-application.stateUri" .) | quote }}
  {{- if .Values.flink.jemalloc }}
  # the loader replaces $LIB by the directory of this machine's architecture
  environment: {LD_PRELOAD: "/usr/$LIB/libjemalloc.so"}
  {{- end }}
{{- if include "flink-application.control" . }}
control:
  directory: /etc/drey-control
{{- end }}
{{- with include "flink-application.handover" . }}
handover:
  {{- . | nindent 2 }}
{{- end }}
kubernetes:
  enabled: "true"
  # part of the command in the message of drey if tasks are not running
  taskManagers: app.kubernetes.io/instance={{ .Release.Name }},app.kubernetes.io/component=taskmanager
  # explicit, because the Pods of the CronJob have no owner
  {{- with include "flink-application.scaleWhen" . }}
  {{- $objects := include "flink-application.taskManagerObjects" $ | fromJsonArray }}
  {{- if and (eq (len $objects) 1) (eq $.Values.taskManager.kind "Deployment") }}
  scale: {{ include "flink-application.taskManager" $ }}
  {{- else }}
  scale: {{ toJson $objects }}
  {{- end }}
  scaleWhen: {{ . }}
  {{- if not (kindIs "invalid" $.Values.ttlAfterFinished) }}
  scaleFinishedAfter: {{ $.Values.ttlAfterFinished }}s
  {{- end }}
  {{- end }}
  owner: {{ ternary "job" "deployment" (eq .Values.jobManager.kind "Job") }}/{{ include "flink-application.jobManager" . }}
{{- if eq (include "flink-application.anyAddress" .) "::" }}
http: {address: "::"}
{{- end }}
{{- end -}}

{{/* Empty values mean "not set" in the chart; drey.yaml does not allow them. */}}
{{- define "flink-application.dreyYaml" -}}
{{- $own := deepCopy .Values.drey -}}
{{- range $key, $value := .Values.drey.kubernetes }}
{{- if and (kindIs "string" $value) (eq $value "") }}{{ $_ := unset $own.kubernetes $key }}{{ end -}}
{{- end -}}
{{- /* an image of 0.2.0 does not know the key */ -}}
{{- if not (include "flink-application.makesMaps" .) }}{{ $_ := unset $own.kubernetes "createMaps" }}{{ end -}}
{{- mergeOverwrite (include "flink-application.dreyDefaults" . | fromYaml) $own | toYaml -}}
{{- end -}}
