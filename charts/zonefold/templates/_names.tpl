{{/* Names and labels are the same whatever the release is called: there is one operator in a cluster. */}}
{{- define "zonefold.selector" -}}
app.kubernetes.io/name: zonefold-operator
{{- end }}

{{/* labels takes a list: the root, the component, and the labels of values, which do not replace ours. */}}
{{- define "zonefold.labels" -}}
{{- $ours := dict "app.kubernetes.io/name" "zonefold-operator" "app.kubernetes.io/component" (index . 1) -}}
{{- $_ := set $ours "app.kubernetes.io/part-of" "zonefold" -}}
{{- $_ := set $ours "app.kubernetes.io/version" (index . 0).Chart.AppVersion -}}
{{- if gt (len .) 2 -}}{{- $ours = merge $ours (index . 2) -}}{{- end -}}
{{ toYaml $ours }}
{{- end }}

{{- define "zonefold.image" -}}
{{- include "zonefold.imageOf" (list . .Values.image) -}}
{{- end }}

{{/* imageOf takes a list: the root, and what values say of an image. */}}
{{- define "zonefold.imageOf" -}}
{{- $image := index . 1 -}}
{{- $tag := $image.tag -}}
{{- if or (kindIs "float64" $tag) (kindIs "int64" $tag) -}}{{- $tag = int64 $tag | toString -}}{{- end -}}
{{- $tag = $tag | default (index . 0).Chart.AppVersion -}}
{{- if $image.digest -}}
{{ $image.repository }}@{{ $image.digest }}
{{- else -}}
{{ $image.repository }}:{{ $tag }}
{{- end -}}
{{- end }}

{{/* consoleSelector are the labels of the console's Pods, which no Service of the operator selects. */}}
{{- define "zonefold.consoleSelector" -}}
app.kubernetes.io/name: zonefold-console
{{- end }}

{{/* dialects lists those that are on, for --dialects and for what each needs. */}}
{{- define "zonefold.dialects" -}}
{{- $on := list -}}
{{- range $name := keys .Values.dialects | sortAlpha -}}
{{- if index $.Values.dialects $name -}}{{- $on = append $on $name -}}{{- end -}}
{{- end -}}
{{ join "," $on }}
{{- end }}

{{/* needs says what a dialect brings: patterns of files of config/crd, which two dialects may both need, files of config/rbac, what admission reviews, by group, and the groups in which labels decide. */}}
{{- define "zonefold.needs" -}}
kubizone: {schemas: [zonefold.dev_*, kubi.zone_*], rights: [backends, kubizone], reviewed: {zonefold.dev: [backends], kubi.zone: [zones, records]}}
bindy: {schemas: [bindy.firestoned.io_*, zonefold.dev_zonerevisions], rights: [bindy], reviewed: {bindy.firestoned.io: [clusterbind9providers, bind9clusters, bind9instances, dnszones,
  arecords, aaaarecords, cnamerecords, txtrecords, mxrecords, nsrecords, srvrecords, caarecords, ptrrecords]}, selected: [bindy.firestoned.io]}
homelab: {schemas: [dns.homelab.mortenolsen.pro_*], rights: [homelab], reviewed: {dns.homelab.mortenolsen.pro: [dnsclasses, dnsrecords]}}
gardener: {schemas: [{{ if .Values.gardenerExtension.crds }}extensions.gardener.cloud_*{{ end }}], rights: [gardener], reviewed: {}}
{{- end }}

{{/* dns gives "true" or nothing: an operator without zones of its own has nothing to answer. */}}
{{- define "zonefold.dns" -}}
{{- if and .Values.dns.enabled .Values.dialects.kubizone -}}
true
{{- end -}}
{{- end }}

{{/* externalDNS gives "true" or nothing: its replicas find each other by their name servers. */}}
{{- define "zonefold.externalDNS" -}}
{{- if and .Values.externalDNS.enabled (include "zonefold.dns" .) -}}
true
{{- end -}}
{{- end }}

{{/* inspect gives "true" or nothing: it is served with the certificate of admission. */}}
{{- define "zonefold.inspect" -}}
{{- if and .Values.inspect.enabled .Values.admission.enabled -}}
true
{{- end -}}
{{- end }}

{{/* updates gives "true" or nothing: whether clients of the operator write Records. */}}
{{- define "zonefold.updates" -}}
{{- if or .Values.updates (include "zonefold.externalDNS" .) -}}
true
{{- end -}}
{{- end }}

{{/* read says which resources of config/rbac/sources.yaml each source reads. */}}
{{- define "zonefold.read" -}}
service: [services, endpointslices, nodes]
ingress: [ingresses]
node: [nodes]
crd: [dnsendpoints]
gateway: [gateways]
{{- range $protocol := list "http" "grpc" "tls" "tcp" "udp" }}
gateway-{{ $protocol }}route: [{{ $protocol }}routes, gateways, listenersets, namespaces]
{{- end }}
{{- end }}
