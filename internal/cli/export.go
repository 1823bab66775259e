package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/cli/draft"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/cli/octodns"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// exportForm is how a zone is written.
type exportForm string

const (
	exportZone      exportForm = "zone"
	exportJSON      exportForm = "json"
	exportOctoDNS   exportForm = "octodns"
	exportManifests exportForm = "manifests"
)

func (f *exportForm) String() string { return string(*f) }
func (f *exportForm) Type() string   { return "zone|json|octodns|manifests" }

func (f *exportForm) Set(s string) error {
	switch form := exportForm(s); form {
	case exportZone, exportJSON, exportOctoDNS, exportManifests:
		*f = form
		return nil
	}
	return errors.New("it is zone, json, octodns or manifests")
}

// newExport makes the command that writes a zone for other programs.
func newExport(env Env) *cobra.Command {
	var (
		in    inputFlags
		flags clusterFlags
		form  = exportZone
		now   string
	)
	cmd := &cobra.Command{
		Use:   "export ZONE [-f PATH...]",
		Short: "Write a zone as a master file, JSON, octoDNS YAML or manifests",
		Long: `export writes the content of a zone: as its operator last published it, from the status of
the Zone and its ZoneSlices in a cluster, or, with -f, what becomes of objects in files.

Formats:
- zone: a master file that servers load. If the zone lacks a name server or an address of
  one, a placeholder with a comment takes its place.
- json: an object with zone, namespace, name, serial, hash and entries, as in a status.
- octodns: a file for octoDNS' YamlProvider.
- manifests: a Zone and Records, as import writes them.

Everything is sorted, so the same zone always gives the same text. If two Zones have the same
domain name, choose one with -n.

Exit codes: 0 when everything is in the output; 2 when the format cannot hold something,
which standard error lists; 1 when there is no such zone, or it cannot be read.`,
		Example: `  zonefold export example.org > db.example.org
  zonefold export example.org -f manifests/ --format octodns > config/example.org.yaml`,
		Args: takes("ZONE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			at, err := clock(env.Now, now)
			if err != nil {
				return err
			}
			name, err := origin(args[0])
			if err != nil {
				return err
			}
			in.namespace = flags.namespace
			return untilDone(cmd.Context(), env, func(env Env, p *progress) error {
				e := exporting{env: env, progress: p, name: name, namespace: flags.namespace, form: form}
				z, err := e.find(cmd.Context(), &in, &flags, at)
				if err != nil {
					return err
				}
				p.end()
				return e.write(z)
			})
		},
	}
	cmd.Flags().StringArrayVarP(&in.files, "filename", "f", nil,
		"a file, a folder with everything below it, or - for the standard input, in the place of a cluster; repeatable")
	flags.register(cmd)
	cmd.ValidArgsFunction = completeZones(env, &flags, &flags.namespace)
	cmd.Flags().Var(&form, "format", "the form of the output: zone, json, octodns or manifests")
	cmd.Flags().StringVar(&now, "now", "", "with -f: the time for a new serial (RFC 3339; default: now)")
	return cmd
}

// find returns the zone, from files or from a cluster.
func (e *exporting) find(ctx context.Context, in *inputFlags, flags *clusterFlags, at time.Time) (zoneResult, error) {
	if len(in.files) == 0 {
		return e.fromCluster(ctx, flags)
	}
	if in.namespace == "" {
		in.namespace = "default"
	}
	input, err := in.read(e.env, e.progress)
	if err != nil {
		return zoneResult{}, err
	}
	e.progress.begin("deciding about "+count(len(input.Objects), "object"), 0)
	if err := complain(e.env, input); err != nil {
		return zoneResult{}, err
	}
	return e.only(compose(input, at).only(e.name))
}

// only returns the accepted zone of a composition.
func (e *exporting) only(c *composition) (zoneResult, error) {
	var found []zoneResult
	for _, z := range c.zones {
		if z.verdict.Accepted && (e.namespace == "" || z.object.Ref.Namespace == e.namespace) {
			found = append(found, z)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return zoneResult{}, fmt.Errorf("%s and %s are both %s; say which one with -n", found[0].object.Ref,
			found[1].object.Ref, e.name)
	}
	if err := (view{zone: e.name}).missing(c); err != nil {
		return zoneResult{}, err
	}
	return zoneResult{}, fmt.Errorf("no Zone of namespace %s is %s; leave out -n to look in all", e.namespace, e.name)
}

// An exporting is one run of export.
type exporting struct {
	env       Env
	progress  *progress
	name      dnsname.Name
	namespace string
	form      exportForm
	lost      int
}

func (e *exporting) report(l content.Loss) {
	if l.Kind != content.Noted {
		e.lost++
	}
	fmt.Fprintln(e.env.Stderr, oneLine(l.String()))
}

// jsonExport is what export --format json writes. Its fields and their order are fixed.
type jsonExport struct {
	Zone      string      `json:"zone"`
	Namespace string      `json:"namespace"`
	Name      string      `json:"name"`
	Serial    uint32      `json:"serial"`
	Hash      string      `json:"hash"`
	Entries   []jsonEntry `json:"entries"`
}

// write writes the zone in its form.
func (e *exporting) write(z zoneResult) error {
	out := bufio.NewWriterSize(e.env.Stdout, 1<<16)
	var err error
	switch e.form {
	case exportJSON:
		err = writeJSON(out, jsonExport{z.snapshot.Name.String(), z.object.Ref.Namespace, z.object.Name,
			z.snapshot.SOA.Serial, z.snapshot.Hash, entriesOf(z)})
	case exportOctoDNS:
		e.report(content.Loss{Kind: content.Noted, What: "SOA of " + e.name.String(), Why: "octoDNS has none"})
		err = octodns.Write(out, e.name, z.snapshot.Sets.All(), e.report)
	case exportManifests:
		err = e.manifests(out, z)
	default:
		writeZone(out, z)
	}
	if err := errors.Join(err, out.Flush()); err != nil {
		return fmt.Errorf("writing %s: %w", e.name, err)
	}
	if e.lost > 0 {
		return &exitError{code: exitDifferences}
	}
	return nil
}

// manifests writes a Zone and Records.
func (e *exporting) manifests(out io.Writer, z zoneResult) error {
	c := content.New(e.name, e.report)
	c.SOA = z.snapshot.SOA
	for set := range z.snapshot.Sets.All() {
		for _, data := range set.Data {
			if err := c.Add(content.Record{Name: set.Name, Type: set.Type, TTL: set.TTL, Data: data}); err != nil {
				return err
			}
		}
	}
	c.Sort()
	options := draft.Options{Namespace: z.object.Ref.Namespace, Name: z.object.Name,
		Bindy: z.object.Kind == manifest.DNSZone}
	_, err := draft.Write(c, options, func(string) (io.Writer, error) { return out, nil }, func() {})
	return err
}
