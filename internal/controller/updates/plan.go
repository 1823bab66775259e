package updates

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/update"
	"github.com/zonefold/zonefold/internal/zone"
)

// A plan is what becomes of which Records by an update.
type plan struct {
	*Updates
	namespace string
	label     string  // the value of zonefold.UpdateLabel of what it makes
	digest    string  // of the message; "": nobody repeats it
	zone      zone.ID // that all is in; zero: the names say
	lenient   bool    // a Record that comes and is refused stays
	held      *hold   // of the names

	steps  []*step
	firsts bool // deletions come first: what is added cannot be beside what goes
}

// A step is one Record that comes, changes or goes.
type step struct {
	before *v1alpha1.Record // nil: it comes
	after  *v1alpha1.Record // nil: it goes
}

// An entry is one record of the DNS that is to be.
type entry struct {
	rr.Key
	ttl  *uint32 // nil: that of the Zone
	data string
}

// make decides which Records become what. A Record that goes becomes one that comes at the same name, if there is one:
// its place among those who want the name stays, and it is one write.
func (p *plan) make(ctx context.Context, changes []update.Change) error {
	free, added := map[dnsname.Name][]*v1alpha1.Record{}, map[dnsname.Name][]entry{}
	var order []dnsname.Name
	for _, c := range changes {
		var ours map[string][]*v1alpha1.Record
		if !c.Grows() {
			var err error
			if ours, err = p.ours(ctx, c.Key); err != nil {
				return err
			}
		}
		if len(order) == 0 || order[len(order)-1] != c.Name {
			order = append(order, c.Name)
		}
		for _, data := range c.Before.Data {
			if slices.Contains(c.After.Data, data) {
				continue
			}
			if len(ours[data]) == 0 {
				return &update.Refusal{Rcode: update.Refused, Text: fmt.Sprintf(
					"%s %s was not made by an update in namespace %s, so it stays", c.Key, data, p.namespace)}
			}
			free[c.Name] = append(free[c.Name], ours[data]...)
			p.firsts = p.firsts || c.Type.Exclusive()
		}
		for _, data := range c.After.Data {
			e := entry{c.Key, &c.After.TTL, data}
			switch {
			case !slices.Contains(c.Before.Data, data):
				added[c.Name] = append(added[c.Name], e)
				p.firsts = p.firsts || c.Type.Exclusive()
			case c.Before.TTL != c.After.TTL:
				for _, record := range ours[data] {
					p.change(record, e)
				}
			}
		}
		if len(ours) == 0 && !c.Grows() && slices.Equal(c.Before.Data, c.After.Data) {
			return &update.Refusal{Rcode: update.Refused, Text: fmt.Sprintf(
				"no record of %s was made by an update in namespace %s, so its TTL stays", c.Key, p.namespace)}
		}
	}
	for _, name := range order {
		p.pair(free[name], added[name])
	}
	return nil
}

// pair has Records become entries, of the same type where there are some.
func (p *plan) pair(free []*v1alpha1.Record, added []entry) {
	for _, same := range []bool{true, false} {
		for i := 0; i < len(added); {
			at := slices.IndexFunc(free, func(r *v1alpha1.Record) bool {
				return !same || string(r.Spec.Type) == added[i].Type.String()
			})
			if at < 0 {
				i++
				continue
			}
			p.change(free[at], added[i])
			free, added = slices.Delete(free, at, at+1), slices.Delete(added, i, i+1)
		}
	}
	for _, r := range free {
		p.steps = append(p.steps, &step{before: r})
	}
	for _, e := range added {
		r := &v1alpha1.Record{ObjectMeta: metav1.ObjectMeta{
			Namespace: p.namespace, Name: nameFor(e.Key, p.Rand()), Labels: map[string]string{zonefold.UpdateLabel: p.label}}}
		if !p.zone.IsZero() { // else who writes its status does it, by a write of its own
			r.Labels[v1alpha1.ParentZoneLabel] = p.ParentLabel(p.zone)
		}
		p.fill(r, e)
		p.steps = append(p.steps, &step{after: r})
	}
}

// maxNamed is how much of a domain name is in the name of a Record, which may have 253 characters.
const maxNamed = 200

// nameFor returns a name for a Record that people can read and that, by r in [0,1), nothing else has.
func nameFor(key rr.Key, r float64) string {
	var labels []string
	size := 0
	for _, label := range key.Name.Labels() {
		if size += len(label) + 3; size > maxNamed {
			break
		}
		labels = append(labels, "x"+strings.Map(func(r rune) rune {
			if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
				return r
			}
			return '-'
		}, label)+"x")
	}
	for i, label := range labels {
		if plain := label[1 : len(label)-1]; strings.Trim(plain, "-") == plain && plain != "" {
			labels[i] = plain
		}
	}
	labels = append(labels, strings.ToLower(key.Type.String()))
	return strings.Join(labels, ".") + "-" + strconv.FormatUint(1<<50|uint64(r*(1<<50)), 32)[1:] // ten digits
}

