{{/* args are the operator's flags, in YAML: those of the values, then extraArgs, of which the last wins. */}}
{{- define "zonefold.args" -}}
- --leader-elect
- --dialects={{ include "zonefold.dialects" . }}
{{- with .Values.sources }}
- --source={{ join "," . }}
{{- end }}
- --dns-bind-address={{ ternary ":5353" "0" (eq "true" (include "zonefold.dns" .)) }}
{{- if and (include "zonefold.dns" .) (has .Values.dns.service.type (list "LoadBalancer" "NodePort")) (ne .Values.dns.service.externalTrafficPolicy "Local") }}
- --dns-clients-hidden
{{- end }}
{{- if include "zonefold.externalDNS" . }}
- --external-dns-bind-address=:8888
{{- if .Values.externalDNS.certificate }}
- --external-dns-cert-dir=/etc/zonefold/external-dns
{{- end }}
{{- end }}
- --metrics-bind-address={{ ternary ":8080" "0" .Values.metrics.enabled }}
{{- if and .Values.metrics.enabled .Values.metrics.protected }}
- --metrics-protected
{{- if .Values.metrics.certificate }}
- --metrics-cert-dir=/etc/zonefold/metrics
{{- end }}
{{- end }}
{{- if .Values.admission.enabled }}
- --admission-bind-address=:9443
{{- if .Values.admission.clientCA.configMap }}
- --admission-client-ca-file=/etc/zonefold/clients/{{ .Values.admission.clientCA.key }}
{{- with .Values.admission.clientCA.names }}
- --admission-client-names={{ join "," . }}
{{- end }}
{{- end }}
{{- if .Values.admission.certManager.enabled }}
- --admission-cert-dir=/etc/zonefold/admission
{{- end }}
{{- if .Values.homelab.missingClassWarns }}
- --admission-missing-class-warns
{{- end }}
{{- end }}
{{- if include "zonefold.inspect" . }}
- --inspect-bind-address=:9444
{{- end }}
{{- with .Values.credentialsNamespaces }}
- --credentials-namespaces={{ join "," . }}
{{- end }}
{{- with .Values.secretsNamespaces }}
- --secrets-namespaces={{ join "," . }}
{{- end }}
{{- with .Values.history }}
- --history={{ . }}
{{- end }}
{{- if .Values.requireGrants }}
- --require-grants
{{- end }}
{{- if .Values.dialects.bindy }}
- --bindy-namespace={{ .Values.bindy.namespace }}
- --bind9-image={{ .Values.bindy.bind9Image }}
{{- with .Values.bindy.bindcarImage }}
- --bindcar-image={{ . }}
{{- end }}
{{- end }}
{{- if .Values.dialects.gardener }}
{{- with .Values.gardenerExtension }}
{{- with .types }}
- --gardener-types={{ join "," . }}
{{- end }}
{{- with .endpoints }}
- --gardener-endpoints={{ range $i, $type := keys . | sortAlpha }}{{ if $i }},{{ end }}{{ $type }}={{ index $.Values.gardenerExtension.endpoints $type }}{{ end }}
{{- end }}
- --gardener-classes={{ join "," .classes }}
{{- if .ignoreOperationAnnotation }}
- --gardener-ignore-operation-annotation
{{- end }}
{{- if or .seed $.Values.gardener.seed }}
- --gardener-seed
- --gardener-heartbeat-interval={{ .heartbeatInterval }}
{{- end }}
{{- if and .admission $.Values.admission.enabled }}
- --gardener-admission
{{- end }}
{{- end }}
{{- end }}
{{- with .Values.readMemory }}
- --read-memory={{ . }}
{{- end }}
{{- with .Values.tenantServers.deny }}
- --tenant-servers-deny={{ join "," . }}
{{- end }}
{{- with .Values.tenantServers.allow }}
- --tenant-servers-allow={{ join "," . }}
{{- end }}
{{- with .Values.extraArgs }}
{{ toYaml . }}
{{- end }}
{{- end }}
