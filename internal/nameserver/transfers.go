package nameserver

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
)

// Transfers is how often a secondary has taken a zone since it last started.
type Transfers struct {
	Whole   int // AXFR, and IXFR answered with the whole zone (RFC 1995 §4)
	Changes int // IXFR answered with differences
}

// A transfer is one that a server's log reports.
type transfer struct {
	zone   string // without the final dot, as the log has it
	whole  bool
	serial uint32 // after the transfer; only of NSD
}

// Transfers counts what the server has taken of a zone that it follows, from its log: BIND logs "got incremental
// response" or "got nonincremental response" (xfer-in, debug 3), Knot "IXFR, incoming, …, finished" or "AXFR, incoming,
// …, finished". What a server has just begun to serve it may log a moment later.
//
// NSD logs that it "received update to serial …", not how. It keeps the differences that it got (store-ixfr), so it is
// asked for IXFR itself, from each serial that it has had: Changes are the transfers since the last whole one, which
// makes those before whole ones.
func (s *Server) Transfers(ctx context.Context, zone dnsname.Name) (Transfers, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	seen := s.log.of(zone)
	if _, ok := s.flavor.(nsd); ok {
		return s.stored(ctx, zone, seen)
	}
	var t Transfers
	for _, one := range seen {
		if one.whole {
			t.Whole++
		} else {
			t.Changes++
		}
	}
	return t, nil
}

// Await waits until the server answers for the zone with the serial or a later one (RFC 1982). Only the context ends it
// otherwise: the server may be stopped and started meanwhile.
func (s *Server) Await(ctx context.Context, zone dnsname.Name, want uint32) error {
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	for {
		asking, cancel := context.WithTimeout(ctx, time.Second)
		got, err := s.Serial(asking, zone)
		cancel()
		if err == nil && int32(got-want) >= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			if err == nil {
				err = fmt.Errorf("%s still serves %s with serial %d", s.Addr(), zone, got)
			}
			return fmt.Errorf("waiting for serial %d: %w", want, err)
		case <-tick.C:
		}
	}
}

// A transferLog passes a server's log on and keeps the transfers that it reports.
type transferLog struct {
	flavor flavor
	next   io.Writer // nil: none

	mu   sync.Mutex
	rest []byte // of a line that has not ended
	all  []transfer
}

func newTransferLog(f flavor, next io.Writer) *transferLog {
	return &transferLog{flavor: f, next: next}
}

func (l *transferLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rest = append(l.rest, b...)
	for {
		line, rest, found := bytes.Cut(l.rest, []byte("\n"))
		if !found {
			break
		}
		l.rest = rest
		if t, ok := l.flavor.transferred(string(line)); ok {
			l.all = append(l.all, t)
		}
	}
	if l.next != nil {
		return l.next.Write(b)
	}
	return len(b), nil
}

// of returns the transfers of one zone in their order.
func (l *transferLog) of(zone dnsname.Name) []transfer {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []transfer
	for _, t := range l.all {
		if name, err := dnsname.Parse(strings.TrimSuffix(t.zone, ".") + "."); err == nil && name == zone {
			out = append(out, t)
		}
	}
	return out
}

// between returns what stands in a text between two others.
func between(text, before, after string) (string, bool) {
	_, rest, found := strings.Cut(text, before)
	if !found {
		return "", false
	}
	middle, _, found := strings.Cut(rest, after)
	return middle, found
}
