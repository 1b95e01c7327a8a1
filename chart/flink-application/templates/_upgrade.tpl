{{/* ---- surge and blueGreen: two versions of the Pods at the same time ---- */}}

{{/* "true" or nothing, for `if include`. */}}
{{- define "flink-application.surge" -}}
{{- if ne .Values.upgrade.strategy "recreate" }}true{{ end -}}
{{- end -}}

{{/* And the jobs of both run for a while. */}}
{{- define "flink-application.blueGreen" -}}
{{- if eq .Values.upgrade.strategy "blueGreen" }}true{{ end -}}
{{- end -}}

{{/* The ConfigMap of the gates of FLIP-504, which the TaskManagers read and write; nothing without such gates. */}}
{{- define "flink-application.flipConfigMap" -}}
{{- $blueGreen := default dict .Values.drey.blueGreen -}}
{{- if and (include "flink-application.blueGreen" .) (eq (toString (get $blueGreen "gate")) "flip") -}}
{{- get $blueGreen "configMap" | default (printf "%s-bluegreen" (include "flink-application.name" .)) -}}
{{- end -}}
{{- end -}}

{{/* New TaskManagers run beside the old ones. */}}
{{- define "flink-application.earlyTaskManagers" -}}
{{- if and (include "flink-application.surge" .) (eq .Values.upgrade.taskManagers "early") }}true{{ end -}}
{{- end -}}

{{- define "flink-application.lateTaskManagers" -}}
{{- if and (include "flink-application.surge" .) (eq .Values.upgrade.taskManagers "late") }}true{{ end -}}
{{- end -}}

{{/* How long a TaskManager that is to end waits for the last savepoint: as long as the JobManager has for it; and if it is to
end when the upgrade begins, for the preparation as well. */}}
{{- define "flink-application.awaitStopSeconds" -}}
{{- if include "flink-application.lateTaskManagers" . }}{{ .Values.jobManager.progressDeadlineSeconds }}{{ else }}{{ .Values.jobManager.terminationGracePeriodSeconds }}{{ end -}}
{{- end -}}

{{/* How `drey join` finds drey of its own version. */}}
{{- define "flink-application.joinOptions" -}}
- --service
- {{ include "flink-application.jobManager" . }}
- --port
- {{ include "flink-application.httpPort" . | quote }}
- --generation
- {{ include "flink-application.generation" . | quote }}
{{- end -}}

{{/* The cluster ids of both sides, as JSON: a version uses the one that the previous version does not use. Flink puts it into
labels, which have at most 63 characters; "null" where there is only one. */}}
{{- define "flink-application.clusterIds" -}}
{{- $blue := include "flink-application.clusterId" . -}}
{{- if and .Values.highAvailability.enabled (le (len $blue) 57) }}{{ list $blue (printf "%s-green" $blue) | toJson }}{{ else }}null{{ end -}}
{{- end -}}

{{- define "flink-application.candidate" -}}
{{- printf "%s-drey-candidate" (include "flink-application.name" .) -}}
{{- end -}}

{{- define "flink-application.handover" -}}
{{- if include "flink-application.surge" . }}
mode: {{ .Values.upgrade.strategy }}
{{- if include "flink-application.lateTaskManagers" . }}
{{- /* it has no TaskManagers that it could wait for before the hand-over */}}
hold: none
{{- end }}
candidate: {{ include "flink-application.candidate" . | quote }}
probation: {{ .Values.upgrade.probationSeconds }}s
stopDeadline: {{ .Values.jobManager.terminationGracePeriodSeconds }}s
{{- end }}
{{- with include "flink-application.clusterIds" . | fromJsonArray }}
# with every strategy: an application stays on the side that its last surge upgrade used
clusterIds: {{ toJson . }}
{{- end }}
{{- end -}}

{{/* Seconds of a duration of drey.yaml, rounded up. */}}
{{- define "flink-application.seconds" -}}
{{- $number := regexFind "^[0-9]+" (toString .) | int64 -}}
{{- $unit := regexFind "[a-z]*$" (toString .) -}}
{{- if eq $unit "ms" }}{{ div (add $number 999) 1000 }}{{ else }}{{ mul $number (get (dict "" 0 "s" 1 "m" 60 "min" 60 "h" 3600 "d" 86400) $unit) }}{{ end -}}
{{- end -}}

