package dnsname

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func parse(t testing.TB, s string) Name {
	t.Helper()
	n, err := Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var (
	long63 = strings.Repeat("a", 63)
	// wide is a name of exactly 255 octets.
	wide = long63 + "." + long63 + "." + long63 + "." + strings.Repeat("b", 61) + "."
)

func TestNamesAreCanonical(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"an absolute name", "example.org.", "example.org."},
		{"upper case becomes lower case", "WWW.Example.ORG.", "www.example.org."},
		{"the root", ".", "."},
		{"a top-level domain", "org.", "org."},
		{"a label of 63 octets", long63 + ".org.", long63 + ".org."},
		{"a name of 255 octets", wide, wide},
		{"an underscore", "_sip._tcp.example.org.", "_sip._tcp.example.org."},
		{"a wildcard", "*.example.org.", "*.example.org."},
		{"an escaped wildcard is a wildcard", `\*.example.org.`, "*.example.org."},
		{"an asterisk anywhere", "a.*.b*.example.org.", "a.*.b*.example.org."},
		{"a label of RFC 2317", "0/25.2.0.192.in-addr.arpa.", "0/25.2.0.192.in-addr.arpa."},
		{"labels of digits", "1.2.3.4.", "1.2.3.4."},
		{"hyphens in the third and fourth place", "ab--cd.example.org.", "ab--cd.example.org."},
		{"a hyphen first, which DNS allows", "-abcd.example.org.", "-abcd.example.org."},
		{"an A-label", "xn--bcher-kva.example.", "xn--bcher-kva.example."},
		{"an A-label in upper case", "XN--Bcher-KVA.example.", "xn--bcher-kva.example."},
		{"an A-label that decodes to nothing is only octets", "xn--0.example.", "xn--0.example."},
		{"characters without a meaning", `!#%&'+,/:<=>?[]^{|}~` + "`.", `!#%&'+,/:<=>?[]^{|}~` + "`."},
		{"an escaped dot is part of its label", `a\.b.example.org.`, `a\.b.example.org.`},
		{"a dot by number is the same", `a\046b.example.org.`, `a\.b.example.org.`},
		{"an escape that is not needed", `\w\119W.example.org.`, "www.example.org."},
		{"an escaped upper-case letter by number", `\087.example.org.`, "w.example.org."},
		{"characters that master files give a meaning", `\(\)\;\@\$\"\\.example.org.`, `\(\)\;\@\$\"\\.example.org.`},
		{"a space by number", `a\032b.`, `a\032b.`},
		{"an escaped space", `a\ b.`, `a\032b.`},
		{"octets that do not print", `\000\001\127\255.`, `\000\001\127\255.`},
		{"an escaped backslash before a dot", `a\\.b.`, `a\\.b.`},
		{"the mailbox of a start of authority", `joe\.doe.example.org.`, `joe\.doe.example.org.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Parse(c.s)
			if err != nil {
				t.Fatal(err)
			}
			if n.String() != c.want {
				t.Errorf("got %s, want %s", n, c.want)
			}
			checkName(t, n)
		})
	}
}

// checkName holds a name to all that is promised of it.
func checkName(t interface{ Errorf(string, ...any) }, n Name) {
	if again, err := Parse(n.String()); err != nil || again != n {
		t.Errorf("%s is not a fixed point: %s, %v", n, again, err)
	}
	if again, err := Parse(n.Unicode()); err != nil || again != n {
		t.Errorf("%s is shown as %s, which is %s, %v", n, n.Unicode(), again, err)
	}
	wire := n.AppendWire(nil)
	if len(wire) != n.size() || len(wire) > maxName {
		t.Errorf("%s has %d octets, and its size is %d", n, len(wire), n.size())
	}
	if again, size, err := FromWire(wire); err != nil || again != n || size != len(wire) {
		t.Errorf("%s becomes %s, %d of %d octets, %v", n, again, size, len(wire), err)
	}
	if got := len(n.Labels()); got != n.NumLabels() {
		t.Errorf("%s has %d labels, and says %d", n, got, n.NumLabels())
	}
	up, steps := n, 0
	for p, ok := n.Parent(); ok; p, ok = p.Parent() {
		if !up.Below(p) || !n.Under(p) || p.Under(up) || p.Compare(up) >= 0 {
			t.Errorf("%s is not below its parent %s", up, p)
		}
		up = p
		steps++
	}
	if up != Root || steps != n.NumLabels() {
		t.Errorf("%d steps up from %s is %s", steps, n, up)
	}
}

func TestNamesAreRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"nothing", "", "the name is empty"},
		{"no dot at the end", "example.org", `"example.org" is not absolute: end it with a dot`},
		{"an escaped dot at the end", `example.org\.`, "`example.org\\.` is not absolute: end it with a dot"},
		{"an empty label", "www..example.org.", `"www..example.org." has an empty label`},
		{"several dots at the end", "example.org..", `"example.org.." has an empty label`},
		{"a dot at the beginning", ".example.org.", `".example.org." has an empty label`},
		{"an empty label beside an escape", `a\.b..org.`, "has an empty label"},
		{"a label of 64 octets", long63 + "a.org.", "has a label of 64 octets: at most 63 are allowed"},
		{"a label of 64 octets, one escaped", `\000` + long63 + ".org.", "has a label of 64 octets: at most 63 are allowed"},
		{"a name of 256 octets", strings.TrimSuffix(wide, ".") + "b.", "has 256 octets: at most 255 are allowed"},
		{"a name of 256 octets, one escaped", strings.TrimSuffix(wide, ".") + `\@.`,
			"has 256 octets: at most 255 are allowed"},
		{"a space", "a b.example.org.", `"a b.example.org." has a space in it: write \032 if it belongs to the name`},
		{"a space at the end", "example.org. ", `has a space in it`},
		{"a quote", `a"b.`, "`a\"b.` has the character \"\\\"\" in it: write \\\" if it belongs to the name"},
		{"a semicolon", "a;b.", `"a;b." has the character ";" in it: write \; if it belongs to the name`},
		{"a parenthesis", "a(b).", `"a(b)." has the character "(" in it: write \( if it belongs to the name`},
		{"an at sign in a label", "joe@example.org.",
			`"joe@example.org." has the character "@" in it: write \@ if it belongs to the name`},
		{"an at sign as a label", "@.", `has the character "@" in it`},
		{"a dollar", "$ORIGIN.", `has the character "$" in it: write \$ if it belongs to the name`},
		{"a tab", "a\tb.", `"a\tb." has a control character in it: write \009 if it belongs to the name`},
		{"a line feed", "a.\nb.", `has a control character in it: write \010`},
		{"a delete character", "a\x7fb.", `has a control character in it: write \127`},
		{"an escape above 255", `a\256.`,
			"`a\\256.` has a bad escape `\\256`: write a backslash and three digits, \\000 to \\255"},
		{"an escape of two digits", `a\12.`, "has a bad escape"},
		{"an escape of two digits at the end", `a\12`, "has a bad escape"},
		{"a backslash at the end", `a\`, "has a backslash with nothing to escape"},
		{"a backslash before a line feed", "a\\\n.", "has a backslash before a character that is not printable: write \\010"},
		{"an escape in a label beyond ASCII", `bü\.cher.`, "has a label with an escape and a character beyond ASCII"},
		{"octets that are not UTF-8", "a\xffb.", "is not a valid internationalized label"},
		{"a very long text is shortened", strings.Repeat("a.", 5000), "…\" has 10001 octets: at most 255 are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Parse(c.s)
			if err == nil {
				t.Fatalf("taken as %s", n)
			}
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("got  %v\nwant %s", err, c.want)
			}
			if !n.IsZero() {
				t.Errorf("the name is %s", n)
			}
			if len(err.Error()) > 300 {
				t.Errorf("the message has %d octets", len(err.Error()))
			}
		})
	}
}

func TestUnderAndBelow(t *testing.T) {
	for _, c := range []struct {
		name, n, zone string
		under, below  bool
	}{
		{"a name is under itself, and not below", "example.org.", "example.org.", true, false},
		{"a name below", "www.example.org.", "example.org.", true, true},
		{"two labels below", "a.b.example.org.", "example.org.", true, true},
		{"a name is not below its child", "example.org.", "www.example.org.", false, false},
		{"the end of a label is not a label", "notexample.org.", "example.org.", false, false},
		{"a sibling", "example.com.", "example.org.", false, false},
		{"everything is below the root", "org.", ".", true, true},
		{"the root is under itself", ".", ".", true, false},
		{"the root is below nothing", ".", "org.", false, false},
		{"an escaped dot does not begin a parent", `a\.example.org.`, "example.org.", false, false},
		{"an escaped backslash does not hide a dot", `a\\.example.org.`, "example.org.", true, true},
		{"an escaped backslash and an escaped dot", `a\\\.example.org.`, "example.org.", false, false},
		{"wildcards are names", "*.example.org.", "example.org.", true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, zone := parse(t, c.n), parse(t, c.zone)
			if got := n.Under(zone); got != c.under {
				t.Errorf("Under is %v", got)
			}
			if got := n.Below(zone); got != c.below {
				t.Errorf("Below is %v", got)
			}
		})
	}
}

func TestNamesRelativeToAZone(t *testing.T) {
	for _, c := range []struct{ name, n, zone, want string }{
		{"the apex", "example.org.", "example.org.", "@"},
		{"a name below", "www.example.org.", "example.org.", "www"},
		{"a name far below", "www.example.org.", "org.", "www.example"},
		{"a name that is not under the zone stays absolute", "www.example.org.", "test.org.", "www.example.org."},
		{"under the root", "example.org.", ".", "example.org"},
		{"the root in the root", ".", ".", "@"},
		{"the root elsewhere", ".", "org.", "."},
		{"a label that is an at sign keeps its escape", `\@.example.org.`, "example.org.", `\@`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, zone := parse(t, c.n), parse(t, c.zone)
			got := n.In(zone)
			if got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if !n.Under(zone) {
				return
			}
			r, err := ParseRelative(got)
			if err != nil {
				t.Fatal(err)
			}
			if back, err := r.In(zone); err != nil || back != n {
				t.Errorf("%s in %s is %s, %v", got, zone, back, err)
			}
		})
	}
}

func TestTheZeroNameIsNoName(t *testing.T) {
	var zero Name
	if !zero.IsZero() || zero.IsRoot() || zero.IsWildcard() || zero.String() != "" || zero.NumLabels() != 0 ||
		len(zero.Labels()) != 0 {
		t.Error("it looks like a name")
	}
	if _, ok := zero.Parent(); ok {
		t.Error("it has a parent")
	}
	for _, n := range []Name{zero, Root, parse(t, "org.")} {
		if zero.Under(n) || n.Under(zero) || zero.Below(n) || n.Below(zero) {
			t.Errorf("it is above or below %q", n)
		}
	}
	if zero.Compare(Root) != -1 || Root.Compare(zero) != 1 || zero.Compare(zero) != 0 {
		t.Error("it is not before the root")
	}
	if len(zero.AppendWire(nil)) != 0 || zero.In(Root) != "" || zero.Unicode() != "" {
		t.Error("it has octets")
	}
}

func TestLabels(t *testing.T) {
	for _, c := range []struct {
		n    string
		want []string
	}{
		{".", nil},
		{"org.", []string{"org"}},
		{"www.example.org.", []string{"www", "example", "org"}},
		{`a\.b.\\.c.`, []string{`a\.b`, `\\`, "c"}},
		{"*.example.org.", []string{"*", "example", "org"}},
	} {
		if got := parse(t, c.n).Labels(); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.n, got, c.want)
		}
	}
}

func TestWildcards(t *testing.T) {
	for s, want := range map[string]bool{"*.example.org.": true, "*.": true, `\042.example.org.`: true,
		"*a.example.org.": false, "a.*.org.": false, ".": false, "example.org.": false} {
		if got := parse(t, s).IsWildcard(); got != want {
			t.Errorf("%s: IsWildcard is %v", s, got)
		}
	}
}

func TestNamesOfRawLabels(t *testing.T) {
	for _, c := range []struct {
		name   string
		labels []string
		want   string
		err    string
	}{
		{"no labels are the root", nil, ".", ""},
		{"octets are octets", []string{"WWW", "a.b", "\xc3\xbc", "\\"}, `www.a\.b.\195\188.\\.`, ""},
		{"an empty label", []string{"a", "", "b"}, "", "empty"},
		{"a long label", []string{strings.Repeat("x", 64)}, "", "has a label of 64 octets"},
		{"a long name", slices.Repeat([]string{"\x00"}, 128), "", "has 257 octets"},
		{"the longest name of escapes", slices.Repeat([]string{"\x00"}, 127), strings.Repeat(`\000.`, 127), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := FromLabels(c.labels)
			if n.String() != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %s, %v", n, err)
			}
			if err == nil {
				checkName(t, n)
			}
		})
	}
}

func TestWireFormat(t *testing.T) {
	for _, c := range []struct {
		name, wire, want string
		size             int
		err              string
	}{
		{"the root", "\x00rest", ".", 1, ""},
		{"a name, and what follows it", "\x03wWw\x02aB\x00rest", "www.ab.", 8, ""},
		{"nothing", "", "", 0, "cut off"},
		{"no end", "\x03www", "", 0, "cut off"},
		{"a label cut off", "\x03ww", "", 0, "cut off"},
		{"a pointer", "\x03www\xc0\x0c", "", 0, "pointers and labels above 63 octets are not allowed"},
		{"a name that never ends", strings.Repeat("\x01a", 200), "", 0, "more than 255 octets"},
		{"a name of 255 octets", strings.Repeat("\x01a", 127) + "\x00", strings.Repeat("a.", 127), 255, ""},
		{"a name of 256 octets", "\x02aa" + strings.Repeat("\x01a", 126) + "\x00", "", 0, "more than 255 octets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, size, err := FromWire([]byte(c.wire))
			if n.String() != c.want || size != c.size || (err == nil) != (c.err == "") ||
				err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("got %s, %d, %v", n, size, err)
			}
		})
	}
}

// drawName returns a name of labels with any octets, often alike.
func drawName(t *rapid.T) Name {
	octet := rapid.OneOf(rapid.SampledFrom([]byte("aAbB*.\\-@ \x00\x01\x02\xff")), rapid.Byte())
	label := rapid.Map(rapid.SliceOfN(octet, 1, 5), func(b []byte) string { return string(b) })
	n, err := FromLabels(rapid.SliceOfN(label, 0, 5).Draw(t, "labels"))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

func TestRandomNamesKeepTheirPromises(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { checkName(t, drawName(t)) })
}

func TestEverySpellingIsTheSameName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawName(t)
		var other strings.Builder
		for wire := n.AppendWire(nil); wire[0] > 0; wire = wire[1+wire[0]:] {
			for _, c := range wire[1 : 1+wire[0]] {
				other.Write(spell(t, c))
			}
			other.WriteByte('.')
		}
		if got, err := Parse(cmp.Or(other.String(), ".")); err != nil || got != n {
			t.Fatalf("%s is read as %s, %v; want %s", other.String(), got, err, n)
		}
	})
}

// spell writes one octet in one of the ways there are.
func spell(t *rapid.T, c byte) []byte {
	if c >= 'a' && c <= 'z' && rapid.Bool().Draw(t, "upper") {
		c -= 'a' - 'A'
	}
	switch way := rapid.IntRange(0, 2).Draw(t, "way"); {
	case way == 0:
		return []byte{'\\', '0' + c/100, '0' + c/10%10, '0' + c%10}
	case way == 1 && c > ' ' && c <= '~' && (c < '0' || c > '9'):
		return []byte{'\\', c}
	}
	return appendOctet(nil, c)
}

func TestNamesWithoutEscapesDoNotAllocate(t *testing.T) {
	n, o, zone := parse(t, "www.team.example.org."), parse(t, "mail.team.example.org."), parse(t, "example.org.")
	for what, f := range map[string]func(){
		"Parse":     func() { _, _ = Parse("www.team.example.org.") },
		"Under":     func() { n.Under(zone) },
		"Parent":    func() { n.Parent() },
		"Compare":   func() { n.Compare(o) },
		"NumLabels": func() { n.NumLabels() },
		"In":        func() { n.In(zone) },
		"Unicode":   func() { _ = n.Unicode() },
	} {
		if got := testing.AllocsPerRun(100, f); got > 0 {
			t.Errorf("%s allocates %v times", what, got)
		}
	}
	if got := testing.AllocsPerRun(100, func() { sink = n.Key() }); got > 1 {
		t.Errorf("Key allocates %v times", got)
	}
}

var sink string
