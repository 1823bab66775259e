package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/guarded"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Reader is a Backend as far as it reads.
type Reader interface {
	Limits() backend.Limits
	Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error)
}

// A Look is what to compare: a zone as it is wanted with what a server holds of it.
type Look struct {
	Zone    dnsname.Name
	Server  string // that it is at; of one server a few are read at a time
	Content Content
	Reader  Reader

	// As of an Attachment.
	Keep     bool
	Written  rr.Sets
	Registry *registry.Registry
}

// Seen is what came of a Look.
type Seen struct {
	Report                  // its Err, Refused and Difference
	Held   backend.Observed // what the server holds

	look Look
}

// ErrUnreadable is about servers that do not tell what they hold.
var ErrUnreadable = errors.New("its server cannot list its records")

// LookAll reads servers, and compares by the rules of a target that observes. It writes nothing and stores nothing.
// What it sees of each Look it tells in their order. A call of a Backend may take as long as the timeout.
func LookAll(ctx context.Context, timeout time.Duration, looks []Look, tell func(i int, s Seen)) {
	reports := make([]chan Report, len(looks))
	e := New(Config{
		Ceilings: nowhere{}, Ledger: nowhere{}, Clock: backend.SystemClock{}, Rand: func() float64 { return 0 },
		Timeout: timeout,
		Report: func(r Report) {
			i, err := strconv.Atoi(r.Name)
			if err != nil || r.Err == nil && r.Difference == nil {
				return
			}
			select {
			case reports[i] <- r:
			default: // the first word counts
			}
		},
	})
	readers := make([]*onlyReads, len(looks))
	for i := range looks {
		reports[i], readers[i] = make(chan Report, 1), &onlyReads{Reader: looks[i].Reader}
	}
	for i, l := range looks {
		if l.Reader.Limits().Read == backend.ReadNone {
			reports[i] <- Report{Err: ErrUnreadable}
			continue
		}
		e.look(l, strconv.Itoa(i), readers[i])
	}
	for i, l := range looks {
		s := Seen{look: l}
		select {
		case s.Report = <-reports[i]:
			s.Held = readers[i].last()
		case <-ctx.Done():
			s.Err = ctx.Err()
		}
		tell(i, s)
	}
	ended, cancel := context.WithCancel(ctx)
	cancel() // nobody waits for what is under way
	e.Stop(ended)
}

// look has a server read, which is one of its own whatever others are named so.
func (e *Engine) look(l Look, name string, client backend.Backend) {
	c := l.Content
	c.SOA.Serial = 0
	feed := e.NewFeed(FeedConfig{ID: name, Zone: l.Zone})
	feed.Publish(c, nil)
	e.Attach(backend.TargetKey{Server: l.Server, Zone: l.Zone, View: name}, Attachment{
		Name: name, Feed: feed, Backend: client, Keep: l.Keep, Written: l.Written, Observe: true, Audit: -1,
		Registry: l.Registry,
	})
}

// Differing returns the sets that differ, as they are and as they should be, each in the order of their keys. SOAs,
// where zonefold writes them and they differ by more than the serial, come first.
func (s *Seen) Differing() (have, want []rr.Set) {
	if s.Difference == nil {
		return nil, nil
	}
	if found := s.Held.SOA; found != (rr.SOA{}) && s.look.Reader.Limits().SOA == backend.SOAClient {
		is, should := found.SetAt(s.look.Zone), s.look.Content.SOA.SetAt(s.look.Zone)
		if !is.Equal(should) {
			have, want = append(have, is), append(want, should)
		}
	}
	return slices.AppendSeq(have, s.Difference.Have.All()), slices.AppendSeq(want, s.Difference.Want.All())
}

// A Foreign is a set that nobody wants and that stays, with its owner by a registry of external-dns; "": nobody says.
type Foreign struct {
	rr.Set
	Owner string
}

// Foreign returns the sets that are no business of zonefold's.
func (s *Seen) Foreign() []Foreign {
	if s.Difference == nil {
		return nil
	}
	var out []Foreign
	apex := rr.Key{Name: s.look.Zone, Type: rr.TypeNS}
	for set := range s.Held.Sets.All() {
		key := set.Key()
		_, wanted := s.look.Content.Sets.Get(key)
		_, differs := s.Difference.Have.Get(key)
		if wanted || differs || key == apex || plan.ServerMade(key.Type) || key.Type.Refused() != "" {
			continue
		}
		f := Foreign{Set: set}
		if r := s.look.Registry; r != nil {
			for _, claim := range append(r.Claims(s.Held.Sets, key), r.Notes(set)...) {
				f.Owner = claim.Owner
			}
		}
		out = append(out, f)
	}
	return out
}

// onlyReads is a Backend that remembers what a server was found with, and writes nothing.
type onlyReads struct {
	Reader
	seen guarded.Value[backend.Observed]
}

var errReadOnly = errors.New("a look only reads")

// Read reads, and remembers.
func (r *onlyReads) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := r.Reader.Read(ctx, zone, ask)
	if err == nil && !found.Unchanged {
		seen, unlock := r.seen.Lock()
		defer unlock()
		*seen = found
	}
	return found, err
}

func (r *onlyReads) last() backend.Observed {
	seen, unlock := r.seen.Lock()
	defer unlock()
	return *seen
}

// Zones is not asked for.
func (*onlyReads) Zones(context.Context) ([]dnsname.Name, error) { return nil, errReadOnly }

// Apply refuses.
func (*onlyReads) Apply(context.Context, dnsname.Name, backend.Batch) (backend.Result, error) {
	return backend.Result{}, errReadOnly
}

// nowhere is what an engine stores its state in that only observes: it has none.
type nowhere struct{}

// Raise refuses.
func (nowhere) Raise(context.Context, string, uint32) error { return errReadOnly }

// Record refuses.
func (nowhere) Record(context.Context, string, []rr.Set) error { return errReadOnly }