{{/* A hand-over that takes all of its time, in seconds: from the offer until the job runs. With blueGreen the new version's job
has to catch up, too. */}}
{{- define "flink-application.handoverSeconds" -}}
{{- $handover := merge (dict) (default dict .Values.drey.handover) (include "flink-application.handover" . | fromYaml) (dict "prepareDeadline" "5min" "takeDeadline" "15s" "runDeadline" "3min") -}}
{{- $sum := 0 -}}
{{- range list "prepareDeadline" "stopDeadline" "takeDeadline" "runDeadline" }}{{ $sum = add $sum (include "flink-application.seconds" (get $handover .) | int64) }}{{ end -}}
{{- if include "flink-application.blueGreen" . }}{{ $sum = add $sum (include "flink-application.seconds" (dig "deadline" "30min" (default dict .Values.drey.blueGreen)) | int64) }}{{ end -}}
{{- $sum -}}
{{- end -}}

{{/* The access modes of the volume: of one that exists already as the cluster says, if it can be asked. */}}
{{- define "flink-application.accessModes" -}}
{{- $modes := .Values.persistentVolumeClaim.accessModes -}}
{{- with .Values.persistentVolumeClaim.existing }}
{{- with lookup "v1" "PersistentVolumeClaim" $.Release.Namespace . }}{{ $modes = .spec.accessModes }}{{ end }}
{{- end -}}
{{- toJson $modes -}}
{{- end -}}

{{/* Refuses to scale the TaskManagers where others need them, where there are too many objects, or where their number could not
be recorded. */}}
{{- define "flink-application.canScale" -}}
{{- if include "flink-application.scaleWhen" . -}}
{{- $key := ternary "taskManager.whenParked: it is scaleToZero" (printf "ttlAfterFinished: it is %d" (int64 .Values.ttlAfterFinished)) (eq .Values.taskManager.whenParked "scaleToZero") -}}
{{- if include "flink-application.surge" . }}
{{- fail (printf "%s, but upgrade.strategy is %s, where a new version prepares itself with TaskManagers of its own, which the old one would scale to 0; remove it, or set upgrade.strategy to recreate" $key .Values.upgrade.strategy) }}
{{- end }}
{{- $count := include "flink-application.taskManagerObjects" . | fromJsonArray | len }}
{{- if gt $count 200 }}
{{- fail (printf "%s, but there are %d Deployments or StatefulSets of TaskManagers, and drey scales at most 200; remove it, or set taskManager.kind to Deployment" $key $count) }}
{{- end }}
{{- if not (include "flink-application.journal" .) }}
{{- fail (printf "%s, but drey.kubernetes.journal is none, so the number of TaskManagers could not be recorded; name a ConfigMap there, or remove it" $key) }}
{{- end }}
{{- end -}}
{{- end -}}

