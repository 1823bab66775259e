package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestALifeOfReplicas ends with the same zones at both operators' name servers, and has what is wrong denied.
func TestALifeOfReplicas(t *testing.T) {
	out := lived(t, lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", "embedded.txtar")), kindsOf(t))
	for _, wrong := range out.Wrong {
		t.Error(wrong)
	}
	if diff := cmp.Diff([]string{"Record a/wrong", "Zone a/bad"}, out.Denied); diff != "" {
		t.Errorf("what is denied, -want +got:\n%s", diff)
	}
	has := " example.org.\n  example.org. NS 360 ns.example.com.\n  www.example.org. A 360 192.0.2.91\n"
	if !strings.HasPrefix(out.State, has) || strings.Contains(out.State, "example.net. NS") {
		t.Errorf("the name servers of operators have\n%s\nand not only\n%s", out.State[:min(len(out.State), 500)], has)
	}
}
