package main

import (
	"bytes"
	"html/template"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// page is the whole report in one file, which needs no other and has no script.
const page = `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Side by side</title>
<style>
body { font-family: Helvetica, Arial, sans-serif; max-width: 60rem; margin: 1rem auto; padding: 0 1rem; color: #111 }
svg { max-width: 100%; height: auto }
div { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0; font-size: 0.9rem }
th, td { border-bottom: 1px solid #ccd; padding: 0.25rem 0.6rem; text-align: right }
th:first-child, td:first-child { text-align: left }
</style>
</head>
<body>
<h1>Side by side</h1>
{{- range .}}
<h2>{{.Title}}</h2>
<ul>
{{- range .About}}
<li>{{.}}</li>
{{- end}}
</ul>
{{.Chart}}
{{- range .Grids}}
<div><table>
<tr>{{range .Head}}<th>{{.}}</th>{{end}}</tr>
{{- range .Rows}}
<tr>{{range .}}<td>{{.}}</td>{{end}}</tr>
{{- end}}
</table></div>
{{- end}}
{{- end}}
</body>
</html>
`

// html writes all comparisons as one page.
func html(to *bytes.Buffer, all []*figures.Comparison) error {
	type section struct {
		*figures.Comparison
		Chart template.HTML
		Grids []figures.Grid
	}
	var sections []section
	for _, c := range all {
		var b bytes.Buffer
		if err := draw(&b, c); err != nil {
			return err
		}
		sections = append(sections, section{c, template.HTML(b.String()), c.Grids()})
	}
	t, err := template.New("page").Parse(page)
	if err != nil {
		return err
	}
	return t.Execute(to, sections)
}
