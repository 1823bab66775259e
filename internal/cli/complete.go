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

// completeNames completes, for explain, the names of Zones, and after KIND/ those of the Zones or Records of the
// namespace.
func completeNames(env Env, in *objectFlags) cobra.CompletionFunc {
	zones := completeZones(env, &in.cluster, &in.inputFlags.namespace)
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		kindName, name, ok := strings.Cut(begun, "/")
		if !ok {
			return zones(cmd, args, begun)
		}
		const directive = cobra.ShellCompDirectiveNoFileComp
		ctx, cancel := context.WithTimeout(cmd.Context(), completing)
		defer cancel()
		at := in.cluster
		at.namespace = in.inputFlags.namespace
		c, namespace, err := at.connect(env)
		if err != nil || len(args) > 0 {
			return nil, directive
		}
		var names []cobra.Completion
		take := func(found string) {
			if strings.HasPrefix(found, name) && len(names) < maxCompletions {
				names = append(names, oneLine(kindName+"/"+found))
			}
		}
		if eachName(ctx, c, strings.ToLower(kindName), namespace, take) != nil {
			return nil, directive
		}
		slices.Sort(names)
		return names, directive
	}
}

// eachName tells the names of the Zones or Records of a namespace.
func eachName(ctx context.Context, c *cluster, of, namespace string, take func(string)) error {
	switch of {
	case "zone", "zones":
		return pages(ctx, kind{c.zones, "zones"}, namespace, func(list *kubizone.ZoneList) {
			for i := range list.Items {
				take(list.Items[i].Name)
			}
		})
	case "record", "records":
		return pages(ctx, kind{c.zones, "records"}, namespace, func(list *kubizone.RecordList) {
			for i := range list.Items {
				take(list.Items[i].Name)
			}
		})
	}
	return nil
}

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
