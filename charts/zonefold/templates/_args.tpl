{{/* args are the operator's flags, in YAML: those of the values, then extraArgs, of which the last wins. */}}
{{- define "zonefold.args" -}}
- --leader-elect
- --dialects={{ include "zonefold.dialects" . }}
- --dns-bind-address={{ ternary ":5353" "0" (eq "true" (include "zonefold.dns" .)) }}
- --metrics-bind-address={{ ternary ":8080" "0" .Values.metrics.enabled }}
{{- with .Values.credentialsNamespaces }}
- --credentials-namespaces={{ join "," . }}
{{- end }}
{{- if .Values.dialects.bindy }}
- --bindy-namespace={{ .Values.bindy.namespace }}
- --bind9-image={{ .Values.bindy.bind9Image }}
{{- with .Values.bindy.bindcarImage }}
- --bindcar-image={{ . }}
{{- end }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}
