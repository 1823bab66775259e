package dnsname

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func pattern(t testing.TB, s string) Pattern {
	t.Helper()
	p, err := ParsePattern(s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		name, pattern, origin string
		match, not            string // names, separated by spaces
	}{
		// The rows of the existing system, in one label and relative to the root.
		{"a label is itself", "example", ".", "example.", "exampl. examples."},
		{"a star is any label", "*", ".", "example.", ""},
		{"a star takes the beginning of a label", "*ample", ".", "example. ample.", "amples. a.ample."},
		{"a star takes the end of a label", "examp*", ".", "example. examp.", "exam. example.a."},
		{"a star takes the middle of a label", "ex*le", ".", "example. exle.", "exl. ex.le."},
		{"a leading star is one or more labels", "*.example.org", ".", "www.example.org. www.sub.test.dev.example.org.",
			"example.org. org."},
		{"a leading star above a star is two or more labels", "*.*.example.org", ".", "a.b.example.org. a.b.c.example.org.",
			"www.example.org. example.org."},
		{"a star inside the first label stays in it", "dev*.example.org", ".",
			"dev.example.org. dev-1.example.org. dev-hello.example.org.", "de.example.org. www.dev-1.example.org."},
		{"without a leading star there are as many labels", "example.org", ".", "example.org.", "www.example.org. org."},
		{"also with a star inside a label", "env-*.example.org", ".", "env-dev.example.org. env-.example.org.",
			"www.env-dev.example.org."},
		{"a leading star before a star inside a label", "*.env-*.example.org", ".",
			"www.env-dev.example.org. a.b.env-dev.example.org.", "env-dev.example.org. www.dev.example.org."},
		{"a star in the middle is exactly one label", "www.*.example.org", ".", "www.test.example.org.",
			"www.subdomain.test.example.org. www.example.org."},
		{"new: labels left of a star in the middle are compared", "www.*.example.org", ".", "", "ftp.test.example.org."},
		{"an at sign is the origin", "example.@", "org.", "example.org.", "example.com. www.example.org. org."},

		{"the same with a dot is absolute", "*.example.org.", "com.", "www.example.org. www.sub.test.dev.example.org.",
			"example.org. www.example.org.com."},
		{"a middle star in an absolute pattern", "www.*.example.org.", "example.org.", "www.test.example.org.",
			"ftp.test.example.org. www.subdomain.test.example.org."},
		{"labels right of a star are compared", "*.*.org.", ".", "a.b.org. a.b.c.org.", "a.org. a.b.com."},
		{"a pattern never takes more labels than a name has", "*.a.example.org.", ".", "b.a.example.org.",
			"example.org. a.example.org. org."},
		{"the two parts around a star do not overlap", "a*a", ".", "aa. aba.", "a."},
		{"nor do longer ones", "ab*ba", ".", "abba. abxba.", "aba."},
		{"case does not matter", "WWW.Ex*LE.Org.", ".", "www.example.org. WWW.EXAMPLE.ORG.", ""},
		{"the end of a label is not a label", "*.example.org.", ".", "", "www.notexample.org."},

		{"a star does not match the apex", "*", "example.org.", "www.example.org. a.b.example.org.",
			"example.org. org. www.example.com."},
		{"a star before the origin does not either", "*.@", "example.org.", "www.example.org. a.b.example.org.",
			"example.org."},
		{"an at sign does", "@", "example.org.", "example.org.", "www.example.org. org."},
		{"and so does the name written out", "example.org.", "example.org.", "example.org.", "www.example.org."},
		{"a star does not match the apex from above", "*.org.", "example.org.", "www.example.org. example2.org.",
			"example.org."},
		{"nor by a part of its label", "ex*.org.", "example.org.", "extra.org.", "example.org."},
		{"a relative pattern stays under its origin", "www", "example.org.", "www.example.org.", "www. www.org."},
		{"a relative pattern of two labels", "dev.*", "example.org.", "dev.a.example.org.",
			"a.dev.example.org. dev.example.org."},
		{"the origin may be the root", "@", ".", ".", "org."},
		{"the root by name", ".", "example.org.", ".", "org. example.org."},
		{"everything below the root", "*.", "example.org.", "org. a.b.c.", ". example.org."},

		{"a wildcard is matched by a leading star", "*.example.org.", ".", "*.example.org. *.dev.example.org.", ""},
		{"a wildcard is not matched by one label", "www.example.org.", ".", "", "*.example.org."},
		{"nor by a star inside a label", "w*.example.org.", ".", "", "*.example.org."},
		{"nor by a star that is not leading", "a.*.example.org.", ".", "", "*.b.example.org."},
		{"a wildcard right at the origin", "*", "example.org.", "*.example.org.", ""},
		{"a wildcard below a star inside a label", "*.ns*.example.org.", ".", "*.ns1.example.org.", "*.example.org."},

		{"U-labels are A-labels", "*.bücher.example.", ".", "www.xn--bcher-kva.example. www.bücher.example.",
			"www.bucher.example."},
		{"escapes are octets", `a\.b.*`, "example.org.", `a\.b.c.example.org.`, `a.b.c.example.org.`},
		{"the end of an escape is not a digit", "*032", ".", "a032. 032.", `a\032.`},
		{"nor is its beginning a backslash", `a\\*`, ".", `a\\b. a\\.`, `a\032.`},
		{"octets match across escapes", `*\.b`, ".", `a\.b. \.b.`, "ab. a.b."},
		{"underscores are ordinary", "_acme-challenge.*", "example.org.", "_acme-challenge.www.example.org.",
			"www.example.org."},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, origin := pattern(t, c.pattern), parse(t, c.origin)
			for _, s := range strings.Fields(c.match) {
				if !p.Match(parse(t, s), origin) {
					t.Errorf("%s does not match %s", p, s)
				}
			}
			for _, s := range strings.Fields(c.not) {
				if p.Match(parse(t, s), origin) {
					t.Errorf("%s matches %s", p, s)
				}
			}
		})
	}
}

