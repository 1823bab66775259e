package rr

import (
	"encoding/hex"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var update = flag.Bool("update", false, "write testdata/stable.txt anew")

// Canonical text is part of what zones are hashed over, and of statuses that
// others read: text that was canonical once stays canonical, with the same
// octets. testdata/stable.txt only grows.
func TestCanonicalTextNeverChanges(t *testing.T) {
	const file = "testdata/stable.txt"
	if *update {
		writeStable(t, file)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[Type]int{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSuffix(line, "\n"); line == "" || line[0] == '#' {
			continue
		}
		name, rest, _ := strings.Cut(line, " ")
		octets, data, ok := strings.Cut(rest, " ")
		typ, err := ParseType(name)
		if err != nil || !ok {
			t.Fatalf("%s: cannot read %q: %v", file, line, err)
		}
		seen[typ]++
		if got, err := ParseData(typ, data); err != nil || got != data {
			t.Errorf("%s %s became %s, %v", typ, data, got, err)
		}
		c := newCodec(typ)
		if err := c.parse(data); err != nil || hex.EncodeToString(c.wire) != octets {
			t.Errorf("%s %s became %x, %v, and was %s", typ, data, c.wire, err, octets)
		}
		if got, err := ParseData(typ, fmt.Sprintf(`\# %d %s`, len(octets)/2, octets)); err != nil || got != data {
			t.Errorf("%s %s became %s, %v, and was %s", typ, octets, got, err, data)
		}
	}
	for _, typ := range Types() {
		if seen[typ] == 0 {
			t.Errorf("%s has no line for %s: run this test with -update", file, typ)
		}
	}
}

func writeStable(t *testing.T, file string) {
	var out strings.Builder
	out.WriteString("# Canonical rdata that may never change: type, octets, text.\n# Written by " +
		"TestCanonicalTextNeverChanges with -update, when there are new types or examples.\n")
	seen := map[string]bool{}
	add := func(typ Type, data string) {
		c := newCodec(typ)
		if err := c.parse(data); err != nil {
			t.Fatal(err)
		}
		line := fmt.Sprintf("%s %x %s\n", typ, c.wire, data)
		if !seen[line] && len(line) < 300 {
			out.WriteString(line)
		}
		seen[line] = true
	}
	for _, e := range examples(t) {
		if e.good {
			add(e.typ, e.want)
		}
	}
	for _, typ := range append(Types(), 65280) {
		random := rapid.Custom(func(t *rapid.T) string {
			data, _ := drawData(t, typ)
			return data
		})
		for seed := range 4 {
			data, err := ParseData(typ, random.Example(seed))
			if err != nil {
				t.Fatal(err)
			}
			add(typ, data)
		}
	}
	if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}
