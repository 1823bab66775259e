package testoperator

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Example returns the code block of a language below a heading of a page in docs/, the first one of these: what people
// are told to write is what tests use.
func Example(ctx context.Context, page, heading, language string) (string, error) {
	root, err := ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(root, "docs", page))
	if err != nil {
		return "", err
	}
	_, below, found := strings.Cut(string(text), "\n"+heading+"\n")
	section, _, _ := strings.Cut(below, "\n#")
	_, block, opened := strings.Cut(section, "\n```"+language+"\n")
	block, _, closed := strings.Cut(block, "\n```\n")
	if !found || !opened || !closed {
		return "", fmt.Errorf("docs/%s has no block %q below %q", page, language, heading)
	}
	return block + "\n", nil
}
