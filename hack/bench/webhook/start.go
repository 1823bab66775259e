package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/testoperator"
)

const (
	namespace = "bench"
	className = "bench"
	domain    = "bench.example"
	keyName   = "hook"
	keySecret = "Ym90aCBhcmUgb24gbG9vcGJhY2s=" // a key that nobody else meets
	keyType   = "hmac-sha256"
	secret    = "between the operator and the server"
	patience  = 15 * time.Minute
)

// objects is what exists besides the DNSRecords.
const objects = `
apiVersion: v1
kind: Namespace
metadata: {name: ` + testoperator.Namespace + `}
---
apiVersion: v1
kind: Namespace
metadata: {name: ` + namespace + `}
---
apiVersion: v1
kind: Secret
metadata: {name: hmac, namespace: ` + namespace + `}
stringData: {secret: ` + secret + `}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: ` + className + `}
spec:
  server: %s
  hmacAuth:
    secretRef: {name: hmac, namespace: ` + namespace + `, key: secret}
`

// A bench is everything that is measured.
type bench struct {
	*rig.Rig
	o    *options
	bind *rig.BIND
	hook *testoperator.Hook
}

// start starts everything but the operator.
func (b *bench) start(ctx context.Context) error {
	b.Say("building the operator and dnshook")
	if err := b.startServers(ctx); err != nil {
		return err
	}
	if err := b.Start(ctx, v1alpha1.AddToScheme); err != nil {
		return err
	}
	return b.Apply(ctx, fmt.Sprintf(objects, b.hook.URL))
}

// startServers starts BIND, and dnshook before it.
func (b *bench) startServers(ctx context.Context) error {
	program, err := testoperator.BuildHook(ctx, b.Dir)
	if err != nil {
		return err
	}
	if b.bind, err = b.StartBIND(ctx, domain+".", rig.Key{Name: keyName + ".", Algorithm: keyType,
		Secret: keySecret}); err != nil {
		return err
	}
	tsig, hmac := filepath.Join(b.Dir, "tsig"), filepath.Join(b.Dir, "hmac")
	if err := errors.Join(os.WriteFile(tsig, []byte(keySecret), 0o600),
		os.WriteFile(hmac, []byte(secret), 0o600)); err != nil {
		return err
	}
	b.hook, err = testoperator.StartHook(program, nil,
		"--zone", domain, "--rfc2136", b.bind.Addr(), "--tsig-name", keyName, "--tsig-secret-file", tsig, "--secret-file",
		hmac)
	if err != nil {
		return err
	}
	b.AtEnd(b.hook.Stop)
	return nil
}

// startOperator returns when the server was found to be healthy.
func (b *bench) startOperator(ctx context.Context) error {
	if err := b.StartOperator("--dialects", "homelab"); err != nil {
		return err
	}
	err := b.Until(ctx, patience, func() (bool, error) {
		var c v1alpha1.DNSClass
		err := b.Kube.Get(ctx, client.ObjectKey{Name: className}, &c)
		return b.Operator.Ready() && figures.Ready(c.Status.Conditions, c.Generation), err
	})
	if err != nil {
		return fmt.Errorf("waiting for the operator to find the server healthy: %w", err)
	}
	return nil
}

// startMarks installs the chart's policy for new DNSRecords, and returns when the API server follows it.
func (b *bench) startMarks(ctx context.Context) error {
	if !b.o.marks {
		return nil
	}
	manifest, err := testoperator.Template(ctx, "dialects.homelab=true,homelab.marks=true", "marks.yaml")
	if err != nil {
		return err
	}
	if err := b.Apply(ctx, manifest); err != nil {
		return err
	}
	return b.Until(ctx, patience, func() (bool, error) {
		o := record(0)
		err := b.Kube.Create(ctx, o, client.DryRunAll)
		return len(o.GetFinalizers()) > 0, err
	})
}
