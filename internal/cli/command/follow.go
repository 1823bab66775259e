package command

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/zonefold/zonefold/internal/cli/plain"
)

// How long follow rests after a look: this many times as long as it took, so that it costs others little, and at least
// restsFor.
const (
	restsTimes = 10
	restsFor   = 2 * time.Second
)

// Follow looks until it is interrupted, and prints what it sees whenever that is something else. What goes wrong after
// the first look is told, and looked at again.
func Follow(ctx context.Context, env Env, form Output, look func(Env) error) error {
	now := Running(env.Now)
	var before string
	for first := true; ; first = false {
		var seen bytes.Buffer
		looking, began := env, now()
		looking.Stdout = &seen
		err := look(looking)
		if err != nil && first {
			return err
		}
		text, to := seen.String(), env.Stdout
		if err != nil {
			text, to = fmt.Sprintln("error:", plain.Line(err.Error())), env.Stderr
		}
		if text != before {
			before = text
			if err == nil {
				form.between(env, first, now())
			}
			if _, err := io.WriteString(to, text); err != nil {
				return err
			}
		}
		rest := time.NewTimer(max(restsFor, restsTimes*now().Sub(began)))
		select {
		case <-ctx.Done():
			rest.Stop()
			return nil
		case <-rest.C:
		}
	}
}

// between writes what stands between two things that follow prints.
func (o Output) between(env Env, first bool, at time.Time) {
	switch {
	case o == outputYAML:
		fmt.Fprintln(env.Stdout, "---")
	case o == OutputText && !first:
		fmt.Fprintf(env.Stdout, "\nAt %s:\n", at.UTC().Format(time.RFC3339))
	}
}
