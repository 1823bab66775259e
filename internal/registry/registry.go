package registry

import (
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Registry is what there is to know of the external-dns that share zones.
type Registry struct {
	Formats []Format

	// Owners are those whose place zonefold takes: their sets may become its own.
	Owners []string

	// Writes is the format in which notes are kept about zonefold's sets, nil if none are; Writer is the owner in them.
	Writes *Format
	Writer string
}

// A Claim is what a note says about a set.
type Claim struct {
	Note  dnsname.Name
	Owner string // "" when it is not known: a note that cannot be decrypted, or names nobody
	Table string // of DynamoDB, where the note is; "": in the zone
}

// Where names the place where the note is.
func (c Claim) Where() string {
	if c.Table != "" {
		return "the table " + c.Table + " in DynamoDB"
	}
	return "TXT " + c.Note.String()
}

// Ours reports whether a claim is that of an owner whose place zonefold takes.
func (r *Registry) Ours(c Claim) bool { return slices.Contains(r.Owners, c.Owner) }

// Claims returns what the notes among the sets of a zone say about a set. Where notes of a format have the type in
// their names, what others say that have not does not count, as with external-dns.
func (r *Registry) Claims(has rr.Sets, k rr.Key) []Claim {
	var claims []Claim
	for i := range r.Formats {
		typed, untyped := r.Formats[i].claims(has, k)
		if typed == nil {
			typed = untyped
		}
		claims = append(claims, typed...)
	}
	return claims
}

// Said returns all that notes say about a set, also what does not count.
func (r *Registry) Said(has rr.Sets, k rr.Key) []Claim {
	var claims []Claim
	for i := range r.Formats {
		typed, untyped := r.Formats[i].claims(has, k)
		claims = append(append(claims, typed...), untyped...)
	}
	return claims
}

// claims reads the notes about a set: those whose names have the type in them, and others.
func (f *Format) claims(has rr.Sets, k rr.Key) (typed, untyped []Claim) {
	for _, name := range f.names(k) {
		s := f.subject(name)
		if !f.covers(s, k) {
			continue
		}
		set, _ := has.Get(rr.Key{Name: name, Type: rr.TypeTXT})
		for _, owner := range f.owners(set, s.of != 0) {
			if s.of != 0 {
				typed = append(typed, Claim{name, owner, f.Table})
			} else {
				untyped = append(untyped, Claim{name, owner, f.Table})
			}
		}
	}
	return typed, untyped
}

// Notes returns what a set says as a note, whatever it is about; nothing if it is none.
func (r *Registry) Notes(set rr.Set) []Claim {
	if set.Type != rr.TypeTXT {
		return nil
	}
	var claims []Claim
	inTable := IsInTable(set.Key())
	for i := range r.Formats {
		f := &r.Formats[i]
		if f.Table == "" && inTable {
			continue
		}
		table := ""
		if inTable {
			table = f.Table
		}
		for _, owner := range f.owners(set, f.subject(set.Name).of != 0) {
			claims = append(claims, Claim{set.Name, owner, table})
		}
	}
	return claims
}

// owners reads the owners in a set of notes. What may be encrypted is a note only where the name has the type in it.
func (f *Format) owners(set rr.Set, typed bool) []string {
	var owners []string
	for _, data := range set.Data {
		if owner, is := f.read(value(data)); is == note || is == sealed && typed {
			owners = append(owners, owner)
		}
	}
	return owners
}

// value joins the strings of TXT data.
func value(data string) string {
	wire, err := rr.Wire(rr.TypeTXT, data)
	if err != nil {
		return ""
	}
	var b strings.Builder
	for len(wire) > 0 {
		n := min(int(wire[0])+1, len(wire))
		b.Write(wire[1:n])
		wire = wire[n:]
	}
	return b.String()
}

// IsNote reports whether a set is a note.
func (r *Registry) IsNote(set rr.Set) bool { return len(r.Notes(set)) > 0 }

// Covered returns the sets among has and want that a note is about.
func (r *Registry) Covered(note dnsname.Name, has, want rr.Sets) []rr.Key {
	var keys []rr.Key
	for i := range r.Formats {
		f := &r.Formats[i]
		s := f.subject(note)
		for _, name := range f.about(s) {
			for _, sets := range [...]rr.Sets{has, want} {
				for set := range sets.At(name) {
					if f.covers(s, set.Key()) && !r.IsNote(set) {
						keys = append(keys, set.Key())
					}
				}
			}
		}
	}
	slices.SortFunc(keys, rr.Key.Compare)
	return slices.Compact(keys)
}

// about returns the names that a subject may mean.
func (f *Format) about(s subject) []dnsname.Name {
	var names []dnsname.Name
	texts := []string{s.name}
	if rest, ok := strings.CutPrefix(s.name, strings.ToLower(f.Wildcard)); ok && f.Wildcard != "" &&
		(rest == "" || rest[0] == '.') {
		texts = append(texts, "*"+rest)
	}
	for _, text := range texts {
		if n, err := dnsname.Parse(text + "."); err == nil && s.name != "" {
			names = append(names, n)
		}
	}
	return names
}

// NoteTTL is the TTL of the notes that are written, in seconds.
const NoteTTL = 300

// Note returns the note to keep about a set of zonefold's, and false where there is none: none are written,
// external-dns has no notes about the type, or their name is outside of the zone, as it is at the apex without a dot in
// the prefix.
func (r *Registry) Note(k rr.Key, zone dnsname.Name) (rr.Set, bool) {
	if r.Writes == nil {
		return rr.Set{}, false
	}
	name, ok := r.Writes.NoteName(k)
	if !ok || !name.Below(zone) {
		return rr.Set{}, false
	}
	return rr.NewSet(rr.Key{Name: name, Type: rr.TypeTXT}, NoteTTL, rr.Text(r.Writes.write(r.Writer, k))), true
}
