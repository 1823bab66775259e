package plain

import "testing"

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain bücher; (x)": "plain bücher; (x)", "a\nb\r\t\x00": `a\nb\r\t\x00`, "\x1b[31m": `\x1b[31m`,
		"a\u202eb": `a\u202eb`, "\xff": "\uFFFD",
	} {
		if got := Line(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