func TestAPatternWithoutItsOriginMatchesNothing(t *testing.T) {
	for _, s := range []string{"@", "*", "example.@", "example.org", "*.@"} {
		for _, n := range []Name{Root, parse(t, "example.org."), {}} {
			if pattern(t, s).Match(n, Name{}) {
				t.Errorf("%s matches %s", s, n)
			}
		}
	}
	if !pattern(t, "*.org.").Match(parse(t, "example.org."), Name{}) {
		t.Error("an absolute pattern needs no origin")
	}
	if (Pattern{}).Match(Root, Root) || !(Pattern{}).IsZero() {
		t.Error("the zero pattern matches")
	}
	if pattern(t, "*.").Match(Name{}, Root) {
		t.Error("no name is matched")
	}
}

func TestPatternsAreCanonical(t *testing.T) {
	for s, want := range map[string]string{
		"@":                "@",
		".":                ".",
		"*":                "*",
		"*.":               "*.",
		"*.Dev.@":          "*.dev.@",
		"NS*.example.ORG.": "ns*.example.org.",
		`\087ww.a\.b`:      `www.a\.b`,
		"*.bücher":         "*.xn--bcher-kva",
		`\@`:               `\@`,
		"a。b":              "a.b",
	} {
		p := pattern(t, s)
		if p.String() != want {
			t.Errorf("%s: got %s, want %s", s, p, want)
		}
		if again := pattern(t, p.String()); !again.Equal(p) {
			t.Errorf("%s is not a fixed point: %s", p, again)
		}
		if p.IsAbsolute() != strings.HasSuffix(want, ".") {
			t.Errorf("%s: IsAbsolute is %v", p, p.IsAbsolute())
		}
	}
}

func TestPatternsAreRefusedWithTheReason(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"two stars around", "*amp*", `"*amp*" has more than one "*" in a label: one is allowed`},
		{"two stars", "**", `has more than one "*" in a label`},
		{"nothing", "", `the pattern is empty: write "@" for the zone's own name and "*" for all names below it`},
		{"an at sign before the end", "@.example.org",
			`"@.example.org" has "@" before its end: "@" is the zone's own name and comes last, with no dot after it`},
		{"an at sign with a dot", "*.@.", `"*.@." has "@" before its end`},
		{"an at sign in the middle", "a.@.b", `has "@" before its end`},
		{"an at sign inside a label", "a@b", `"a@b" has the character "@" in it: write \@ if it belongs to the name`},
		{"an empty label", "*..org.", `"*..org." has an empty label`},
		{"a dot first", ".org", "has an empty label"},
		{"a space", "* .org", "has a space in it"},
		{"an escaped star", `\*.example.org.`,
			"has an escaped \"*\": wildcard names are matched by a \"*\" as the first label of a pattern"},
		{"an escaped star by number", `a\042.example.org.`, `has an escaped "*"`},
		{"a star in a U-label", "bü*",
			`"bü*" has a "*" inside an internationalized label: use "*" for the whole label, or write the label as xn--`},
		{"a U-label that is none", "℀", "is not a valid internationalized label"},
		{"a bad escape", `a\1.b`, "has a bad escape"},
		{"a label that is too long", strings.Repeat("a", 64), "has a label of 64 octets"},
		{"a label that is too long around a star", strings.Repeat("a", 32) + "*" + strings.Repeat("a", 32),
			"has a label of 64 octets"},
		{"more labels than any name has", strings.Repeat("a.", 128), "has 257 octets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := ParsePattern(c.s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v, want %s", p, err, c.want)
			}
			if !p.IsZero() {
				t.Errorf("the pattern is %s", p)
			}
		})
	}
}

