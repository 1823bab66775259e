package cli

import "github.com/zonefold/zonefold/internal/cli/plain"

// oneLine makes text of objects fit for one line.
func oneLine(s string) string { return plain.Line(s) }
