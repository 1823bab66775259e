package main

import (
	"context"
	"io"
	"os"
	"strings"

	"github.com/zonefold/zonefold/internal/testoperator"
)

// A contender brings the names of Services to BIND.
type contender struct {
	name    string
	program string // as the kernel calls it
	start   func() (pid int, err error)
	stop    func()
}

// contenders are all that are measured. external-dns is there with its usual settings, and with those that make it
// fastest: it looks at everything each second, and remembers what is in the zone instead of reading it.
func (b *bench) contenders(ctx context.Context) ([]contender, error) {
	all := []contender{{name: "zonefold", program: "operator", start: b.startOperator, stop: b.StopOperator}}
	if b.o.alone {
		return all, nil
	}
	b.Say("building external-dns")
	program, err := testoperator.ExternalDNS(ctx)
	if err != nil {
		return nil, err
	}
	return append(all, b.externalDNS(program, "external-dns"),
		b.externalDNS(program, "external-dns, fastest", "--interval=1s", "--txt-cache-interval=1h")), nil
}

// startOperator starts the operator with Services as its source.
func (b *bench) startOperator() (pid int, err error) {
	if err := b.StartOperator("--source=service"); err != nil {
		return 0, err
	}
	return b.Operator.PID(), nil
}

// externalDNS is an external-dns with its registry of TXT records. It hears of changes as they come, may act a second
// after it acted last, and not only five, and puts ten times as much as usual into one UPDATE.
func (b *bench) externalDNS(program, name string, more ...string) contender {
	var running *testoperator.Follower
	stop := func() {
		if running != nil {
			running.Stop()
		}
	}
	b.AtEnd(stop)
	return contender{name: name, program: "external-dns", stop: stop, start: func() (int, error) {
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
	}}
}

func (b *bench) flags() []string {
	host, port, _ := strings.Cut(b.bind.Addr(), ":")
	zone := strings.TrimSuffix(zoneName, ".") // it compares it with names that end without a dot
	return []string{"--source=service", "--provider=rfc2136", "--rfc2136-host=" + host, "--rfc2136-port=" + port,
		"--rfc2136-zone=" + zone, "--rfc2136-tsig-keyname=" + keyName, "--rfc2136-tsig-secret=" + keySecret,
		"--rfc2136-tsig-secret-alg=" + keyType, "--rfc2136-axfr", "--rfc2136-batch-change-size=500",
		"--domain-filter=" + zone, "--policy=sync", "--registry=txt", "--txt-owner-id=bench",
		"--events", "--min-event-sync-interval=1s"}
}
