package dnsname

import (
	"strings"
	"testing"
)

func TestInternationalizedNames(t *testing.T) {
	for _, c := range []struct{ name, s, ascii, unicode string }{
		{"a U-label", "bücher.example.", "xn--bcher-kva.example.", "bücher.example."},
		{"its upper case", "BÜCHER.Example.", "xn--bcher-kva.example.", "bücher.example."},
		{"its A-label", "xn--bcher-kva.example.", "xn--bcher-kva.example.", "bücher.example."},
		{"its decomposed form", "bu\u0308cher.example.", "xn--bcher-kva.example.", "bücher.example."},
		{"a sharp s stays one, as in non-transitional processing", "straße.de.", "xn--strae-oqa.de.", "straße.de."},
		{"a joiner where it is allowed", "क्\u200dष.example.", "xn--11b2ezcw70k.example.", "क्\u200dष.example."},
		{"right-to-left text", "אבג.example.", "xn--4dbcd.example.", "אבג.example."},
		{"wide letters are letters", "ｗｗｗ.example.", "www.example.", "www.example."},
		{"an ideographic full stop is a dot", "例え。テスト。", "xn--r8jz45g.xn--zckzah.", "例え.テスト."},
		{"a wide full stop is a dot", "例え．テスト．", "xn--r8jz45g.xn--zckzah.", "例え.テスト."},
		{"a half-width full stop is a dot", "例え｡テスト.", "xn--r8jz45g.xn--zckzah.", "例え.テスト."},
		{"an underscore before a letter", "_bücher.example.", "xn--_bcher-4ya.example.", "_bücher.example."},
		{"an underscore label beside a U-label", "_sip._tcp.bücher.example.", "_sip._tcp.xn--bcher-kva.example.",
			"_sip._tcp.bücher.example."},
		{"a wildcard above a U-label", "*.bücher.example.", "*.xn--bcher-kva.example.", "*.bücher.example."},
		{"an escaped label beside a U-label", `a\.b.bücher.example.`, `a\.b.xn--bcher-kva.example.`, `a\.b.bücher.example.`},
		{"an A-label that no U-label has stays", "xn--a.example.", "xn--a.example.", "xn--a.example."},
		{"an A-label of plain letters stays", "xn--abc-.example.", "xn--abc-.example.", "xn--abc-.example."},
		{"an A-label that is not normal stays", "xn--bcher-0xa.example.", "xn--bcher-0xa.example.", "xn--bcher-0xa.example."},
		{"octets that are not a U-label stay", `b\195\188cher.example.`, `b\195\188cher.example.`, `b\195\188cher.example.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Parse(c.s)
			if err != nil {
				t.Fatal(err)
			}
			if n.String() != c.ascii {
				t.Errorf("got %s, want %s", n, c.ascii)
			}
			if n.Unicode() != c.unicode {
				t.Errorf("shown as %s, want %s", n.Unicode(), c.unicode)
			}
			checkName(t, n)
		})
	}
}

func TestWhatIsNoInternationalizedLabel(t *testing.T) {
	for _, c := range []struct{ name, s, want string }{
		{"a symbol that stands for a slash", "℀.example.",
			`which is not a valid internationalized label: it stands for "a/c"`},
		{"a wide at sign", "joe＠example.", "it stands for"},
		{"a wide asterisk", "＊.example.", "it stands for"},
		{"a letter and an asterisk", "ü*.example.", "is not a valid internationalized label"},
		{"a space between letters", "ü b.example.", "is not a valid internationalized label"},
		{"a no-break space", "a\u00a0b.example.", "it stands for"},
		{"an unassigned character", "\U000e0080.example.", "is not a valid internationalized label"},
		{"only what is ignored", "\u00ad.example.", "has an empty label"},
		{"a joiner where it is not allowed", "a\u200db.example.", "is not a valid internationalized label"},
		{"text in two directions", "אa.example.", "is not a valid internationalized label"},
		{"a hyphen first", "-ü.example.", "is not a valid internationalized label"},
		{"an A-label with a U-label inside", "xn--ü.example.", "is not a valid internationalized label"},
		{"a label that is too long", strings.Repeat("ü", 63) + ".example.",
			"has a label of 69 octets: at most 63 are allowed"},
		{"a label that is far too long", strings.Repeat("ü", 5000) + ".example.", "has a label of 10000 octets"},
	} {
		t.Run(c.name, func(t *testing.T) {
			n, err := Parse(c.s)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %s, %v, want %s", n, err, c.want)
			}
		})
	}
}
