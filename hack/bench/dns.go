package main

import (
	"context"
	"fmt"
	"net"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
)

// An asker asks BIND for addresses over one UDP socket.
type asker struct {
	conn   *dns.Conn
	client dns.Client
}

func (r *rig) newAsker() (*asker, error) {
	conn, err := dns.DialTimeout("udp", r.bind.Addr(), time.Second)
	if err != nil {
		return nil, err
	}
	return &asker{conn: conn, client: dns.Client{Timeout: 2 * time.Second}}, nil
}

func (a *asker) close() { _ = a.conn.Close() }

// await asks until the only address of a name is want. It pauses for a millisecond after each answer, so that asking does
// not take the time of those that work.
func (a *asker) await(ctx context.Context, name, want string) error {
	const patience = 3 * time.Minute
	for began := time.Now(); ; {
		m := new(dns.Msg)
		m.SetQuestion(name, dns.TypeA)
		answer, _, err := a.client.ExchangeWithConn(m, a.conn)
		if err == nil && len(answer.Answer) == 1 {
			if found, ok := answer.Answer[0].(*dns.A); ok && found.A.String() == want {
				return nil
			}
		}
		if time.Since(began) > patience {
			return fmt.Errorf("BIND still does not answer %s for %s: %v %w", want, name, answer, err)
		}
		if err := figures.Pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// An updater changes addresses by signed UPDATE messages over one TCP connection.
type updater struct{ conn net.Conn }

func (r *rig) newUpdater() (*updater, error) {
	conn, err := net.DialTimeout("tcp", r.bind.Addr(), time.Second)
	return &updater{conn}, err
}

func (u *updater) close() { _ = u.conn.Close() }

func (u *updater) change(name, address string) error {
	m := new(dns.Msg)
	m.SetUpdate(zoneName)
	record, err := dns.NewRR(name + " 300 IN A " + address)
	if err != nil {
		return err
	}
	m.RemoveRRset([]dns.RR{record})
	m.Insert([]dns.RR{record})
	m.SetTsig(keyName, keyType+".", 300, time.Now().Unix())
	// A dns.Conn remembers the last signature, so each message has its own on the same connection.
	c := dns.Client{Net: "tcp", Timeout: 5 * time.Second, TsigSecret: map[string]string{keyName: keySecret}}
	answer, _, err := c.ExchangeWithConn(m, &dns.Conn{Conn: u.conn, TsigSecret: c.TsigSecret})
	if err != nil {
		return fmt.Errorf("updating %s: %w", name, err)
	}
	if answer.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("updating %s: %s", name, dns.RcodeToString[answer.Rcode])
	}
	return nil
}
