package gardener

import (
	"iter"
	"slices"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A record is what is known about a DNSRecord that is ours.
type record struct {
	id      zone.ID
	object  *v1alpha1.DNSRecord // the newest that is known: from the cache, or the answer to a write
	key     rr.Key              // zero: its name cannot be read
	secret  string              // namespace/name
	request request             // what somebody wants and nobody has begun
	run     *run                // the operation that is under way; nil: none is
	holding *holding            // what of it a hosted zone has; nil: nothing that this process knows of
	account backend.Account     // through which its set is there, as far as is known; nil: nothing is
	tried   bool                // it was looked for, and looking for it again would not help
	made    bool                // its set may be at a service, even if the status says that it never was
	told    bool                // the status says what has come of an attempt of this process to put its set
	awaits  time.Time           // since when its removal waits for those of others; zero: it does not
	lost    bool                // an event has said that its Cluster is not there
	forced  time.Time           // since when it is to go whatever is left behind; zero: it is not
}

// sorted returns records in the order of their names, so that the same happens each time.
func sorted(some iter.Seq[*record]) []*record {
	return slices.SortedFunc(some, func(a, b *record) int { return a.id.Compare(b.id) })
}

// A holding is the set of a record at a hosted zone.
type holding struct {
	at  *hostedZone
	key rr.Key
	set rr.Set
}

// isPending reports whether a hosted zone has not confirmed what a record has there.
func (r *record) isPending() bool {
	if r.holding == nil {
		return false
	}
	_, is := r.holding.at.pending[r]
	return is
}

// A run is one operation on its way.
type run struct {
	asked  bool // somebody wants it, now
	taken  bool // the wish for it has been taken off the object
	step   Step // Nothing: it has not begun
	kind   v1alpha1.OperationType
	force  bool                // the shoot goes, whatever is left behind
	object *v1alpha1.DNSRecord // whose spec is carried out
	begun  time.Time

	finding
	sending
	attempts

	confirmed bool       // the service has done it, or has not to
	reported  bool       // that it has succeeded
	doubtful  bool       // nobody knows whether there is anything to be removed
	late      bool       // somebody has stopped waiting for it
	span      trace.Span // of the operation; nil: nobody follows it
}

// finding is how far a run is with finding the hosted zone that its set belongs to.
type finding struct {
	relist   bool    // the zone in the status is gone: it has to be found anew
	secret   string  // version of the Secret that was read
	unread   error   // what is wrong with the settings that were left out, and that may matter
	question string  // what the account is asked; "": nothing
	answer   *answer // nil: it has not answered
	missed   error   // why a search has not found anything yet
	zone     backend.HostedZone
}

// sending is what a run has sent.
type sending struct {
	at         *hostedZone // where it was sent; nil: it was not
	seq        uint64      // of what was sent
	generation int         // of the hosted zone's reports by then
	sent       time.Time
	again      time.Time   // when it is sent there again
	left       *hostedZone // where the set of an object was that is let go
}

// attempts are those of a run that have failed.
type attempts struct {
	failures int
	since    time.Time // of the first of these
	next     time.Time // when it is tried again; zero: when somebody has answered
	failed   bool      // the attempt before, of which no other has begun
	refused  bool      // and by the service it was sent to, which tries it again only when other things change
}

// search is a step of our own: to learn which hosted zone has the set of a record that nobody has asked for in this run
// of the operator.
const search Step = -1

// active reports whether a run has something to do at a hosted zone.
func (r *run) active() bool { return r != nil && r.step != search }

// failing reports whether a run has failed and is to be tried again.
func (r *run) failing() bool { return r != nil && r.failed }

// waits reports whether the engine has what a run is for, and tries again by itself.
func (r *run) waits() bool { return r.at != nil && r.step == Put }

// put takes over an object as the cache has it.
func (s *state) put(o *v1alpha1.DNSRecord) *record {
	id := dialect.RecordID(o.Namespace, o.Name)
	r := s.records[id]
	if r != nil && r.object.UID != o.UID {
		s.remove(r)
		r = nil
	}
	if r == nil {
		r = &record{id: id}
		s.records[id] = r
	}
	if r.object == nil || objects.Version(o) > objects.Version(r.object) {
		s.see(r, o)
	}
	return r
}

// see takes over the newest object.
func (s *state) see(r *record, o *v1alpha1.DNSRecord) {
	if old := r.object; old != nil {
		s.k.Metrics.Judged(metricKind, stateOf(old), "")
	}
	s.k.Metrics.Judged(metricKind, "", stateOf(o))
	r.object = o
	key, _ := dialect.KeyOf(&o.Spec)
	enter(s.sets, r.key, key, r)
	secret := dialect.SecretOf(o).String()
	enter(s.users, r.secret, secret, r)
	r.key, r.secret = key, secret
}

// remove forgets an object that is gone, or not ours. What it had stays at the service: who wanted that removed has
// waited for the finalizer.
func (s *state) remove(r *record) {
	delete(s.records, r.id)
	s.k.Metrics.Judged(metricKind, stateOf(r.object), "")
	var none rr.Key
	enter(s.sets, r.key, none, r)
	enter(s.users, r.secret, "", r)
	s.end(r)
	s.drop(r)
}

// enter moves a record from one key of an index to another; the zero key is none.
func enter[K comparable](index map[K]map[*record]struct{}, from, to K, r *record) {
	var zero K
	if from == to {
		return
	}
	if from != zero {
		if delete(index[from], r); len(index[from]) == 0 {
			delete(index, from)
		}
	}
	if to != zero {
		if index[to] == nil {
			index[to] = map[*record]struct{}{}
		}
		index[to][r] = struct{}{}
	}
}

// metricKind tells these objects from those of the other dialect with that name.
const metricKind = "DNSRecord.extensions.gardener.cloud"

// stateOf is the state of an object for the metric.
func stateOf(o *v1alpha1.DNSRecord) string {
	if o.Status.LastOperation == nil {
		return "New"
	}
	return string(o.Status.LastOperation.State)
}
