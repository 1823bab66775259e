package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// writeMasterFiles prints the accepted zones in master-file format (RFC 1035 §5), and
// then, as comments, what was refused. What it writes for one zone is complete in
// itself: it begins with $ORIGIN.
func writeMasterFiles(out io.Writer, c *composition) error {
	first := true
	for _, z := range c.zones {
		if !z.verdict.Accepted {
			continue
		}
		if !first {
			fmt.Fprintln(out)
		}
		first = false
		writeZone(out, z)
	}
	return writeRefusals(out, c, first)
}

func writeZone(out io.Writer, z zoneResult) {
	lines := linesOf(z)
	if z.object.Zoneless() {
		writeServer(out, z)
	} else {
		writeHead(out, z)
	}
	for _, n := range z.verdict.Notes {
		fmt.Fprintf(out, "; %s: %s\n", n.Reason, oneLine(n.Message))
	}
	fmt.Fprintf(out, "$ORIGIN %s\n$TTL %d\n", z.snapshot.Name, z.snapshot.SOA.TTL)
	writeLines(out, lines)
}

func writeHead(out io.Writer, z zoneResult) {
	fmt.Fprintf(out, "; %s: %s serial %d, hash %s\n", oneLine(z.object.Ref.String()), shown(z.snapshot.Name), z.serial,
		z.snapshot.Hash)
	if !z.verdict.Zone.IsZero() {
		fmt.Fprintf(out, "; delegated by %s\n", oneLine(z.verdict.Zone.String()))
	}
}

func writeLines(out io.Writer, lines []line) {
	owner, ttl, typ := 0, 0, 0
	for _, l := range lines {
		owner = max(owner, min(len(l.owner), maxOwner))
		ttl = max(ttl, len(fmt.Sprint(l.ttl)))
		typ = max(typ, len(l.typ))
	}
	for _, l := range lines {
		if l.leftOut != "" {
			fmt.Fprintf(out, "; left out, because %s:\n; ", l.leftOut)
		}
		fmt.Fprintf(out, "%-*s %*d IN %-*s %s", owner, l.owner, ttl, l.ttl, typ, l.typ, l.data)
		if l.remark != "" {
			fmt.Fprintf(out, " ; %s", l.remark)
		}
		fmt.Fprintln(out)
	}
}

// maxOwner is how wide the column of names may get; longer names push their line.
const maxOwner = 40

// shown returns a name, and how it reads in other scripts.
func shown(n dnsname.Name) string {
	if u := n.Unicode(); u != n.String() {
		return fmt.Sprintf("%s (%s)", n, oneLine(u))
	}
	return n.String()
}

// A line is one record of a master file.
type line struct {
	owner   string
	ttl     uint32
	typ     string
	data    string
	remark  string
	leftOut string // why it is a comment, as a clause; "" if it is none
}

// linesOf returns the records of a zone: the SOA, then canonical order, with what
// loaders of master files want besides.
func linesOf(z zoneResult) []line {
	s := z.snapshot
	var lines []line
	var extra []placeholder
	if !z.object.Zoneless() { // there is no zone to load
		lines, extra = []line{{owner: "@", ttl: s.SOA.TTL, typ: rr.TypeSOA.String(), data: s.SOA.Data()}}, placeholders(s)
	}
	for i := range extra {
		if extra[i].remark == noAddress && z.object.OfBindy() {
			extra[i].remark = serversAddress
		}
	}
	add := func(owner dnsname.Name, ttl uint32, t rr.Type, data, remark string) {
		label := owner.In(s.Name)
		if z.object.Zoneless() {
			label = owner.String()
		}
		lines = append(lines, line{owner: label, ttl: ttl, typ: t.String(), data: data, remark: remark})
	}
	flush := func(before dnsname.Name) {
		for len(extra) > 0 && (before.IsZero() || extra[0].name.Compare(before) < 0) {
			p := extra[0]
			add(p.name, s.SOA.TTL, p.typ, p.data, p.remark)
			extra = extra[1:]
		}
	}
	for set := range s.Sets.All() {
		flush(set.Name)
		for _, data := range set.Data {
			add(set.Name, set.TTL, set.Type, data, "")
			if !z.object.Zoneless() {
				lines[len(lines)-1].leftOut = unloadable(s, set, data)
			}
		}
	}
	flush(dnsname.Name{})
	return lines
}

// writeRefusals tells what was refused, in comments. Whatever an object says in them
// stays on its line.
func writeRefusals(out io.Writer, c *composition, first bool) error {
	var refused []string
	say := func(o *manifest.Object, name dnsname.Name, reason, message string) {
		at := ""
		if !name.IsZero() && name != dnsname.Root {
			at = ", " + shown(name)
		}
		refused = append(refused, fmt.Sprintf("; %s%s: %s\n;   %s\n", oneLine(o.Ref.String()), at, reason, oneLine(message)))
	}
	for _, z := range c.zones {
		if !z.verdict.Accepted {
			say(z.object, z.verdict.Name, string(z.verdict.Reason), z.verdict.Message)
		}
	}
	for _, r := range c.records {
		if !r.verdict.Accepted {
			say(r.object, r.verdict.Name, string(r.verdict.Reason), r.verdict.Message)
		}
	}
	if len(refused) == 0 {
		return nil
	}
	if !first {
		fmt.Fprintln(out)
	}
	_, err := fmt.Fprintf(out, "; refused: %d\n%s", len(refused), strings.Join(refused, ""))
	return err
}
