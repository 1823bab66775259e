package main

import (
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestUsualDialectsAreThoseOfTheChart has an operator that somebody starts by hand work beside the definitions that the
// chart installs.
func TestUsualDialectsAreThoseOfTheChart(t *testing.T) {
	text, err := os.ReadFile("../../charts/zonefold/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values struct {
		Dialects map[string]bool `json:"dialects"`
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	for _, d := range everyDialect() {
		on, known := values.Dialects[d]
		if usual := usualDialects(); !known || on != usual.has(d) {
			t.Errorf("the dialect %s is on by itself: %t; in the chart: %t", d, usual.has(d), on)
		}
	}
}

func TestDialectsAreNamed(t *testing.T) {
	for _, c := range []struct {
		sentence string
		args     []string
		want     dialects
		wrong    string // part of what is said
	}{
		{"that of kubi.zone is on", nil, dialects{"kubizone"}, ""},
		{"one", []string{"--dialects=bindy"}, dialects{"bindy"}, ""},
		{"two, with blanks", []string{"--dialects", " bindy, kubizone"}, dialects{"bindy", "kubizone"}, ""},
		{"that of Gardener", []string{"--dialects=gardener"}, dialects{"gardener"}, ""},
		{"the last flag counts", []string{"--dialects=bindy", "--dialects=kubizone"}, dialects{"kubizone"}, ""},
		{"one that there is not", []string{"--dialects=bind"}, nil,
			"there is no dialect bind; choose from kubizone, bindy, homelab, gardener"},
		{"none", []string{"--dialects="}, nil, "an operator without a dialect does nothing"},
		{"a name server with nothing to answer", []string{"--dialects=bindy", "--dns-bind-address=:5353"}, nil,
			"add kubizone to --dialects"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			o, err := parse(c.args, func(string) string { return "" })
			switch {
			case c.wrong != "":
				if err == nil || !strings.Contains(err.Error(), c.wrong) {
					t.Errorf("the error is %v, without %q", err, c.wrong)
				}
			case err != nil:
				t.Error(err)
			case !slices.Equal(o.dialects, c.want):
				t.Errorf("on are %s", o.dialects.String())
			}
		})
	}
}
