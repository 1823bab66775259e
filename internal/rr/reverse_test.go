package rr

import "testing"

func TestReverseNames(t *testing.T) {
	for data, want := range map[string]string{
		"192.0.2.80":  "80.2.0.192.in-addr.arpa.",
		"2001:db8::1": "1.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.8.b.d.0.1.0.0.2.ip6.arpa.",
		// The data of an AAAA, whatever it maps.
		"::ffff:192.0.2.80": "0.5.2.0.0.0.0.c.f.f.f.f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.ip6.arpa.",
		"www.example.org.":  "",
	} {
		if name, ok := ReverseName(data); name.String() != want || ok != (want != "") {
			t.Errorf("%s has the name %s (%v), not %s", data, name, ok, want)
		}
	}
}
