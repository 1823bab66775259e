package rr

import (
	"testing"

	"pgregory.net/rapid"
)

func TestEqualDataAreEqualText(t *testing.T) {
	types := append(Types(), 65280)
	rapid.Check(t, func(t *rapid.T) {
		typ := rapid.SampledFrom(types).Draw(t, "type")
		one, other := drawData(t, typ)
		a, err := ParseData(typ, one)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseData(typ, other)
		if err != nil {
			t.Fatal(err)
		}
		if a != b {
			t.Fatalf("%s %s\n is  %s\nbut %s\n is  %s", typ, one, a, other, b)
		}
		checkCanonical(t, typ, a)
	})
}
