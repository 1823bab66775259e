package nameserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// An Answer is what a server said to one query.
type Answer struct {
	Rcode string // "NOERROR", "NXDOMAIN", …
	Sets  []rr.Set
}

// Lookup asks for one set over TCP, without recursion.
func (s *Server) Lookup(ctx context.Context, key rr.Key) (Answer, error) {
	resp, err := exchange(ctx, "tcp", s.Addr(), question(key))
	if err != nil {
		return Answer{}, fmt.Errorf("asking %s for %s %s: %w", s.Addr(), key.Name, key.Type, err)
	}
	sets, err := rr.FromRRs(resp.Answer)
	if err != nil {
		return Answer{}, fmt.Errorf("asking %s for %s %s: %w", s.Addr(), key.Name, key.Type, err)
	}
	return Answer{Rcode: dns.RcodeToString[resp.Rcode], Sets: sets}, nil
}

// Serial asks for the zone's SOA serial.
func (s *Server) Serial(ctx context.Context, zone dnsname.Name) (uint32, error) {
	return serial(ctx, s.Addr(), zone)
}

func serial(ctx context.Context, addr string, zone dnsname.Name) (uint32, error) {
	resp, err := exchange(ctx, "udp", addr, question(rr.Key{Name: zone, Type: rr.Type(dns.TypeSOA)}))
	if err != nil {
		return 0, fmt.Errorf("asking %s for the SOA of %s: %w", addr, zone, err)
	}
	for _, record := range resp.Answer {
		if soa, ok := record.(*dns.SOA); ok && resp.Authoritative {
			return soa.Serial, nil
		}
	}
	return 0, fmt.Errorf("%s has no SOA for %s: it answered %s", addr, zone, dns.RcodeToString[resp.Rcode])
}

// Transfer reads the whole zone by AXFR, signed with the first key: SOA first, the others as rr.FromRRs orders them.
func (s *Server) Transfer(ctx context.Context, zone dnsname.Name) ([]rr.Set, error) {
	m := new(dns.Msg)
	m.SetAxfr(zone.String())
	t := &dns.Transfer{ReadTimeout: queryTimeout}
	if len(s.opts.Keys) > 0 {
		k := s.opts.Keys[0]
		m.SetTsig(k.Name.String(), k.Algorithm+".", 300, time.Now().Unix())
		t.TsigSecret = map[string]string{k.Name.String(): k.Secret}
	}
	var dialer = dns.Client{Net: "tcp", Timeout: queryTimeout}
	conn, err := dialer.DialContext(ctx, s.Addr())
	if err != nil {
		return nil, fmt.Errorf("transferring %s from %s: %w", zone, s.Addr(), err)
	}
	defer conn.Close()
	t.Conn = conn
	envelopes, err := t.In(m, s.Addr())
	if err != nil {
		return nil, fmt.Errorf("transferring %s from %s: %w", zone, s.Addr(), err)
	}
	var records []dns.RR
	for e := range envelopes {
		if e.Error != nil {
			err = errors.Join(err, e.Error)
		}
		records = append(records, e.RR...)
	}
	if err != nil {
		return nil, fmt.Errorf("transferring %s from %s: %w", zone, s.Addr(), err)
	}
	return rr.FromRRs(records)
}

// queryTimeout bounds one query or one message of a transfer.
const queryTimeout = 10 * time.Second

func question(key rr.Key) *dns.Msg {
	m := new(dns.Msg)
	m.SetQuestion(key.Name.String(), uint16(key.Type))
	m.RecursionDesired = false
	return m
}

func exchange(ctx context.Context, network, addr string, m *dns.Msg) (*dns.Msg, error) {
	c := dns.Client{Net: network, Timeout: queryTimeout}
	resp, _, err := c.ExchangeContext(ctx, m, addr)
	return resp, err
}

// pollInterval is the pause between two questions to a server that is starting.
const pollInterval = 10 * time.Millisecond

// await asks until the server answers authoritatively for each zone; without zones, until it answers at all.
func (s *Server) await(ctx context.Context, zones []Zone) error {
	if len(zones) == 0 {
		return s.poll(ctx, func(ctx context.Context) error {
			_, err := exchange(ctx, "udp", s.Addr(), question(rr.Key{Name: dnsname.Root, Type: rr.Type(dns.TypeSOA)}))
			return err
		})
	}
	for _, z := range zones {
		if err := s.poll(ctx, func(ctx context.Context) error { _, err := s.Serial(ctx, z.Name); return err }); err != nil {
			return err
		}
	}
	return nil
}

// poll repeats ask until it succeeds, the process ends or the context does; then it returns the last error.
func (s *Server) poll(ctx context.Context, ask func(context.Context) error) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		asking, cancel := context.WithTimeout(ctx, time.Second) // a datagram may be lost while the server starts
		err := ask(asking)
		cancel()
		if err == nil {
			return nil
		}
		select {
		case <-s.proc.done:
			return err
		case <-ctx.Done():
			return err
		case <-tick.C:
		}
	}
}

// At returns a server on loopback that this package has not started: it can be asked and transferred from, and nothing
// else.
func At(number uint16, keys ...TSIG) *Server {
	return &Server{dns: &port{number: number}, opts: Options{Keys: keys}}
}
