package dnsname

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestNamesAreInTheOrderOfTheRFC(t *testing.T) {
	// The list of RFC 4034 §6.1.
	names := []string{
		"example.",
		"a.example.",
		"yljkjljk.a.example.",
		"Z.a.example.",
		"zABC.a.EXAMPLE.",
		"z.example.",
		`\001.z.example.`,
		"*.z.example.",
		`\200.z.example.`,
	}
	for i, a := range names {
		for j, b := range names {
			n, o := parse(t, a), parse(t, b)
			want := 0
			if i < j {
				want = -1
			} else if i > j {
				want = 1
			}
			if got := n.Compare(o); got != want {
				t.Errorf("%s and %s compare as %d, want %d", n, o, got, want)
			}
			if got := strings.Compare(n.Key(), o.Key()); got != want {
				t.Errorf("the keys of %s and %s compare as %d, want %d", n, o, got, want)
			}
		}
	}
}

// compareSlowly is RFC 4034 §6.1 word for word.
func compareSlowly(n, o Name) int {
	a, b := rawLabels(n), rawLabels(o)
	slices.Reverse(a)
	slices.Reverse(b)
	for i := range min(len(a), len(b)) {
		if c := bytes.Compare(a[i], b[i]); c != 0 {
			return c
		}
	}
	return len(compared(len(a), len(b))) - 1
}

// compared returns 0, 1 or 2 octets for less, equal and more.
func compared(a, b int) []byte {
	switch {
	case a < b:
		return nil
	case a > b:
		return make([]byte, 2)
	}
	return make([]byte, 1)
}

func rawLabels(n Name) [][]byte {
	var labels [][]byte
	for wire := n.AppendWire(nil); wire[0] > 0; wire = wire[1+wire[0]:] {
		labels = append(labels, wire[1:1+wire[0]])
	}
	return labels
}

func TestCompareAndKeyAreTheOrderOfTheRFC(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, o := drawName(t), drawName(t)
		want := compareSlowly(n, o)
		if got := n.Compare(o); got != want {
			t.Fatalf("%s and %s compare as %d, want %d", n, o, got, want)
		}
		if got := strings.Compare(n.Key(), o.Key()); got != want {
			t.Fatalf("the keys of %s and %s compare as %d, want %d", n, o, got, want)
		}
	})
}

func TestKeysOfTheNamesUnderAZoneBeginWithItsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, zone := drawName(t), drawName(t)
		if rapid.Bool().Draw(t, "related") {
			zone = n
			for range rapid.IntRange(0, 5).Draw(t, "up") {
				if p, ok := zone.Parent(); ok {
					zone = p
				}
			}
		}
		slowly := len(rawLabels(n)) >= len(rawLabels(zone))
		for i, label := range slices.Backward(rawLabels(zone)) {
			at := len(rawLabels(n)) - len(rawLabels(zone)) + i
			slowly = slowly && bytes.Equal(label, rawLabels(n)[at])
		}
		if got := n.Under(zone); got != slowly {
			t.Fatalf("%s under %s is %v", n, zone, got)
		}
		if got := strings.HasPrefix(n.Key(), zone.Key()); got != slowly {
			t.Fatalf("the key of %s begins with that of %s: %v, want %v", n, zone, got, slowly)
		}
	})
}

func TestKeysOfNamesWithoutControlCharactersAreTheirLabels(t *testing.T) {
	if got := parse(t, "www.Example.org.").Key(); got != "org\x00example\x00www\x00" {
		t.Errorf("got %q", got)
	}
	if got := parse(t, `\000\001\002.`).Key(); got != "\x01\x01\x01\x02\x02\x00" {
		t.Errorf("got %q", got)
	}
	if got := Root.Key(); got != "" {
		t.Errorf("got %q", got)
	}
	if got := string(parse(t, "org.").AppendKey([]byte("x"))); got != "xorg\x00" {
		t.Errorf("got %q", got)
	}
}

func BenchmarkParse(b *testing.B) {
	for _, c := range []struct{ name, s string }{
		{"lower case", "www.team.example.org."},
		{"upper case", "WWW.Team.Example.org."},
		{"escapes", `a\.b\032c.example.org.`},
		{"U-labels", "bücher.example.org."},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(c.s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkName(b *testing.B) {
	n, o, zone := parse(b, "www.team.example.org."), parse(b, "mail.team.example.org."), parse(b, "example.org.")
	for _, c := range []struct {
		name string
		f    func()
	}{
		{"Under", func() { n.Under(zone) }},
		{"Parent", func() { n.Parent() }},
		{"Compare", func() { n.Compare(o) }},
		{"Key", func() { sink = n.Key() }},
		{"NumLabels", func() { n.NumLabels() }},
		{"In", func() { sink = n.In(zone) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c.f()
			}
		})
	}
}
