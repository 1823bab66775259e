package move

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/content"
	"github.com/zonefold/zonefold/internal/cli/draft"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// newImport makes the commands that write manifests for zones that are elsewhere.
func newImport(env command.Env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "import",
		Short: "Write manifests for a zone of a master file, a name server, a service or octoDNS",
		Long: `import reads a zone from where it is now and writes it as YAML: a Zone and Records of
kubi.zone, or, with --as bindy, a DNSZone and its records. Each record becomes an object. Its
name is made from its owner, its type and a hash of its owner and data, so it stays the
same when other records come and go, and differs from those of other zones. With --as bindy,
all addresses of a name are one object.

The output goes to standard output, or with --to into a folder, which gets a folder for each
namespace and in it a file for each zone. --split team-a=*.team-a gives names to another
namespace and delegates them to it. The first --split that matches counts.

With --txt-owner-id, only those records are imported that the registry of external-dns
assigns to this owner: TXT records in the zone, or with --registry=dynamodb a table. The
registry's own records are not imported. Records of other owners, or of none, are listed.

-o json writes the manifests as one List (apiVersion v1), one object per line. With --to,
-o json or yaml prints a report: what was read and written, which files, and what was lost.

Standard error lists everything that cannot be represented, with the reason: what is left
out, what is changed, and what else you should know. Nothing is left out silently.

Exit codes: 0 when everything is represented as it was; 2 when something was left out or
changed; 1 when the zone cannot be read. In that case nothing is written.`,
		Args: command.KnownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newImportFile(env), newImportAXFR(env), newImportOctoDNS(env), newImportBackend(env))
	return cmd
}

// draftFlags say which manifests to write, and where.
type draftFlags struct {
	namespace string
	name      string
	as        string
	cluster   string
	to        string
	splits    []string
	max       int
	owned     ownedFlags
	out       command.Output
}

func (f *draftFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVarP(&f.namespace, "namespace", "n", "default", "the namespace of the objects")
	flags.StringVar(&f.name, "name", "", "the name of the zone's object (default: the zone's with hyphens for dots)")
	flags.StringVar(&f.as, "as", "kubizone", "the kinds of the objects: kubizone or bindy")
	flags.StringVar(&f.cluster, "cluster-ref", "", "with --as bindy: the cluster that serves the zone")
	flags.StringVar(&f.to, "to", "", "a folder to write to (default: the standard output)")
	flags.StringArrayVar(&f.splits, "split", nil,
		"NAMESPACE=PATTERN: the names that match go to the namespace, and are delegated to it; repeatable")
	flags.IntVar(&f.max, "max-records", content.MaxRecords, "the largest number of records to import")
	f.owned.register(cmd)
	f.out.Register(cmd)
	flags.Lookup("output").Usage = "the format of the manifests: yaml or json; with --to that of a report, or text for " +
		"none"
}

// options reads the flags.
func (f *draftFlags) options() (draft.Options, error) {
	out := draft.Options{Namespace: f.namespace, Name: f.name, Bindy: f.as == "bindy", Cluster: f.cluster}
	if f.as != "kubizone" && !out.Bindy {
		return out, fmt.Errorf("--as %q is neither kubizone nor bindy", f.as)
	}
	if problems := validation.IsDNS1123Label(f.namespace); len(problems) > 0 {
		return out, fmt.Errorf("-n %q is not the name of a namespace: %s", f.namespace, strings.Join(problems, ", "))
	}
	if problems := validation.IsDNS1123Subdomain(f.name); f.name != "" && len(problems) > 0 {
		return out, fmt.Errorf("--name %q is not the name of an object: %s", f.name, strings.Join(problems, ", "))
	}
	switch {
	case len(f.splits) > 0 && out.Bindy:
		return out, errors.New("--split does not go with --as bindy: a DNSZone has records of its own namespace only")
	case f.cluster != "" && !out.Bindy:
		return out, errors.New("--cluster-ref goes with --as bindy; a Zone of kubi.zone goes to Backends")
	case f.max < 1:
		return out, fmt.Errorf("--max-records %d admits no records", f.max)
	}
	for _, text := range f.splits {
		namespace, pattern, ok := strings.Cut(text, "=")
		p, err := dnsname.ParsePattern(pattern)
		if problems := validation.IsDNS1123Label(namespace); !ok || err != nil || len(problems) > 0 {
			return out, fmt.Errorf("--split %q is not NAMESPACE=PATTERN, such as team-a=*.team-a", text)
		}
		out.Splits = append(out.Splits, draft.Split{Namespace: namespace, Pattern: p})
	}
	return out, nil
}

