package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"
	appsv1 "k8s.io/api/apps/v1"

	"github.com/zonefold/zonefold/internal/cli/ask"
	"github.com/zonefold/zonefold/internal/cli/change"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/plain"
)

// doctorFlags say where to look.
type doctorFlags struct {
	diff     change.DiffFlags // the objects, and how servers are reached
	account  string
	resolver string
	former   former
	out      command.Output
}

// newDoctor makes the command that looks for what keeps zones from being served.
func newDoctor(env command.Env) *cobra.Command {
	var flags doctorFlags
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Find what keeps zones of a cluster from being served",
		Long: `doctor examines a cluster with your rights, and writes nothing. It checks:
- whether the CustomResourceDefinitions exist and have the fields that this version knows;
- whether an operator is running;
- your rights, and, if you may ask for them, those of the operator's account;
- whether the operator can read what its sources need, if it is the Deployment
  zonefold-operator: whether the API server has these kinds, and the account may read them;
- each Backend, and each zone at each of its servers: whether the server can be reached and
  accepts the key, its clock, whether it has the zone, and at which serial;
- deletions that are held, zones that are being deleted, and what deleted Zones have left
  behind at a Backend;
- certificates of the admission webhook and of Backends;
- ResourceQuotas of namespaces that have Zones.

With --resolver it asks that server for the name servers of each accepted Zone that has no
parent in the cluster. A server of the parent zone says whom it delegates the zone to; a
resolver says where its clients end up.

The clock of a server is checked where TSIG is used, because such a server reports a
difference. Quotas of hosting services show only when they refuse something, and are not
checked.

With --coming-from it reports what zonefold would serve differently from the system that has
served the objects so far, in a cluster or in files (-f), in the form of plan. For Kubizone it
compares Zones with the entries in their statuses; for bindy and external-dns it lists the
objects that would be refused. To see what their servers hold, use diff.

Each finding has an object, a cause and a way out. It is an error, a warning, or unknown if
it could not be checked.

Exit codes: 0 if nothing is wrong, 2 if there are errors or warnings, 1 if there are none but
something could not be checked.`,
		Example: `  zonefold doctor
  zonefold doctor --resolver 192.0.2.53 -o json
  zonefold doctor --coming-from kubizone`,
		Args: command.Takes(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				return flags.run(cmd.Context(), env, p)
			})
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.diff.In.InputFlags.Namespace, "namespace", "n", "",
		"the namespace to look in if you may not list all (default: that of the context)")
	flags.diff.In.Cluster.RegisterConnection(cmd)
	flags.out.Register(cmd)
	f.StringVar(&flags.diff.Operator, "operator-namespace", "zonefold-system", "the namespace of the operator")
	f.StringVar(&flags.account, "operator-account", "zonefold-operator", "the ServiceAccount of the operator")
	f.StringArrayVarP(&flags.diff.In.Files, "filename", "f", nil, "with --coming-from: a file, a folder, or -; repeatable")
	f.Var(&flags.former, "coming-from", "the system whose objects zonefold will serve: kubizone, bindy or external-dns")
	f.StringVar(&flags.resolver, "resolver", "",
		"a resolver, or a server of the zone above, to ask for name servers; an address with or without a port")
	f.DurationVar(&flags.diff.Timeout, "timeout", 10*time.Second, "the timeout of one server for one zone")
	return cmd
}

// How much a finding matters.
const (
	doctorError   = "error"
	doctorWarning = "warning"
	doctorUnknown = "unknown"
)

// A finding of doctor is what is wrong with an object, or could not be seen.
type diagnosis struct {
	Severity string `json:"severity"` // error, warning or unknown
	Object   string `json:"object"`
	Cause    string `json:"cause"`
	Way      string `json:"way"` // out
}

// A doctor looks at one cluster.
type doctor struct {
	*change.Comparing
	flags    *doctorFlags
	env      command.Env
	api      command.Asker
	findings []diagnosis

	deployment *appsv1.Deployment // of the operator; nil: there is none, or the person may not get it
}

// say notes a finding.
func (d *doctor) say(severity, object, cause, way string) {
	d.findings = append(d.findings, diagnosis{severity, object, cause, way})
}

func (f *doctorFlags) run(ctx context.Context, env command.Env, p *command.Progress) error {
	switch {
	case f.former != "":
		return f.comingFrom(ctx, env, p)
	case len(f.diff.In.Files) > 0:
		return errors.New("-f goes with --coming-from alone: without it, doctor looks at a cluster")
	}
	if f.resolver != "" {
		var err error
		if f.resolver, err = ask.WithPort(f.resolver); err != nil {
			return fmt.Errorf("--resolver: %w", err)
		}
	}
	config, namespace, err := f.diff.In.Cluster.Config(env)
	if err != nil {
		return err
	}
	if f.diff.In.InputFlags.Namespace == "" {
		f.diff.In.InputFlags.Namespace = namespace
	}
	api, err := command.NewFetcher(config, namespace)
	if err != nil {
		return err
	}
	d := &doctor{flags: f, env: env, api: command.Asker{Interface: api.Client.RESTClient()}, findings: []diagnosis{}}
	p.Begin("looking at definitions and rights", 0)
	d.operator(ctx)
	if err := d.definitions(ctx); err != nil {
		return err
	}
	d.rights(ctx)
	d.sources(ctx)
	objects, err := f.diff.In.Read(ctx, env, p)
	if err != nil {
		return err
	}
	if d.Comparing, err = change.NewComparing(env, objects, &f.diff); err != nil {
		return err
	}
	d.unseenObjects()
	if err := command.OperatorGone(ctx, d.Cluster, env.Now); err == nil {
		d.say(doctorError, "Lease "+f.diff.Operator+"/"+command.OperatorLeases()[0],
			"no operator holds the Lease, so nothing is published",
			"see why the operator's Pods do not run, or install it: docs/install.md")
	}
	d.deletions()
	d.servers(ctx, p)
	d.certificates(ctx)
	d.quotas(ctx)
	d.delegations(ctx, p)
	p.End()
	return d.print()
}

// Diagnoses are what doctor -o json prints.
type Diagnoses struct {
	Findings []diagnosis `json:"findings"`
}

// print prints the findings, and returns what the program ends with.
func (d *doctor) print() error {
	if err := d.flags.out.Print(d.env, Diagnoses{d.findings}, d.write); err != nil {
		return err
	}
	wrong, unknown := d.counts()
	switch {
	case wrong > 0:
		return &command.ExitError{Code: command.ExitDifferences}
	case unknown > 0:
		return &command.ExitError{Code: command.ExitTrouble}
	}
	return nil
}

func (d *doctor) counts() (wrong, unknown int) {
	for _, f := range d.findings {
		if f.Severity == doctorUnknown {
			unknown++
		} else {
			wrong++
		}
	}
	return wrong, unknown
}

func (d *doctor) write(out io.Writer) {
	for _, f := range d.findings {
		fmt.Fprintf(out, "%s: %s: %s\n", f.Severity, plain.Line(f.Object), plain.Line(f.Cause))
		if f.Way != "" {
			fmt.Fprintf(out, "  %s\n", plain.Line(f.Way))
		}
	}
	wrong, unknown := d.counts()
	said := "Nothing is wrong"
	if wrong > 0 {
		said = command.Count(wrong, "thing") + " wrong"
	}
	if unknown > 0 {
		said += fmt.Sprintf(", %d could not be looked at", unknown)
	}
	fmt.Fprintln(out, said+".")
}
