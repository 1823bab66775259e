// Package ask answers what people ask about names: why one is there or not (explain), which zones there are (tree), and
// what was published of a Zone, when and for whom (history, blame). It writes nothing.
package ask

import (
	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// Commands are those of this room.
func Commands(env command.Env) []*cobra.Command {
	return []*cobra.Command{newExplain(env), newTree(env), newHistory(env), newBlame(env)}
}
