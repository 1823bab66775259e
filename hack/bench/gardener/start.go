package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// The accounts are also the namespaces of their objects.
const (
	free    = "free"
	limited = "limited"
)

const (
	domain   = "bench.example"
	burst    = 5 // as at Route 53
	insync   = time.Second
	quiet    = 20 * time.Second // in which an operator that has nothing to do shows it
	patience = 30 * time.Minute
)

// objects is what exists besides the DNSRecords.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + testoperator.Namespace + `}
---
apiVersion: v1
kind: Namespace
metadata: {name: free}
---
apiVersion: v1
kind: Namespace
metadata: {name: limited}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: free}
stringData: {server: %q, apiKey: %q}
---
apiVersion: v1
kind: Secret
metadata: {name: credentials, namespace: limited}
stringData: {accessKeyID: %q, secretAccessKey: %q}
`

// A bench is everything that is measured.
type bench struct {
	*rig.Rig
	o        *options
	zone     dnsname.Name
	powerdns *nameserver.PowerDNS
	route53  *route53test.Server
	zoneIDs  []string // of Route 53

	changed int            // single changes so far
	single  map[int]string // what they have made of which record
}

// half is how many DNSRecords each account has.
func (b *bench) half() int { return b.o.n / 2 }

// start starts everything.
func (b *bench) start(ctx context.Context) error {
	b.Say("building the operator")
	if err := b.startServices(ctx); err != nil {
		return err
	}
	if err := b.Start(ctx, v1alpha1.AddToScheme); err != nil {
		return err
	}
	account := b.route53.NewAccount()
	user := account.NewUser("zonefold")
	for i := range b.o.zones {
		b.zoneIDs = append(b.zoneIDs, account.AddZone(b.zoneName(i)+".", false))
	}
	if err := b.Apply(ctx, fmt.Sprintf(objects, b.powerdns.URL, b.powerdns.APIKey, user.AccessKeyID,
		user.SecretAccessKey)); err != nil {
		return err
	}
	return b.startOperator(ctx)
}

// startServices starts PowerDNS, and what behaves as Route 53 does.
func (b *bench) startServices(ctx context.Context) (err error) {
	if b.zone, err = dnsname.Parse(domain + "."); err != nil {
		return err
	}
	b.powerdns, err = nameserver.StartPowerDNS(ctx, nameserver.Options{
		Dir: filepath.Join(b.Dir, "powerdns"), Zones: []nameserver.Zone{{Name: b.zone}},
		Extra: "cache-ttl=0\nquery-cache-ttl=0\nnegquery-cache-ttl=0",
	})
	if err != nil {
		return err
	}
	b.AtEnd(b.powerdns.Close)
	b.route53, err = route53test.Start(ctx, route53test.Options{Now: time.Now, Delay: insync, Rate: b.o.rate,
		Burst: burst})
	if err != nil {
		return err
	}
	b.AtEnd(func() { _ = b.route53.Stop() })
	return nil
}

func (b *bench) startOperator(ctx context.Context) error {
	if err := b.StartOperator("--dialects", "gardener", "--tenant-servers-allow", "127.0.0.0/8", "--gardener-endpoints",
		"aws-route53="+b.route53.URL); err != nil {
		return err
	}
	return b.Until(ctx, patience, func() (bool, error) { return b.Operator.Ready(), nil })
}
