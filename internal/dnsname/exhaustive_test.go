package dnsname

import (
	"slices"
	"strings"
	"testing"
)

// everyName returns all names of up to three labels of the given ones.
func everyName(t testing.TB, labels ...string) []Name {
	t.Helper()
	all := []Name{Root}
	last := all
	for range 3 {
		var next []Name
		for _, n := range last {
			for _, label := range labels {
				below, err := FromLabels(append([]string{label}, raw(n)...))
				if err != nil {
					t.Fatal(err)
				}
				next = append(next, below)
			}
		}
		all, last = append(all, next...), next
	}
	return all
}

func raw(n Name) []string {
	var labels []string
	for _, label := range rawLabels(n) {
		labels = append(labels, string(label))
	}
	return labels
}

// The labels that are hardest to tell apart: octets below and above the one
// that ends a label in a Key, dots inside a label, one label that another
// begins with.
var hard = []string{"\x00", "\x01", "\x00\x00", "\x01\x01", ".", "a.a", "a", "aa", "\\", "*", "\xff"}

func TestTheOrderOfAllSmallNames(t *testing.T) {
	names := everyName(t, hard...)
	slices.SortFunc(names, Name.Compare)
	seen := map[Name]bool{}
	for i, n := range names {
		if seen[n] {
			t.Fatalf("%s comes twice", n)
		}
		seen[n] = true
		if i == 0 {
			continue
		}
		before := names[i-1]
		if compareSlowly(before, n) >= 0 {
			t.Errorf("%s comes before %s", before, n)
		}
		if before.Key() >= n.Key() {
			t.Errorf("the key of %s is not below that of %s", before, n)
		}
	}
	if len(names) != 1+11+121+1331 {
		t.Errorf("there are %d names", len(names))
	}
}

// The names under a zone follow it without another between them.
func TestTheNamesUnderAZoneAreTogether(t *testing.T) {
	names := everyName(t, hard...)
	slices.SortFunc(names, Name.Compare)
	for i, zone := range names {
		if zone.NumLabels() > 2 {
			continue
		}
		end := i
		for end < len(names) && names[end].Under(zone) {
			end++
		}
		for j, n := range names {
			under := j >= i && j < end
			if n.Under(zone) != under || strings.HasPrefix(n.Key(), zone.Key()) != under {
				t.Fatalf("%s under %s is %v, and its key %v", n, zone, n.Under(zone), !under)
			}
		}
	}
}

func TestAllSmallNamesKeepTheirPromises(t *testing.T) {
	for _, n := range everyName(t, hard...) {
		checkName(t, n)
		if got, err := FromLabels(raw(n)); err != nil || got != n {
			t.Errorf("%s of its labels is %s, %v", n, got, err)
		}
	}
}

// Every octet is written in one way, which reads back as that octet in lower
// case.
func TestEveryOctetInALabel(t *testing.T) {
	for c := range 256 {
		n, err := FromLabels([]string{string([]byte{'x', byte(c), 'x'})})
		if err != nil {
			t.Fatal(err)
		}
		want := []byte{3, 'x', lower(byte(c)), 'x', 0}
		if got := n.AppendWire(nil); !slices.Equal(got, want) {
			t.Errorf("octet %d: got %v", c, got)
		}
		for _, r := range n.String() {
			if r <= ' ' || r > '~' {
				t.Errorf("octet %d is written %q", c, n)
			}
		}
		checkName(t, n)
	}
}

// A pattern of the labels of a name, any of them a star, matches it.
func TestPatternsOfNamesMatchThem(t *testing.T) {
	for _, n := range everyName(t, "a", "b.c", "\x00", "\\", "a b") {
		labels := n.Labels()
		for stars := range 1 << len(labels) {
			words := slices.Clone(labels)
			for i := range words {
				if stars>>i&1 != 0 {
					words[i] = "*"
				}
			}
			p := pattern(t, strings.Join(words, ".")+".")
			if !p.Match(n, Root) {
				t.Errorf("%s does not match %s", p, n)
			}
			for i, label := range labels {
				if stars>>i&1 != 0 {
					continue
				}
				other := slices.Clone(words)
				other[i] = "other" + label
				if q := pattern(t, strings.Join(other, ".")+"."); q.Match(n, Root) {
					t.Errorf("%s matches %s", q, n)
				}
			}
		}
	}
}
