package rr

import (
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"
	"pgregory.net/rapid"
)

// tokens cuts s to its end; quoted tokens are returned in quotes.
func tokens(s string, pairs bool) (words []string, err error) {
	if err := checkText(s); err != nil {
		return nil, err
	}
	l := lexer{rest: s}
	for l.more() {
		t, err := l.next(pairs)
		if err != nil {
			return words, err
		}
		if t.quoted {
			t.text = `"` + t.text + `"`
		}
		words = append(words, t.text)
	}
	return words, nil
}

func TestTextIsCutIntoTokens(t *testing.T) {
	for _, c := range []struct {
		name, s string
		pairs   bool
		want    []string
	}{
		{"nothing", "", false, nil},
		{"only spaces", " \t ", false, nil},
		{"words", "a bc d", false, []string{"a", "bc", "d"}},
		{"words with space around and between", "  a \t bc  ", false, []string{"a", "bc"}},
		{"a quoted string", `"a b"`, false, []string{`"a b"`}},
		{"an empty quoted string", `""`, false, []string{`""`}},
		{"two quoted strings", `"a" "b c"`, false, []string{`"a"`, `"b c"`}},
		{"an escaped quote in quotes", `"a\"b" c`, false, []string{`"a\"b"`, "c"}},
		{"an escaped backslash before the closing quote", `"a\\" b`, false, []string{`"a\\"`, "b"}},
		{"an escaped quote in a word", `a\"b`, false, []string{`a\"b`}},
		{"an escaped space in a word", `a\ b c`, false, []string{`a\ b`, "c"}},
		{"an escape by number", `a\032b`, false, []string{`a\032b`}},
		{"what has a meaning elsewhere, in quotes", `"; ( ) $INCLUDE @"`, false, []string{`"; ( ) $INCLUDE @"`}},
		{"what has a meaning elsewhere, with escapes", `\; \( \) \$ \@`, false, []string{`\;`, `\(`, `\)`, `\$`, `\@`}},
		{"a dollar that is not first", "a$b", false, []string{"a$b"}},
		{"an at sign, which means nothing in text", "@ a@b", false, []string{"@", "a@b"}},
		{"text beyond ASCII", "grüße 例", false, []string{"grüße", "例"}},
		{"a pair", "alpn=h2 port=1", true, []string{"alpn=h2", "port=1"}},
		{"a quoted value of a pair", `alpn="h2 h3" x`, true, []string{`alpn="h2 h3"`, "x"}},
		{"an empty value of a pair", `a="" b=`, true, []string{`a=""`, "b="}},
		{"a value with an escaped quote", `a="x\"y"`, true, []string{`a="x\"y"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tokens(c.s, c.pairs)
			if err != nil || !slices.Equal(got, c.want) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestTextThatIsNoLineOfData(t *testing.T) {
	for _, c := range []struct {
		name, s string
		pairs   bool
		want    string
	}{
		{"a comment", "a ; b", false, `the character ";" outside quotes`},
		{"a comment in a word", "a;b", false, `the character ";" outside quotes`},
		{"a parenthesis", "( a", false, `the character "(" outside quotes`},
		{"a closing parenthesis", "a )", false, `the character ")" outside quotes`},
		{"a directive", "$TTL 1", false, `a word that begins with "$"`},
		{"a directive further on", "a $TTL", false, `a word that begins with "$"`},
		{"an open quote", `"a`, false, "a quote that is not closed"},
		{"a quote whose end is escaped", `"a\"`, false, "a quote that is not closed"},
		{"a quote whose last character escapes nothing", `"a\`, false, "a quote that is not closed"},
		{"a lone quote", `"`, false, "a quote that is not closed"},
		{"text after a quote", `"a"b`, false, "text right after a closing quote"},
		{"two quotes without a space", `"a""b"`, false, "text right after a closing quote"},
		{"a quote in a word", `a"b"`, false, "a quote inside a word"},
		{"a quote after an equal sign where there are no pairs", `a="b"`, false, "a quote inside a word"},
		{"a quote after something else in a pair", `a=b"c"`, true, "a quote inside a word"},
		{"text after the quoted value of a pair", `a="b"c`, true, "text right after a closing quote"},
		{"an open quote in a pair", `a="b`, true, "a quote that is not closed"},
		{"a backslash at the end", `a\`, false, "a backslash that escapes nothing"},
		{"a line feed", "a\nb", false, "a line break"},
		{"a line feed that is escaped", "a\\\nb", false, "a line break"},
		{"a carriage return", "a\rb", false, "a line break"},
		{"a form feed", "a\fb", false, `a control character in it: write \012`},
		{"a zero octet", "a\x00", false, `a control character in it: write \000`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := tokens(c.s, c.pairs)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %q, %v, want %s", got, err, c.want)
			}
		})
	}
}

// Text that ParseData takes is one record wherever it is written, and so is
// what it returns: nobody smuggles a second one into a zone.
func TestTakenTextIsOneRecord(t *testing.T) {
	pieces := rapid.SampledFrom([]string{
		"a", " ", `"`, `\`, `\"`, `\\`, "\n", "\r", ";", "(", ")", "$INCLUDE /etc/passwd", "$TTL 0", "@", "\t", "\x00",
		"www A 192.0.2.1", `\010`, "10 ", "mail.example.org.", "=", `key="`, "\u2028", "\u0085", "ü", `\#`, " 1 00",
	})
	types := rapid.SampledFrom([]Type{TypeTXT, TypeMX, TypeHINFO, TypeCAA, TypeSVCB, TypeNAPTR, TypeURI, TypeCNAME, 65280})
	taken := 0
	rapid.Check(t, func(t *rapid.T) {
		typ := types.Draw(t, "type")
		text := strings.Join(rapid.SliceOfN(pieces, 1, 12).Draw(t, "text"), "")
		data, err := ParseData(typ, text)
		if err != nil {
			return
		}
		taken++
		for _, s := range []string{data, text} {
			if strings.ContainsRune(s, 'ü') || typ == TypeCAA && strings.Count(s, `"`) != 2 {
				// which miekg/dns reads in its own way
				continue
			}
			zp := dns.NewZoneParser(strings.NewReader("owner. 1 IN "+typ.String()+" "+s+"\nlast. 1 IN A 192.0.2.99\n"), "", "")
			var owners []string
			for r, ok := zp.Next(); ok; r, ok = zp.Next() {
				owners = append(owners, r.Header().Name)
			}
			if zp.Err() == nil && !slices.Equal(owners, []string{"owner.", "last."}) {
				t.Fatalf("%s %q became the records of %q", typ, s, owners)
			}
		}
	})
	if taken == 0 {
		t.Error("no text was taken: the test tests nothing")
	}
}

func TestQuotedStringsAreReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOf(rapid.Byte()).Draw(t, "octets")
		text := string(appendQuoted(nil, x))
		if strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Fatalf("%q does not print", text)
		}
		words, err := tokens(text, false)
		if err != nil || len(words) != 1 || words[0] != text {
			t.Fatalf("%s is %q, %v", text, words, err)
		}
		if back, err := appendString(nil, text[1:len(text)-1]); err != nil || string(back) != string(x) {
			t.Fatalf("%q became %q, %v", x, back, err)
		}
	})
}

func TestTextIsShownAsItWasWritten(t *testing.T) {
	for s, want := range map[string]string{
		"10 mail":                 `"10 mail"`,
		`"a" b`:                   "`\"a\" b`",
		`a\.b`:                    "`a\\.b`",
		"a\nb":                    `"a\nb"`,
		"a`\"b":                   "\"a`\\\"b\"",
		"":                        `""`,
		strings.Repeat("x", 60):   `"` + strings.Repeat("x", 60) + `"`,
		strings.Repeat("x", 61):   `"` + strings.Repeat("x", 60) + `…"`,
		strings.Repeat("ü", 1000): `"` + strings.Repeat("ü", 30) + `…"`,
	} {
		if got := shorten(s); got != want {
			t.Errorf("%q is shown as %s, want %s", s, got, want)
		}
	}
}
