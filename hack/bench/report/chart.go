package main

import (
	"bytes"
	"strings"
	"text/template"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// Sizes in pixels.
const (
	width     = 860
	nameWidth = 170 // left of the bars
	lastWidth = 110 // right of them, for the figures
	barHeight = 16
	rowHeight = 24
	headRoom  = 34 // above the bars of a measure
)

// A panel is one measure: a bar for each contender, as long as the median of its rounds.
type panel struct {
	What     string
	MidY     int // of its title
	Bars     []bar
	Ends     int
	HasRange bool
}

// A bar has a line from the least of the rounds to the most.
type bar struct {
	Name, Figure                     string
	Y, TextY, MidY, Length, From, To int
	TextX                            int
	Ours                             bool
}

const chart = `<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" ` +
	`viewBox="0 0 {{.Width}} {{.Height}}" font-family="Helvetica, Arial, sans-serif" role="img" aria-label="{{html .Says}}">
<!-- made by: go run ./hack/bench/report -->
<rect width="100%" height="100%" fill="#fff"/>
{{- range .Panels}}
<text x="2" y="{{.MidY}}" font-size="15" font-weight="bold" fill="#1b3a57">{{html .What}}</text>
{{- $p := .}}
{{- range .Bars}}
<text x="2" y="{{.TextY}}" font-size="13" fill="#111">{{html .Name}}</text>
<rect x="{{$.NameWidth}}" y="{{.Y}}" width="{{.Length}}" height="{{$.BarHeight}}" fill="{{if .Ours}}#2f6f9f{{else}}#b9cde0{{end}}"/>
{{- if $p.HasRange}}
<path d="M{{.From}} {{.MidY}} H{{.To}} M{{.From}} {{.Y}} v{{$.BarHeight}} M{{.To}} {{.Y}} v{{$.BarHeight}}" stroke="#c2571a" fill="none"/>
{{- end}}
<text x="{{.TextX}}" y="{{.TextY}}" font-size="13" fill="#111">{{html .Figure}}</text>
{{- end}}
{{- end}}
</svg>
`

// draw draws what of a Comparison is to be drawn. All bars of a measure have one scale, which begins at zero.
func draw(to *bytes.Buffer, c *figures.Comparison) error {
	y := 0
	var panels []panel
	for _, m := range c.Drawn() {
		p := panelOf(c, m, y+headRoom)
		panels = append(panels, p)
		y = p.Ends
	}
	t, err := template.New("chart").Parse(chart)
	if err != nil {
		return err
	}
	return t.Execute(to, map[string]any{"Says": says(c), "Width": width, "Height": y + 8, "Panels": panels,
		"NameWidth": nameWidth, "BarHeight": barHeight})
}

// panelOf places the bars of a measure, from a height on.
func panelOf(c *figures.Comparison, m figures.Measure, y int) panel {
	most := 0.0
	for _, rounds := range m.Rounds {
		for _, figure := range rounds {
			most = max(most, figure)
		}
	}
	scale := func(figure float64) int {
		if most <= 0 {
			return 0
		}
		return int(max(0, figure) / most * (width - nameWidth - lastWidth))
	}
	p := panel{What: m.What, MidY: y - 10}
	for i, who := range c.Contenders {
		median, ok := m.Median(i)
		if !ok {
			continue
		}
		b := bar{Name: who.Name, Figure: figures.Short(median, m.Unit), Y: y, TextY: y + 13, MidY: y + barHeight/2,
			Length: max(1, scale(median)), Ours: who.Ours}
		least, highest := m.Bounds(i)
		b.From, b.To = nameWidth+scale(least), nameWidth+scale(highest)
		b.TextX = max(nameWidth+b.Length, b.To) + 8
		p.HasRange = p.HasRange || len(m.Rounds[i]) > 1
		p.Bars = append(p.Bars, b)
		y += rowHeight
	}
	p.Ends = y
	return p
}

// says is what the chart shows, for those who do not see it: the table has the figures.
func says(c *figures.Comparison) string {
	var what []string
	for _, m := range c.Drawn() {
		what = append(what, m.What)
	}
	return c.Title + ": bars of " + strings.Join(what, "; ")
}
