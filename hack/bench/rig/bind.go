package rig

import (
	"context"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

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

// A Key signs UPDATE messages. Its name ends with a dot.
type Key struct{ Name, Algorithm, Secret string }

// An Updater changes addresses by signed UPDATE messages over one TCP connection.
type Updater struct {
	conn net.Conn
	key  Key
}

// NewUpdater connects to a server.
func NewUpdater(address string, key Key) (*Updater, error) {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	return &Updater{conn, key}, err
}

// Close ends the connection.
func (u *Updater) Close() { _ = u.conn.Close() }

// Change gives a name in a zone one address.
func (u *Updater) Change(zone, name, address string) error {
	m := new(dns.Msg).SetUpdate(zone)
	record, err := dns.NewRR(name + " 300 IN A " + address)
	if err != nil {
		return err
	}
	m.RemoveRRset([]dns.RR{record})
	m.Insert([]dns.RR{record})
	m.SetTsig(u.key.Name, u.key.Algorithm+".", 300, time.Now().Unix())
	// A dns.Conn remembers the last signature, so each message has its own on the same connection.
	c := dns.Client{Net: "tcp", Timeout: 5 * time.Second, TsigSecret: map[string]string{u.key.Name: u.key.Secret}}
	answer, _, err := c.ExchangeWithConn(m, &dns.Conn{Conn: u.conn, TsigSecret: c.TsigSecret})
	if err != nil {
		return fmt.Errorf("updating %s: %w", name, err)
	}
	if answer.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("updating %s: %s", name, dns.RcodeToString[answer.Rcode])
	}
	return nil
}
