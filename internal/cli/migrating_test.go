package cli_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/cli"
	"github.com/zonefold/zonefold/internal/version"
)

// TestTheWaysToMoveLeadWhereTheySay carries out the commands of docs/migrating.md, on the files that it names, and
// compares what they print with what the page shows.
func TestTheWaysToMoveLeadWhereTheySay(t *testing.T) {
	page, err := os.ReadFile("../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("..", "..", "examples", "migrating"))); err != nil {
		t.Fatal(err)
	}
	t.Chdir(folder)
	ran := 0
	for _, block := range regexp.MustCompile("(?ms)^```\n(\\$ .*?)^```$").FindAllStringSubmatch(string(page), -1) {
		for step := range strings.SplitSeq(strings.TrimPrefix(block[1], "$ "), "\n$ ") {
			command, want, _ := strings.Cut(step, "\n")
			var out, said bytes.Buffer
			cli.Run(t.Context(), cli.Env{Args: strings.Fields(command), Stdin: strings.NewReader(""), Stdout: &out,
				Stderr: &said, Now: time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC), Getenv: os.Getenv,
				Version: version.Info{Version: "v0.0.0-test"}})
			if got := out.String() + said.String(); strings.TrimSpace(got) != strings.TrimSpace(want) {
				t.Errorf("%s prints\n%s\nand the page shows\n%s", command, got, want)
			}
			ran++
		}
	}
	if ran < 5 {
		t.Errorf("the page shows %d commands only", ran)
	}
}
