package sim

import (
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// How late operators may be.
const (
	// objects of two kinds that change so close to each other may be seen in either order, and what is wanted for no
	// longer may be taken away by a message that is under way,
	together = 50 * time.Millisecond
	settled  = time.Second // for so long
	// two operators lead for no longer, and one may be late
	feud = time.Minute
)

// A witness sees each change of an object and each message that a server takes, and notes what must never happen at any
// moment. It knows what is wanted by a World of its own.
type witness struct {
	now func() time.Time

	mu       sync.Mutex
	wishes   wishes
	held     map[string]map[string]*holding // by server, and zone or class
	born     map[ref]birth
	scopes   map[string]plan.Scope // what name servers make of what they are told
	refused  map[string]string     // a value that a server of a DNSClass does not take
	picky    map[string]bool       // name servers that have refused a name, and may have little of what is wanted
	lost     time.Time             // when a server first lost what no audit has found since
	unread   time.Time             // from when on the time to that audit counts
	hurt     time.Time             // when a fault was last met
	silences []silence
	books    books
	reserves reserves
	stays    map[stay]time.Time   // since when statuses name them
	parted   map[string]time.Time // when a status last ceased to name a zone somewhere
	undone   bool                 // by a backup: of what was made later, no object says that a server has it
	wrong    []string
	changed  map[string]time.Time // when something last happened to what objects are about
	dim      time.Time            // until then operators may not see what has become of objects
	mixed    time.Time            // until then operators may see a mixture of two states of the objects
}

// A birth is when an object got its generation.
type birth struct {
	generation int64
	at         time.Time
}

// bornBackend is when a Backend got its generation. mu is held.
func (w *witness) bornBackend(name string) time.Time {
	for r, born := range w.born {
		if r.kind.Kind == "Backend" && r.Name == name {
			return born.at
		}
	}
	return time.Time{}
}

// A holding is what a server has of a zone, and when it got and lost that.
type holding struct {
	sets rr.Sets
	put  map[rr.Key]time.Time // when a message last put it; a set that came otherwise is not in it
	lost map[value]time.Time  // when it was last there, if it is not now
	full time.Time            // since when it has had more than name servers, by a message
}

// A value is one of a set.
type value struct {
	rr.Key
	data string
}

func newWitness(now func() time.Time, sources []string) *witness {
	return &witness{now: now, wishes: newWishes(newAsking(sources)), held: map[string]map[string]*holding{},
		born: map[ref]birth{}, scopes: map[string]plan.Scope{}, refused: map[string]string{}, picky: map[string]bool{},
		changed:  map[string]time.Time{},
		books:    books{sets: map[ref]rr.Sets{}, ceilings: map[ref]uint32{}, used: map[ref]uint32{}},
		reserves: newReserves(), stays: map[stay]time.Time{}, parted: map[string]time.Time{}}
}

// found returns what must never happen and did.
func (w *witness) found() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.wrong)
}

// latest is how late operators are at most, and what they try again.
const latest = 12 * time.Minute

// blur is told of a step that begins or ends a trouble: operators may see states of several kinds of objects that there
// never were at one time.
func (w *witness) blur(words []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if words[0] == "tardy" {
		return // operators see what has become of objects
	}
	d, _ := time.ParseDuration(words[len(words)-1]) // one without is over at once
	lasts := words[0] == "late" || words[0] == "behind"
	switch until := w.now().Add(d + latest); {
	case lasts && d > 0:
		w.mixed = w.now().Add(1000 * time.Hour) // until a step says otherwise
	case lasts:
		w.mixed = until
	default:
		w.mixed = later(w.mixed, until)
	}
	if words[0] != "failing" && words[0] != "absent" {
		w.dim = w.mixed
	}
}

// changes is told of each event of the API server.
func (w *witness) changes(e event) {
	defer w.enters(e, false)
	defer w.remains(e, false)
	if w.learns(e) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.hears(e.ref, e.after)
		w.listens(e.ref, e.after)
	}
}

// learns takes in what has become of an object, and returns whether somebody has written its status.
func (w *witness) learns(e event) bool {
	if maySource(e.kind) {
		w.follows(e)
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	was, is := e.before, e.after
	if was == nil || is == nil || was.GetUID() != is.GetUID() || was.GetGeneration() != is.GetGeneration() ||
		ending(was) != ending(is) {
		w.born[e.ref] = birth{generationOf(is), w.now()}
		about, known := w.wishes.take(e.ref, is, w.now())
		if !known {
			return false
		}
		w.notice(about)
	}
	return is != nil && (was == nil || !reflect.DeepEqual(was.Object["status"], is.Object["status"]))
}

// notice notes that objects have changed that are about something. mu is held.
func (w *witness) notice(about string) {
	w.changed[about] = w.now()
	for other, at := range w.changed {
		if other != about && w.now().Sub(at) <= together {
			w.mixed = later(w.mixed, w.now().Add(settled))
		}
	}
}

func ending(o *unstructured.Unstructured) bool { return o.GetDeletionTimestamp() != nil }

func generationOf(o *unstructured.Unstructured) int64 {
	if o == nil {
		return 0
	}
	return o.GetGeneration()
}

// notef notes what must never happen. mu is held, as for all below.
func (w *witness) notef(format string, args ...any) {
	if text := fmt.Sprintf(format, args...); !slices.Contains(w.wrong, text) {
		w.wrong = append(w.wrong, text)
	}
}

func (w *witness) holding(at, zone string) *holding {
	all := w.held[at]
	if all == nil {
		all = map[string]*holding{}
		w.held[at] = all
	}
	h := all[zone]
	if h == nil {
		h = &holding{put: map[rr.Key]time.Time{}, lost: map[value]time.Time{}}
		all[zone] = h
	}
	return h
}

// know says what a name server makes of what it is told.
func (w *witness) know(at string, limits backend.Limits) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.scopes[at] = plan.Scope{MinTTL: limits.MinTTL, MaxTTL: limits.MaxTTL, ApexNS: plan.ApexNS(limits.ApexNS)}
}

