package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/cli/explained"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
)

// errFleet is about a zone of servers that no Backend names.
var errFleet = errors.New("its servers are those of a fleet")

// fromOperator returns the comparisons of a zone with servers that the command cannot read itself, which the operator
// reads for it: those of a Backend, or all. If it cannot, they say what the trouble was without it, and the way out.
func (c *Comparing) fromOperator(ctx context.Context, z *fold.ZoneResult, like Comparison) []*Comparison {
	own := like.Trouble != nil && !errors.Is(like.Trouble, ErrNotRead) // the person can mend it
	if like.Trouble == nil {
		like.Trouble = errFleet
	}
	if !c.AsksOperator || !c.Explainer.Cluster {
		if !own {
			like.Trouble = fmt.Errorf("%w; %s", like.Trouble, sayServer)
		}
		return c.at(z, like, []all.Server{{}})
	}
	found, why := c.difference(ctx, z)
	servers := slices.DeleteFunc(slices.Clone(found.Servers), func(s api.ComparedServer) bool {
		return like.Backend != "" && s.Backend != like.Backend
	})
	if why == "" && len(servers) == 0 {
		why = "it does not deliver the zone there yet."
	}
	if why != "" {
		if !own {
			like.Trouble = fmt.Errorf("%w, which the operator could read for you, but %s; or %s", like.Trouble,
				strings.TrimSuffix(why, "."), sayServer)
		}
		return c.at(z, like, []all.Server{{}})
	}
	var out []*Comparison
	for i := range servers {
		s := &servers[i]
		one := Comparison{Zone: z, Backend: s.Backend, server: s.Server, mode: zonefold.ModeSync, told: s}
		if s.Observed {
			one.mode = zonefold.ModeObserve
		}
		out = append(out, &one)
	}
	return out
}

const sayServer = "name a server to transfer the zone from with --server, and its key with --tsig"

// operatorTakes is how long the operator has to read the servers of a zone. An API server waits no longer.
const operatorTakes = time.Minute

// difference asks the operator about a zone, once.
func (c *Comparing) difference(ctx context.Context, z *fold.ZoneResult) (api.ZoneDifference, string) {
	if known, asked := c.asked[z.Object.Ref.String()]; asked {
		return known.found, known.why
	}
	var d difference
	ctx, cancel := context.WithTimeout(ctx, operatorTakes)
	defer cancel()
	d.found, d.why = c.DifferenceOf(ctx, explained.Object(z.Object.Ref))
	if c.asked == nil {
		c.asked = map[string]difference{}
	}
	c.asked[z.Object.Ref.String()] = d
	return d.found, d.why
}

// A difference is what the operator has said of a zone, or why it has not.
type difference struct {
	found api.ZoneDifference
	why   string
}

// take says what the operator has seen.
func (z *comparedZone) take(s *api.ComparedServer) {
	if z.Error = s.Message; z.Error != "" {
		return
	}
	if z.Missing = s.Missing; s.Serial != nil {
		z.Serial = new(uint32(*s.Serial))
	}
	have, err := setsOf(s.Have)
	want, err2 := setsOf(s.Want)
	if err = errors.Join(err, err2); err != nil {
		z.Error = fmt.Sprintf("the operator's answer cannot be read: %v", err)
		return
	}
	z.Changes = setChanges(have, want)
	for _, r := range s.Refused {
		z.Refused = append(z.Refused, refusedSet{Name: r.Name, Type: r.Type, Reason: r.Reason})
	}
	for _, f := range s.Foreign {
		z.Foreign = append(z.Foreign, foreignSet{f.Name, f.Type, uint32(f.TTL), f.Data, f.Owner})
	}
}

// setsOf reads sets, whose order stays.
func setsOf(told []api.Set) ([]rr.Set, error) {
	var out []rr.Set
	for _, s := range told {
		name, err := dnsname.Parse(s.Name)
		if err != nil {
			return nil, err
		}
		typ, err := rr.ParseType(s.Type)
		if err != nil {
			return nil, err
		}
		out = append(out, rr.NewSet(rr.Key{Name: name, Type: typ}, uint32(s.TTL), s.Data...))
	}
	return out, nil
}
