package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

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

// CompleteZones completes the names of Zones and DNSZones: all that may be seen, else those of the namespace.
func CompleteZones(env Env, cluster *ClusterFlags, said *string) cobra.CompletionFunc {
	return complete(env, cluster, said, zoneNames)
}

// CompleteObjects completes what approve takes: the names of the objects of Zones and DNSZones of the namespace, also
// after KIND/.
func CompleteObjects(env Env, cluster *ClusterFlags, said *string) cobra.CompletionFunc {
	return complete(env, cluster, said, func(ctx context.Context, c *Cluster, namespace, begun string,
		take func(name, description string)) error {
		kindName, _, ok := strings.Cut(begun, "/")
		if !ok {
			return eachZone(ctx, c, namespace, func(z *FoundZone) { take(z.Name, z.String()) })
		}
		for _, kind := range zoneKinds(c) {
			if strings.EqualFold(strings.TrimSuffix(kindName, "s"), kind.name) {
				return kind.each(ctx, namespace, func(z *FoundZone) { take(kindName+"/"+z.Name, "") })
			}
		}
		return nil
	})
}

// CompleteBackends completes the names of Backends.
func CompleteBackends(env Env, cluster *ClusterFlags) cobra.CompletionFunc {
	return complete(env, cluster, new(string), func(ctx context.Context, c *Cluster, _, _ string,
		take func(name, description string)) error {
		f, err := NewFetcher(c.config, "")
		if err != nil {
			return err
		}
		return f.names(ctx, "backends", func(name string) { take(name, "") })
	})
}

// CompleteFlag has a flag of a command completed as an argument is, whichever arguments there are.
func CompleteFlag(cmd *cobra.Command, flag string, as cobra.CompletionFunc) {
	err := cmd.RegisterFlagCompletionFunc(flag, func(cmd *cobra.Command, _ []string, begun string) ([]cobra.Completion,
		cobra.ShellCompDirective) {
		return as(cmd, nil, begun)
	})
	if err != nil {
		panic(err) // there is no such flag
	}
}

// CompleteZoneObjects completes the names of the objects of Zones of the namespace.
func CompleteZoneObjects(env Env, cluster *ClusterFlags, said *string) cobra.CompletionFunc {
	return complete(env, cluster, said, func(ctx context.Context, c *Cluster, namespace, _ string,
		take func(name, description string)) error {
		return zoneKinds(c)[0].each(ctx, namespace, func(z *FoundZone) { take(z.Name, z.String()) })
	})
}

// CompleteNames completes, for explain, the names of Zones and DNSZones, and after KIND/ those of the objects of the
// namespace.
func CompleteNames(env Env, in *ObjectFlags) cobra.CompletionFunc {
	return complete(env, &in.Cluster, &in.InputFlags.Namespace, func(ctx context.Context, c *Cluster,
		namespace, begun string, take func(name, description string)) error {
		kindName, _, ok := strings.Cut(begun, "/")
		if !ok {
			return zoneNames(ctx, c, namespace, begun, take)
		}
		f, err := NewFetcher(c.config, namespace)
		if err != nil {
			return err
		}
		return f.names(ctx, kindName, func(name string) { take(kindName+"/"+name, "") })
	})
}

// zoneNames is the lister of the domain names of Zones and DNSZones.
func zoneNames(ctx context.Context, c *Cluster, namespace, _ string, take func(name, description string)) error {
	one := func(z *FoundZone) {
		if name := strings.TrimSuffix(z.FQDN, "."); name != "" {
			take(name, z.String())
		}
	}
	for _, kind := range zoneKinds(c) {
		if kind.each(ctx, "", one) != nil {
			_ = kind.each(ctx, namespace, one) // of a kind that may not be seen there is nothing
		}
	}
	return nil
}

// eachZone visits the Zones and DNSZones of a namespace that may be seen.
func eachZone(ctx context.Context, c *Cluster, namespace string, visit func(*FoundZone)) error {
	for _, kind := range zoneKinds(c) {
		_ = kind.each(ctx, namespace, visit) // the same
	}
	return nil
}
