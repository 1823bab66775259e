package rig

import (
	"fmt"
	"maps"
	"net"
	"slices"
	"time"

	"github.com/miekg/dns"
)

// most is how many names a message of 64 KiB holds, with what is said about each.
const most = 500

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
	if err := u.send(m); err != nil {
		return fmt.Errorf("updating %s: %w", name, err)
	}
	return nil
}

// Add adds an address to each of many names in a zone, in as few messages as hold them.
func (u *Updater) Add(zone string, addresses map[string]string) error {
	for names := range slices.Chunk(slices.Sorted(maps.Keys(addresses)), most) {
		m := new(dns.Msg).SetUpdate(zone)
		for _, name := range names {
			record, err := dns.NewRR(name + " 300 IN A " + addresses[name])
			if err != nil {
				return err
			}
			m.Insert([]dns.RR{record})
		}
		if err := u.send(m); err != nil {
			return fmt.Errorf("adding names to %s: %w", zone, err)
		}
	}
	return nil
}

// send fails unless the server has done what the message says.
func (u *Updater) send(m *dns.Msg) error {
	m.SetTsig(u.key.Name, u.key.Algorithm+".", 300, time.Now().Unix())
	// A dns.Conn remembers the last signature, so each message has its own on the same connection.
	c := dns.Client{Net: "tcp", Timeout: 5 * time.Second, TsigSecret: map[string]string{u.key.Name: u.key.Secret}}
	answer, _, err := c.ExchangeWithConn(m, &dns.Conn{Conn: u.conn, TsigSecret: c.TsigSecret})
	if err != nil {
		return err
	}
	if answer.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("the server answers %s", dns.RcodeToString[answer.Rcode])
	}
	return nil
}
