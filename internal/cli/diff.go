package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// diffFlags say what to compare.
type diffFlags struct {
	in       objectFlags
	backends []string
	servers  []string
	tsig     string
	operator string
	timeout  time.Duration
	out      output
}

// operatorNamespace is where the chart installs the operator.
const operatorNamespace = "zonefold-system"

// newDiff makes the command that compares what servers hold with what is wanted.
func newDiff(env Env) *cobra.Command {
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff [ZONE]",
		Short: "Say what servers hold otherwise than is wanted",
		Long: `diff reads zones from the servers of their Backends, as an operator would, and compares them
with the objects. For each set that an operator would change, it prints what the server holds
and what is wanted. It writes nothing. It works whatever the mode of the Backend is: with
mode: Observe, you can migrate by watching.

With foreign: Keep, sets that zonefold did not write and that no object asks for stay. They
are listed separately and are not a difference. Where spec.registries names external-dns, the
same holds for its sets, which are listed with their owner.

The Backends and Secrets are read from the cluster, and you need the right to read both; with
-f they are read from files. Backends of type embedded, bind9 and dnsClass have no servers
that the command can read this way. For these, name a server with --server, and a key with
--tsig, from which the zone can be transferred (AXFR). The zone is then compared as one that
zonefold owns completely.

Exit codes: 0 if there is no difference, 2 if there is one, 1 if a server could not be read
or anything else went wrong.`,
		Example: `  zonefold diff
  zonefold diff example.org --backend route53 -o json
  zonefold diff example.org -f manifests/ --server 192.0.2.53 --tsig transfer.key`,
		Args: takes("[ZONE]"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return untilDone(cmd.Context(), env, func(env Env, p *progress) error {
				return flags.run(cmd.Context(), env, p, args)
			})
		},
	}
	flags.in.register(cmd)
	cmd.ValidArgsFunction = completeZones(env, &flags.in.cluster, &flags.in.inputFlags.namespace)
	flags.out.register(cmd)
	f := cmd.Flags()
	f.StringArrayVar(&flags.backends, "backend", nil, "a Backend to compare; repeatable (default: all)")
	f.StringArrayVar(&flags.servers, "server", nil,
		"a name server to transfer zones from, in the place of Backends; an address with or without a port; repeatable")
	f.StringVar(&flags.tsig, "tsig", "", "with --server: a file with the key that signs transfers")
	f.StringVar(&flags.operator, "operator-namespace", operatorNamespace,
		"the namespace of the operator, where Secrets are that name none")
	f.DurationVar(&flags.timeout, "timeout", time.Minute, "how long one server may take for one zone")
	return cmd
}

func (f *diffFlags) run(ctx context.Context, env Env, p *progress, args []string) error {
	var name dnsname.Name
	if len(args) > 0 {
		var err error
		if name, err = origin(args[0]); err != nil {
			return err
		}
	}
	if len(f.servers) > 0 && len(f.backends) > 0 {
		return errors.New("--backend and --server exclude each other: a server is read in the place of Backends")
	}
	objects, err := f.in.read(ctx, env, p)
	if err != nil {
		return err
	}
	if err := complain(env, objects.Input); err != nil {
		return err
	}
	p.begin("deciding about "+count(len(objects.Objects), "object"), 0)
	c, err := newComparing(env, objects, f)
	if err != nil {
		return err
	}
	jobs, err := c.jobs(ctx, name)
	if err != nil {
		return err
	}
	found := &compared{Zones: compareAll(ctx, jobs, f.timeout, p), Unseen: slices.Clone(objects.unseen)}
	if found.Unseen == nil {
		found.Unseen = []string{}
	}
	p.end()
	return found.print(env, f.out)
}

// reach learns how servers and Secrets are reached.
func (c *comparing) reach(env Env) error {
	for _, server := range c.flags.servers {
		cfg := rfc2136.Config{Server: server, Now: running(env.Now)}
		if c.flags.tsig != "" {
			var err error
			if cfg.Key, err = readKey(c.flags.tsig); err != nil {
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
	from := backendFlags{cluster: c.flags.in.cluster, files: c.flags.in.files}
	var err error
	c.secrets, err = from.vault(env)
	if err == nil && len(c.flags.in.files) == 0 {
		c.cluster, _, err = c.flags.in.cluster.connect(env)
	}
	return err
}
