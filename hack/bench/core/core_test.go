package main

import (
	"bytes"
	"io"
	"strings"
	"testing"
)

// TestEveryRecordIsServed measures a few Records. The program fails by itself if one is lost or wrong.
func TestEveryRecordIsServed(t *testing.T) {
	var out bytes.Buffer
	args := []string{"-n", "60", "-zones", "6", "-tenants", "2", "-rate", "50", "-for", "1s"}
	if err := run(t.Context(), args, &out, io.Discard); err != nil {
		t.Fatal(err)
	}
	for _, row := range []string{"60 Records in 6 Zones of 2 namespaces", "cold start to the first answer of BIND",
		"a change to the answer of the embedded server"} {
		if !strings.Contains(out.String(), row) {
			t.Errorf("the table has no row %q:\n%s", row, &out)
		}
	}
}

func TestFlagsThatMakeNoSense(t *testing.T) {
	for _, args := range [][]string{{"-n", "0"}, {"-n", "5", "-zones", "6", "-tenants", "1"}, {"-zones", "1"},
		{"-for", "10ms"}, {"-rate", "0"}, {"more"}} {
		if _, err := parse(args, io.Discard); err == nil {
			t.Errorf("%q is taken", args)
		}
	}
}
