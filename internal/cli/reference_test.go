package cli_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/internal/cli"
)

func TestTheReferenceIsWhatTheCommandsSay(t *testing.T) {
	const page = "../../docs/cli.md"
	var want bytes.Buffer
	cli.WriteReference(&want, cli.Env{Args: []string{"zonefold"}, Getenv: func(string) string { return "" }})
	if *update {
		if err := os.WriteFile(page, want.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("docs/cli.md is not what the commands say; go test ./internal/cli -run Reference -update writes it "+
			"(-want +got):\n%s", diff)
	}
}
