package cli

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
)

// completing is how long a shell waits for names, and maxCompletions how many it gets.
const (
	completing     = 3 * time.Second
	maxCompletions = 1000
)

// completeZones has a shell complete the names of the Zones of a cluster: all that may be seen, else those of a
// namespace, the one that is said or that of the context. Whatever goes wrong, there is nothing to complete.
func completeZones(env Env, cluster *clusterFlags, said *string) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		if len(args) > 0 {
			return nil, directive
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completing)
		defer cancel()
		at := *cluster
		at.namespace = *said
		c, namespace, err := at.connect(env)
		if err != nil {
			return nil, directive
		}
		var names []cobra.Completion
		take := func(list *kubizone.ZoneList) {
			for i := range list.Items {
				z := &list.Items[i]
				name := strings.TrimSuffix(z.Status.FQDN, ".")
				if name != "" && strings.HasPrefix(name, begun) && len(names) < maxCompletions {
					names = append(names, cobra.CompletionWithDesc(oneLine(name), oneLine("Zone "+z.Namespace+"/"+z.Name)))
				}
			}
		}
		zones := kind{c.zones, "zones"}
		if pages(ctx, zones, "", take) != nil && pages(ctx, zones, namespace, take) != nil {
			return nil, directive
		}
		slices.Sort(names)
		return names, directive
	}
}
