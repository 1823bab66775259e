package externaldns

import (
	"encoding/base64"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"sigs.k8s.io/external-dns/endpoint"
	"sigs.k8s.io/external-dns/pkg/apis/externaldns"
	"sigs.k8s.io/external-dns/plan"
	"sigs.k8s.io/external-dns/provider/inmemory"
	theirs "sigs.k8s.io/external-dns/registry"
	"sigs.k8s.io/external-dns/registry/txt"

	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

const aesKey = "0123456789abcdef0123456789abcdef"

// flags are those of external-dns that say what its notes look like.
func (a *author) flags() (*externaldns.Config, registry.Format) {
	f := registry.Format{}
	switch a.IntN(3) {
	case 0:
		f.Prefix = a.one("ext-", "Reg.", "%{record_type}-", "x-%{record_type}.reg.")
	case 1:
		f.Suffix = a.one("-ext", "-%{record_type}", ".reg", "-%{record_type}.reg")
	}
	if a.some(2) {
		f.Wildcard = a.one("any", "star")
	}
	c := &externaldns.Config{TXTPrefix: f.Prefix, TXTSuffix: f.Suffix, TXTWildcardReplacement: f.Wildcard,
		ManagedDNSRecordTypes: []string{"A", "AAAA", "CNAME", "MX", "TXT"}}
	if a.some(2) {
		f.Key = []byte(aesKey)
		c.TXTEncryptEnabled, c.TXTEncryptAESKey = true, a.one(aesKey, base64.StdEncoding.EncodeToString(f.Key))
	}
	return c, f
}

// registryOf is external-dns' own, of one owner.
func registryOf(t *testing.T, c externaldns.Config, owner string, p *provider) theirs.Registry {
	c.TXTOwnerID = owner
	r, err := txt.New(&c, p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Records(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

func (a *author) endpoint() *endpoint.Endpoint {
	kind := a.one("A", "AAAA", "CNAME", "MX", "TXT")
	data := map[string]string{"A": "192.0.2.1", "AAAA": "2001:db8::1", "CNAME": "example.net", "MX": "10 example.net",
		"TXT": "some text"}
	labels := []string{a.one("www", "a-www", "mx-a", "*", "a", "aaaa", "any", "txt-ext"), a.one("", "dev", "a-b", "*"),
		"example.org"}
	name := strings.ReplaceAll(strings.Join(labels, "."), "..", ".")
	e := endpoint.NewEndpointWithTTL(name, kind, 300, data[kind])
	if a.some(2) {
		e.Labels[endpoint.ResourceLabelKey] = a.one("ingress/web/www", "service/a/b")
	}
	return e
}

// oldNote is a note as releases of external-dns before 0.12 wrote it: without the type.
func oldNote(f registry.Format, name, owner string) *endpoint.Endpoint {
	first, rest, _ := strings.Cut(name, ".")
	if first == "*" && f.Wildcard != "" {
		first = f.Wildcard
	}
	affix := func(s string) string { return strings.ReplaceAll(s, "%{record_type}", "") }
	return endpoint.NewEndpointWithTTL(affix(f.Prefix)+first+affix(f.Suffix)+"."+rest, "TXT", 300,
		"heritage=external-dns,external-dns/owner="+owner)
}

// shared is a zone in which several external-dns have sets, and nobody has others.
func (a *author) shared(t *testing.T, c *externaldns.Config, f registry.Format) *provider {
	p := &provider{InMemoryProvider: inmemory.NewInMemoryProvider(inmemory.InMemoryInitZones([]string{"example.org"}))}
	has := map[endpoint.EndpointKey]bool{}
	create := func(e *endpoint.Endpoint, by func(*plan.Changes) error) {
		if e == nil || has[e.Key()] {
			return
		}
		if err := by(&plan.Changes{Create: []*endpoint.Endpoint{e}}); err == nil {
			has[e.Key()] = true
		}
	}
	plainly := func(changes *plan.Changes) error { return p.ApplyChanges(t.Context(), changes) }
	for range 12 {
		owner := a.one("prod", "staging", "a-b")
		switch e := a.endpoint(); a.IntN(4) {
		case 0:
			create(e, plainly)
		case 1:
			create(e, plainly)
			create(oldNote(f, e.DNSName, owner), plainly)
		default:
			r := registryOf(t, *c, owner, p)
			create(e, func(changes *plan.Changes) error { return r.ApplyChanges(t.Context(), changes) })
		}
	}
	return p
}

func TestNotesAreReadAsExternalDNSReadsThem(t *testing.T) {
	owned := 0
	for seed := range uint64(2000) {
		a := &author{Rand: rand.New(rand.NewPCG(seed, 18))}
		c, f := a.flags()
		p := a.shared(t, c, f)
		records, err := registryOf(t, *c, "prod", p).Records(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		has := p.truth(t, name(t, "example.org."))
		ours := registry.Registry{Formats: []registry.Format{f}, Owners: []string{"prod"}, Writes: &f, Writer: "prod"}
		var notes []rr.Key // the sets that ours are about
		for _, e := range records {
			kind, err := rr.ParseType(e.RecordType)
			if err != nil {
				t.Fatal(err)
			}
			k := rr.Key{Name: name(t, e.DNSName+"."), Type: kind}
			got := map[string]bool{}
			for _, claim := range ours.Claims(has, k) {
				got[claim.Owner] = true
			}
			want := map[string]bool{}
			if owner := e.Labels[endpoint.OwnerLabelKey]; owner != "" {
				want[owner], owned = true, owned+1
			}
			// of two notes about one set external-dns heeds one of them, and we both
			ambiguous := len(got) > 1 && got[e.Labels[endpoint.OwnerLabelKey]]
			if !ambiguous && !maps.Equal(got, want) {
				t.Errorf("seed %d, %+v: external-dns gives %s to %v, and we to %v", seed, f, k, want, got)
			}
			if note, ok := ours.Note(k, name(t, "example.org.")); ok && len(want) == 0 && written(t, p, note) {
				notes = append(notes, k)
			}
		}
		ownedByThem(t, seed, registryOf(t, *c, "prod", p), notes)
	}
	if owned < 5000 {
		t.Errorf("only %d sets have an owner: nothing is compared", owned)
	}
}

// written puts a note of ours where external-dns looks for its own, unless something else is there.
func written(t *testing.T, p *provider, note rr.Set) bool {
	_, there := p.truth(t, name(t, "example.org.")).Get(note.Key())
	if !there {
		p.foreign(t, []rr.Set{note}, nil)
	}
	return !there
}

// ownedByThem has external-dns read notes of ours: the sets that they are about are its own now.
func ownedByThem(t *testing.T, seed uint64, r theirs.Registry, about []rr.Key) {
	records, err := r.Records(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	owners := map[string]string{}
	for _, e := range records {
		owners[e.DNSName+". "+e.RecordType] = e.Labels[endpoint.OwnerLabelKey]
	}
	for _, k := range about {
		if owner := owners[k.String()]; owner != "prod" {
			t.Errorf("seed %d: by our note, external-dns gives %s to %q", seed, k, owner)
		}
	}
}
