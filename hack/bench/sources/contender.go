package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A contender has BIND answer with the names that objects ask for.
type contender struct {
	figures.Contender
	program string // as the kernel calls it, "" for the bare client, which is this program
	start   func(context.Context) (pid int, err error)
	change  func(context.Context) (figures.Times, error)
	stop    func()
}

// contenders are all that are measured, zonefold second. external-dns is there with its usual settings, and with those
// that make it fastest: it looks at everything each second, and remembers what is in the zone instead of reading it.
func (b *bench) contenders(ctx context.Context) ([]contender, error) {
	all := []contender{
		{figures.Contender{Key: "bare", Name: "bare client"}, "", b.addAll, b.bareChanges, func() {}},
		{figures.Contender{Key: "zonefold", Name: "zonefold", Ours: true}, "operator", b.startOperator, b.singleChanges,
			b.StopOperator},
	}
	if b.o.alone {
		return all, nil
	}
	b.Say("building external-dns")
	program, err := testoperator.ExternalDNS(ctx)
	if err != nil {
		return nil, err
	}
	usual, fastest := figures.Contender{Key: "external_dns", Name: "external-dns"},
		figures.Contender{Key: "external_dns_fastest", Name: "external-dns, fastest"}
	return append(all, b.externalDNS(program, usual),
		b.externalDNS(program, fastest, "--interval=1s", "--txt-cache-interval=1h")), nil
}

// startOperator starts the operator.
func (b *bench) startOperator(context.Context) (pid int, err error) {
	if err := b.StartOperator("--source=" + b.o.source); err != nil {
		return 0, err
	}
	return b.Operator.PID(), nil
}

// externalDNS is an external-dns with its registry of TXT records. It hears of changes as they come, may act a second
// after it acted last, and not only five, puts ten times as much as usual into one UPDATE, and may
// call the API server as often as it likes: with its usual five calls a second, it would take 2,000 s to write that it
// has seen 10,000 DNSEndpoints, before it sends anything.
func (b *bench) externalDNS(program string, who figures.Contender, more ...string) contender {
	var running *testoperator.Follower
	stop := func() {
		if running != nil {
			running.Stop()
		}
	}
	b.AtEnd(stop)
	start := func(context.Context) (int, error) {
		log := io.Discard
		if b.o.Log != "" {
			file, err := os.OpenFile(b.o.Log+".external-dns", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
			if err != nil {
				return 0, err
			}
			b.AtEnd(func() { _ = file.Close() })
			log = file
		}
		var err error
		running, err = testoperator.StartExternalDNS(program, b.Cluster.Kubeconfig(), log, append(b.flags(), more...)...)
		if err != nil {
			return 0, err
		}
		return running.PID(), nil
	}
	return contender{who, "external-dns", start, b.singleChanges, stop}
}

func (b *bench) flags() []string {
	host, port, _ := strings.Cut(b.bind.Addr(), ":")
	zone := strings.TrimSuffix(zoneName, ".") // it compares it with names that end without a dot
	return []string{"--source=" + b.o.source, "--provider=rfc2136", "--rfc2136-host=" + host, "--rfc2136-port=" + port,
		"--rfc2136-zone=" + zone, "--rfc2136-tsig-keyname=" + keyName, "--rfc2136-tsig-secret=" + keySecret,
		"--rfc2136-tsig-secret-alg=" + keyType, "--rfc2136-axfr", "--rfc2136-batch-change-size=500",
		"--domain-filter=" + zone, "--policy=sync", "--registry=txt", "--txt-owner-id=bench",
		"--events", "--min-event-sync-interval=1s", "--kube-api-qps=1000", "--kube-api-burst=1000"}
}
