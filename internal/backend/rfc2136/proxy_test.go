package rfc2136_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A proxy stands before a server and can lose what the server answers.
type proxy struct {
	net.Listener
	loses atomic.Bool // the next answer, and the connection with it
	stuck atomic.Bool // connections pass nothing on any more

	denies atomic.Int32 // how it answers to transfers itself; 0: it passes them on

	between  atomic.Pointer[func()] // happens once, after the answer to the first message of the next that come together
	answered chan struct{}
}

func newProxy(t *testing.T, server string) *proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{Listener: l, answered: make(chan struct{}, 1)}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			upstream, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			go p.pass(upstream, client)
			go p.answers(client, upstream)
		}
	}()
	return p
}

func (p *proxy) pass(to, from net.Conn) {
	defer to.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := from.Read(b)
		if err != nil {
			return
		}
		if p.stuck.Load() {
			continue
		}
		rest := b[:n]
		if rcode := p.denies.Load(); rcode != 0 && deny(from, rest, int(rcode)) {
			continue
		}
		if f := p.between.Swap(nil); f != nil {
			first := 2 + int(binary.BigEndian.Uint16(rest)) // RFC 1035 §4.2.2
			to.Write(rest[:first])
			rest = rest[first:]
			<-p.answered
			(*f)()
		}
		to.Write(rest)
	}
}

// deny answers to a transfer as a server does that does not allow it.
func deny(client io.Writer, wire []byte, rcode int) bool {
	m := new(dns.Msg)
	if m.Unpack(wire[2:]) != nil || m.Opcode != dns.OpcodeQuery || m.Question[0].Qtype != dns.TypeAXFR &&
		m.Question[0].Qtype != dns.TypeIXFR {
		return false
	}
	wire, err := new(dns.Msg).SetRcode(m, rcode).Pack()
	if err != nil {
		return false
	}
	client.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(wire))), wire...))
	return true
}

func (p *proxy) answers(client, upstream net.Conn) {
	defer client.Close()
	b := make([]byte, 1<<16)
	for {
		n, err := upstream.Read(b)
		if err != nil || n > 0 && p.loses.CompareAndSwap(true, false) {
			return
		}
		if _, err := io.Writer(client).Write(b[:n]); err != nil {
			return
		}
		select {
		case p.answered <- struct{}{}:
		default:
		}
	}
}

func TestAnswersThatAreLost(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		p := newProxy(t, s.Addr())
		c, err := rfc2136.New(rfc2136.Config{
			Server: p.Addr().String(), Now: time.Now,
			Key: rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret},
		})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, c)
		set := address(t, "www", "192.0.2.1")
		expect, next := w.soa, w.soa
		next.Serial++
		p.loses.Store(true)
		_, err = c.Apply(t.Context(), w.zone, backend.Batch{Changes: []plan.Change{{Key: set.Key(), Want: set}}, SOA: &next,
			Expect: &expect})
		if !errors.Is(err, backend.ErrConflict) {
			t.Errorf("an UPDATE whose answer was lost: %v, want a conflict that has the zone read", err)
		}
		w.soa = next
		w.ask(s, nil, set.Key())
		p.loses.Store(true)
		w.ask(s, nil, set.Key())
		w.apply(plan.Change{Key: set.Key(), Have: set})
	})
}

func TestAReadingIsOfOneStateOfTheZone(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		p := newProxy(t, s.Addr())
		config := rfc2136.Config{
			Server: s.Addr(), Now: time.Now,
			Key: rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret},
		}
		direct, err := rfc2136.New(config)
		if err != nil {
			t.Fatal(err)
		}
		config.Server = p.Addr().String()
		c, err := rfc2136.New(config)
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, direct)
		set := address(t, "www", "192.0.2.1")
		w.put(set)
		other := address(t, "www", "192.0.2.2")
		somebody := func() { w.apply(plan.Change{Key: set.Key(), Have: set, Want: other}) } // while it is read
		p.between.Store(&somebody)
		found, err := c.Read(t.Context(), w.zone, backend.Ask{Keys: []rr.Key{set.Key()}})
		if err != nil {
			t.Fatal(err)
		}
		got, _ := found.Sets.Get(set.Key())
		if found.SOA != w.soa || !got.Equal(other) {
			t.Errorf("%q is read as that of serial %d; serial %d has %q", got.Data, found.SOA.Serial, w.soa.Serial, other.Data)
		}
	})
}

// TestSetsAreReadWithoutTransfers has a key that may update and not transfer: there are more sets than are asked for
// one by one as a rule, and a wildcard with the same data as some.
func TestSetsAreReadWithoutTransfers(t *testing.T) {
	onEach(t, func(t *testing.T, s *nameserver.Server) {
		p := newProxy(t, s.Addr())
		c, err := rfc2136.New(rfc2136.Config{
			Server: p.Addr().String(), Now: time.Now,
			Key: rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret},
		})
		if err != nil {
			t.Fatal(err)
		}
		w := newWriter(t, c)
		sets := []rr.Set{address(t, "*", "192.0.2.7"), address(t, "same", "192.0.2.7"), address(t, "a.b", "192.0.2.7")}
		for i := range 150 {
			sets = append(sets, address(t, fmt.Sprint("n", i), "192.0.2.1"))
		}
		w.put(sets...)
		keys := []rr.Key{address(t, "none", "192.0.2.7").Key(), address(t, "b", "192.0.2.7").Key()}
		for _, set := range sets {
			keys = append(keys, set.Key())
		}
		for _, rcode := range []int32{dns.RcodeRefused, dns.RcodeNotAuth} {
			p.denies.Store(rcode)
			w.ask(s, nil, keys...)
			w.ask(s, nil, keys[:4]...)
			if _, err := c.Read(t.Context(), w.zone, backend.Ask{}); !errors.Is(err, backend.ErrNotAuthorised) {
				t.Errorf("the zone is read: %v", err)
			}
		}
	})
}

func TestConnectionsThatAreForgotten(t *testing.T) {
	t.Parallel()
	s := serve(t, nameserver.StartKnot)
	p := newProxy(t, s.Addr())
	c, err := rfc2136.New(rfc2136.Config{
		Server: p.Addr().String(), Now: time.Now,
		Key: rfc2136.Key{Name: parse(t, "zonefold-test."), Algorithm: "hmac-sha256", Secret: secret},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := newWriter(t, c)
	p.stuck.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := c.Read(ctx, w.zone, backend.Ask{}); !errors.Is(err, backend.ErrUnavailable) {
		t.Errorf("a connection that passes nothing on: %v", err)
	}
	p.stuck.Store(false)
	w.put(address(t, "www", "192.0.2.1"))
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	w.put(address(t, "late", "192.0.2.1"))
}
