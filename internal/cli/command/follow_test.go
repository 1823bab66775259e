package command

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// TestWhatIsFollowedIsPrintedWhenItChanges: a look that takes a second is taken each eleven seconds.
func TestWhatIsFollowedIsPrintedWhenItChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out, said bytes.Buffer
		env := Env{Stdout: &out, Stderr: &said, Now: time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)}
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		looks := 0
		err := Follow(ctx, env, OutputText, func(env Env) error {
			looks++
			<-time.After(time.Second)
			switch looks {
			case 3, 4:
				return errors.New("the cluster is away")
			case 5, 6:
				fmt.Fprintln(env.Stdout, "two")
			default:
				fmt.Fprintln(env.Stdout, "one")
			}
			return nil
		})
		if err != nil || looks != 6 {
			t.Errorf("it looked %d times: %v", looks, err)
		}
		if got := out.String(); got != "one\n\nAt 2026-08-01T12:00:45Z:\ntwo\n" {
			t.Errorf("it printed %q", got)
		}
		if got := said.String(); got != "error: the cluster is away\n" {
			t.Errorf("it said %q", got)
		}
	})
}

func TestWhatCannotBeSeenAtFirstIsNotFollowed(t *testing.T) {
	gone := errors.New("there is no such thing")
	if err := Follow(t.Context(), Env{}, OutputJSON, func(Env) error { return gone }); !errors.Is(err, gone) {
		t.Errorf("it ends with %v", err)
	}
}
