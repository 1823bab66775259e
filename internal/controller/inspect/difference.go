package inspect

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/rr"
)

// What differences may cost: how many are worked out at the same time, how long one takes, less than the minute that an
// API server waits, and how many sets are told of a server.
const (
	maxDifferences = 4
	readingTakes   = 50 * time.Second
	maxSets        = 20_000
)

// difference reads the servers of a zone.
func (s *server) difference(w http.ResponseWriter, r *http.Request) {
	select {
	case s.reading <- struct{}{}:
		defer func() { <-s.reading }()
	default:
		s.refuse(w, apierrors.NewTooManyRequests("too many comparisons of servers are running; try again", 1))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), readingTakes)
	defer cancel()
	s.about(w, r.WithContext(ctx), func(resource Resource, namespace, name string) (any, error) {
		zone, looks, err := resource.Inspection.Looks(resource.ID(namespace, name))
		if err != nil {
			return nil, err
		}
		out := api.ZoneDifference{
			TypeMeta:   metav1.TypeMeta{Kind: api.DifferenceKind, APIVersion: api.APIVersion},
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
			Servers:    differences(ctx, looks[:min(len(looks), maxServers)]),
		}
		if !zone.IsZero() {
			out.Zone = zone.String()
		}
		return out, nil
	})
}

// differences reads servers.
func differences(ctx context.Context, looks []delivery.ServerLook) []api.ComparedServer {
	out := make([]api.ComparedServer, len(looks))
	var read []engine.Look
	var at []int // which server each is
	for i, l := range looks {
		out[i] = api.ComparedServer{Backend: l.Place, Server: l.Server, Observed: l.Observe, Message: l.Trouble,
			Have: []api.Set{}, Want: []api.Set{}}
		if l.Trouble == "" {
			read, at = append(read, l.Look), append(at, i)
		}
	}
	engine.LookAll(ctx, readingTakes, read, func(i int, s engine.Seen) {
		if fill(&out[at[i]], &s, read[i]); setsIn(&out[at[i]]) > maxSets {
			one := &out[at[i]]
			one.Message = fmt.Sprintf("there are %d differing sets, more than %d", setsIn(one), maxSets)
			one.Have, one.Want, one.Refused, one.Foreign = []api.Set{}, []api.Set{}, nil, nil
		}
	})
	return out
}

func setsIn(s *api.ComparedServer) int {
	return len(s.Have) + len(s.Want) + len(s.Refused) + len(s.Foreign)
}

// fill says how a zone stands at a server.
func fill(out *api.ComparedServer, s *engine.Seen, l engine.Look) {
	switch {
	case backend.Class(s.Err) == backend.ErrNoZone:
		out.Missing = true
		out.Want = append(out.Want, setOf(l.Content.SOA.SetAt(l.Zone), ""))
		for set := range l.Content.Sets.All() {
			out.Want = append(out.Want, setOf(set, ""))
		}
		return
	case s.Err != nil:
		out.Message = s.Err.Error()
		return
	}
	if found := s.Held.SOA; found != (rr.SOA{}) {
		out.Serial = new(int64(found.Serial))
	}
	have, want := s.Differing()
	for _, set := range have {
		out.Have = append(out.Have, setOf(set, ""))
	}
	for _, set := range want {
		out.Want = append(out.Want, setOf(set, ""))
	}
	for _, f := range s.Foreign() {
		out.Foreign = append(out.Foreign, setOf(f.Set, f.Owner))
	}
	keys := []rr.Key{}
	for key := range s.Refused {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, rr.Key.Compare)
	for _, key := range keys {
		out.Refused = append(out.Refused, api.RefusedSet{Name: key.Name.String(), Type: key.Type.String(),
			Reason: s.Refused[key].Reason})
	}
}

func setOf(s rr.Set, owner string) api.Set {
	return api.Set{Name: s.Name.String(), Type: s.Type.String(), TTL: int64(s.TTL), Data: s.Data, Owner: owner}
}
