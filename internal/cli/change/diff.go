package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/move"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// DiffFlags say what to compare.
type DiffFlags struct {
	In       command.ObjectFlags
	backends []string
	servers  []string
	tsig     string
	Operator string
	Timeout  time.Duration
	out      command.Output
}

// newDiff makes the command that compares what servers hold with what is wanted.
func newDiff(env command.Env) *cobra.Command {
	var flags DiffFlags
	cmd := &cobra.Command{
		Use:   "diff [ZONE]",
		Short: "Show how servers differ from what is wanted",
		Long: `diff reads zones from the servers of their Backends, as an operator would, and compares them
with the objects. For each set that an operator would change, it prints what the server holds
and what is wanted. It writes nothing. It works whatever the mode of the Backend is: with
mode: Observe, you can migrate by watching.

With foreign: Keep, sets that zonefold did not write and that no object asks for stay. They
are listed separately and are not a difference. Where spec.registries names external-dns, the
same holds for its sets, which are listed with their owner.

The Backends and Secrets are read from the cluster, or with -f from files. Where you may not
read them, for Backends of type embedded, bind9 and dnsClass, and for DNSZones, the operator
reads the servers and compares, if inspect.enabled is set in its chart. You need the right to
get the zone for that: docs/inspect.md. Otherwise, name a server with --server, and a key with
--tsig, from which the zone can be transferred (AXFR). The zone is then compared as one that
zonefold owns completely.

Exit codes: 0 if there is no difference, 2 if there is one, 1 if a server could not be read
or anything else went wrong.`,
		Example: `  zonefold diff
  zonefold diff example.org --backend route53 -o json
  zonefold diff example.org -f manifests/ --server 192.0.2.53 --tsig transfer.key`,
		Args: command.Takes("[ZONE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				return flags.run(cmd.Context(), env, p, args)
			})
		},
	}
	flags.In.Register(cmd)
	flags.In.RegisterKustomize(cmd)
	cmd.ValidArgsFunction = command.CompleteZones(env, &flags.In.Cluster, &flags.In.InputFlags.Namespace)
	flags.out.Register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&flags.backends, "backend", nil, "a Backend to compare; repeatable (default: all)")
	command.CompleteFlag(cmd, "backend", command.CompleteBackends(env, &flags.In.Cluster))
	f.StringArrayVar(&flags.servers, "server", nil,
		"a name server to transfer zones from, instead of Backends; an address with or without a port; repeatable")
	f.StringVar(&flags.tsig, "tsig", "", "with --server: a file with the key that signs transfers")
	f.StringVar(&flags.Operator, "operator-namespace", command.OperatorNamespace,
		"the namespace of the operator, for Secrets without a namespace")
	f.DurationVar(&flags.Timeout, "timeout", time.Minute, "the timeout of one server for one zone")
	return cmd
}

func (f *DiffFlags) run(ctx context.Context, env command.Env, p *command.Progress, args []string) error {
	var name dnsname.Name
	if len(args) > 0 {
		var err error
		if name, err = command.Origin(args[0]); err != nil {
			return err
		}
	}
	if len(f.servers) > 0 && len(f.backends) > 0 {
		return errors.New("--backend and --server exclude each other: a server is read instead of Backends")
	}
	objects, err := f.In.Read(ctx, env, p)
	if err != nil {
		return err
	}
	if err := command.Complain(env, objects.Input); err != nil {
		return err
	}
	p.Begin("deciding about "+command.Count(len(objects.Objects), "object"), 0)
	c, err := NewComparing(env, objects, f)
	if err != nil {
		return err
	}
	c.AsksOperator = true
	jobs, err := c.jobs(ctx, name)
	if err != nil {
		return err
	}
	found := &Compared{Zones: CompareAll(ctx, jobs, f.Timeout, p), Unseen: slices.Clone(objects.Unseen)}
	if found.Unseen == nil {
		found.Unseen = []string{}
	}
	if objects.Cluster && !f.In.Sources && found.deletes() {
		found.Unseen = append(found.Unseen, command.WithoutSources)
	}
	p.End()
	return found.print(env, f.out)
}

// Reach learns how servers and Secrets are reached.
func (c *Comparing) Reach(env command.Env) error {
	for _, server := range c.Flags.servers {
		cfg := rfc2136.Config{Server: server, Now: command.Running(env.Now)}
		if c.Flags.tsig != "" {
			var err error
			if cfg.Key, err = move.ReadKey(c.Flags.tsig); err != nil {
				return err
			}
		}
		client, err := rfc2136.New(cfg)
		if err != nil {
			return fmt.Errorf("--server: %w", err)
		}
		c.named = append(c.named, all.Server{Name: client.Title(), Backend: client})
	}
	if len(c.named) > 0 {
		return nil
	}
	from := move.BackendFlags{Cluster: c.Flags.In.Cluster, Files: c.Flags.In.Files, Built: c.Flags.In.Built,
		Stdin: c.Input.Stdin}
	var err error
	c.secrets, err = from.Vault(env)
	if err == nil && !c.Flags.In.FromFiles() {
		c.Cluster, _, err = c.Flags.In.Cluster.Connect(env)
	}
	return err
}
