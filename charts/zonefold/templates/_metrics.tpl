{{/* These three give "true" or nothing. */}}
{{- define "zonefold.serviceMonitor" -}}
{{- $monitor := .Values.metrics.serviceMonitor -}}
{{- if and .Values.metrics.enabled $monitor.enabled (or $monitor.force (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/ServiceMonitor")) -}}
true
{{- end -}}
{{- end }}

{{- define "zonefold.prometheusRule" -}}
{{- $rule := .Values.metrics.prometheusRule -}}
{{- if and .Values.metrics.enabled $rule.enabled (or $rule.force (.Capabilities.APIVersions.Has "monitoring.coreos.com/v1/PrometheusRule")) -}}
true
{{- end -}}
{{- end }}

{{- define "zonefold.metricsService" -}}
{{- if and .Values.metrics.enabled (or .Values.metrics.service.enabled (include "zonefold.serviceMonitor" .)) -}}
true
{{- end -}}
{{- end }}
