package ask

import (
	"html/template"
	"io"
	"unicode/utf8"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// Sizes of the picture, in pixels.
const (
	svgRow    = 20 // a line of text
	svgIndent = 28 // of what is below
	svgGlyph  = 8  // a character of the font, rounded up
	svgMargin = 16
)

// An svgLine is a line of text, with the line that ties it to the Zone above.
type svgLine struct {
	X, Y    int
	Text    string
	Title   bool
	Refused bool
	Tied    bool
	TieX    int // of the vertical part
	TieY    int // where that begins
}

// drawingOf is what the template draws.
type drawingOf struct {
	Width, Height, Row int
	Lines              []svgLine
}

var treeDrawing = template.Must(template.New("tree").Parse(
	`<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" ` +
		`viewBox="0 0 {{.Width}} {{.Height}}" font-family="ui-monospace, Menlo, monospace" font-size="13" role="img">
<title>Zones, what they delegate, and who has records in them</title>
<rect width="100%" height="100%" fill="#fff"/>
{{- range .Lines}}
{{- if .Tied}}
<path d="M{{.TieX}} {{.TieY}} V{{.Y}} H{{.X}}" transform="translate(-4 -4)" fill="none" stroke="#7fa3c4"/>
{{- end}}
<text x="{{.X}}" y="{{.Y}}" xml:space="preserve" fill="
{{- if .Refused}}#a11{{else if .Title}}#1b3a57{{else}}#555{{end}}"
{{- if .Title}} font-weight="bold"{{end}}>{{.Text}}</text>
{{- end}}
</svg>
`))

// writeSVG draws the tree.
func (t *ZoneTree) writeSVG(out io.Writer) error {
	d := drawingOf{Row: svgRow}
	for _, z := range t.Zones {
		d.add(z, nil, 0)
	}
	for _, what := range command.Together(t.Unseen) {
		d.line(svgLine{X: svgMargin, Text: "not seen: " + plain.Line(what)})
	}
	d.Width, d.Height = max(d.Width, 2*svgMargin)+svgMargin, len(d.Lines)*svgRow+2*svgMargin
	return treeDrawing.Execute(out, d)
}

// add draws a Zone below another one; nil: below none.
func (d *drawingOf) add(z *TreeZone, above *svgLine, depth int) {
	title := svgLine{X: svgMargin + depth*svgIndent, Text: z.title(), Title: true, Refused: !z.Accepted}
	if above != nil {
		title.Tied, title.TieX, title.TieY = true, above.X+svgIndent/2, above.Y+svgRow/2
	}
	title = d.line(title)
	for _, text := range z.lines() {
		d.line(svgLine{X: title.X + svgIndent, Text: plain.Line(text)})
	}
	for _, below := range z.Zones {
		d.add(below, &title, depth+1)
	}
}

// line adds a line below the others and returns it with its place.
func (d *drawingOf) line(l svgLine) svgLine {
	l.Y = svgMargin + (len(d.Lines)+1)*svgRow
	d.Lines = append(d.Lines, l)
	d.Width = max(d.Width, l.X+utf8.RuneCountInString(l.Text)*svgGlyph)
	return l
}
