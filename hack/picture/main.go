// Command picture draws the pictures of the documentation as SVG into the folder that it is given.
package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"text/template"
)

// Sizes in pixels.
const (
	top, rowHeight = 70, 58
	gap            = 85 // between columns
	margin         = 2
)

// A placed box knows where it is drawn.
type placed struct {
	box
	X, Y, MidX, NameY, NoteY int
}

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" viewBox="0 0 {{.Width}} {{.Height}}" ` +
	`font-family="Helvetica, Arial, sans-serif" role="img" aria-label="{{.Says}}">
<!-- made by: go run ./hack/picture docs -->
<rect width="100%" height="100%" fill="#fff"/>
{{- range .Titles}}
<text x="{{.MidX}}" y="{{.Y}}" text-anchor="middle" font-size="19" font-weight="bold" fill="#1b3a57">{{.Name}}</text>
{{- end}}
{{- range .Arrows}}
<path d="M{{.X}} {{.Y}} h{{$.Arrow}} m-12 -8 l12 8 l-12 8" fill="none" stroke="#1b3a57" stroke-width="3"/>
<text x="{{.MidX}}" y="{{.NoteY}}" text-anchor="middle" font-size="12" fill="#555">{{.Name}}</text>
{{- end}}
{{- range .Boxes}}
<rect x="{{.X}}" y="{{.Y}}" width="{{$.BoxWidth}}" height="{{$.BoxHeight}}" rx="7" fill="#eef4fa" stroke="#7fa3c4"/>
<text x="{{.MidX}}" y="{{.NameY}}" text-anchor="middle" font-size="15" fill="#111">{{.Name}}</text>
<text x="{{.MidX}}" y="{{.NoteY}}" text-anchor="middle" font-size="11.5" fill="#555">{{.Note}}</text>
{{- end}}
</svg>
`

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: picture FOLDER")
		os.Exit(2)
	}
	for _, p := range pictures() {
		if err := p.write(os.Args[1]); err != nil {
			fmt.Fprintln(os.Stderr, "drawing:", err)
			os.Exit(1)
		}
	}
}

func (p picture) write(folder string) error {
	file, err := os.Create(filepath.Join(folder, p.file))
	if err != nil {
		return err
	}
	err = p.draw(file)
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

func (p picture) draw(to io.Writer) error {
	var titles, arrows, boxes []placed
	rows := 0
	for i, c := range p.columns {
		x := margin + i*(p.boxWidth+gap)
		titles = append(titles, placed{box: box{Name: c.Title}, MidX: x + p.boxWidth/2, Y: top - 28})
		for row, b := range c.Boxes {
			y := top + row*rowHeight
			boxes = append(boxes, placed{b, x, y, x + p.boxWidth/2, y + 20, y + 37})
		}
		rows = max(rows, len(c.Boxes))
	}
	middle := top + rows*rowHeight/2 - 6
	for i, word := range p.words {
		x := margin + i*(p.boxWidth+gap) + p.boxWidth
		arrows = append(arrows, placed{box: box{Name: word}, X: x + 12, Y: middle, MidX: x + gap/2, NoteY: middle - 16})
	}
	t, err := template.New("drawing").Parse(drawing)
	if err != nil {
		return err
	}
	return t.Execute(to, map[string]any{
		"Says": p.says, "Width": 2*margin + len(p.columns)*(p.boxWidth+gap) - gap, "Height": top + rows*rowHeight + 4,
		"BoxWidth": p.boxWidth, "BoxHeight": rowHeight - 10, "Arrow": gap - 26,
		"Titles": titles, "Arrows": arrows, "Boxes": boxes,
	})
}
