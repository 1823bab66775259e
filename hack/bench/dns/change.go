package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/embedded"
	"github.com/zonefold/zonefold/internal/plan"
)

// change measures from the call that changes a record until the new answer has come over UDP, in zones of two sizes.
// Both are in this process, for a change is a call.
func (b *bench) change(ctx context.Context) error {
	for _, n := range []int{10_000, 100_000} {
		b.say("%d changes in a zone of %d sets", b.changes, n)
		if err := b.changeIn(ctx, n); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) changeIn(ctx context.Context, n int) (err error) {
	server, err := embedded.Serve(ctx, options())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Close(context.WithoutCancel(ctx))) }()
	if _, err := load(ctx, server, func() (backend.Batch, error) { return hosts(n) }); err != nil {
		return err
	}
	a, err := newAsker(server.Addrs()[0].String())
	if err != nil {
		return err
	}
	defer a.conn.Close()
	var asked, changed figures.Times
	for i := range b.changes {
		host, to := i*7919%n, figures.Address(n+i)
		took, err := a.await(host, figures.Address(host))
		if err != nil {
			return err
		}
		asked = append(asked, took)
		c, err := changeTo(host, to)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := apply(ctx, server.Group(groupName), backend.Batch{Changes: []plan.Change{c}}); err != nil {
			return err
		}
		if _, err := a.await(host, to); err != nil {
			return err
		}
		changed = append(changed, time.Since(began))
	}
	if n == 10_000 {
		b.p50p99("a question over UDP alone", "dns_question", asked)
	}
	b.p50p99(fmt.Sprintf("one change to new answer in a zone of %d sets", n), fmt.Sprintf("dns_change_%d", n), changed)
	return nil
}

// An asker asks for addresses over one UDP socket.
type asker struct {
	conn   *dns.Conn
	client dns.Client
}

func newAsker(addr string) (*asker, error) {
	conn, err := net.Dial("udp", addr)
	if err != nil {
		return nil, err
	}
	return &asker{conn: &dns.Conn{Conn: conn}, client: dns.Client{Timeout: 5 * time.Second}}, nil
}

// await asks for the address of a host until it is the one that is wanted, which it is at once, and returns how long
// the last question took.
func (a *asker) await(host int, want string) (time.Duration, error) {
	for range 1000 {
		answer, took, err := a.client.ExchangeWithConn(new(dns.Msg).SetQuestion(hostName(host), dns.TypeA), a.conn)
		if err != nil {
			return 0, err
		}
		if len(answer.Answer) == 1 {
			if found, ok := answer.Answer[0].(*dns.A); ok && found.A.String() == want {
				return took, nil
			}
		}
	}
	return 0, fmt.Errorf("%s is not answered with %s", hostName(host), want)
}
