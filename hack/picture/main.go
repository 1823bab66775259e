// Command picture draws the picture of the README, objects to zones to servers, as SVG on its standard output.
package main

import (
	"fmt"
	"os"
	"text/template"
)

// Sizes in pixels.
const (
	width, boxWidth = 924, 250
	top, rowHeight  = 70, 58
	gap             = 85 // between columns
	margin          = 2
)

// A box is one thing of a column: what it is called, and what to know of it.
type box struct{ Name, Note string }

// A column is a list of boxes under a title.
type column struct {
	Title string
	Boxes []box
}

func columns() []column {
	return []column{
		{"objects", []box{
			{"Zone, Record", "kubi.zone"},
			{"DNSZone, ARecord …", "bindy.firestoned.io"},
			{"DNSClass, DNSRecord", "dns.homelab.mortenolsen.pro"},
			{"DNSRecord", "extensions.gardener.cloud"},
			{"files of a folder", "zonefold check, render, serve"},
		}},
		{"zones", []box{
			{"claims", "one wish for one record at one name"},
			{"rules", "delegations say who may have what"},
			{"sets", "merged; each refusal has its reason"},
			{"content", "a snapshot with a serial"},
			{"changes", "what a server lacks, confirmed"},
		}},
		{"servers", []box{
			{"zonefold itself", "and secondaries that follow it"},
			{"BIND fleets", "in Pods that it runs"},
			{"RFC 2136, PowerDNS", "servers that are there already"},
			{"signed webhooks", "of a DNSClass, of external-dns"},
			{"cloud services", "Route 53, Cloudflare, Google Cloud DNS"},
		}},
	}
}

// A placed box knows where it is drawn.
type placed struct {
	box
	X, Y, MidX, NameY, NoteY int
}

const drawing = `<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="{{.Height}}" viewBox="0 0 {{.Width}} {{.Height}}" ` +
	`font-family="Helvetica, Arial, sans-serif" role="img" aria-label="objects become zones, zones go to servers">
<!-- made by: go run ./hack/picture > docs/zonefold.svg -->
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
	if err := draw(); err != nil {
		fmt.Fprintln(os.Stderr, "drawing:", err)
		os.Exit(1)
	}
}

func draw() error {
	var titles, arrows, boxes []placed
	rows := 0
	for i, c := range columns() {
		x := margin + i*(boxWidth+gap)
		titles = append(titles, placed{box: box{Name: c.Title}, MidX: x + boxWidth/2, Y: top - 28})
		for row, b := range c.Boxes {
			y := top + row*rowHeight
			boxes = append(boxes, placed{b, x, y, x + boxWidth/2, y + 20, y + 37})
		}
		rows = max(rows, len(c.Boxes))
	}
	middle := top + rows*rowHeight/2 - 6
	for i, word := range []string{"fold", "deliver"} {
		x := margin + i*(boxWidth+gap) + boxWidth
		arrows = append(arrows, placed{box: box{Name: word}, X: x + 12, Y: middle, MidX: x + gap/2, NoteY: middle - 16})
	}
	t, err := template.New("drawing").Parse(drawing)
	if err != nil {
		return err
	}
	return t.Execute(os.Stdout, map[string]any{
		"Width": width, "Height": top + rows*rowHeight + 4, "BoxWidth": boxWidth, "BoxHeight": rowHeight - 10,
		"Arrow":  gap - 26,
		"Titles": titles, "Arrows": arrows, "Boxes": boxes,
	})
}
