package homelab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

// A slotKey names what one class has of one type at one name, however the name is split into domain and subdomain.
type slotKey struct{ class, fqdn, kind string }

func (k slotKey) compare(other slotKey) int {
	return cmp.Or(cmp.Compare(k.class, other.class), cmp.Compare(k.fqdn, other.fqdn), cmp.Compare(k.kind, other.kind))
}

// slotsOf returns the slots of a class in order, so that the same happens each time.
func (m *model) slotsOf(class string) []slotKey {
	var all []slotKey
	for key := range m.slots {
		if key.class == class {
			all = append(all, key)
		}
	}
	slices.SortFunc(all, slotKey.compare)
	return all
}

func keyOf(class string, id dnshook.ID) slotKey { return slotKey{class, id.FQDN(), id.Type} }

func idOf(a v1alpha1.Applied) dnshook.ID {
	return dnshook.ID{Type: a.Type, Domain: a.Domain, Subdomain: a.Subdomain}
}

func slotOf(a v1alpha1.Applied) slotKey { return keyOf(a.Class, idOf(a)) }

// samePlace reports whether two are of one identity.
func samePlace(a, b v1alpha1.Applied) bool {
	return a.Class == b.Class && servers.SameServer(a.Server, b.Server) && idOf(a) == idOf(b)
}

// A record is what is known about a DNSRecord. Of what it has applied this is the truth: the cache may lag behind.
type record struct {
	id     zone.ID
	object *v1alpha1.DNSRecord // as the cache has it
	wanted dialect.Wanted
	key    slotKey   // zero: what it asks for cannot be understood
	slots  []slotKey // that it concerns

	judged
	atServers
	inCluster
}

// judged is what the World has decided about a DNSRecord.
type judged struct {
	settled core.Version // what the verdict is about
	verdict zone.Verdict
}

// atServers is what servers have, or may have, of a DNSRecord.
type atServers struct {
	applied *v1alpha1.Applied // what a server has of it, or may have; it is replaced, and not changed
	unsent  bool              // no server has heard of applied: it was written down, and then nothing could be sent
	former  []v1alpha1.Applied
	done    v1alpha1.RecordState // Created or Updated; "": see the status
	synced  time.Time            // zero: see the status
	pending time.Time            // since when it is; zero: it is not
	span    trace.Span           // of the change that is on its way; nil: none is followed
}

// inCluster is what the API server has of a DNSRecord.
type inCluster struct {
	writing       chan struct{}             // closed when who writes the object has done so; nil: nobody does
	base          client.Object             // the newest metadata that are known
	finalized     bool                      // of base: it has our finalizer
	mark          *v1alpha1.Applied         // of these: what the annotation says
	statusWritten bool                      // a status was written, or may have been: the annotation says nothing any more
	status        *v1alpha1.DNSRecordStatus // as it was written last; it may be that of an object, and is only read
	stored        storedHash                // of the stored status
}

// writes waits for the turn to write an object, and takes it: each write is made of what the one before has left. What
// it returns ends the turn.
func (k *Controller) writes(r *record) (done func()) {
	_, unlock := k.model.Lock()
	for r.writing != nil {
		before := r.writing
		unlock()
		<-before
		_, unlock = k.model.Lock()
	}
	r.writing = make(chan struct{})
	unlock()
	return func() {
		_, unlock := k.model.Lock()
		defer unlock()
		close(r.writing)
		r.writing = nil
	}
}

func (r *record) deleting() bool { return !r.object.DeletionTimestamp.IsZero() }

func (r *record) orphan() bool {
	return r.deleting() && r.object.Annotations[v1alpha1.DeletionPolicyAnnotation] == v1alpha1.DeletionPolicyOrphan
}

func (r *record) current() core.Version { return core.VersionOf(r.object) }

// decided reports whether the verdict is about the object as it is now.
func (r *record) decided() bool { return r.deleting() || r.settled == r.current() }

// unknown reports whether nobody can say what the object wants: then nothing of it is removed.
func (r *record) unknown() bool {
	return !r.deleting() && (!r.decided() || r.key == slotKey{} ||
		!r.verdict.Accepted && r.verdict.Reason == zone.ReferenceNotFound)
}

// hopes reports whether the record may still get what it asks for: it is not refused, as far as that is decided.
func (r *record) hopes() bool {
	return !r.deleting() && (r.verdict.Accepted || !r.decided() || r.verdict.Reason == "")
}

// left reports whether something that is written down of the record stays as it is at its server, which has not heard
// of it or is to keep it.
func (r *record) left(a v1alpha1.Applied) bool {
	return r.orphan() || r.deleting() && r.unsent && r.applied != nil && samePlace(*r.applied, a)
}

// evidence lists everything that servers may have of the record.
func (r *record) evidence() []v1alpha1.Applied { return places(r.former, r.applied) }

// written lists what the stored object says that servers may have, which may be more than they have by now. Who leads
// next goes by it, and needs the classes of it to let the object go.
func (r *record) written() []v1alpha1.Applied {
	if !r.finalized {
		return nil
	}
	return places(r.status.Former, r.status.Applied)
}

