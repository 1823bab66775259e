package main

import (
	"slices"
	"strings"
	"testing"
)

func TestDialectsAreNamed(t *testing.T) {
	for _, c := range []struct {
		sentence string
		args     []string
		want     dialects
		wrong    string // part of what is said
	}{
		{"all but Gardener's are on", nil, dialects{"kubizone", "bindy", "homelab"}, ""},
		{"one", []string{"--dialects=bindy"}, dialects{"bindy"}, ""},
		{"two, with blanks", []string{"--dialects", " bindy, kubizone"}, dialects{"bindy", "kubizone"}, ""},
		{"that of Gardener", []string{"--dialects=gardener"}, dialects{"gardener"}, ""},
		{"the last flag counts", []string{"--dialects=bindy", "--dialects=kubizone"}, dialects{"kubizone"}, ""},
		{"one that there is not", []string{"--dialects=bind"}, nil, "there is no dialect bind; there are kubizone, bindy, homelab, gardener"},
		{"none", []string{"--dialects="}, nil, "an operator without a dialect does nothing"},
		{"a name server with nothing to answer", []string{"--dialects=bindy", "--dns-bind-address=:5353"}, nil, "add kubizone to --dialects"},
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
