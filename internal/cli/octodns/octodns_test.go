package octodns

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

func origin(t interface{ Fatal(...any) }) dnsname.Name {
	name, err := dnsname.Parse("example.org.")
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// sets reads text into sets.
func sets(t interface{ Fatal(...any) }, text string) (out []rr.Set, losses []content.Loss, err error) {
	z := content.New(origin(t), func(l content.Loss) { losses = append(losses, l) })
	err = Read(strings.NewReader(text), z, func(int) {})
	z.Sort()
	for at := range z.Names() {
		out = append(out, at...)
	}
	return out, losses, err
}

// TestTextsKeepTheirOctets writes random texts, and reads them back.
func TestTextsKeepTheirOctets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.StringOfN(rapid.SampledFrom([]rune(`a;\" 1#:'{}`)), 0, 600, -1),
			rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 300), func(b []byte) string { return string(b) })).Draw(t, "text")
		key := rr.Key{Name: origin(t), Type: rr.TypeTXT}
		want := rr.NewSet(key, 300, rr.Text(text))
		var out bytes.Buffer
		err := Write(&out, origin(t), slices.Values([]rr.Set{want}), func(l content.Loss) { t.Errorf("%s", l) })
		if err != nil {
			t.Fatal(err)
		}
		got, losses, err := sets(t, out.String())
		if text == "" { // of which octoDNS says that the value is missing
			return
		}
		if err != nil || losses != nil || len(got) != 1 || !got[0].Equal(want) {
			t.Fatalf("%v %v: %q becomes %v by\n%s", err, losses, text, got, out.String())
		}
	})
}

// TestAKeyIsThereOnce reads files with a key twice, of which YAML has no meaning.
func TestAKeyIsThereOnce(t *testing.T) {
	const a = "a: {type: A, value: 192.0.2.1}\n"
	const said = `the name "a" has been there before, and a key is there once; put its records into one list`
	for _, c := range []struct{ name, text, says string }{
		{"a name in two places", "---\n" + a + "b: {type: A, value: 192.0.2.2}\n" + a, "line 4 and those after it: " + said},
		{"a name in quotes", a + "# again\n'a':\n- {type: AAAA, value: '2001:db8::1'}\n",
			"line 3 and those after it: " + said},
		{"a name in braces", "{" + strings.TrimSpace(a) + ",\n " + strings.TrimSpace(a) + "}\n",
			`line 1 and those after it: it is not octoDNS YAML: the key "a" is there twice`},
		{"a field of a record", "a:\n  type: A\n  value: 192.0.2.1\n  value: 192.0.2.2\n",
			`line 1 and those after it: the records of "a" cannot be read: the key "value" is there twice`},
		{"a field of a value", "a:\n- type: MX\n  value: {preference: 1, preference: 2, exchange: x.example.}\n",
			`line 1 and those after it: the records of "a" cannot be read: the key "preference" is there twice`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if _, _, err := sets(t, c.text); err == nil || err.Error() != c.says {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// TestTheTTLOfARecord reads it as a number and as a text, as octoDNS does.
func TestTheTTLOfARecord(t *testing.T) {
	for _, c := range []struct {
		name, ttl string
		want      uint32
		says      string
	}{
		{"a number", ", ttl: 60", 60, ""},
		{"a text", ", ttl: '60'", 60, ""},
		{"none", "", DefaultTTL, ""},
		{"no number of seconds", ", ttl: 1h", 0, `its ttl "1h" is not a number of seconds`},
		{"a list", ", ttl: [60]", 0, "its ttl: [60] is neither a text nor a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, losses, err := sets(t, "a: {type: A, value: 192.0.2.1"+c.ttl+"}\n")
			switch {
			case err != nil:
				t.Error(err)
			case c.says != "" && (len(losses) != 1 || losses[0].Why != c.says):
				t.Errorf("it loses %v", losses)
			case c.says == "" && (len(got) != 1 || got[0].TTL != c.want):
				t.Errorf("it gets %v, and loses %v", got, losses)
			}
		})
	}
}

// TestKeysAreInNaturalOrder holds the order against that of octoDNS: digits are numbers, and come before other
// characters.
func TestKeysAreInNaturalOrder(t *testing.T) {
	want := []string{"", "*", "1", "2", "10", "_a", "a", "a1", "a2", "a2b", "a10", "a10.b2", "a10.b10", "b"}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, naturally)
	// an empty part stands before digits at the beginning, so that numbers come before all texts
	want = []string{"", "1", "2", "10", "*", "_a", "a", "a1", "a2", "a2b", "a10", "a10.b2", "a10.b10", "b"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// FuzzRead gives the reader any text: it does not panic.
func FuzzRead(f *testing.F) {
	f.Add("---\n? ''\n: - {type: A, value: 192.0.2.1}\n  - type: TXT\n    values: ['a\\;b', '\"a \" \"b\"']\n")
	f.Add("a: {type: HTTPS, value: {svcpriority: 1, targetname: ., svcparams: {alpn: [h2], port: 1, x: null}}}\n")
	f.Add("a: &a {type: LOC, value: *a}\nb: [[[[]]]]\nc: {type: MX, value: {preference: 1.5, exchange: 1}}\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, _, err := sets(t, text)
		if err != nil {
			return
		}
		if err := Write(&bytes.Buffer{}, origin(t), slices.Values(got), func(content.Loss) {}); err != nil {
			t.Error(err)
		}
	})
}
