package delivery

import (
	"cmp"
	"slices"

	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// A Looker is an Inspector that also tells how to compare the servers of a zone with what is wanted. Who looks reads
// them.
type Looker interface {
	Inspector
	Looks(id zone.ID) (dnsname.Name, []ServerLook, error)
}

// A ServerLook is what to compare at one server of a zone.
type ServerLook struct {
	Delivered
	Server  string // what people call it
	Observe bool   // nothing is written there
	engine.Look
	Trouble string // why it cannot be read; "": it can
}

// Looks asks. Of objects that are no zones nothing is known.
func (i *Inspection) Looks(id zone.ID) (dnsname.Name, []ServerLook, error) {
	by := i.by.Load()
	if by == nil {
		return dnsname.Name{}, nil, ErrNotLeading
	}
	looker, is := (*by).(Looker)
	if !is {
		return dnsname.Name{}, nil, ErrUnknown
	}
	return looker.Looks(id)
}

// Looks implements Looker.
func (w deliveredWorld) Looks(id zone.ID) (dnsname.Name, []ServerLook, error) {
	known, err := w.explained(id)
	if err == nil && known.Type != 0 {
		err = ErrUnknown
	}
	if err != nil || !known.Verdict.Accepted {
		return dnsname.Name{}, nil, err
	}
	st, unlock := w.deliveries.state.Lock()
	defer unlock()
	return known.Name, st.looksAt(id), nil
}

// looksAt returns the servers of a Zone but those that it is being withdrawn from. Where foreign sets stay, what is
// zonefold's is what the worker of the target takes for that, or else the ledger.
func (st *state) looksAt(id zone.ID) []ServerLook {
	z := st.zones[id]
	if z == nil {
		return nil
	}
	l := z.current()
	if l == nil || l.seq == 0 { // nothing of it is published
		return nil
	}
	var out []ServerLook
	for key, a := range l.at {
		if a.leaving {
			continue
		}
		s := ServerLook{Delivered: Delivered{key.place, l.name}, Server: a.server, Observe: a.observe, Look: engine.Look{
			Zone: l.name, Server: key.target.Server, Content: l.feed.Wanted(), Reader: a.client, Keep: a.keep,
			Written: l.written, Registry: a.registry}}
		if a.without != nil {
			s.Trouble = a.without.Message
		}
		if st.engine != nil {
			standing, _ := st.engine.Standing(key.target)
			s.Written = standing.Ledger(l.written)
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b ServerLook) int {
		return cmp.Or(compareDelivered(a.Delivered, b.Delivered), cmp.Compare(a.Server, b.Server))
	})
	return out
}
