{{/*
Gives the values that an older chart did not have (helm upgrade --reuse-values) what values.yaml has for them; what is
there stays, `false` too. A test compares the defaults below with values.yaml. What is a whole is given whole.
*/}}
{{- define "devcontainer-builder.complete" -}}
{{- $defaults := include "devcontainer-builder.defaults" . | fromYaml -}}
{{- include "devcontainer-builder.add" (dict "to" .Values "defaults" $defaults) -}}
{{- end }}

{{- define "devcontainer-builder.add" -}}
{{- $wholes := list "podSecurityContext" "securityContext" "resources" -}}
{{- range $name, $default := .defaults -}}
{{- $value := get $.to $name -}}
{{- if or (not (hasKey $.to $name)) (kindIs "invalid" $value) -}}
{{- $_ := set $.to $name $default -}}
{{- else if and (kindIs "map" $default) (not (has $name $wholes)) -}}
{{- include "devcontainer-builder.add" (dict "to" $value "defaults" $default) -}}
{{- end -}}
{{- end -}}
{{- end }}

{{- define "devcontainer-builder.defaults" -}}
replicaCount: 1
terminationGracePeriodSeconds: 300
image: {repository: ghcr.io/coder-rs/devcontainer-builder, pullPolicy: IfNotPresent}
service: {port: 8080}
buildkit:
  tls: {}
  deploy:
    rootless: true
    image: {repository: docker.io/moby/buildkit, pullPolicy: IfNotPresent}
    storage: {}
buildkitBundled: {fullnameOverride: buildkit, service: {type: ClusterIP, port: 1234}}
build: {mode: auto, fallbackImage: "mcr.microsoft.com/devcontainers/base:ubuntu"}
git: {}
sshHostKeyPolicy: tofu
features: {}
jobs: {}
database: {existingSecretKey: url}
auth: {}
registryAuth: {existingSecretKey: .dockerconfigjson}
gitCredentials: {enabled: true}
registryMapping: {enabled: true}
networkPolicy: {}
serviceAccount: {automountServiceAccountToken: false}
podSecurityContext:
  {runAsNonRoot: true, runAsUser: 2000, runAsGroup: 2000, fsGroup: 2000, seccompProfile: {type: RuntimeDefault}}
securityContext:
  runAsNonRoot: true
  runAsUser: 2000
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: {drop: [ALL]}
  seccompProfile: {type: RuntimeDefault}
resources: {requests: {cpu: 250m, memory: 256Mi}, limits: {cpu: "1", memory: 1Gi}}
scratchVolume: {sizeLimit: 5Gi}
{{- end }}

{{/* The release's name, with the chart's unless it has that already. */}}
{{- define "devcontainer-builder.fullname" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) }}{{ $name = printf "%s-%s" $name .Chart.Name }}{{ end -}}
{{- $name | trunc 63 | trimSuffix "-" -}}
{{- end }}

{{/* What selects pods, and must never change. */}}
{{- define "devcontainer-builder.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "devcontainer-builder.labels" -}}
{{ include "devcontainer-builder.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "devcontainer-builder.buildkitSelector" -}}
app.kubernetes.io/name: buildkit
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{/* Docker's configuration with the credentials of the values. */}}
{{- define "devcontainer-builder.dockerConfig" -}}
{{- $auths := dict -}}
{{- range .registries -}}
{{- $auth := printf "%s:%s" .username .password | b64enc -}}
{{- $_ := set $auths .registry (dict "username" .username "password" .password "auth" $auth) -}}
{{- end -}}
{{- dict "auths" $auths | toJson -}}
{{- end }}

{{/* The service's settings file, from values that have the same names. What is empty is not set; a number may be 0. */}}
{{- define "devcontainer-builder.settings" -}}
{{- $values := . -}}
{{- $settings := dict "sshHostKeyPolicy" .sshHostKeyPolicy -}}
{{- with .insecureRegistries }}{{ $_ := set $settings "insecureRegistries" . }}{{ end -}}
{{- range $section := list "build" "features" "git" "jobs" -}}
{{- $known := dict -}}
{{- range $name, $value := get $values $section -}}
{{- if or $value (kindIs "float64" $value) }}{{ $_ := set $known $name (ternary (int64 $value) $value (kindIs "float64" $value)) }}{{ end -}}
{{- end -}}
{{- $_ := set $settings $section $known -}}
{{- end -}}
{{- if and .registryMapping.enabled .registryMapping.rules -}}
{{- $_ := set $settings "registryMapping" (dict "rules" .registryMapping.rules) -}}
{{- end -}}
{{- $_ := unset $settings.features "existingConfigMap" -}}
{{- $settings | toYaml -}}
{{- end }}
