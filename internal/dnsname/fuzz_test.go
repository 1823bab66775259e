package dnsname

import (
	"bytes"
	"strings"
	"testing"
)

// seeds is text of every kind that the parsers know.
var seeds = []string{
	"", ".", "..", "@", "*", "www.example.org.", "WWW.Example.ORG", "*.example.org.", "_sip._tcp.@", "a.@.b",
	`a\.b\032\000\255.`, `a\`, `a\25`, `a\256.`, `\*.\@.`, "ns*.*.ex*le", "a**", "bücher.例え。テスト｡", "xn--bcher-kva.xn--0.",
	"℀.", "＊.", "a\x00b.", "a\xff.", "\u00ad.", strings.Repeat("a.", 127), strings.Repeat("ü", 40) + ".", "-a-.a--.",
}

func FuzzParse(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n, err := Parse(s)
		if err != nil {
			if !n.IsZero() || len(err.Error()) > 1000 {
				t.Errorf("%q: %s, %v", s, n, err)
			}
			return
		}
		checkName(t, n)
		_ = CheckOwner(n)
		if len(s) > 1 {
			r, err := ParseRelative(n.In(Root))
			if err != nil {
				t.Fatalf("%s as a partial name: %v", n, err)
			}
			if back, err := r.In(Root); err != nil || back != n {
				t.Errorf("%s is %s, %v", n, back, err)
			}
		}
	})
}

func FuzzParseRelative(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	origin := parse(f, "example.org.")
	f.Fuzz(func(t *testing.T, s string) {
		r, err := ParseRelative(s)
		if err != nil {
			return
		}
		_ = CheckRelativeOwner(r)
		if again, err := ParseRelative(r.String()); err != nil || again != r {
			t.Errorf("%s is not a fixed point: %s, %v", r, again, err)
		}
		if _, err := r.In(Root); err != nil {
			t.Errorf("%s is too long for the root: %v", r, err)
		}
		if n, err := r.In(origin); err == nil {
			checkName(t, n)
			if n.In(origin) != r.String() {
				t.Errorf("%s in its origin is %s", r, n.In(origin))
			}
		}
	})
}

func FuzzParsePattern(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, "www.example.org.", "example.org.")
	}
	f.Fuzz(func(t *testing.T, s, name, origin string) {
		p, err := ParsePattern(s)
		if err != nil {
			return
		}
		if again, err := ParsePattern(p.String()); err != nil || !again.Equal(p) {
			t.Errorf("%s is not a fixed point: %s, %v", p, again, err)
		}
		n, o := parse0(name), parse0(origin)
		match := p.Match(n, o)
		switch {
		case match && !p.IsAbsolute() && !n.Under(o):
			t.Errorf("%s in %s matches %s", p, o, n)
		case match && n == o && strings.Contains(s, "*"):
			t.Errorf("%s matches its origin %s", p, o)
		case match && n.IsWildcard() && !strings.HasPrefix(p.String(), "*"):
			t.Errorf("%s matches the wildcard %s", p, n)
		}
	})
}

func FuzzFromWire(f *testing.F) {
	for _, s := range seeds {
		f.Add(parse0(s).AppendWire(nil))
	}
	f.Add([]byte("\x03www\xc0\x00"))
	f.Fuzz(func(t *testing.T, b []byte) {
		n, size, err := FromWire(b)
		if err != nil {
			return
		}
		checkName(t, n)
		if !bytes.Equal(bytes.ToLower(n.AppendWire(nil)), bytes.ToLower(b[:size])) {
			t.Errorf("%q became %s", b[:size], n)
		}
	})
}
