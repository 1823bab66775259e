// Package change has the commands that say what a change would do, or make one: plan and diff compare; approve, freeze,
// thaw and rollback have the operator publish something, or nothing; adopt, disown and release hand zones over. What
// writes shows first what it would write, and asks.
package change

import (
	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// Commands are those of this room.
func Commands(env command.Env) []*cobra.Command {
	return []*cobra.Command{newPlan(env), newDiff(env), newApprove(env), newFreeze(env), newThaw(env), newRollback(env),
		newAdopt(env), newDisown(env), newRelease(env)}
}
