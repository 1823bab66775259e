package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

const keyName = "bench."

// A server is a BIND that has all Zones, at first without names.
type server struct {
	*nameserver.Server
	key   nameserver.TSIG
	asker *rig.Asker
}

func (b *bench) startBIND(ctx context.Context) error {
	s := &server{key: nameserver.TSIG{Algorithm: "hmac-sha256",
		Secret: base64.StdEncoding.EncodeToString([]byte("a secret of the benchmark"))}}
	var err error
	if s.key.Name, err = dnsname.Parse(keyName); err != nil {
		return err
	}
	var zones []nameserver.Zone
	for i := range b.o.zones {
		name, wrong := dnsname.Parse(zoneName(i))
		zones, err = append(zones, nameserver.Zone{Name: name}), errors.Join(err, wrong)
	}
	if err != nil {
		return err
	}
	s.Server, err = nameserver.StartBIND(ctx, nameserver.Options{Dir: filepath.Join(b.Dir, "bind"), Zones: zones,
		Keys: []nameserver.TSIG{s.key}})
	if err != nil {
		return err
	}
	b.AtEnd(s.Close)
	if s.asker, err = rig.NewAsker("BIND", s.Addr()); err != nil {
		return err
	}
	b.AtEnd(s.asker.Close)
	b.bind = s
	return nil
}

// compare transfers all zones, and says which Record is not served as it was created.
func (b *bench) compare(ctx context.Context) error {
	for zone := range b.o.zones {
		name, err := dnsname.Parse(zoneName(zone))
		if err != nil {
			return err
		}
		sets, err := b.bind.Transfer(ctx, name)
		if err != nil {
			return fmt.Errorf("transferring %s: %w", name, err)
		}
		found := map[string]string{}
		for _, s := range sets {
			if s.Type == rr.Type(dns.TypeA) {
				found[s.Name.String()] = s.Data[0]
			}
		}
		for i := zone; i < b.o.n; i += b.o.zones {
			if got := found[b.name(i)]; got != figures.Address(i) {
				return fmt.Errorf("%s is %q at BIND, want %q", b.name(i), got, figures.Address(i))
			}
		}
	}
	return nil
}
