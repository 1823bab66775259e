package move

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/cli/draft"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/octodns"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// exportForm is how a zone is written.
type exportForm string

const (
	exportZone      exportForm = "zone"
	exportJSON      exportForm = "json"
	exportYAML      exportForm = "yaml"
	exportOctoDNS   exportForm = "octodns"
	exportManifests exportForm = "manifests"
)

func (f *exportForm) String() string { return string(*f) }
func (f *exportForm) Type() string   { return "zone|json|yaml|octodns|manifests" }

func (f *exportForm) Set(s string) error {
	switch form := exportForm(s); form {
	case exportZone, exportJSON, exportYAML, exportOctoDNS, exportManifests:
		*f = form
		return nil
	}
	return errors.New("it must be zone, json, yaml, octodns or manifests")
}

// newExport makes the command that writes a zone for other programs.
func newExport(env command.Env) *cobra.Command {
	var (
		in    command.InputFlags
		flags command.ClusterFlags
		form  = exportZone
		now   string
	)
	cmd := &cobra.Command{
		Use:   "export ZONE [-f PATH...]",
		Short: "Write a zone as a master file, JSON, octoDNS YAML or manifests",
		Long: `export writes the content of a zone: as its operator last published it, or, with -f, what
becomes of objects in files. In a cluster, it is read from the status of the Zone and its
ZoneSlices. A DNSZone has its content in its status only while it is frozen. Otherwise export
works it out from the records of its namespace, the instances that it may be on and the
DNSZones that you may list, and writes it if it has the hash that the status names.

Formats:
- zone: a master file that servers load. If the zone lacks a name server or an address of
  one, a placeholder with a comment takes its place.
- json or yaml: an object with zone, namespace, name, serial, hash and entries, as in a
  status.
- octodns: a file for octoDNS' YamlProvider.
- manifests: a Zone and Records, or a DNSZone and its records, as import writes them.

Everything is sorted, so the same zone always gives the same text. If two Zones have the same
domain name, choose one with -n. In a cluster, ZONE may also be NAMESPACE/NAME of a Zone or
DNSZone, with zone/ or dnszone/ before it if there are both.

Exit codes: 0 when everything is in the output; 2 when the format cannot hold something,
which standard error lists; 1 when there is no such zone, or it cannot be read.`,
		Example: `  zonefold export example.org > db.example.org
  zonefold export example.org -f manifests/ --format octodns > config/example.org.yaml`,
		Args: command.Takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := command.Clock(env.Now, now)
			if err != nil {
				return err
			}
			in.Namespace = flags.Namespace
			return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
				e := exporting{env: env, progress: p, said: args[0], namespace: flags.Namespace, form: form}
				z, err := e.find(cmd.Context(), &in, &flags, at)
				if err != nil {
					return err
				}
				p.End()
				return e.write(z)
			})
		},
	}
	cmd.Flags().StringArrayVarP(&in.Files, "filename", "f", nil,
		"a file, a folder with everything below it, or - for the standard input, instead of a cluster; repeatable")
	in.RegisterKustomize(cmd)
	flags.Register(cmd)
	cmd.ValidArgsFunction = command.CompleteZones(env, &flags, &flags.Namespace)
	cmd.Flags().VarP(&form, "format", "o", "the format of the output: zone, json, yaml, octodns or manifests")
	cmd.Flags().StringVar(&now, "now", "", "with -f: the time for a new serial (RFC 3339; default: now)")
	return cmd
}

// find returns the zone, from files or from a cluster.
func (e *exporting) find(ctx context.Context, in *command.InputFlags, flags *command.ClusterFlags,
	at time.Time) (fold.ZoneResult, error) {
	if !in.FromFiles() {
		return e.fromCluster(ctx, flags)
	}
	var err error
	if e.name, err = command.Origin(e.said); err != nil {
		return fold.ZoneResult{}, err
	}
	if in.Namespace == "" {
		in.Namespace = "default"
	}
	input, err := in.Read(e.env, e.progress)
	if err != nil {
		return fold.ZoneResult{}, err
	}
	e.progress.Begin("deciding about "+command.Count(len(input.Objects), "object"), 0)
	if err := command.Complain(e.env, input); err != nil {
		return fold.ZoneResult{}, err
	}
	return e.only(fold.Compose(input, at).Only(e.name))
}

// only returns the accepted zone of a composition.
func (e *exporting) only(c *fold.Composition) (fold.ZoneResult, error) {
	var found []fold.ZoneResult
	for _, z := range c.Zones {
		if z.Verdict.Accepted && (e.namespace == "" || z.Object.Ref.Namespace == e.namespace) {
			found = append(found, z)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return fold.ZoneResult{}, fmt.Errorf("%s and %s are both %s; choose one with -n", found[0].Object.Ref,
			found[1].Object.Ref, e.name)
	}
	if err := (view{zone: e.name}).missing(c); err != nil {
		return fold.ZoneResult{}, err
	}
	return fold.ZoneResult{}, fmt.Errorf("no Zone of namespace %s is %s; leave out -n to look in all", e.namespace, e.name)
}

// An exporting is one run of export.
type exporting struct {
	env       command.Env
	progress  *command.Progress
	said      string // which zone it is
	name      dnsname.Name
	namespace string
	form      exportForm
	lost      int
}

func (e *exporting) report(l content.Loss) {
	if l.Kind != content.Noted {
		e.lost++
	}
	fmt.Fprintln(e.env.Stderr, plain.Line(l.String()))
}

// JsonExport is what export --format json writes. Its fields and their order are fixed.
type JsonExport struct {
	Zone      string      `json:"zone"`
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Serial    uint32      `json:"serial"`
	Hash      string      `json:"hash"`
	Entries   []jsonEntry `json:"entries"`
}

// write writes the zone in its form.
func (e *exporting) write(z fold.ZoneResult) error {
	out := bufio.NewWriterSize(e.env.Stdout, 1<<16)
	var err error
	switch e.form {
	case exportJSON, exportYAML:
		err = command.Output(e.form).WriteValue(out, JsonExport{z.Snapshot.Name.String(), z.Object.Ref.Namespace,
			z.Object.Name, z.Snapshot.SOA.Serial, z.Snapshot.Hash, entriesOf(z)})
	case exportOctoDNS:
		e.report(content.Loss{Kind: content.Noted, What: "SOA of " + e.name.String(), Why: "octoDNS has none"})
		err = octodns.Write(out, e.name, z.Snapshot.Sets.All(), e.report)
	case exportManifests:
		err = e.manifests(out, z)
	default:
		writeZone(out, z)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing %s: %w", e.name, err)
	}
	if e.lost > 0 {
		return &command.ExitError{Code: command.ExitDifferences}
	}
	return nil
}

// manifests writes a Zone and Records.
func (e *exporting) manifests(out io.Writer, z fold.ZoneResult) error {
	c := content.New(e.name, e.report)
	c.SOA = z.Snapshot.SOA
	for set := range z.Snapshot.Sets.All() {
		for _, data := range set.Data {
			if err := c.Add(content.Record{Name: set.Name, Type: set.Type, TTL: set.TTL, Data: data}); err != nil {
				return err
			}
		}
	}
	c.Sort()
	options := draft.Options{Namespace: z.Object.Ref.Namespace, Name: z.Object.Name,
		Bindy: z.Object.Kind == manifest.DNSZone}
	if o, ok := z.Object.Bindy.(*v1beta1.DNSZone); ok {
		options.Cluster, _ = o.Spec.Cluster() // one that contradicts itself is not accepted
	}
	_, err := draft.Write(c, options, func(string) (io.Writer, error) { return out, nil }, func() {})
	return err
}
