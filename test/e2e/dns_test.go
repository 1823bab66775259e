package e2e_test

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"
	"k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Ports of a Service and of a pod.
const (
	servicePort = 53
	podPort     = 5353
	// lost is how long a client waits for an answer: as long as resolvers do.
	lost = 5 * time.Second
)

// A key signs messages.
type key struct{ name, algorithm, secret string }

// exchange sends a message and returns the answer, whose signature is checked if the message has one.
func exchange(ctx context.Context, network string, at netip.AddrPort, m *dns.Msg, k *key) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, lost)
	defer cancel()
	c := &dns.Client{Net: network, Timeout: lost}
	if k != nil {
		c.TsigSecret = map[string]string{dns.Fqdn(k.name): k.secret}
		m.SetTsig(dns.Fqdn(k.name), dns.Fqdn(k.algorithm), 300, time.Now().Unix())
	}
	answer, _, err := c.ExchangeContext(ctx, m, at.String())
	if err != nil {
		return nil, fmt.Errorf("%s over %s: %w", at, network, err)
	}
	return answer, nil
}

func question(name string, rrtype uint16) *dns.Msg {
	return new(dns.Msg).SetQuestion(dns.Fqdn(name), rrtype)
}

// lookup is what a server answers to a question about an address: the data in order of the answer, or why it has none.
func lookup(ctx context.Context, network string, at netip.AddrPort, name string) (string, error) {
	answer, err := exchange(ctx, network, at, question(name, dns.TypeA), nil)
	if err != nil {
		return "", err
	}
	if answer.Rcode != dns.RcodeSuccess {
		return dns.RcodeToString[answer.Rcode], nil
	}
	var data []string
	for _, r := range answer.Answer {
		if a, ok := r.(*dns.A); ok {
			data = append(data, a.A.String())
		}
	}
	return strings.Join(data, " "), nil
}

// resolves waits until a server answers a question about an address as wanted.
func (s *site) resolves(at netip.AddrPort, name, want string) {
	s.Helper()
	s.eventually("asking for "+name, func() string {
		got, err := lookup(s.ctx, "udp", at, name)
		if err != nil {
			return err.Error()
		}
		if got != want {
			return fmt.Sprintf("%s answers %q and not %q", at, got, want)
		}
		return ""
	})
}

// An addition is an address to add to a zone.
type addition struct{ zone, owner, address string }

// update adds an address to a zone, signed with a key.
func update(ctx context.Context, at netip.AddrPort, k key, add addition) error {
	m := new(dns.Msg).SetUpdate(dns.Fqdn(add.zone))
	m.Insert([]dns.RR{&dns.A{Hdr: dns.RR_Header{Name: dns.Fqdn(add.owner), Rrtype: dns.TypeA, Class: dns.ClassINET,
		Ttl: 60}, A: net.ParseIP(add.address)}})
	answer, err := exchange(ctx, "tcp", at, m, &k)
	if err != nil {
		return err
	}
	if answer.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("the update of %s with the key %s is answered with %s", add.owner, k.name,
			dns.RcodeToString[answer.Rcode])
	}
	return nil
}

// transfer tries AXFR and returns how many records came.
func transfer(at netip.AddrPort, zone string, k *key) (int, error) {
	t := &dns.Transfer{DialTimeout: lost, ReadTimeout: lost}
	m := new(dns.Msg).SetAxfr(dns.Fqdn(zone))
	if k != nil {
		t.TsigSecret = map[string]string{dns.Fqdn(k.name): k.secret}
		m.SetTsig(dns.Fqdn(k.name), dns.Fqdn(k.algorithm), 300, time.Now().Unix())
	}
	envelopes, err := t.In(m, at.String())
	if err != nil {
		return 0, err
	}
	n := 0
	for e := range envelopes {
		if e.Error != nil {
			err = e.Error
		}
		n += len(e.RR)
	}
	return n, err
}

func hostPort(host netip.Addr, port int) string {
	return net.JoinHostPort(host.String(), strconv.Itoa(port))
}

// count is how many objects there are.
func (s *site) count(list client.ObjectList, opts ...client.ListOption) int {
	s.Helper()
	if err := s.client.List(s.ctx, list, opts...); err != nil {
		s.Fatal(err)
	}
	return meta.LenList(list)
}
