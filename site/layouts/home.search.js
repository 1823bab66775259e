{{- /* One entry for each heading, with the text below it. */ -}}
{{- $entries := slice -}}
{{- range site.RegularPages -}}
{{- $page := . -}}
{{- $title := partial "title.html" . -}}
{{- range split (replaceRE `<h[123] id=` "\x00<h id=" .Content) "\x00" -}}
{{- with findRESubmatch `(?s)^<h id="?([^">]+)"?>(.*?)</h[123]>(.*)$` . 1 -}}
{{- $parts := index . 0 -}}
{{- $text := index $parts 3 | plainify | htmlUnescape -}}
{{- $entries = $entries | append (dict
  "page" $title
  "url" (printf "%s#%s" (strings.TrimPrefix "/" $page.RelPermalink) (index $parts 1))
  "heading" (index $parts 2 | plainify | htmlUnescape)
  "text" (replaceRE `\s+` " " $text | strings.TrimSpace)) -}}
{{- end -}}
{{- end -}}
{{- end -}}
window.zonefoldIndex = {{ $entries | jsonify }};
