package objects

import "testing"

func TestLabelValuesAreValidAndDistinct(t *testing.T) {
	long := "a-name-that-is-much-longer-than-a-label-value-may-be-because-it-says-everything"
	for text, want := range map[string]string{
		"example-org.dns": "example-org.dns",
		"example.org.dns": "example.org.dns",
	} {
		if got := LabelValue(text); got != want {
			t.Errorf("LabelValue(%q) = %q, want %q", text, got, want)
		}
	}
	one, two := LabelValue(long+".one"), LabelValue(long+".two")
	if len(one) > 63 || one == two {
		t.Errorf("long names get the values %q and %q", one, two)
	}
}
