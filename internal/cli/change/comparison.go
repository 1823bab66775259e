package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/registry"
	"github.com/zonefold/zonefold/internal/rr"
)

// A Comparison is one zone at one server.
type Comparison struct {
	Zone     *fold.ZoneResult
	Backend  string // "": the server was named by --server
	server   string
	mode     zonefold.Mode
	Client   backend.Backend
	keep     bool
	written  rr.Sets
	registry *registry.Registry
	Trouble  error // why it cannot be read

	seen backend.Observed // what the server holds
}

// Observed by an engine, a server is only read: what is wanted is compared by the operator's own rules.
var errReadOnly = errors.New("diff only reads")

// readOnly is what an engine stores its state in that only observes: it has none.
type readOnly struct{}

// Raise refuses.
func (readOnly) Raise(context.Context, string, uint32) error { return errReadOnly }

// Record refuses.
func (readOnly) Record(context.Context, string, []rr.Set) error { return errReadOnly }

// A reader remembers what a server was found with, and writes nothing.
type reader struct {
	backend.Backend
	mu   sync.Mutex
	seen backend.Observed
}

// Read reads, and remembers.
func (r *reader) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	found, err := r.Backend.Read(ctx, zone, ask)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err == nil && !found.Unchanged {
		r.seen = found
	}
	return found, err
}

// Apply refuses.
func (r *reader) Apply(context.Context, dnsname.Name, backend.Batch) (backend.Result, error) {
	return backend.Result{}, errReadOnly
}

// CompareAll reads all servers, as an engine does whose attachments observe, and returns how each stands.
func CompareAll(ctx context.Context, jobs []*Comparison, timeout time.Duration, p *command.Progress) []comparedZone {
	step := p.Begin("reading servers", len(jobs))
	reports := make([]chan engine.Report, len(jobs))
	byName := map[string]chan engine.Report{}
	for i := range jobs {
		reports[i] = make(chan engine.Report, 1)
		byName[strconv.Itoa(i)] = reports[i]
	}
	reading := engine.New(engine.Config{
		Ceilings: readOnly{}, Ledger: readOnly{}, Clock: backend.SystemClock{}, Rand: func() float64 { return 0 },
		Timeout: timeout,
		Report: func(r engine.Report) {
			if r.Err == nil && r.Difference == nil {
				return
			}
			select {
			case byName[r.Name] <- r:
			default: // the first word counts
			}
		},
	})
	readers := make([]*reader, len(jobs))
	for i, j := range jobs {
		if j.Readable() {
			readers[i] = &reader{Backend: j.Client}
			j.attach(reading, strconv.Itoa(i), readers[i])
		}
	}
	out := []comparedZone{}
	for i, j := range jobs {
		var r engine.Report
		if readers[i] != nil {
			select {
			case r = <-reports[i]:
				readers[i].mu.Lock()
				j.seen = readers[i].seen
				readers[i].mu.Unlock()
			case <-ctx.Done():
				r.Err = ctx.Err()
			}
		}
		out = append(out, j.result(r))
		step()
	}
	ended, cancel := context.WithCancel(ctx)
	cancel() // nobody waits for what is under way
	reading.Stop(ended)
	return out
}

// Readable reports whether there is something to ask the server, and else why not.
func (j *Comparison) Readable() bool {
	if j.Trouble == nil && j.Client.Limits().Read == backend.ReadNone {
		j.Trouble = errors.New("its server does not tell what it holds")
	}
	return j.Trouble == nil
}

// attach has an engine read the server, which is one of its own whatever others are named so.
func (j *Comparison) attach(to *engine.Engine, name string, client backend.Backend) {
	s := &j.Zone.Snapshot
	soa := s.SOA
	soa.Serial = 0
	feed := to.NewFeed(engine.FeedConfig{ID: name, Zone: s.Name})
	feed.Publish(engine.Content{Sets: s.Sets, SOA: soa, Hash: s.Hash}, nil)
	to.Attach(backend.TargetKey{Server: j.server, Zone: s.Name, View: name}, engine.Attachment{
		Name: name, Feed: feed, Backend: client, Keep: j.keep, Written: j.written, Observe: true,
		Audit: -1, Registry: j.registry,
	})
}

// result says how the zone stands at the server.
func (j *Comparison) result(r engine.Report) comparedZone {
	out := comparedZone{Kind: j.Zone.Object.Kind, Zone: explained.RefOf(j.Zone.ID()), FQDN: j.Zone.Verdict.Name.String(),
		Backend: j.Backend, Server: j.server, Mode: string(j.mode), Changes: []plannedSet{}, Refused: []refusedSet{},
		Foreign: []foreignSet{}}
	switch {
	case j.Trouble != nil:
		out.Error = j.Trouble.Error()
	case backend.Class(r.Err) == backend.ErrNoZone:
		out.Missing = true
		out.Changes = setChanges(nil, j.Zone.Sets())
	case r.Err != nil:
		out.Error = fmt.Sprintf("%v", r.Err)
	default:
		j.compare(&out, r)
	}
	return out
}

// compare says what differs, and what does not count.
func (j *Comparison) compare(out *comparedZone, r engine.Report) {
	have, want := slices.Collect(r.Difference.Have.All()), slices.Collect(r.Difference.Want.All())
	if found := j.seen.SOA; found != (rr.SOA{}) {
		out.Serial = &found.Serial
		if j.Client.Limits().SOA == backend.SOAClient {
			out.Changes = setChanges([]rr.Set{fold.SoaSet(j.Zone.Snapshot.Name, found)},
				[]rr.Set{fold.SoaSet(j.Zone.Snapshot.Name, j.Zone.Snapshot.SOA)})
		}
	}
	out.Changes = append(out.Changes, setChanges(have, want)...)
	for key, why := range r.Refused {
		out.Refused = append(out.Refused, refusedSet{key.Name.String(), key.Type.String(), why.Reason, key})
	}
	slices.SortFunc(out.Refused, func(a, b refusedSet) int { return a.key.Compare(b.key) })
	apex := rr.Key{Name: j.Zone.Snapshot.Name, Type: rr.TypeNS}
	for set := range j.seen.Sets.All() {
		key := set.Key()
		_, wanted := j.Zone.Snapshot.Sets.Get(key)
		_, differs := r.Difference.Have.Get(key)
		if wanted || differs || key == apex || plan.ServerMade(key.Type) || key.Type.Refused() != "" {
			continue
		}
		f := foreignSet{Name: key.Name.String(), Type: key.Type.String(), TTL: set.TTL, Data: set.Data}
		if j.registry != nil {
			for _, claim := range append(j.registry.Claims(j.seen.Sets, key), j.registry.Notes(set)...) {
				f.Owner = claim.Owner
			}
		}
		out.Foreign = append(out.Foreign, f)
	}
}

// Place names the server of a comparison.
func (j *Comparison) Place() string {
	return strings.TrimSpace(strings.TrimSuffix("Backend "+j.Backend+", "+j.server, ", "))
}