// matchSlowly is Match as a regular expression over the text of names that have
// no escapes.
func matchSlowly(p string, name, origin Name) bool {
	full := p
	switch {
	case p == "@":
		full = origin.String()
	case strings.HasSuffix(p, ".@"):
		full = strings.TrimSuffix(p, "@") + strings.TrimPrefix(origin.String(), ".")
	case !strings.HasSuffix(p, "."):
		full = p + "." + strings.TrimPrefix(origin.String(), ".")
	}
	first, rest, _ := strings.Cut(full, ".")
	lead := strings.ReplaceAll(regexp.QuoteMeta(first), `\*`, `[^.*]*`)
	if first == "*" {
		lead = `[^.]+(\.[^.]+)*`
	}
	rest = strings.ReplaceAll(regexp.QuoteMeta("."+rest), `\.\*\.`, `\.[^.]+\.`)
	rest = strings.ReplaceAll(rest, `\.\*\.`, `\.[^.]+\.`) // neighbors share a dot
	rest = strings.ReplaceAll(rest, `\*`, `[^.]*`)
	if name == origin && strings.Contains(p, "*") {
		return false
	}
	return regexp.MustCompile("^" + lead + rest + "$").MatchString(name.String())
}

func TestMatchIsTheSlowMatch(t *testing.T) {
	labels := rapid.SampledFrom([]string{"a", "b", "ab", "aba", "abb"})
	globs := rapid.SampledFrom([]string{"*", "*", "a", "b", "ab", "a*", "*a", "a*a", "a*b"})
	rapid.Check(t, func(t *rapid.T) {
		origin, err := FromLabels(rapid.SliceOfN(labels, 0, 2).Draw(t, "origin"))
		if err != nil {
			t.Fatal(err)
		}
		name, err := FromLabels(rapid.SliceOfN(labels, 0, 3).Draw(t, "name"))
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "wildcard") {
			name = parse0("*." + strings.TrimPrefix(name.String(), "."))
		}
		if rapid.Bool().Draw(t, "inside") {
			name = parse0(strings.TrimPrefix(name.String(), ".") + strings.TrimPrefix(origin.String(), "."))
		}
		text := strings.Join(rapid.SliceOfN(globs, 1, 3).Draw(t, "pattern"), ".") +
			rapid.SampledFrom([]string{"", ".", ".@"}).Draw(t, "end")
		if rapid.IntRange(0, 9).Draw(t, "apex") == 0 {
			text = "@"
		}
		p, err := ParsePattern(text)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := p.Match(name, origin), matchSlowly(text, name, origin); got != want {
			t.Fatalf("%s matches %s in %s: %v, want %v", p, name, origin, got, want)
		}
	})
}

// parse0 returns the zero Name for what is no name.
func parse0(s string) Name {
	n, err := Parse(s)
	if err != nil {
		return Root
	}
	return n
}

func TestMatchDoesNotAllocate(t *testing.T) {
	p, n, origin := pattern(t, "*.env-*.@"), parse(t, "www.env-dev.example.org."), parse(t, "example.org.")
	if got := testing.AllocsPerRun(100, func() { p.Match(n, origin) }); got > 0 {
		t.Errorf("Match allocates %v times", got)
	}
}

func BenchmarkMatch(b *testing.B) {
	p, n, origin := pattern(b, "*.env-*.@"), parse(b, "www.env-dev.example.org."), parse(b, "example.org.")
	b.ReportAllocs()
	for b.Loop() {
		if !p.Match(n, origin) {
			b.Fatal("no match")
		}
	}
}
