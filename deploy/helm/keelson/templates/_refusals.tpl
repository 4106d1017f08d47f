{{/* Combinations of values that would start and lose data, or never be ready. */}}
{{- define "keelson.refusals" -}}
{{- $settings := .Values.settings }}
{{- $secrets := .Values.secretSettings }}
{{- $several := or (gt (int .Values.replicas) 1) (ne .Values.autoscaling.by "off") }}
{{- if and .Values.database.embedded $several }}
{{- fail "database.embedded is one server: set replicas: 1 and autoscaling.by: \"off\"" }}
{{- end }}
{{- if and .Values.database.embedded (eq .Values.artifacts.store "volume") }}
{{- fail "database.embedded keeps artifacts in its data volume: set artifacts.store: folder" }}
{{- end }}
{{- if and (not .Values.database.embedded) (eq .Values.artifacts.store "folder") }}
{{- fail "several servers need the same artifacts: set artifacts.store: volume or s3" }}
{{- end }}
{{- if and $several (eq .Values.artifacts.store "volume") (ne .Values.artifacts.volume.accessMode "ReadWriteMany") }}
{{- fail (printf "a volume with %s is mounted by one node or pod, so further servers never start: set artifacts.volume.accessMode: ReadWriteMany, artifacts.store: s3, or replicas: 1" .Values.artifacts.volume.accessMode) }}
{{- end }}
{{- if and (eq .Values.artifacts.store "s3") (not (hasPrefix "s3://" ($settings.KEELSON_ARTIFACTS | default ""))) }}
{{- fail "artifacts.store: s3 needs settings.KEELSON_ARTIFACTS: s3://BUCKET/PREFIX" }}
{{- end }}
{{- if and (ne .Values.artifacts.store "s3") (or (hasKey $settings "KEELSON_ARTIFACTS") (hasKey $secrets "KEELSON_ARTIFACTS")) }}
{{- fail "KEELSON_ARTIFACTS leaves the volume unused: set artifacts.store: s3, or remove the setting" }}
{{- end }}
{{- if eq .Values.artifacts.store "s3" }}
{{- $id := or (hasKey $settings "KEELSON_S3_ACCESS_KEY") (hasKey $secrets "KEELSON_S3_ACCESS_KEY") }}
{{- $secret := or (hasKey $secrets "KEELSON_S3_SECRET_KEY") (hasKey $settings "KEELSON_S3_SECRET_KEY_FILE") }}
{{- $identity := or .Values.serviceAccount.name .Values.serviceAccount.annotations }}
{{- if ne $id $secret }}
{{- fail "KEELSON_S3_ACCESS_KEY and secretSettings.KEELSON_S3_SECRET_KEY belong together: set both, or none for the credentials of serviceAccount or of the instance" }}
{{- end }}
{{- if and $id $identity }}
{{- fail "KEELSON_S3_ACCESS_KEY takes precedence over the identity of serviceAccount: remove one of them" }}
{{- end }}
{{- $endpoint := $settings.KEELSON_S3_ENDPOINT | default "" }}
{{- if not (or $endpoint (hasKey $settings "KEELSON_S3_REGION") (hasKey $secrets "AWS_REGION") $identity) }}
{{- fail "the region of the bucket is unknown: set settings.KEELSON_S3_REGION, or settings.KEELSON_S3_ENDPOINT for another store than Amazon's" }}
{{- end }}
{{- if and .Values.networkPolicy.enabled (not .Values.networkPolicy.egress) }}
{{- if and (regexMatch "^https?://[^/]+:[0-9]+" $endpoint) (not (regexMatch "^https?://[^/]+:(80|443)(/|$)" $endpoint)) }}
{{- fail (printf "networkPolicy allows no server to reach %s: add a rule to networkPolicy.egress" $endpoint) }}
{{- end }}
{{- if not (or $id (hasKey $secrets "AWS_ACCESS_KEY_ID") $identity) }}
{{- fail "networkPolicy allows no server to reach the credentials of the instance: add a rule for 169.254.169.254 to networkPolicy.egress, or use serviceAccount.annotations or keys" }}
{{- end }}
{{- end }}
{{- end }}
{{- if gt (int .Values.autoscaling.min) (int .Values.autoscaling.max) }}
{{- fail "autoscaling.min is above autoscaling.max" }}
{{- end }}
{{- if and (eq .Values.autoscaling.by "processor") (not (dig "requests" "cpu" "" .Values.resources)) }}
{{- fail "autoscaling.by: processor compares with resources.requests.cpu: set it" }}
{{- end }}
{{- if and (or .Values.metrics.serviceMonitor.enabled (has .Values.autoscaling.by (list "adapter" "keda"))) (ne .Values.metrics.access "open") }}
{{- fail "Prometheus reads /metrics without a key for metrics.serviceMonitor, autoscaling.by: adapter and keda: set metrics.access: open" }}
{{- end }}
{{- if .Values.signIn.issuer }}
{{- if not .Values.signIn.clientId }}
{{- fail "signIn.issuer needs signIn.clientId, the id of this installation at the provider" }}
{{- end }}
{{- if not .Values.signIn.roles }}
{{- fail "no person could sign in: give groups roles by signIn.roles, such as {ops: \"*:operator\"}" }}
{{- end }}
{{- if not (or (hasKey $settings "KEELSON_PUBLIC_URL") (and .Values.ingress.enabled .Values.ingress.tlsSecret)) }}
{{- fail "the provider sends browsers back to the public address: set ingress.enabled and ingress.tlsSecret, or settings.KEELSON_PUBLIC_URL" }}
{{- end }}
{{- range $name, $value := $settings }}
{{- if has $name (list "KEELSON_OIDC_ISSUER" "KEELSON_OIDC_CLIENT_ID" "KEELSON_OIDC_SCOPES" "KEELSON_OIDC_GROUPS_CLAIM" "KEELSON_OIDC_NAME_CLAIM" "KEELSON_OIDC_ROLES") }}
{{- fail (printf "%s is in settings and in signIn: remove it from settings" $name) }}
{{- end }}
{{- end }}
{{- end }}
{{- range $name, $value := $settings }}
{{- if hasKey $secrets $name }}
{{- fail (printf "%s is in settings and in secretSettings: remove one of them" $name) }}
{{- end }}
{{- end }}
{{- end }}
