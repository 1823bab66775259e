package check

import (
	"errors"
	"fmt"
	"io"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// A coverage says how much of an input was looked at.
type coverage struct {
	Checked int            `json:"checked"` // objects of our kinds; Namespaces only lend their labels
	Skipped map[string]int `json:"skipped"` // documents and objects that are none of ours, by what they are
}

func coverageOf(in *manifest.Input) coverage {
	c := coverage{Skipped: map[string]int{}}
	for _, o := range in.Objects {
		if o.Kind != manifest.Namespace {
			c.Checked++
		}
	}
	for _, what := range in.Skipped {
		c.Skipped[plain.Line(what)]++
	}
	if n := len(in.Ignored); n > 0 {
		c.Skipped["not YAML"] += n
	}
	return c
}

// skipped lists what was left alone, "" if nothing was.
func (c coverage) skipped() string { return command.Tally(c.Skipped) }

// tell prints what was looked at.
func (c coverage) tell(out io.Writer) {
	line := "checked " + command.Count(c.Checked, "object")
	if skipped := c.skipped(); skipped != "" {
		line += "; skipped what zonefold does not know: " + skipped
	}
	fmt.Fprintln(out, line)
}

// nothing is the error of a check that looked at nothing: silence would be taken for praise.
func (c coverage) nothing() error {
	if skipped := c.skipped(); skipped != "" {
		return fmt.Errorf("nothing was checked: zonefold does not know the kinds of the input: %s; correct apiVersion and "+
			"kind, or name files with zonefold's objects with -f", skipped)
	}
	return errors.New(
		"nothing was checked: the input has no objects; name files with them (*.yaml, *.yml, *.json) with -f")
}
