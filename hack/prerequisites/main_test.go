package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

func TestPresentLooksOnPathAndAtPatterns(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir)
	if err := os.WriteFile(filepath.Join(dir, "program"), nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for shows, want := range map[string]bool{
		"program":                      true,
		"no-such-program":              false,
		filepath.Join(dir, "pro*"):     true,
		filepath.Join(dir, "*/absent"): false,
	} {
		if got := present(shows); got != want {
			t.Errorf("%s: %v, want %v", shows, got, want)
		}
	}
}

func TestAMachineThatHasAllIsLeftAlone(t *testing.T) {
	if err := run(t.Context(), needs(), io.Discard); err != nil {
		t.Errorf("after make has run the command, nothing is missing: %v", err)
	}
}