func places(former []v1alpha1.Applied, applied *v1alpha1.Applied) []v1alpha1.Applied {
	if applied == nil {
		return former
	}
	return append(slices.Clone(former), *applied)
}

func (r *record) compare(o *record) int {
	a, b := r.object.CreationTimestamp.Time, o.object.CreationTimestamp.Time
	return cmp.Or(a.Compare(b), r.id.Compare(o.id))
}

// drop forgets that a server has something of the record.
func (r *record) drop(a v1alpha1.Applied) {
	if r.applied != nil && samePlace(*r.applied, a) {
		r.applied = nil
		if slotOf(a) == r.key { // else what was done is about another one, of which the status may not tell yet
			r.done = ""
		}
	}
	r.former = slices.DeleteFunc(slices.Clone(r.former), func(f v1alpha1.Applied) bool { return samePlace(f, a) })
}

// A slot is one record of one server.
type slot struct {
	key     slotKey
	claims  recordList // that ask for it
	holders recordList // of which the server may have it

	loaded    bool         // confirmed was read from the status
	confirmed string       // hash of what the server has; "": not known
	last      string       // what confirmed was before something was sent
	changes   int          // how often something was sent
	course    *course      // of what did not just succeed; nil: everything did
	again     []dnshook.ID // what is to be removed once more: see Config.Late
}

// doubt notes that nobody knows what the server has, since something is sent.
func (s *slot) doubt() {
	s.last, s.confirmed = cmp.Or(s.confirmed, s.last), ""
}

// A recordList has the records that have to do with a slot, mostly one.
type recordList []*record

func (p *recordList) put(r *record) {
	if !slices.Contains(*p, r) {
		*p = append(*p, r)
	}
}

func (p *recordList) drop(r *record) {
	*p = slices.DeleteFunc(*p, func(o *record) bool { return o == r })
}

// A course is what a slot has gone through since the server had what it should.
type course struct {
	upserts  attempts
	removals attempts // of what objects have left there
	odd      oddity   // what was found at the last look
}

// tidy forgets a course in which nothing is left.
func (s *slot) tidy() {
	if c := s.course; c != nil && c.upserts == (attempts{}) && c.removals == (attempts{}) && c.odd.none() {
		s.course = nil
	}
}

// courseSoFar returns the course of a slot, to be read.
func (s *slot) courseSoFar() course {
	if s.course == nil {
		return course{}
	}
	return *s.course
}

// ownCourse returns the course of a slot, which begins if need be.
func (s *slot) ownCourse() *course {
	if s.course == nil {
		s.course = &course{}
	}
	return s.course
}

// attempts are what has become of the calls of one kind for a slot. Each kind has retries of its own: what an object
// has left may have to go while its successor is refused.
type attempts struct {
	servers.Schedule
	failure  *servers.Failure
	failures int       // in turn, up to now
	since    time.Time // of the first of these
}

// failing returns the attempts that failed last, or none; the removal counts first.
func (s *slot) failing() attempts {
	c := s.courseSoFar()
	if c.removals.failure != nil {
		return c.removals
	}
	return c.upserts
}

// failure is why the last call for a slot has failed, nil if it has not.
func (s *slot) failure() *servers.Failure { return s.failing().failure }

// A want is what a slot is to hold.
type want struct {
	owner  *record
	record dnshook.Record
	place  v1alpha1.Applied // without hash
	hash   string
	all    []*record // whose values it has
	first  bool      // it is sent, and no server has heard of the place so far
}

// want returns what a slot is to hold, nil for nothing; false: that is not known now.
func (p *plan) want(s *slot) (*want, bool) {
	var accepted []*record
	for _, r := range s.claims {
		switch {
		case r.deleting():
		case !r.decided():
			return nil, false
		case r.verdict.Accepted:
			accepted = append(accepted, r)
		}
	}
	c := p.classes[s.key.class]
	if len(accepted) == 0 {
		return nil, true
	}
	if c == nil {
		return nil, false
	}
	slices.SortFunc(accepted, (*record).compare)
	w := &want{owner: accepted[0], record: accepted[0].wanted.Record, all: accepted}
	w.record.Values = slices.Clone(w.record.Values)
	for _, r := range accepted[1:] {
		for _, v := range r.wanted.Record.Values {
			if !slices.Contains(w.record.Values, v) {
				w.record.Values = append(w.record.Values, v)
			}
		}
	}
	if w.owner.object.Spec.TTL == nil {
		w.record.TTL = dialect.TTLOf(c.object.Spec.DefaultTTL)
	}
	id := w.record.ID()
	w.place = v1alpha1.Applied{Class: s.key.class, Server: c.object.Spec.Server, Type: id.Type, Domain: id.Domain,
		Subdomain: id.Subdomain}
	wire := w.record
	if servers.InRDATA(c.object) {
		wire = wire.InRDATA()
	}
	w.hash = hashOf(w.place.Server, wire)
	return w, true
}

// hashOf is equal for what is the same on the wire.
func hashOf(server string, r dnshook.Record) string {
	body, _ := json.Marshal(r) // of strings and numbers
	sum := sha256.Sum256(append([]byte(servers.ServerOf(server)+"\n"), body...))
	return hex.EncodeToString(sum[:12])
}
