package delivery

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// maxReason is how much of a reason to freeze a Zone is kept.
const maxReason = 256

// Reason returns the reason for which somebody has frozen a Zone as it is told: one line of it.
func Reason(text string) string {
	return strings.Clone(controller.Cut(strings.Join(strings.Fields(text), " "), maxReason))
}

// A Freeze is what the object of a Zone asks of what is published of it: to stay as it is.
type Freeze struct {
	Reason string // for people; "" for none
	Serial uint32 // whose content is to be published; 0: that which is
}

// FreezeOf returns what an object asks of what is published of it, nil if that is nothing.
func FreezeOf(o metav1.Object) *Freeze {
	reason, frozen := o.GetAnnotations()[zonefold.FreezeAnnotation]
	serial, back := o.GetAnnotations()[zonefold.RollbackAnnotation]
	if !frozen && !back || o.GetDeletionTimestamp() != nil {
		return nil
	}
	n, err := strconv.ParseUint(serial, 10, 32)
	if back && err != nil {
		n = 0 // what is no serial holds what there is
	}
	return &Freeze{Reason: Reason(reason), Serial: uint32(n)}
}

// frozen is what is held of a Zone, and what waits meanwhile.
type frozen struct {
	Freeze

	recalled bool          // what was published is known, or there is nothing that is
	content  zone.Snapshot // what stays published, under its name; the zero Snapshot: nothing is published
	world    zone.Snapshot // what objects say by now
	waiting  map[rr.Key]struct{}

	at      uint32 // the serial that it was rolled back to; 0: none
	refusal error  // why it was not
}

// Freeze has what is published of a Zone stay as it is; nil lets it follow the objects again. A Zone that loses its
// name is withdrawn all the same, and so is one that is deleted: nobody keeps a name that others have taken back by
// freezing it. To say the same again changes nothing.
func (d *Deliveries) Freeze(id zone.ID, f *Freeze) {
	st, unlock := d.state.Lock()
	was, asked := st.asks[id]
	switch {
	case f == nil && !asked || f != nil && asked && was == *f:
		unlock()
		return
	case f == nil:
		delete(st.asks, id)
	default:
		st.asks[id] = *f
	}
	var waited []rr.Key
	switch z := st.zones[id]; {
	case z == nil:
	case f == nil:
		waited = st.thaw(z)
	default:
		z.freeze(*f)
	}
	d.queue.Enqueue(id)
	unlock()
	d.republished(id)
	d.changed(id)
	if len(waited) > 0 {
		d.refreshSets(id, waited)
	}
}

// freeze holds what is published, or has it looked for when the Zone is looked at next.
func (z *delivery) freeze(f Freeze) {
	if z.frozen != nil {
		z.frozen.Freeze = f
		if f.Serial == 0 {
			z.frozen.at, z.frozen.refusal = 0, nil
		}
		return
	}
	z.frozen = &frozen{Freeze: f, world: z.snapshot, waiting: map[rr.Key]struct{}{}}
	if z.current() != nil {
		z.frozen.recalled, z.frozen.content = true, z.snapshot
	}
	z.snapshot = z.frozen.outgoing()
}

// thaw lets a Zone follow the objects again. It returns the sets that waited.
func (st *state) thaw(z *delivery) []rr.Key {
	f := z.frozen
	if f == nil {
		return nil
	}
	z.snapshot, z.frozen = f.world, nil
	if l := z.current(); l != nil {
		l.live = false // it is published when the Zone is looked at
		l.thawed, l.thawedAt = f.waiting, 0
	}
	return f.keys()
}

// recall takes over what an earlier run has published of a frozen Zone, once it is accepted: what is written down, or
// what objects say if that is the same. It returns the sets that wait.
func (z *delivery) recall(stored Stored) []rr.Key {
	f := z.frozen
	if f == nil || f.recalled || !z.accepted {
		return nil
	}
	f.recalled = true
	content, known := zone.Snapshot{}, false
	if stored.Published != nil {
		content, known = stored.Published()
	}
	if now := f.world; !known && stored.of(now) {
		content, known = now, true
	}
	if known {
		content.ID = z.id
		f.content = content
	}
	f.compare()
	z.snapshot = f.outgoing()
	return f.keys()
}

// tellWaiting has the claims of sets told that wait, or do not wait any more.
func (o *outside) tellWaiting(id zone.ID, keys []rr.Key) {
	if len(keys) > 0 {
		o.republished(id)
		o.refreshSets(id, keys)
	}
}

// keys returns the sets that wait.
func (f *frozen) keys() []rr.Key { return slices.Collect(maps.Keys(f.waiting)) }

// outgoing returns what is delivered of a frozen Zone: under another name than that of its content it is nothing.
func (f *frozen) outgoing() zone.Snapshot {
	if f.holds() {
		return f.content
	}
	return zone.Snapshot{ID: f.world.ID, Name: f.world.Name}
}

// holds reports whether something is published, and stays so.
func (f *frozen) holds() bool { return !f.content.Name.IsZero() && f.content.Name == f.world.Name }

// note takes in what objects say by now.
func (f *frozen) note(delta zone.ZoneDelta, now zone.Snapshot) {
	renamed := f.world.Name != now.Name
	f.world = now
	if renamed || delta.Fresh {
		f.compare()
		return
	}
	for _, key := range delta.Changed {
		f.look(key)
	}
	f.look(soaKey(now))
}

