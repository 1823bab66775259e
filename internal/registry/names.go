package registry

import (
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Format is how an external-dns names and writes its notes: its flags --txt-prefix, --txt-suffix,
// --txt-wildcard-replacement and --txt-encrypt-aes-key. The zero Format is that of an external-dns without flags.
type Format struct {
	Prefix, Suffix string // one of them at most; each may have %{record_type} in it
	Wildcard       string // stands for a "*" label in the names of notes; "": the "*" stays
	Key            []byte // of 32 octets, see ParseKey; nil: nothing is encrypted
	Table          string // of DynamoDB, which has the notes in place of the zone; "": the zone has them
}

// tableLabel is the label that the name of a note has where it is shown among the sets of a zone and is none of them.
// No host has such a name.
const tableLabel = ":dynamodb:"

// InTable is the Format of the notes in a table of DynamoDB, as they are shown among the sets of a zone.
func InTable(table string) Format {
	return Format{Prefix: template + "." + tableLabel + ".", Table: table}
}

// IsInTable reports whether a key is that of a note that is in a table, and not in the zone.
func IsInTable(k rr.Key) bool {
	_, rest, _ := strings.Cut(k.Name.String(), ".")
	return k.Type == rr.TypeTXT && strings.HasPrefix(rest, tableLabel+".")
}

// template stands for the type in a prefix or suffix.
const template = "%{record_type}"

// AboutInTable is the set that the note of a table is about.
func AboutInTable(note rr.Key) (rr.Key, bool) {
	kind, rest, _ := strings.Cut(note.Name.String(), ".")
	text, ok := strings.CutPrefix(rest, tableLabel+".")
	if !ok || note.Type != rr.TypeTXT {
		return rr.Key{}, false
	}
	name, wrong := dnsname.Parse(text)
	for _, t := range noted() {
		if word(t) == kind && wrong == nil {
			return rr.Key{Name: name, Type: t}, true
		}
	}
	return rr.Key{}, false
}

// noted are the types whose sets external-dns makes notes of.
func noted() []rr.Type {
	return []rr.Type{rr.TypeA, rr.TypeAAAA, rr.TypeCNAME, rr.TypeNS, rr.TypeMX, rr.TypePTR, rr.TypeSRV, rr.TypeNAPTR,
		rr.TypeTXT, rr.TypeDNAME, rr.TypeTLSA}
}

func word(t rr.Type) string { return strings.ToLower(t.String()) }

func (f *Format) affixes() (prefix, suffix string) {
	return strings.ToLower(f.Prefix), strings.ToLower(f.Suffix)
}

// typed reports whether the affix has the type in it.
func (f *Format) typed() bool { return strings.Contains(f.Prefix+f.Suffix, template) }

// starless returns a name without its final dot, a "*" at its beginning replaced.
func (f *Format) starless(n dnsname.Name) string {
	text := strings.TrimSuffix(n.String(), ".")
	if rest, ok := strings.CutPrefix(text, "*"); ok && f.Wildcard != "" && (rest == "" || rest[0] == '.') {
		return strings.ToLower(f.Wildcard) + rest
	}
	return text
}

// NoteName returns the name of the note about a set, and false if there is no such name.
func (f *Format) NoteName(k rr.Key) (dnsname.Name, bool) {
	if !slices.Contains(noted(), k.Type) {
		return dnsname.Name{}, false
	}
	mark := ""
	if !f.typed() {
		mark = word(k.Type) + "-"
	}
	return f.name(k, word(k.Type), mark)
}

// name puts a name together: %{record_type} is kind, and mark comes before the first label.
func (f *Format) name(k rr.Key, kind, mark string) (dnsname.Name, bool) {
	prefix, suffix := f.affixes()
	label, rest, more := strings.Cut(f.starless(k.Name), ".")
	text := strings.ReplaceAll(prefix, template, kind) + mark + label + strings.ReplaceAll(suffix, template, kind)
	if more {
		text += "." + rest
	}
	n, err := dnsname.Parse(text + ".")
	return n, err == nil && k.Name != dnsname.Root
}

// names are all the names that a note about a set may have: as external-dns writes them, and as earlier releases did,
// without the type.
func (f *Format) names(k rr.Key) []dnsname.Name {
	var all []dnsname.Name
	for _, kind := range []string{word(k.Type), ""} {
		for _, mark := range []string{word(k.Type) + "-", ""} {
			if kind != "" && !f.typed() {
				continue
			}
			if n, ok := f.name(k, kind, mark); ok {
				all = append(all, n)
			}
		}
	}
	return all
}

// A subject is what a note is about: sets of a type at a name, and at "*" where the format has a word for that.
type subject struct {
	name string  // without its final dot; "": it is about nothing
	of   rr.Type // 0: of any type but AAAA, as notes of releases that knew no AAAA were
}

// covers reports whether a note is about a set.
func (f *Format) covers(s subject, k rr.Key) bool {
	return s.name != "" && (s.of == k.Type || s.of == 0 && k.Type != rr.TypeAAAA) && s.name == f.starless(k.Name)
}

// subject reads the name of a note.
func (f *Format) subject(note dnsname.Name) subject {
	text := strings.TrimSuffix(note.String(), ".")
	prefix, suffix := f.affixes()
	if prefix != "" || suffix == "" {
		return f.cut(text, prefix, "")
	}
	dots := strings.Count(suffix, ".")
	parts := strings.SplitN(text, ".", 2+dots)
	if len(parts) <= dots {
		return subject{}
	}
	s := f.cut(strings.Join(parts[:1+dots], "."), "", suffix)
	if len(parts) > 1+dots {
		s.name += "." + parts[1+dots]
	}
	return s
}

// cut takes the affix from a name, and finds the type in it or before the first label.
func (f *Format) cut(text, prefix, suffix string) subject {
	if f.typed() {
		for _, t := range noted() {
			if s, ok := within(text, strings.ReplaceAll(prefix, template, word(t)),
				strings.ReplaceAll(suffix, template, word(t))); ok {
				return subject{s, t}
			}
		}
	}
	s, ok := within(text, strings.ReplaceAll(prefix, template, ""), strings.ReplaceAll(suffix, template, ""))
	if !ok {
		return subject{}
	}
	first, rest, marked := strings.Cut(s, "-")
	for _, t := range noted() {
		if first == word(t) {
			if !marked {
				return subject{s, t}
			}
			return subject{rest, t}
		}
	}
	return subject{name: s}
}

// within returns what is between a prefix and a suffix.
func within(text, prefix, suffix string) (string, bool) {
	text, ok := strings.CutPrefix(text, prefix)
	if !ok {
		return "", false
	}
	return strings.CutSuffix(text, suffix)
}
