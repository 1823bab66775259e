package move

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// fromCluster returns a zone as its operator last published it.
func (e *exporting) fromCluster(ctx context.Context, flags *command.ClusterFlags) (fold.ZoneResult, error) {
	c, _, err := flags.Connect(e.env)
	if err != nil {
		return fold.ZoneResult{}, err
	}
	e.progress.Begin("reading the zone", 0)
	z, err := command.FindZone(ctx, c, e.namespace, e.said)
	if err != nil {
		return fold.ZoneResult{}, err
	}
	if e.name, err = dnsname.Parse(z.FQDN); err != nil || z.Serial == 0 {
		return fold.ZoneResult{}, fmt.Errorf("nothing of %s is published; zonefold explain says why", z)
	}
	if z.DNSZone != nil {
		return e.publishedDNSZone(ctx, flags, z)
	}
	return PublishedBy(ctx, c, e.name, z.Zone)
}

// publishedDNSZone returns the content of a DNSZone: what its status has while it is frozen, or else what objects say,
// if that is what the status has the hash of.
func (e *exporting) publishedDNSZone(ctx context.Context, flags *command.ClusterFlags,
	z *command.FoundZone) (fold.ZoneResult, error) {
	ref := manifest.Ref{Kind: manifest.DNSZone, Namespace: z.Namespace, Name: z.Name}
	out := fold.ZoneResult{Object: &manifest.Object{Ref: ref, Bindy: z.DNSZone}, Serial: uint32(z.Serial),
		Verdict: zone.Verdict{Accepted: true, Name: e.name}}
	labelled := func(s zone.Snapshot) fold.ZoneResult {
		out.Snapshot = s
		out.Snapshot.SOA.Serial = out.Serial
		return out
	}
	if z.DNSZone.Status.Published != "" {
		content, err := bindy.Published(z.DNSZone)
		return labelled(content), err
	}
	objects, err := e.around(ctx, flags, z.DNSZone)
	if err != nil {
		return fold.ZoneResult{}, err
	}
	e.progress.Begin("deciding about "+command.Count(len(objects.Objects), "object"), 0)
	for _, other := range fold.Compose(objects.Input, e.env.Now).Zones {
		s := other.Snapshot
		if other.Object.Ref == ref && (engine.Content{SOA: s.SOA, Hash: s.Hash}).ID() == z.DNSZone.Status.Content {
			return labelled(s), nil
		}
	}
	unseen := strings.Join(command.Together(objects.Unseen), " ")
	if unseen != "" {
		unseen = " (" + unseen + ")"
	}
	return fold.ZoneResult{}, fmt.Errorf("the published content of %s differs from the objects that you see%s, and its "+
		"status does not contain it; try again when no change is under way, or use import axfr with one of its "+
		"servers", z, unseen)
}

// around reads the objects that the content of a DNSZone can depend on: the records of its namespace, the instances
// that it may be on, whose addresses its name servers get, and other DNSZones, which may have its names.
func (e *exporting) around(ctx context.Context, flags *command.ClusterFlags, z *v1beta1.DNSZone) (*command.Found,
	error) {
	in := command.ObjectFlags{InputFlags: command.InputFlags{Namespace: z.Namespace}, Cluster: *flags}
	return in.ReadBy(ctx, e.env, e.progress, func(f *command.Fetcher) error {
		for _, r := range manifest.Resources() {
			var err error
			switch {
			case r.GroupVersion != v1beta1.GroupVersion.String():
			case r.Kind == v1beta1.KindZone:
				err = f.Fetch(ctx, r)
			case r.Kind == v1beta1.KindInstance:
				err = f.FetchIn(ctx, r, bindy.SelectsFrom(z)...)
			case strings.HasSuffix(r.Kind, manifest.Record):
				err = f.FetchIn(ctx, r, z.Namespace)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// PublishedBy returns the content of a Zone that its operator has written down, in its status or in ZoneSlices.
func PublishedBy(ctx context.Context, c *command.Cluster, name dnsname.Name, z *kubizone.Zone) (fold.ZoneResult,
	error) {
	entries := z.Status.Entries
	if z.Status.Slices > 0 {
		var err error
		if entries, err = slicesOf(ctx, c, z); err != nil {
			return fold.ZoneResult{}, err
		}
	}
	return published(name, z, entries)
}

// slicesOf returns the entries of a Zone that has ZoneSlices, with the SOA of its status.
func slicesOf(ctx context.Context, c *command.Cluster, z *kubizone.Zone) ([]kubizone.Entry, error) {
	var out []kubizone.Entry
	for _, entry := range z.Status.Entries {
		if entry.Type == rr.TypeSOA.String() {
			out = append(out, entry)
		}
	}
	err := command.EachPage(ctx, c.Zonefold("zoneslices"), z.Namespace, func(list *zonefold.ZoneSliceList) {
		for i := range list.Items {
			s := &list.Items[i]
			if s.Journal || !metav1.IsControlledBy(s, z) || s.Index >= z.Status.Slices {
				continue
			}
			for _, entry := range s.Entries {
				out = append(out, kubizone.Entry{FQDN: entry.FQDN, Type: entry.Type, Class: entry.Class,
					TTL: kubizone.Number(entry.TTL), RData: entry.RData})
			}
		}
	})
	if err != nil {
		return nil, fmt.Errorf("reading the ZoneSlices of Zone %s/%s: %w", z.Namespace, z.Name, err)
	}
	return out, nil
}

// published makes a zone of its entries.
func published(name dnsname.Name, z *kubizone.Zone, entries []kubizone.Entry) (fold.ZoneResult, error) {
	ref := manifest.Ref{Kind: manifest.Zone, Namespace: z.Namespace, Name: z.Name}
	if want := int(z.Status.EntryCount); want > 0 && want != len(entries) {
		return fold.ZoneResult{}, fmt.Errorf(
			"%s has %d entries, but %d could be read; it is being written, so try again", ref,
			want,
			len(entries))
	}
	var soa rr.SOA
	txn := rr.Sets{}.Txn()
	for _, entry := range entries {
		owner, err := dnsname.Parse(entry.FQDN)
		if err != nil {
			return fold.ZoneResult{}, fmt.Errorf("reading the entries of %s: %w", ref, err)
		}
		typ, err := rr.ParseType(entry.Type)
		if err != nil {
			return fold.ZoneResult{}, fmt.Errorf("reading the entries of %s: %w", ref, err)
		}
		if typ == rr.TypeSOA {
			if soa, err = rr.ParseSOA(entry.RData); err != nil {
				return fold.ZoneResult{}, fmt.Errorf("reading the SOA of %s: %w", ref, err)
			}
			soa.TTL = uint32(entry.TTL)
			continue
		}
		key := rr.Key{Name: owner, Type: typ}
		set, _ := txn.Get(key)
		txn.Put(rr.NewSet(key, uint32(entry.TTL), append(set.Data, strings.Clone(entry.RData))...))
	}
	object := &manifest.Object{Ref: ref}
	return fold.ZoneResult{Object: object, Verdict: zone.Verdict{Accepted: true, Name: name}, Serial: soa.Serial,
		Snapshot: zone.Snapshot{ID: fold.IdOf(ref), Name: name, SOA: soa, Hash: z.Status.Hash, Sets: txn.Sets()}}, nil
}