// compare finds what waits anew.
func (f *frozen) compare() {
	f.waiting = map[rr.Key]struct{}{}
	for set := range f.world.Sets.All() {
		f.look(set.Key())
	}
	if f.holds() {
		for set := range f.content.Sets.All() {
			f.look(set.Key())
		}
		f.look(soaKey(f.world))
	}
}

// look finds out whether a set waits.
func (f *frozen) look(key rr.Key) {
	same := false
	switch {
	case !f.holds():
	case key.Type == rr.TypeSOA:
		same = f.content.SOA == f.world.SOA
	default:
		now, _ := f.world.Sets.Get(key)
		was, _ := f.content.Sets.Get(key)
		same = now.Equal(was)
	}
	if same {
		delete(f.waiting, key)
	} else {
		f.waiting[key] = struct{}{}
	}
}

func soaKey(s zone.Snapshot) rr.Key { return rr.Key{Name: s.Name, Type: rr.TypeSOA} }

// FrozenOutcome is what there is to say about a Zone that is frozen.
type FrozenOutcome struct {
	Freeze

	Zone     zone.ID
	Nothing  bool   // nothing is published of it
	At       uint32 // the serial that it was rolled back to; 0: none
	Refusal  error  // why it was not
	Waiting  int    // sets
	Examples []rr.Key
}

// RolledBack returns the serial whose content the Zone was rolled back to; 0: to none.
func (o *FrozenOutcome) RolledBack() uint32 {
	if o == nil || o.Refusal != nil {
		return 0
	}
	return o.At
}

// frozenExamples is how many of the sets that wait are named.
const frozenExamples = 3

func (f *frozen) outcome(id zone.ID) *FrozenOutcome {
	out := &FrozenOutcome{Freeze: f.Freeze, Zone: id, Nothing: !f.holds(), Waiting: len(f.waiting),
		At: f.at, Refusal: f.refusal}
	for key := range f.waiting {
		at, _ := slices.BinarySearchFunc(out.Examples, key, rr.Key.Compare)
		if at < frozenExamples {
			out.Examples = slices.Insert(out.Examples, at, key)
			out.Examples = out.Examples[:min(len(out.Examples), frozenExamples)]
		}
	}
	return out
}

// Condition is what the condition Frozen of the Zone says.
func (o *FrozenOutcome) Condition() controller.Outcome {
	var b strings.Builder
	if o.Reason != "" {
		fmt.Fprintf(&b, "%s. ", strings.TrimSuffix(o.Reason, "."))
	}
	reason := controller.ReasonFrozen
	switch {
	case o.Serial != 0 && o.Serial == o.At && o.Refusal != nil:
		reason = controller.ReasonRollbackRefused
		fmt.Fprintf(&b, "It was not rolled back to serial %d: %v. ", o.At, o.Refusal)
	case o.Serial != 0 && o.Serial == o.At:
		reason = controller.ReasonRolledBack
		fmt.Fprintf(&b, "It was rolled back to serial %d. ", o.At)
	}
	switch {
	case o.Nothing && o.Waiting > 0:
		b.WriteString("Nothing of it is published, ")
	default:
		b.WriteString("What is published stays as it is, ")
	}
	fmt.Fprintf(&b, "%s; zonefold thaw %s/%s lets the %s follow its objects again.", o.wait(), o.Zone.Namespace,
		o.Zone.Name, o.Zone.Kind)
	return controller.OK(reason, b.String())
}

// wait says how much waits, and what.
func (o *FrozenOutcome) wait() string {
	var names []string
	for _, key := range o.Examples {
		names = append(names, key.String())
	}
	list := strings.Join(names, ", ")
	switch {
	case o.Waiting == 0:
		return "and no change waits"
	case o.Waiting == 1:
		return "and 1 set waits: " + list
	case o.Waiting > len(names):
		return fmt.Sprintf("and %d sets wait, such as %s", o.Waiting, list)
	}
	return fmt.Sprintf("and %d sets wait: %s", o.Waiting, list)
}

// waits says of a claim of a frozen Zone that its set is not served as it asks, nil if it is.
func (z *delivery) waits(key rr.Key) *controller.Outcome {
	if z.frozen == nil {
		return nil
	}
	if _, waits := z.frozen.waiting[key]; !waits {
		return nil
	}
	o := controller.Not(controller.ReasonFrozen, fmt.Sprintf(
		"%s is frozen: %s is served unchanged until someone thaws the %s.", z.id, key, z.id.Kind))
	return &o
}

// Outgoing returns what is published of a Zone, or about to be, and whether that is so because it is frozen: if not, it
// is what the World has. Content without a hash is nothing, or not known yet.
func (d *Deliveries) Outgoing(id zone.ID) (content zone.Snapshot, frozen bool) {
	st, unlock := d.state.Lock()
	defer unlock()
	z := st.zones[id]
	if z == nil {
		_, frozen = st.asks[id]
		return zone.Snapshot{}, frozen
	}
	return z.snapshot, z.frozen != nil
}

// told returns the sets of a Zone that was thawed, once, when every server has them: their claims have not heard of it.
func (l *zoneFeed) told() []rr.Key {
	if l == nil || l.thawedAt == 0 || l.done < l.thawedAt {
		return nil
	}
	keys := slices.Collect(maps.Keys(l.thawed))
	l.thawed, l.thawedAt = nil, 0
	return keys
}
