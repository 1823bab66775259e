package dnsname

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPartialNamesInAnOrigin(t *testing.T) {
	for _, c := range []struct{ name, s, origin, canonical, want string }{
		{"one label", "test", "example.org.", "test", "test.example.org."},
		{"two labels", "test.example", "org.", "test.example", "test.example.org."},
		{"in the root", "test", ".", "test", "test."},
		{"the origin itself", "@", "example.org.", "@", "example.org."},
		{"the origin itself, which is the root", "@", ".", "@", "."},
		{"upper case", "WWW", "example.org.", "www", "www.example.org."},
		{"a wildcard", "*", "example.org.", "*", "*.example.org."},
		{"a wildcard further down", "*.dev", "example.org.", "*.dev", "*.dev.example.org."},
		{"an escaped dot at the end", `a\.`, "example.org.", `a\.`, `a\..example.org.`},
		{"an escaped at sign is a label", `\@`, "example.org.", `\@`, `\@.example.org.`},
		{"a U-label", "bücher", "example.org.", "xn--bcher-kva", "xn--bcher-kva.example.org."},
		{"a name of exactly 255 octets", "bbb", strings.Repeat("a.", 125), "bbb", "bbb." + strings.Repeat("a.", 125)},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseRelative(c.s)
			if err != nil {
				t.Fatal(err)
			}
			if r.String() != c.canonical {
				t.Errorf("got %s, want %s", r, c.canonical)
			}
			if r.IsOrigin() != (c.s == "@") {
				t.Errorf("IsOrigin is %v", r.IsOrigin())
			}
			n, err := r.In(parse(t, c.origin))
			if err != nil || n.String() != c.want {
				t.Errorf("got %s, %v, want %s", n, err, c.want)
			}
			if again, err := ParseRelative(r.String()); err != nil || !again.Equal(r) {
				t.Errorf("%s is not a fixed point: %s, %v", r, again, err)
			}
		})
	}
}

func TestPartialNamesAreRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"nothing", "", "the name is empty"},
		{"an absolute name", "www.example.org.", `"www.example.org." is absolute: a partial name has no dot at the end`},
		{"the root", ".", `"." is the root, which is absolute: write "@" for the origin`},
		{"an empty label", "a..b", `"a..b" has an empty label`},
		{"an at sign at the end", "www.@", `"www.@" has the character "@" in it: write \@ if it belongs to the name`},
		{"a long label", strings.Repeat("a", 64), "has a label of 64 octets"},
		{"more labels than any name has", strings.Repeat("a.", 127) + "a", "has 257 octets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := ParseRelative(c.s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v, want %s", r, err, c.want)
			}
			if !r.IsZero() {
				t.Errorf("the name is %s", r)
			}
		})
	}
}

func TestAPartialNameCanBeTooLongForItsOrigin(t *testing.T) {
	r, err := ParseRelative("bbbb")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.In(parse(t, strings.Repeat("a.", 125))); err == nil || !strings.Contains(err.Error(),
		"has 256 octets: at most 255 are allowed") {
		t.Errorf("got %s, %v", n, err)
	}
}

func TestNoNameHasNoPlace(t *testing.T) {
	r, err := ParseRelative("www")
	if err != nil {
		t.Fatal(err)
	}
	if n, err := r.In(Name{}); err == nil {
		t.Errorf("got %s", n)
	}
	if n, err := (Relative{}).In(Root); err == nil {
		t.Errorf("got %s", n)
	}
}

func TestPartialWildcards(t *testing.T) {
	for s, want := range map[string]bool{"*": true, "*.a": true, "a": false, "*a": false, "a.*": false, "@": false} {
		r, err := ParseRelative(s)
		if err != nil || r.IsWildcard() != want {
			t.Errorf("%s: IsWildcard is %v, %v", s, r.IsWildcard(), err)
		}
	}
}

func TestNamesGoThroughTheirZone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawName(t)
		zone := n
		for range rapid.IntRange(0, 5).Draw(t, "up") {
			if p, ok := zone.Parent(); ok {
				zone = p
			}
		}
		r, err := ParseRelative(n.In(zone))
		if err != nil {
			t.Fatal(err)
		}
		if back, err := r.In(zone); err != nil || back != n {
			t.Fatalf("%s in %s is %s, and back %s, %v", n, zone, r, back, err)
		}
	})
}

func TestOwnersOfKubiZone(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"an ordinary name", "www.example.org.", ""},
		{"a hyphen inside", "ab-cd.example.org.", ""},
		{"a hyphen further on", "abc-d.example.org.", ""},
		{"hyphens in the third and fourth place", "ab--cd.example.org.", ""},
		{"an A-label", "xn--bcher-kva.example.org.", ""},
		{"an underscore", "_dmarc.example.org.", ""},
		{"a label of RFC 2317", "0/25.2.0.192.in-addr.arpa.", ""},
		{"digits", "1.2.0.192.in-addr.arpa.", ""},
		{"the root", ".", ""},
		{"a wildcard", "*.example.org.", ""},
		{"an escaped dot before a hyphen", `a\.-b.example.org.`, ""},
		{"a hyphen first", "-abcd.example.org.", `"-abcd.example.org." has a label that begins with a hyphen`},
		{"a hyphen first in another label", "www.-abcd.org.", `has a label that begins with a hyphen`},
		{"a hyphen last", "abcd-.example.org.", `"abcd-.example.org." has a label that ends with a hyphen`},
		{"only a hyphen", "-.example.org.", `has a label that begins with a hyphen`},
		{"a wildcard that is not first", "www.*.example.org.", `"www.*.example.org." has a "*" that is not its first label`},
		{"a second wildcard", "*.*.example.org.", `has a "*" that is not its first label`},
		{"an asterisk inside a label", "ns*.example.org.",
			`"ns*.example.org." has a "*" inside a label: a wildcard is a whole label`},
	} {
		t.Run(c.name, func(t *testing.T) {
			check := func(err error) {
				t.Helper()
				if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
					t.Errorf("got %v, want %s", err, c.want)
				}
			}
			n := parse(t, c.s)
			check(CheckOwner(n))
			if n.IsRoot() {
				return
			}
			c.want = strings.Replace(c.want, `."`, `"`, 1)
			r, err := ParseRelative(n.In(Root))
			if err != nil {
				t.Fatal(err)
			}
			check(CheckRelativeOwner(r))
		})
	}
	if r, err := ParseRelative("@"); err != nil || CheckRelativeOwner(r) != nil {
		t.Error("the origin is refused as an owner")
	}
}
