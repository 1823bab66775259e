package rig

import (
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// backend is a Backend for all Zones, and its key.
const backend = `
---
apiVersion: v1
kind: Secret
metadata: {name: tsig, namespace: ` + testoperator.Namespace + `}
stringData: {secret: %s}
---
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: bind}
spec:
  default: true
  rfc2136:
    servers: ["%s"]
    tsig: {keyName: %s, secretRef: {name: tsig}}
`

// Backend returns the objects by which the operator reaches a server: after the namespace of the operator.
func Backend(address string, key Key) string {
	return fmt.Sprintf(backend, key.Secret, address, key.Name)
}

// A BIND serves one zone.
type BIND struct {
	*nameserver.Server
	zone dnsname.Name
	key  Key
}

// StartBIND starts one with an empty zone that a key may change. The names end with a dot.
func (r *Rig) StartBIND(ctx context.Context, zone string, key Key) (*BIND, error) {
	b := &BIND{key: key}
	var err error
	if b.zone, err = dnsname.Parse(zone); err != nil {
		return nil, err
	}
	name, err := dnsname.Parse(key.Name)
	if err != nil {
		return nil, err
	}
	b.Server, err = nameserver.StartBIND(ctx, nameserver.Options{
		Dir: filepath.Join(r.Dir, "bind"), Zones: []nameserver.Zone{{Name: b.zone}},
		Keys: []nameserver.TSIG{{Name: name, Algorithm: key.Algorithm, Secret: key.Secret}},
	})
	if err != nil {
		return nil, err
	}
	r.AtEnd(b.Close)
	return b, nil
}

// Backend returns the objects by which the operator reaches it; see Backend.
func (b *BIND) Backend() string { return Backend(b.Addr(), b.key) }

// Asker asks it.
func (b *BIND) Asker() (*Asker, error) { return NewAsker("BIND", b.Addr()) }

// Updater changes its zone.
func (b *BIND) Updater() (*Updater, error) { return NewUpdater(b.Addr(), b.key) }

// Missing transfers the zone, and counts which of n names have not the address that figures.Address gives them.
func (b *BIND) Missing(ctx context.Context, n int, name func(int) string) (int, error) {
	sets, err := b.Transfer(ctx, b.zone)
	if err != nil {
		return n, err
	}
	found := map[string]string{}
	for _, s := range sets {
		if s.Type == rr.Type(dns.TypeA) {
			found[s.Name.String()] = s.Data[0]
		}
	}
	missing := 0
	for i := range n {
		if found[name(i)] != figures.Address(i) {
			missing++
		}
	}
	return missing, nil
}

// Clear takes all names from its zone but that of the zone itself.
func (b *BIND) Clear(ctx context.Context) error {
	sets, err := b.Transfer(ctx, b.zone)
	if err != nil {
		return err
	}
	u, err := b.Updater()
	if err != nil {
		return err
	}
	defer u.Close()
	names := map[string]bool{}
	for _, s := range sets {
		if s.Name != b.zone {
			names[s.Name.String()] = true
		}
	}
	for some := range slices.Chunk(slices.Collect(maps.Keys(names)), most) {
		m := new(dns.Msg).SetUpdate(b.zone.String())
		for _, name := range some {
			m.RemoveName([]dns.RR{&dns.ANY{Hdr: dns.RR_Header{Name: name}}})
		}
		if err := u.send(m); err != nil {
			return fmt.Errorf("emptying %s: %w", b.zone, err)
		}
	}
	return nil
}
