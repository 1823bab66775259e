package scenario

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/backend/rfc2136"
	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/rr"
)

// kept is what one who follows a server has of the zone.
type kept struct {
	soa  rr.SOA
	sets rr.Sets
}

// watchServer follows the server at an address, by whole transfers and by increments in turn. Before each it asks a
// question, if it is a replica.
func (s *scene) watchServer(ctx context.Context, h *history, at string, replica bool) {
	c, err := rfc2136.New(rfc2136.Config{Server: at, Key: rfc2136.Key{Name: key.Name, Algorithm: key.Algorithm,
		Secret: key.Secret}, Now: time.Now})
	if err != nil {
		h.lie(err.Error())
		return
	}
	defer func() { _ = c.Close() }()
	var have kept
	for i := 0; ctx.Err() == nil; i++ {
		pause(ctx, 20*time.Millisecond) // the others need the processor too
		if replica {
			s.askForSerial(ctx, at, h)
		}
		known := &have.soa
		if i%4 == 0 || have.soa == (rr.SOA{}) {
			known = nil
		}
		pulling, cancel := context.WithTimeout(ctx, 5*time.Second)
		got, err := c.Pull(pulling, name(s.text("example.org.")), known)
		cancel()
		if err != nil {
			pause(ctx, 20*time.Millisecond) // the server is away, or has nothing yet
			continue
		}
		if err := have.take(got); err != nil {
			h.lie(at + ": " + err.Error())
			return
		}
		h.noteVersion(at, got.SOA.Serial, have.text())
	}
}

// take makes it what a server has sent.
func (k *kept) take(got rfc2136.Pulled) error {
	switch {
	case got.Same && got.SOA != k.soa:
		return fmt.Errorf("to an IXFR from serial %d it answers that %d is not newer", k.soa.Serial, got.SOA.Serial)
	case got.Same:
		return nil
	case got.Steps == nil:
		k.sets = got.Sets
	}
	for _, step := range got.Steps {
		next, fits := step.Over(k.sets)
		if !fits {
			return fmt.Errorf("the increment from serial %d to %d does not fit what it was given before", k.soa.Serial,
				step.SOA.Serial)
		}
		k.sets, k.soa = next, step.SOA
	}
	k.soa = got.SOA
	return nil
}

func (k *kept) text() string {
	var b strings.Builder
	soa := k.soa
	soa.Serial = 0
	fmt.Fprintln(&b, soa)
	for set := range k.sets.All() {
		fmt.Fprintln(&b, set.Name, set.TTL, set.Type, set.Data)
	}
	return b.String()
}

// askForSerial asks for the SOA. A server that does not have everything says SERVFAIL, and nothing else.
func (s *scene) askForSerial(ctx context.Context, at string, h *history) {
	m := new(dns.Msg)
	m.SetQuestion(s.text("example.org."), dns.TypeSOA)
	c := dns.Client{Timeout: time.Second}
	resp, _, err := c.ExchangeContext(ctx, m, at)
	if err != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if resp.Rcode == dns.RcodeServerFailure {
		h.closed++
		return
	}
	for _, record := range resp.Answer {
		if soa, ok := record.(*dns.SOA); ok && resp.Authoritative && resp.Rcode == dns.RcodeSuccess {
			h.answered(at, soa.Serial)
			return
		}
	}
	h.lies = append(h.lies, fmt.Sprintf("%s answers a question for the SOA with %s:\n%s", at,
		dns.RcodeToString[resp.Rcode], resp))
}

// answered takes in an answer to a question. mu is held.
func (h *history) answered(at string, serial uint32) {
	now := time.Now()
	if !h.heard.IsZero() {
		h.silence = max(h.silence, now.Sub(h.heard))
	}
	h.heard = now
	h.noteSerial(at, serial)
}

func (h *history) lie(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.lies = append(h.lies, text)
}

// honest reports what no server should have shown.
func (h *history) honest(s *scene) {
	s.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lie := range h.lies[:min(len(h.lies), 10)] {
		s.t.Error(lie)
	}
	h.lies = nil
}

// watchAll watches replicas and other servers until calm is called.
func (s *scene) watchAll(h *history, all []*replica, others ...*nameserver.Server) (calm func()) {
	ctx, stop := context.WithCancel(s.ctx)
	var parts sync.WaitGroup
	for _, r := range all {
		parts.Go(func() { s.watchServer(ctx, h, r.Addr(), true) })
	}
	for _, other := range others {
		parts.Go(func() { s.watchServer(ctx, h, other.Addr(), false) })
	}
	calm = func() { stop(); parts.Wait() }
	s.t.Cleanup(calm)
	return calm
}
