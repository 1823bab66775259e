package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// completing is how long a shell waits for names, and maxCompletions how many it gets.
const (
	completing     = 3 * time.Second
	maxCompletions = 1000
)

// A lister tells names that may complete what is begun, each with a description, "" for none.
type lister func(ctx context.Context, c *Cluster, namespace, begun string, take func(name, description string)) error

// complete has a shell complete names of a cluster, those in the namespace that is said or that of the context.
// Whatever goes wrong, there is nothing to complete.
func complete(env Env, cluster *ClusterFlags, said *string, list lister) cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]cobra.Completion, cobra.ShellCompDirective) {
		const directive = cobra.ShellCompDirectiveNoFileComp
		if len(args) > 0 {
			return nil, directive
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), completing)
		defer cancel()
		at := *cluster
		at.Namespace = *said
		c, namespace, err := at.Connect(env)
		if err != nil {
			return nil, directive
		}
		var names []cobra.Completion
		take := func(name, description string) {
			if !strings.HasPrefix(name, begun) || len(names) == maxCompletions {
				return
			}
			if name = plain.Line(name); description != "" {
				name = cobra.CompletionWithDesc(name, plain.Line(description))
			}
			names = append(names, name)
		}
		if list(ctx, c, namespace, begun, take) != nil {
			return nil, directive
		}
		slices.Sort(names)
		return names, directive
	}
}

// CompleteZones completes the names of Zones: all that may be seen, else those of the namespace.
func CompleteZones(env Env, cluster *ClusterFlags, said *string) cobra.CompletionFunc {
	return complete(env, cluster, said, zoneNames)
}

// CompleteNames completes, for explain, the names of Zones, and after KIND/ those of the Zones or Records of the
// namespace.
func CompleteNames(env Env, in *ObjectFlags) cobra.CompletionFunc {
	return complete(env, &in.Cluster, &in.InputFlags.Namespace, func(ctx context.Context, c *Cluster,
		namespace, begun string, take func(name, description string)) error {
		kindName, _, ok := strings.Cut(begun, "/")
		if !ok {
			return zoneNames(ctx, c, namespace, begun, take)
		}
		return eachName(ctx, c, strings.ToLower(kindName), namespace, func(name string) { take(kindName+"/"+name, "") })
	})
}

// zoneNames is the lister of the domain names of Zones.
func zoneNames(ctx context.Context, c *Cluster, namespace, _ string, take func(name, description string)) error {
	each := func(list *kubizone.ZoneList) {
		for i := range list.Items {
			z := &list.Items[i]
			if name := strings.TrimSuffix(z.Status.FQDN, "."); name != "" {
				take(name, "Zone "+z.Namespace+"/"+z.Name)
			}
		}
	}
	zones := ZonesOf(c)
	if EachPage(ctx, zones, "", each) == nil {
		return nil
	}
	return EachPage(ctx, zones, namespace, each)
}

// eachName tells the names of the Zones or Records of a namespace.
func eachName(ctx context.Context, c *Cluster, of, namespace string, take func(string)) error {
	switch of {
	case "zone", "zones":
		return EachPage(ctx, ZonesOf(c), namespace, func(list *kubizone.ZoneList) {
			for i := range list.Items {
				take(list.Items[i].Name)
			}
		})
	case "record", "records":
		return EachPage(ctx, c.Kubizone("records"), namespace, func(list *kubizone.RecordList) {
			for i := range list.Items {
				take(list.Items[i].Name)
			}
		})
	}
	return nil
}
