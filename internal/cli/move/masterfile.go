package move

import (
	"fmt"
	"io"
	"strings"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// writeMasterFiles prints the accepted zones in master-file format (RFC 1035 §5), and
// then, as comments, what was refused. What it writes for one zone is complete in
// itself: it begins with $ORIGIN.
func writeMasterFiles(out io.Writer, c *fold.Composition) error {
	first := true
	for _, z := range c.Zones {
		if !z.Verdict.Accepted {
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

func writeZone(out io.Writer, z fold.ZoneResult) {
	lines := linesOf(z)
	if z.Object.Zoneless() {
		writeServer(out, z)
	} else {
		writeHead(out, z)
	}
	for _, n := range z.Verdict.Notes {
		fmt.Fprintf(out, "; %s: %s\n", n.Reason, plain.Line(n.Message))
	}
	fmt.Fprintf(out, "$ORIGIN %s\n$TTL %d\n", z.Snapshot.Name, z.Snapshot.SOA.TTL)
	writeLines(out, lines)
}

func writeHead(out io.Writer, z fold.ZoneResult) {
	fmt.Fprintf(out, "; %s: %s serial %d, hash %s\n", plain.Line(z.Object.Ref.String()), plain.Name(z.Snapshot.Name),
		z.Serial,
		z.Snapshot.Hash)
	if !z.Verdict.Zone.IsZero() {
		fmt.Fprintf(out, "; delegated by %s\n", plain.Line(z.Verdict.Zone.String()))
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
func linesOf(z fold.ZoneResult) []line {
	s := z.Snapshot
	var lines []line
	var extra []fold.Placeholder
	if !z.Object.Zoneless() { // there is no zone to load
		lines, extra = []line{{owner: "@", ttl: s.SOA.TTL, typ: rr.TypeSOA.String(), data: s.SOA.Data()}},
			fold.Placeholders(s)
	}
	for i := range extra {
		if extra[i].Remark == fold.NoAddress && z.Object.OfBindy() {
			extra[i].Remark = fold.ServersAddress
		}
	}
	add := func(owner dnsname.Name, ttl uint32, t rr.Type, data, remark string) {
		label := owner.In(s.Name)
		if z.Object.Zoneless() {
			label = owner.String()
		}
		lines = append(lines, line{owner: label, ttl: ttl, typ: t.String(), data: data, remark: remark})
	}
	flush := func(before dnsname.Name) {
		for len(extra) > 0 && (before.IsZero() || extra[0].Name.Compare(before) < 0) {
			p := extra[0]
			add(p.Name, s.SOA.TTL, p.Typ, p.Data, p.Remark)
			extra = extra[1:]
		}
	}
	for set := range s.Sets.All() {
		flush(set.Name)
		for _, data := range set.Data {
			add(set.Name, set.TTL, set.Type, data, "")
			if !z.Object.Zoneless() {
				lines[len(lines)-1].leftOut = fold.Unloadable(s, set, data)
			}
		}
	}
	flush(dnsname.Name{})
	return lines
}

// writeRefusals tells what was refused, in comments. Whatever an object says in them
// stays on its line.
func writeRefusals(out io.Writer, c *fold.Composition, first bool) error {
	var refused []string
	say := func(o *manifest.Object, name dnsname.Name, reason, message string) {
		at := ""
		if !name.IsZero() && name != dnsname.Root {
			at = ", " + plain.Name(name)
		}
		refused = append(refused, fmt.Sprintf("; %s%s: %s\n;   %s\n", plain.Line(o.Ref.String()), at, reason,
			plain.Line(message)))
	}
	for _, z := range c.Zones {
		if !z.Verdict.Accepted {
			say(z.Object, z.Verdict.Name, string(z.Verdict.Reason), z.Verdict.Message)
		}
	}
	for _, r := range c.Records {
		if !r.Verdict.Accepted {
			say(r.Object, r.Verdict.Name, string(r.Verdict.Reason), r.Verdict.Message)
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

// writeServer says where sets are to be that are no zone: there is no SOA.
func writeServer(out io.Writer, z fold.ZoneResult) {
	if z.Object.OfGardener() {
		fmt.Fprintf(out, "; %s: %s\n", plain.Line(z.Object.Ref.String()), plain.Line(z.Verdict.Message))
		return
	}
	server := ""
	if c, ok := z.Object.Homelab.(*v1alpha1.DNSClass); ok {
		server = c.Spec.Server
	}
	fmt.Fprintf(out, "; %s: what %s is to have, hash %s\n", plain.Line(z.Object.Ref.String()), plain.Line(server),
		z.Snapshot.Hash)
}
