// Package draft writes manifests for what a zone holds: a Zone and Records of kubi.zone, or a DNSZone and its records
// of bindy. What it writes depends on the zone alone, is sorted, and gives each object the same name each time.
package draft

import (
	"fmt"
	"io"
	"slices"
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
	cut   cut

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
		d.name(sets)
		if d.err != nil {
			return d.out, d.err
		}
	}
	if !begun {
		d.begin(rr.Set{})
	}
	d.endCut()
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

// set writes the objects of one set, those of kubi.zone into a namespace.
func (d *drafter) set(s rr.Set, home string) {
	for range s.Data {
		d.step()
	}
	if d.Bindy {
		d.bindySet(s)
	} else {
		d.kubizoneSet(s, home)
	}
}

// A cut is a name whose NS or DNAME records hide the names below it, and the sets of all of these.
type cut struct {
	name dnsname.Name // zero: there is none
	sets []rr.Set
}

// name writes the objects of a name. In canonical order, what is below a cut follows it.
func (d *drafter) name(sets []rr.Set) {
	name := sets[0].Name
	if d.cut.name.IsZero() || !name.Under(d.cut.name) {
		d.endCut()
		if len(d.Splits) > 0 && slices.ContainsFunc(sets, d.cuts) {
			d.cut.name = name
		}
	}
	if !d.cut.name.IsZero() {
		d.cut.sets = append(d.cut.sets, sets...)
		return
	}
	for _, s := range sets {
		d.set(s, d.home(name))
	}
}

func (d *drafter) cuts(s rr.Set) bool {
	return s.Type == rr.TypeDNAME || s.Type == rr.TypeNS && s.Name != d.zone.Origin
}

// endCut writes the objects of a cut into one namespace: an operator refuses what hides names of another. If the splits
// name several, it is that of the zone, which alone may have all of these names.
func (d *drafter) endCut() {
	home := d.home(d.cut.name)
	if slices.ContainsFunc(d.cut.sets, func(s rr.Set) bool { return d.home(s.Name) != home }) {
		home = d.Namespace
		d.zone.Report(content.Loss{Kind: content.Noted, What: fmt.Sprintf("%s and what is below it", d.cut.name),
			Why: fmt.Sprintf("they are all in namespace %s, although a --split says otherwise: an operator refuses NS and "+
				"DNAME records that hide names of other namespaces", home)})
	}
	for _, s := range d.cut.sets {
		d.set(s, home)
	}
	d.cut = cut{}
}

// home is the namespace that the first Split which matches a name gives it.
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
