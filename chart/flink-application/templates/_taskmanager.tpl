{{/* ---- the Pod of a TaskManager ---- */}}

{{- define "flink-application.taskManagerPod" -}}
{{- include "flink-application.merged" (dict "pod" (include "flink-application.taskManagerOwnPod" .) "over" .Values.taskManager.podTemplate "at" "taskManager.podTemplate" "main" "taskmanager" "env" .Values.taskManager.env "grace" (add (include "flink-application.awaitStopSeconds" .) 30) "memory" .Values.taskManager.memoryMiB) -}}
{{- end -}}

{{- define "flink-application.taskManagerOwnPod" -}}
metadata:
  labels:
    {{- include "flink-application.podLabels" (list . "taskmanager" .Values.taskManager.podLabels) | nindent 4 }}
    {{- if include "flink-application.surge" . }}
    drey.dev/generation: {{ include "flink-application.generation" . | quote }}
    {{- end }}
  annotations:
    checksum/flink: {{ include "flink-application.flinkConfiguration" . | sha256sum | trunc 16 }}
    {{- if .Values.highAvailability.enabled }}
    drey.dev/generation: {{ include "flink-application.generation" . | quote }}
    {{- end }}
    {{- if include "flink-application.surge" . }}
    {{- include "flink-application.configAnnotation" . | nindent 4 }}
    {{- end }}
    {{- with mergeOverwrite (deepCopy .Values.commonAnnotations) (deepCopy .Values.taskManager.podAnnotations) }}
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
  containers:
  - name: taskmanager
    image: {{ include "flink-application.image" . | quote }}
    imagePullPolicy: {{ .Values.image.pullPolicy }}
    {{- if .Values.highAvailability.enabled }}
    # starts Flink when drey of the same generation says on which side, with its cluster id and a resource id
    command: [drey-init, --remap, "143", --, drey, join]
    args:
    {{- include "flink-application.joinOptions" . | nindent 4 }}
    - --
    - "{{ .Values.flink.home }}/bin/taskmanager.sh"
    - start-foreground
    - -D
    - taskmanager.host=$(POD_IP)
    {{- else }}
    command: [drey-init, --remap, "143", --, "{{ .Values.flink.home }}/bin/taskmanager.sh", start-foreground]
    args: [-D, taskmanager.host=$(POD_IP), -D, taskmanager.resource-id=$(POD_NAME)]
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
    {{- with .Values.taskManager.env }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    {{- with .Values.taskManager.envFrom }}
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
      {{- include "flink-application.flinkResources" (list .Values.taskManager .Values.taskManager.memoryMiB "taskManager.resources") | nindent 6 }}
    securityContext:
      {{- toYaml .Values.containerSecurityContext | nindent 6 }}
    volumeMounts:
    - {name: drey, mountPath: /etc/drey}
    {{- include "flink-application.flinkMounts" . | nindent 4 }}
    {{- with .Values.taskManager.extraVolumeMounts }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  volumes:
  - name: drey
    configMap: {name: {{ include "flink-application.name" . }}-drey, items: [{key: await-stop.sh, path: await-stop.sh}{{ if .Values.highAvailability.enabled }}, {key: alive.sh, path: alive.sh}{{ end }}]}
  {{- include "flink-application.flinkVolumes" (list . .Values.taskManager.tmpSize) | nindent 2 }}
  {{- with .Values.taskManager.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
  {{- include "flink-application.placement" .Values.taskManager | nindent 2 }}
{{- end -}}
