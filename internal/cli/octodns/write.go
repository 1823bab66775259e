package octodns

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/cli/draft"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// Write writes the sets of a zone, which come in canonical order. Report is told of what octoDNS does not hold.
func Write(w io.Writer, origin dnsname.Name, sets iter.Seq[rr.Set], report func(content.Loss)) error {
	e := &encoder{out: bufio.NewWriter(w), forms: forms(), report: report}
	byLabel := map[string][]rr.Set{}
	var labels []string
	for s := range sets {
		if s.Type == typeSPF {
			s = spf(s)
		}
		if _, known := e.forms[s.Type]; !known {
			report(content.Loss{Kind: content.LeftOut, What: s.Key().String(), Why: "octoDNS has no such type"})
			continue
		}
		label := strings.TrimPrefix(s.Name.In(origin), "@")
		if byLabel[label] == nil {
			labels = append(labels, label)
		}
		byLabel[label] = append(byLabel[label], s)
	}
	slices.SortFunc(labels, naturally)
	fmt.Fprintln(e.out, "---")
	if len(labels) == 0 {
		fmt.Fprintln(e.out, "{}")
	}
	for _, label := range labels {
		e.line("", label, "")
		for _, s := range byLabel[label] {
			e.set(s)
		}
	}
	return e.out.Flush()
}

// spf gives a set of the obsolete type its texts, as TXT has them.
func spf(s rr.Set) rr.Set {
	s.Data = slices.Clone(s.Data)
	for i, data := range s.Data {
		if wire, err := rr.Wire(s.Type, data); err == nil {
			s.Data[i] = rr.FromWire(rr.TypeTXT, wire)
		}
	}
	return s
}

// An encoder writes records.
type encoder struct {
	out    *bufio.Writer
	forms  map[rr.Type][]field
	report func(content.Loss)
}

// line writes a key, and its value if that is not empty.
func (e *encoder) line(indent, key, value string) {
	fmt.Fprintf(e.out, "%s%s:", indent, draft.AppendScalar(nil, key))
	if value != "" {
		fmt.Fprintf(e.out, " %s", value)
	}
	fmt.Fprintln(e.out)
}

func text(s string) string { return string(draft.AppendScalar(nil, s)) }

// set writes one record of octoDNS; its keys are in order, as octoDNS demands.
func (e *encoder) set(s rr.Set) {
	name := s.Type.String()
	if s.Type == typeSPF {
		name = "SPF"
	}
	fmt.Fprintf(e.out, "- ttl: %d\n  type: %s\n", s.TTL, name)
	if s.Type.Singleton() {
		e.line("  ", "value", text(s.Data[0]))
		return
	}
	e.line("  ", "values", "")
	for _, data := range s.Data {
		switch fields := e.forms[s.Type]; {
		case s.Type == rr.TypeTXT || s.Type == typeSPF:
			fmt.Fprintf(e.out, "  - %s\n", text(e.joined(s, data)))
		case fields == nil:
			fmt.Fprintf(e.out, "  - %s\n", text(data))
		default:
			e.members(fields, words(data))
		}
	}
}

// joined is the text of a TXT record; that it was several strings, other than a long one that was split, is told.
func (e *encoder) joined(s rr.Set, data string) string {
	parts := words(data)
	if strs, err := rr.Strings(data); err == nil && rr.Text(strings.Join(strs, "")) != data {
		e.report(content.Loss{Kind: content.Changed, What: s.Key().String() + " " + data,
			Why: "octoDNS holds one text, in which its strings are joined"})
	}
	return enquote(strings.Join(parts, ""), true)
}

// members writes the fields of a value, in the order of their names.
func (e *encoder) members(fields []field, parts []string) {
	type member struct {
		field

		text string
		all  []string
	}
	var members []member
	for i, f := range fields {
		m := member{field: f}
		switch {
		case f.form == params:
			m.all = parts[min(i, len(parts)):]
		case f.form == rest:
			m.text = strings.Join(parts[i:], "")
		default:
			m.text = parts[i]
		}
		members = append(members, m)
	}
	slices.SortFunc(members, func(a, b member) int { return strings.Compare(a.name, b.name) })
	indent := "  - "
	for _, m := range members {
		switch m.form {
		case number:
			e.line(indent, m.name, m.text)
		case metres:
			e.line(indent, m.name, strings.TrimSuffix(m.text, "m"))
		case quoted:
			e.line(indent, m.name, text(enquote(m.text, false)))
		case params:
			e.params(indent, m.all)
		default:
			e.line(indent, m.name, text(m.text))
		}
		indent = "    "
	}
}

// params writes the parameters of a service.
func (e *encoder) params(indent string, all []string) {
	if len(all) == 0 {
		return
	}
	e.line(indent, "svcparams", "")
	slices.SortFunc(all, func(a, b string) int {
		keyA, _, _ := strings.Cut(a, "=")
		keyB, _, _ := strings.Cut(b, "=")
		return naturally(keyA, keyB)
	})
	for _, param := range all {
		key, value, has := strings.Cut(param, "=")
		if len(value) > 1 && value[0] == '"' {
			value = value[1 : len(value)-1]
		}
		value = enquote(value, false)
		switch {
		case !has:
			e.line("      ", key, "null")
		case !isList(key):
			e.line("      ", key, text(value))
		default:
			e.line("      ", key, "")
			for item := range strings.SplitSeq(value, ",") {
				fmt.Fprintf(e.out, "      - %s\n", text(item))
			}
		}
	}
}

// naturally compares texts as octoDNS orders keys: digits in them count as numbers.
func naturally(a, b string) int {
	for a != "" && b != "" {
		partA, numA := part(a)
		partB, numB := part(b)
		if numA != numB { // a number comes first, as after an empty text
			if numA {
				return -1
			}
			return 1
		}
		if numA {
			x, y := strings.TrimLeft(partA, "0"), strings.TrimLeft(partB, "0")
			if c := cmp.Or(cmp.Compare(len(x), len(y)), strings.Compare(x, y)); c != 0 {
				return c
			}
		} else if c := strings.Compare(partA, partB); c != 0 {
			return c
		}
		a, b = a[len(partA):], b[len(partB):]
	}
	return cmp.Compare(len(a), len(b))
}

// part returns what a text begins with: digits, or what is before the next of them.
func part(s string) (begin string, digits bool) {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	end := 0
	for digits = isDigit(s[0]); end < len(s) && isDigit(s[end]) == digits; end++ {
	}
	return s[:end], digits
}
