// Package check looks for what is wrong: check in objects of files, doctor in a cluster and at its servers, and dnshook
// conformance in a server for DNSClasses. support packs what others need to look for it.
package check

import (
	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/command"
)

// Commands are those of this room.
func Commands(env command.Env) []*cobra.Command {
	return []*cobra.Command{newCheck(env), newDoctor(env), newDNSHook(env), newSupport(env)}
}