func (p *plan) fill(r *v1alpha1.Record, e entry) {
	if p.digest != "" {
		metav1.SetMetaDataAnnotation(&r.ObjectMeta, zonefold.UpdateMessageAnnotation, p.digest)
	}
	r.Spec = v1alpha1.RecordSpec{
		DomainName: e.Name.String(), Type: v1alpha1.RecordType(e.Type.String()), Class: "IN", RData: e.data,
	}
	if !p.zone.IsZero() {
		r.Spec.ZoneRef = &v1alpha1.ZoneRef{Name: p.zone.Name, Namespace: p.zone.Namespace}
	}
	if e.ttl != nil {
		ttl := v1alpha1.Number(*e.ttl)
		r.Spec.TTL = &ttl
	}
}

// change has a Record become an entry, unless it is that already: the TTL of its set may be that of another one.
func (p *plan) change(r *v1alpha1.Record, e entry) {
	after := r.DeepCopy()
	p.fill(after, e)
	if !equality.Semantic.DeepEqual(r.Spec, after.Spec) {
		p.steps = append(p.steps, &step{r, after})
	}
}

// ours returns the Records of a set that updates have made for this namespace, by their data.
func (p *plan) ours(ctx context.Context, key rr.Key) (map[string][]*v1alpha1.Record, error) {
	out := map[string][]*v1alpha1.Record{}
	err := p.eachMade(ctx, []rr.Key{key}, func(r *v1alpha1.Record) {
		if data, err := rr.ParseData(key.Type, r.Spec.RData); err == nil {
			out[data] = append(out[data], r)
		}
	})
	return out, err
}

// begun reports whether a message has written a Record at one of its names: who led before has carried it out, or a
// part of it, and its prerequisites held then.
func (p *plan) begun(ctx context.Context, m *update.Message, sets rr.Sets) (bool, error) {
	var keys []rr.Key
	for _, name := range m.Names() {
		for set := range sets.At(name) {
			keys = append(keys, set.Key())
		}
	}
	found := false
	err := p.eachMade(ctx, keys, func(r *v1alpha1.Record) {
		found = found || r.Annotations[zonefold.UpdateMessageAnnotation] == p.digest
	})
	return found, err
}

// eachMade calls f for the Records of some sets that updates have made for this namespace, without what nobody reads.
func (p *plan) eachMade(ctx context.Context, keys []rr.Key, f func(*v1alpha1.Record)) error {
	return p.eachOf(ctx, p.Core.AdoptedAt(p.zone, keys), f)
}

// eachOf calls f for those of some objects that are Records which updates have made for this namespace.
func (p *plan) eachOf(ctx context.Context, ids []zone.ID, f func(*v1alpha1.Record)) error {
	for _, id := range ids {
		if id.Kind != zone.KindRecord || id.Namespace != p.namespace {
			continue
		}
		r := &v1alpha1.Record{}
		err := p.Cached.Get(ctx, client.ObjectKey{Namespace: id.Namespace, Name: id.Name}, r)
		switch {
		case apierrors.IsNotFound(err):
		case err != nil:
			return fmt.Errorf("reading %s: %w", id, err)
		case r.Labels[zonefold.UpdateLabel] == p.label:
			f(r)
		}
	}
	return nil
}

// forget has Records go that a message deletes and that are refused, as nobody would delete them once the Zone takes
// them again. They come before what goes otherwise, which may keep one of them out.
func (p *plan) forget(ctx context.Context, m *update.Message) error {
	var gone []*step
	for _, name := range m.Deletions() {
		err := p.eachOf(ctx, p.Core.RefusedAt(name), func(r *v1alpha1.Record) {
			t, err := rr.ParseType(string(r.Spec.Type))
			if ref := r.Spec.ZoneRef; err != nil || ref == nil || ref.Name != p.zone.Name || ref.Namespace != p.zone.Namespace {
				return
			}
			data, _ := rr.ParseData(t, r.Spec.RData)
			if m.Deletes(rr.Key{Name: name, Type: t}, data) {
				gone = append(gone, &step{before: r})
			}
		})
		if err != nil {
			return err
		}
	}
	p.steps = append(gone, p.steps...)
	return nil
}

// id names the Record of a step in the core.
func (s *step) id() zone.ID {
	r := s.after
	if r == nil {
		r = s.before
	}
	return dialect.RecordID(r.Namespace, r.Name)
}