{{/* Refuses surge where two versions could not run at the same time, or where nothing would keep them apart. */}}
{{- define "flink-application.canSurge" -}}
{{- if include "flink-application.surge" . -}}
{{- if ne .Values.jobManager.kind "Deployment" }}
{{- fail (printf "jobManager.kind: it is Job, but upgrade.strategy is %s, and a Kubernetes Job never has Pods of two versions; set upgrade.strategy to recreate" .Values.upgrade.strategy) }}
{{- end }}
{{- if not .Values.highAvailability.enabled }}
{{- fail (printf "highAvailability.enabled: it is false, but upgrade.strategy is %s, and only Flink's high availability keeps two JobManagers and their TaskManagers apart; set it to true, or upgrade.strategy to recreate" .Values.upgrade.strategy) }}
{{- end }}
{{- if not (include "flink-application.journal" .) }}
{{- fail (printf "drey.kubernetes.journal: it is none, but upgrade.strategy is %s, and the new Pod cannot read a file of the old one; name a ConfigMap, or set upgrade.strategy to recreate" .Values.upgrade.strategy) }}
{{- end }}
{{- if not (int .Values.drey.kubernetes.launches) }}
{{- fail (printf "drey.kubernetes.launches: it is 0, but upgrade.strategy is %s, which needs job ids that the Role can name; set it to 200, or upgrade.strategy to recreate" .Values.upgrade.strategy) }}
{{- end }}
{{- if eq (include "flink-application.clusterIds" .) "null" }}
{{- fail (printf "clusterId: '%s' has more than 57 characters, but upgrade.strategy is %s, which needs a second cluster id that ends with -green; set upgrade.strategy to recreate" (include "flink-application.clusterId" .) .Values.upgrade.strategy) }}
{{- end }}
{{- if and .Values.persistentVolumeClaim.enabled (not (has "ReadWriteMany" (include "flink-application.accessModes" . | fromJsonArray))) (not .Values.upgrade.sameNode) }}
{{- fail (printf "persistentVolumeClaim.accessModes: without ReadWriteMany the volume can be used on one node only, but upgrade.strategy is %s, which starts new Pods beside the old ones; if all Pods run on one node, set upgrade.sameNode to true, else upgrade.strategy to recreate" .Values.upgrade.strategy) }}
{{- end }}
{{- $deadline := int64 .Values.jobManager.progressDeadlineSeconds }}
{{- $needed := include "flink-application.handoverSeconds" . | int64 }}
{{- if le $deadline $needed }}
{{- fail (printf "jobManager.progressDeadlineSeconds: it is %d, but a hand-over may take %d s: prepareDeadline, stopDeadline (jobManager.terminationGracePeriodSeconds), takeDeadline and runDeadline of drey.handover%s together; set it to more than that, or shorten those" $deadline $needed (ternary ", and drey.blueGreen.deadline," "" (eq .Values.upgrade.strategy "blueGreen"))) }}
{{- end }}
{{- if le $deadline (int64 .Values.upgrade.probationSeconds) }}
{{- fail (printf "upgrade.probationSeconds: it is %d, but jobManager.progressDeadlineSeconds is %d; set that to more" (int64 .Values.upgrade.probationSeconds) $deadline) }}
{{- end }}
{{- $green := last (include "flink-application.clusterIds" . | fromJsonArray) }}
{{- if lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-jobmanager" $green) }}
{{- fail (printf "upgrade.strategy: %s uses the cluster id %s too, but there is an application of that name, and its HA data would be the same; set upgrade.strategy to recreate" .Values.upgrade.strategy $green) }}
{{- end }}
{{- end -}}
{{- if and (include "flink-application.blueGreen" .) (ne .Values.upgrade.taskManagers "early") }}
{{- fail "upgrade.taskManagers: it is late, but upgrade.strategy is blueGreen, where the jobs of both versions run at the same time; set it to early" }}
{{- end }}
{{- if and (include "flink-application.blueGreen" .) (not (dig "sourcesCanBeReadTwice" false (default dict .Values.drey.blueGreen))) }}
{{- fail "drey.blueGreen.sourcesCanBeReadTwice: it is not true, but upgrade.strategy is blueGreen, where two jobs read all sources at the same time, which queues with competing consumers and replication slots do not allow; set it to true if yours do, or upgrade.strategy to surge" }}
{{- end }}
{{- if and (include "flink-application.flipConfigMap" .) (not (dig "gateName" "" (default dict .Values.drey.blueGreen))) }}
{{- fail "drey.blueGreen.gateName: it is not set, but drey.blueGreen.gate is flip, and drey could not tell how far the gate is; set it to the name of the gate's operator in the job" }}
{{- end }}
{{- $other := include "flink-application.clusterId" . }}
{{- if hasSuffix "-green" $other }}
{{- $other = trimSuffix "-green" $other }}
{{- with lookup "apps/v1" "Deployment" .Release.Namespace (printf "%s-jobmanager" $other) }}
{{- if eq .spec.strategy.type "RollingUpdate" }}
{{- fail (printf "clusterId: %s-green is also used by the application %s, whose upgrade.strategy is surge; set another one" $other $other) }}
{{- end }}
{{- end }}
{{- end -}}
{{- end -}}
