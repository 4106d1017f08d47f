{{- define "keelson.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "keelson.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "keelson.labels" -}}
{{ include "keelson.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "keelson.secretVariable" -}}
- name: {{ .variable }}
  valueFrom:
    secretKeyRef: {name: {{ .reference.name | quote }}, key: {{ .reference.key | quote }}}
{{- end }}

{{- define "keelson.artifactsClaim" -}}
{{- .Values.artifacts.volume.existingClaim | default (printf "%s-artifacts" (include "keelson.name" .)) }}
{{- end }}

{{- define "keelson.serviceAccount" -}}
{{- if .Values.serviceAccount.name }}{{ .Values.serviceAccount.name }}{{ else if .Values.serviceAccount.annotations }}{{ include "keelson.name" . }}{{ end }}
{{- end }}
