package change

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
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

	told *api.ComparedServer // what the operator has seen, who reads it in the command's place; nil: it does not
}

// CompareAll reads all servers, as the operator does where it observes, and returns how each stands.
func CompareAll(ctx context.Context, jobs []*Comparison, timeout time.Duration, p *command.Progress) []comparedZone {
	step := p.Begin("reading servers", len(jobs))
	out := make([]comparedZone, len(jobs))
	var looks []engine.Look
	var at []int // which job each is of
	for i, j := range jobs {
		if j.Readable() {
			looks, at = append(looks, j.look()), append(at, i)
			continue
		}
		out[i] = j.result(engine.Seen{})
		step()
	}
	engine.LookAll(ctx, timeout, looks, func(i int, s engine.Seen) {
		out[at[i]] = jobs[at[i]].result(s)
		step()
	})
	return out
}

// Readable reports whether there is something to ask the server, and else why not.
func (j *Comparison) Readable() bool {
	if j.Trouble == nil && j.told == nil && j.Client.Limits().Read == backend.ReadNone {
		j.Trouble = engine.ErrUnreadable
	}
	return j.Trouble == nil && j.told == nil
}

func (j *Comparison) look() engine.Look {
	s := &j.Zone.Snapshot
	return engine.Look{Zone: s.Name, Server: j.server, Content: engine.Content{Sets: s.Sets, SOA: s.SOA, Hash: s.Hash},
		Reader: j.Client, Keep: j.keep, Written: j.written, Registry: j.registry}
}

// result says how the zone stands at the server.
func (j *Comparison) result(s engine.Seen) comparedZone {
	out := comparedZone{Kind: j.Zone.Object.Kind, Zone: explained.RefOf(j.Zone.ID()), FQDN: j.Zone.Verdict.Name.String(),
		Backend: j.Backend, Server: j.server, Mode: string(j.mode), Changes: []plannedSet{}, Refused: []refusedSet{},
		Foreign: []foreignSet{}}
	switch {
	case j.told != nil:
		out.take(j.told)
	case j.Trouble != nil:
		out.Error = j.Trouble.Error()
	case backend.Class(s.Err) == backend.ErrNoZone:
		out.Missing = true
		out.Changes = setChanges(nil, j.Zone.Sets())
	case s.Err != nil:
		out.Error = fmt.Sprintf("%v", s.Err)
	default:
		out.compare(&s)
	}
	return out
}

// compare says what differs, and what does not count.
func (z *comparedZone) compare(s *engine.Seen) {
	if found := s.Held.SOA; found != (rr.SOA{}) {
		z.Serial = &found.Serial
	}
	z.Changes = setChanges(s.Differing())
	for key, why := range s.Refused {
		z.Refused = append(z.Refused, refusedSet{key.Name.String(), key.Type.String(), why.Reason, key})
	}
	slices.SortFunc(z.Refused, func(a, b refusedSet) int { return a.key.Compare(b.key) })
	for _, f := range s.Foreign() {
		z.Foreign = append(z.Foreign, foreignSet{f.Name.String(), f.Type.String(), f.TTL, f.Data, f.Owner})
	}
}

// Place names the server of a comparison.
func (j *Comparison) Place() string {
	return strings.TrimSpace(strings.TrimSuffix("Backend "+j.Backend+", "+j.server, ", "))
}
