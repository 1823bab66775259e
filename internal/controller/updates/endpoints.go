package updates

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/endpoint"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/update"
)

// Domains returns the names of the Zones that let a namespace have records.
func (u *Updates) Domains(namespace string) []dnsname.Name { return u.Core.OpenTo(namespace) }

// Endpoints returns what external-dns has made for a namespace, whether it is accepted or not: what is wanted and
// refused is not to be asked for again and again.
func (u *Updates) Endpoints(ctx context.Context, namespace string) ([]endpoint.Endpoint, error) {
	made, err := u.made(ctx, namespace)
	if err != nil {
		return nil, err
	}
	ttls, data := map[rr.Key]uint32{}, map[rr.Key][]string{}
	for _, all := range made {
		for _, m := range all {
			ttls[m.Key] = max(ttls[m.Key], m.ttl())
			data[m.Key] = append(data[m.Key], m.data)
		}
	}
	out := []endpoint.Endpoint{}
	for _, key := range slices.SortedFunc(maps.Keys(data), rr.Key.Compare) {
		e, err := endpoint.Of(rr.NewSet(key, ttls[key], data[key]...))
		if err == nil { // else people have changed it into what external-dns cannot have made
			out = append(out, e)
		}
	}
	return out, nil
}

// A made is a Record of external-dns.
type made struct {
	rr.Key
	data   string // as it stands where it cannot be read
	record *v1alpha1.Record
}

// ttl returns 0 where the Record says nothing, as the protocol does.
func (m made) ttl() uint32 {
	if m.record.Spec.TTL == nil {
		return 0
	}
	return uint32(*m.record.Spec.TTL)
}

// made returns the Records of external-dns in a namespace, by their names. The cache may lack what was just written.
func (u *Updates) made(ctx context.Context, namespace string) (map[dnsname.Name][]made, error) {
	var list v1alpha1.RecordList
	err := u.Live.List(ctx, &list, client.InNamespace(namespace),
		client.MatchingLabels{zonefold.UpdateLabel: zonefold.UpdateExternalDNS})
	if err != nil {
		return nil, fmt.Errorf("listing the Records of external-dns in namespace %s: %w", namespace, err)
	}
	out := map[dnsname.Name][]made{}
	for i := range list.Items {
		r := &list.Items[i]
		name, err := dnsname.Parse(r.Spec.DomainName)
		t, wrong := rr.ParseType(string(r.Spec.Type))
		if err != nil || wrong != nil || r.DeletionTimestamp != nil {
			continue
		}
		data, err := rr.ParseData(t, r.Spec.RData)
		if err != nil {
			data = r.Spec.RData
		}
		out[name] = append(out[name], made{rr.Key{Name: name, Type: t}, data, r})
	}
	return out, nil
}

// ChangeEndpoints carries out what external-dns wants for a namespace, each name by itself: they come from objects of
// different people, of which one does not wait for the mistake of another. A Record that comes and is refused stays and
// says why, and is accepted once a Zone lets it in; one that changes into what is refused is changed back. The error
// has a sentence for each name that is not as it is wanted.
func (u *Updates) ChangeEndpoints(ctx context.Context, namespace string, c endpoint.Changes) error {
	wishes, wrong := read(c)
	names := make([]dnsname.Name, 0, len(wishes))
	for name := range wishes {
		names = append(names, name)
	}
	slices.SortFunc(names, dnsname.Name.Compare)
	if err := u.undoings.room(); err != nil {
		return err
	}
	for len(names) > 0 {
		held, busy, err := u.names.takeFree(ctx, names, 1)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("other updates of %s and %d more names are not done yet: %w", names[0],
				len(names)-1, err))
			break
		}
		wrong = append(wrong, u.changeNames(ctx, namespace, held, wishes)...)
		names = busy
	}
	return errors.Join(wrong...)
}

// changeNames carries out what is wanted of the names of a hold.
func (u *Updates) changeNames(ctx context.Context, namespace string, held *hold,
	wishes map[dnsname.Name]*wish) (wrong []error) {
	defer held.free()
	made, err := u.made(ctx, namespace)
	if err != nil {
		return []error{err}
	}
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, writers)
	for _, name := range held.all {
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			p := &plan{Updates: u, namespace: namespace, label: zonefold.UpdateExternalDNS, lenient: true,
				held: held.of(name)}
			p.turn(made[name], wishes[name])
			if err := p.write(ctx); err != nil {
				mu.Lock()
				defer mu.Unlock()
				wrong = append(wrong, sentence(name, err))
			}
		})
	}
	all.Wait()
	return wrong
}

// writers is how many names, or Records of one update, are written at one time.
const writers = 16

func sentence(name dnsname.Name, err error) error {
	if refusal, ok := errors.AsType[*update.Refusal](err); ok {
		return errors.New(refusal.Text)
	}
	return fmt.Errorf("%s: %w", name, err)
}

// A wish is what is to become of one name.
type wish struct {
	goes  map[one]bool
	comes []rr.Set
}

// A one is one record of DNS.
type one struct {
	rr.Key
	data string
}

// read sorts changes by names, and says which cannot be understood.
func read(c endpoint.Changes) (wishes map[dnsname.Name]*wish, wrong []error) {
	wishes = map[dnsname.Name]*wish{}
	at := func(name dnsname.Name) *wish {
		if wishes[name] == nil {
			wishes[name] = &wish{goes: map[one]bool{}}
		}
		return wishes[name]
	}
	refused := map[dnsname.Name]bool{} // what is there stays where what is wanted is not possible
	for _, e := range slices.Concat(c.Create, c.UpdateNew) {
		set, err := e.Set()
		if err != nil {
			if key, err := e.Key(); err == nil {
				refused[key.Name] = true
			}
			wrong = append(wrong, err)
			continue
		}
		at(set.Name).comes = append(at(set.Name).comes, set)
	}
	for _, e := range slices.Concat(c.UpdateOld, c.Delete) {
		key, err := e.Key()
		if err != nil || refused[key.Name] {
			continue
		}
		for _, target := range e.Targets {
			data, err := endpoint.Data(key.Type, target)
			if err != nil {
				data = target // of a Record that people have spoilt
			}
			at(key.Name).goes[one{key, data}] = true
		}
	}
	return wishes, wrong
}

// turn plans what becomes of the Records of one name.
func (p *plan) turn(have []made, w *wish) {
	wanted := map[one]uint32{}
	for _, set := range w.comes {
		for _, data := range set.Data {
			wanted[one{set.Key(), data}] = set.TTL
		}
	}
	var free []*v1alpha1.Record
	var added []entry
	for _, m := range have {
		is := one{m.Key, m.data}
		ttl, stays := wanted[is]
		switch {
		case stays:
			delete(wanted, is)
			if ttl != m.ttl() {
				p.change(m.record, entry{m.Key, given(ttl), m.data})
			}
		case w.goes[is]:
			free = append(free, m.record)
			p.firsts = p.firsts || m.Type.Exclusive()
		}
	}
	for _, set := range w.comes {
		for _, data := range set.Data {
			if _, lacks := wanted[one{set.Key(), data}]; lacks {
				added = append(added, entry{set.Key(), given(set.TTL), data})
				p.firsts = p.firsts || set.Type.Exclusive()
			}
		}
	}
	p.pair(free, added)
}

// given returns a TTL of the protocol, which has none where it is 0.
func given(ttl uint32) *uint32 {
	if ttl == 0 {
		return nil
	}
	return &ttl
}
