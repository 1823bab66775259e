// Package draft writes manifests for what a zone holds: a Zone and Records of kubi.zone, or a DNSZone and its records
// of bindy. What it writes depends on the zone alone, is sorted, and gives each object the same name each time.
package draft

import (
	"fmt"
	"io"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Split gives a namespace the names of a zone that match a pattern.
type Split struct {
	Namespace string
	Pattern   dnsname.Pattern
}

// Options say which objects are written.
type Options struct {
	Namespace string // of the zone, and of what no Split gives to another
	Name      string // of the zone's object; "": after the zone
	Splits    []Split
	Bindy     bool   // kinds of bindy.firestoned.io
	Cluster   string // of bindy: what serves the zone; "": nothing is said of it
}

// A Sink returns where the objects of a namespace go.
type Sink func(namespace string) (io.Writer, error)

// Counts say what was written.
type Counts struct{ Zones, Objects, Records int }

// A drafter writes the objects of one zone.
type drafter struct {
	Options

	zone  *content.Zone
	sink  Sink
	namer namer
	text  []byte
	out   Counts
	err   error
	step  func()

	fields map[rr.Type]func(*drafter, string) string // see bindyFields
}

// Write writes the objects of a zone, which has been sorted. Step is called for each record.
func Write(z *content.Zone, opts Options, sink Sink, step func()) (Counts, error) {
	d := &drafter{Options: opts, zone: z, sink: sink, namer: newNamer(), step: step, fields: bindyFields()}
	if d.Name == "" {
		d.Name = ObjectName(z.Origin)
	}
	begun := false
	for sets := range z.Names() {
		if !begun {
			d.begin(apexServers(z, sets))
			begun = true
		}
		for _, set := range sets {
			d.set(set)
		}
		if d.err != nil {
			return d.out, d.err
		}
	}
	if !begun {
		d.begin(rr.Set{})
	}
	return d.out, d.err
}

// apexServers returns the NS set of the apex, which is the first name if it has records.
func apexServers(z *content.Zone, first []rr.Set) rr.Set {
	for _, s := range first {
		if s.Name == z.Origin && s.Type == rr.TypeNS {
			return s
		}
	}
	return rr.Set{}
}

func (d *drafter) begin(servers rr.Set) {
	if d.Bindy {
		d.bindyZone(servers)
	} else {
		d.kubizoneZone()
	}
	d.out.Zones++
	d.flush(d.Namespace)
}

// set writes the objects of one set.
func (d *drafter) set(s rr.Set) {
	for range s.Data {
		d.step()
	}
	if d.Bindy {
		d.bindySet(s)
	} else {
		d.kubizoneSet(s)
	}
}

// home is the namespace of a name.
func (d *drafter) home(name dnsname.Name) string {
	for _, s := range d.Splits {
		if s.Pattern.Match(name, d.zone.Origin) {
			return s.Namespace
		}
	}
	return d.Namespace
}

// flush writes what is drafted into a namespace.
func (d *drafter) flush(namespace string) {
	if d.err != nil {
		return
	}
	out, err := d.sink(namespace)
	if err == nil {
		_, err = out.Write(d.text)
	}
	d.text, d.err = d.text[:0], err
}

// head begins an object.
func (d *drafter) head(apiVersion, kind, namespace, name string) {
	d.text = append(d.text, "---\n"...)
	d.line(0, "apiVersion", apiVersion)
	d.line(0, "kind", kind)
	d.text = append(d.text, "metadata:\n"...)
	d.line(1, "name", name)
	d.line(1, "namespace", namespace)
	d.text = append(d.text, "spec:\n"...)
}

// line writes a field with a text.
func (d *drafter) line(depth int, key, value string) {
	d.key(depth, key)
	d.text = AppendScalar(d.text, value)
	d.text = append(d.text, '\n')
}

// number writes a field with a number.
func (d *drafter) number(depth int, key string, value uint32) {
	d.key(depth, key)
	d.text = fmt.Appendf(d.text, "%d\n", value)
}

func (d *drafter) key(depth int, key string) {
	for range depth {
		d.text = append(d.text, "  "...)
	}
	d.text = append(append(d.text, key...), ": "...)
}

func (d *drafter) lose(what, format string, args ...any) {
	d.zone.Report(content.Loss{Kind: content.LeftOut, What: what, Why: fmt.Sprintf(format, args...)})
}

func (d *drafter) changed(what, format string, args ...any) {
	d.zone.Report(content.Loss{Kind: content.Changed, What: what, Why: fmt.Sprintf(format, args...)})
}

// ObjectName is the name of the object of a zone: its own with hyphens for dots.
func ObjectName(zone dnsname.Name) string {
	if zone.IsRoot() {
		return "root"
	}
	text, _ := slug(strings.TrimSuffix(zone.String(), "."))
	return strings.ReplaceAll(text, ".", "-")
}
