package rfc2136

import "testing"

func TestCanonical(t *testing.T) {
	for in, want := range map[string]string{
		"192.0.2.1":            "192.0.2.1:53",
		"192.0.2.1:5353":       "192.0.2.1:5353",
		"::ffff:192.0.2.1":     "192.0.2.1:53",
		"2001:DB8:0::1":        "[2001:db8::1]:53",
		"[2001:db8::1]":        "[2001:db8::1]:53",
		"[2001:db8::1]:54":     "[2001:db8::1]:54",
		"[fe80::1%eth0]:53":    "[fe80::1%eth0]:53",
		"NS1.Example.ORG":      "ns1.example.org:53",
		"ns1.example.org.":     "ns1.example.org:53",
		"ns1.example.org.:053": "ns1.example.org:53",
		"":                     "",
		":53":                  "",
		"a b":                  "",
		"ns1:0":                "",
		"ns1:65536":            "",
		"ns1:dns":              "",
		"[2001:db8::1":         "",
		"[ns1]:53x":            "",
		"ns1/tcp":              "",
		"user@ns1":             "",
	} {
		got, err := Canonical(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q became %q (%v), want %q", in, got, err, want)
		}
		if again, _ := Canonical(got); got != "" && again != got {
			t.Errorf("%q became %q and then %q", in, got, again)
		}
	}
}
