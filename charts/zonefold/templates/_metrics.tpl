{{/* These give "true" or nothing. */}}
{{- define "zonefold.serviceMonitor" -}}
{{- include "zonefold.monitored" (list . "ServiceMonitor" .Values.metrics.serviceMonitor) -}}
{{- end }}

{{- define "zonefold.prometheusRule" -}}
{{- include "zonefold.monitored" (list . "PrometheusRule" .Values.metrics.prometheusRule) -}}
{{- end }}

{{/* monitored has the values, a kind of the Prometheus operator, and what is said of it. */}}
{{- define "zonefold.monitored" -}}
{{- $top := index . 0 -}}
{{- $said := index . 2 -}}
{{- if and $top.Values.metrics.enabled $said.enabled (or $said.force ($top.Capabilities.APIVersions.Has (printf "monitoring.coreos.com/v1/%s" (index . 1)))) -}}
true
{{- end -}}
{{- end }}

{{- define "zonefold.metricsService" -}}
{{- if and .Values.metrics.enabled (or .Values.metrics.service.enabled (include "zonefold.serviceMonitor" .)) -}}
true
{{- end -}}
{{- end }}