// An importing is one run of import.
type importing struct {
	env      command.Env
	progress *command.Progress
	flags    *draftFlags
	options  draft.Options
	owned    *ownedImport // nil: everything is imported
	files    *drafts
	losses   map[content.Kind]int
	told     []ImportedLoss // for a report; nil: there is none
}

// reports reports whether somebody wants a report.
func (f *draftFlags) reports() bool { return f.to != "" && f.out != command.OutputText }

// run reads a zone and writes its manifests. What is read is complete, or there is an error.
func (f *draftFlags) run(cmd *cobra.Command, env command.Env, read func(*importing) (*content.Zone, error)) error {
	options, err := f.options()
	if err != nil {
		return err
	}
	owned, err := f.owned.begin()
	if err != nil {
		return err
	}
	files := newDrafts(f.to)
	defer files.discard()
	return command.UntilDone(cmd.Context(), env, func(env command.Env, p *command.Progress) error {
		i := &importing{env, p, f, options, owned, files, map[content.Kind]int{}, nil}
		zone, err := read(i)
		if err == nil && owned != nil {
			err = owned.readTable(cmd.Context(), env)
		}
		if err != nil {
			return err
		}
		return i.write(zone)
	})
}

// zone begins a zone whose losses are told.
func (i *importing) zone(origin dnsname.Name) *content.Zone {
	z := content.New(origin, func(l content.Loss) {
		i.losses[l.Kind]++
		if i.flags.reports() {
			i.told = append(i.told, ImportedLoss{string(l.Kind), l.What, l.Why})
		}
		fmt.Fprintln(i.env.Stderr, plain.Line(l.String()))
	})
	z.Max = i.flags.max
	if i.owned != nil {
		z.Aside = i.owned.aside
	}
	return z
}

// write writes the manifests of a zone, and tells what came of it.
func (i *importing) write(z *content.Zone) error {
	i.progress.Begin("sorting "+command.Count(z.Len(), "record"), 0)
	z.Sort()
	if i.owned != nil {
		i.owned.own(z)
	}
	i.note(z)
	out := bufio.NewWriterSize(i.env.Stdout, 1<<16)
	var to io.Writer = out
	list := &listWriter{out: out}
	if i.flags.to == "" && i.flags.out == command.OutputJSON {
		to = list
	}
	sink := func(string) (io.Writer, error) { return to, nil }
	if i.flags.to != "" {
		name := i.options.Name
		if name == "" {
			name = draft.ObjectName(z.Origin)
		}
		sink = i.files.of(name + ".yaml")
	}
	counts, err := draft.Write(z, i.options, sink, i.progress.Begin("writing records", z.Len()))
	if err := errors.Join(err, list.end(), out.Flush()); err != nil {
		return fmt.Errorf("writing the manifests of %s: %w", z.Origin, err)
	}
	if err := i.files.keep(); err != nil {
		return err
	}
	i.progress.End()
	left, changed := i.losses[content.LeftOut], i.losses[content.Changed]
	fmt.Fprintf(i.env.Stderr, "%s: read %s, wrote %s for %d of them and the zone; %d left out, %d changed\n", z.Origin,
		command.Count(z.Read(), "record"), command.Count(counts.Zones+counts.Objects, "object"), counts.Records, left,
		changed)
	if i.flags.reports() {
		report := Imported{z.Origin.String(), z.Read(), counts.Zones + counts.Objects, counts.Records, left, changed,
			i.files.kept, append([]ImportedLoss{}, i.told...)}
		if err := i.flags.out.Print(i.env, report, nil); err != nil {
			return err
		}
	}
	if left+changed > 0 {
		return &command.ExitError{Code: command.ExitDifferences}
	}
	return nil
}

// note tells what is not lost and still worth knowing.
func (i *importing) note(z *content.Zone) {
	if z.HasSOA() && !i.options.Bindy {
		z.Report(content.Loss{Kind: content.Noted, What: "SOA of " + z.Origin.String(), Why: fmt.Sprintf(
			"its serial, %d, is not in the manifests: an operator counts serials, and begins above that of a server that has "+
				"the zone already", z.SOA.Serial)})
	}
	if !z.HasSOA() && !i.options.Bindy {
		z.Report(content.Loss{Kind: content.Noted, What: "SOA of " + z.Origin.String(),
			Why: "there is none; the Zone gets the defaults"})
	}
	if kubizone.PublicSuffix(z.Origin) && !i.options.Bindy {
		z.Report(content.Loss{Kind: content.Noted, What: "the zone " + z.Origin.String(), Why: fmt.Sprintf(
			"it is the root or a public suffix, for which a Zone needs a Backend that grants its name: grants: "+
				"[{namespaces: [%s], zones: [%q]}]", i.options.Namespace, z.Origin)})
	}
}