// told is told of each change of a zone at a name server.
func (w *witness) told(at string, m backendtest.Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.books.disputed() { // they undo what the other one has done
		w.mixed = later(w.mixed, w.now().Add(feud))
	}
	zone := m.Zone.String()
	wanted := w.wishes.of(at, zone)
	var changed []rr.Key
	for _, c := range m.Batch.Changes {
		changed = append(changed, c.Key)
	}
	if len(m.Batch.Changes) == 0 {
		changed = keysOf(m.Before, m.After) // it is removed or lost, or it is only the SOA
	}
	t := notice{witness: w, want: wanted, holding: w.holding(at, zone), at: at, zone: zone, scope: w.scopes[at]}
	lost := len(m.Batch.Changes) == 0 && !m.Batch.Remove && m.Batch.SOA == nil
	if !lost {
		t.judge(m)
		t.judgePlace(m)
		t.judgeBooks(m)
		t.judgePolicy(m)
	}
	t.enter(m, changed, lost)
}

// A notice is one message, or a loss, at one place.
type notice struct {
	*witness
	want     *want
	holding  *holding
	at, zone string
	scope    plan.Scope
}

// judge looks at what a message puts and takes.
func (t notice) judge(m backendtest.Message) {
	for _, c := range m.Batch.Changes {
		before, had := m.Before.Get(c.Key)
		_, has := m.After.Get(c.Key)
		switch {
		case !c.Deletes():
			if !t.want.asked(t.at, c.Want, before, &t.scope) && !t.mayBeMixed(c.Want) {
				t.notef("%s is told %s %d %q of %s, which no object asked for: %v", t.at, c.Key, c.Want.TTL, c.Want.Data, t.zone,
					t.want.all[c.Key])
			}
		case had && !has:
			t.judgeDeletion(c.Key)
		}
	}
	if m.Batch.Remove {
		for set := range m.Before.All() {
			t.judgeDeletion(set.Key())
		}
	}
	if !t.want.apex.IsZero() && !t.want.empty(m.Before) && t.want.empty(m.After) && t.neverEmpty() {
		t.notef("%s has nothing any more in %s, which was never to be empty", t.at, t.zone)
	}
}

// neverEmpty reports whether a zone was wanted at the server, with something in it that it takes, as long as something
// has been there.
func (t notice) neverEmpty() bool {
	a, full := t.want.places[t.at], t.holding.full
	return a != nil && !t.picky[t.at] && !a.since.IsZero() && !full.IsZero() && !t.want.empty(t.want.sets) &&
		t.wantedSince(later(a.since, t.want.bare), full)
}

// wantedSince reports whether operators knew, when they sent a message, that what has been at the server since put has
// been wanted all the time: it was last not wanted at lacked.
func (t notice) wantedSince(lacked, put time.Time) bool {
	return lacked.Before(put) && t.now().Sub(lacked) > together && t.now().After(t.mixed)
}

// refuses is told of a value that a server of a DNSClass does not take from now on.
func (w *witness) refuses(at, value string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused[at] = value
}

// picks is told that a name server refuses a name from now on.
func (w *witness) picks(at string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.picky[at] = true
}

// judgeDeletion looks at a set that goes. Where its successor is refused, it goes all the same.
func (t notice) judgeDeletion(key rr.Key) {
	a := t.want.places[t.at]
	put := t.holding.put[key]
	wanted, _ := t.want.sets.Get(key)
	switch {
	case t.refused[t.at] != "" && slices.Contains(wanted.Data, t.refused[t.at]):
	case a == nil:
		t.notef("%s of %s is taken from %s, where it never was to be", key, t.zone, t.at)
	case a.keep && len(t.want.all[key]) == 0 && put.IsZero(): // what an operator put there was judged then
		t.notef("%s of %s is taken from %s, where foreign sets are kept", key, t.zone, t.at)
	case t.wantedSince(t.want.lacked(t.at, key, t.now()), put):
		t.notef("%s of %s is taken from %s, although it has been wanted all the time", key, t.zone, t.at)
	}
}

// mayBeMixed reports whether a set is of values that objects asked for, while operators may see a mixture. Of sources
// it may have a name from one object and an address from another.
func (t notice) mayBeMixed(set rr.Set) bool {
	return !t.now().After(t.mixed) && !slices.ContainsFunc(set.Data, func(data string) bool {
		asked := t.wishes.values
		return !asked[value{set.Key(), data}] && !(asked[value{Key: set.Key()}] && asked[value{data: data}])
	})
}

// enter notes what a server has now.
func (t notice) enter(m backendtest.Message, changed []rr.Key, lost bool) {
	h := t.holding
	for _, key := range changed {
		before, _ := m.Before.Get(key)
		after, _ := m.After.Get(key)
		for _, data := range before.Data {
			h.lost[value{key, data}] = t.now()
		}
		for _, data := range after.Data {
			delete(h.lost, value{key, data})
		}
		switch {
		case lost, len(after.Data) == 0: // what comes there after that is somebody else's
			delete(h.put, key)
		case len(m.Batch.Changes) > 0:
			h.put[key] = t.now()
		}
	}
	h.sets = m.After
	switch {
	case lost || t.want.empty(m.After):
		h.full = time.Time{}
	case t.want.empty(m.Before):
		h.full = t.now()
	}
}
