package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// compare orders texts.
func compare(a, b string) int { return cmp.Compare(a, b) }

// A ref names an object.
type ref struct {
	kind *kind
	types.NamespacedName
}

func (r ref) String() string { return r.kind.Kind + " " + r.NamespacedName.String() }

// An event is one change of one object. What an event holds is never changed.
type event struct {
	ref
	revision      uint64
	at            time.Time
	before, after *unstructured.Unstructured // nil: it was not there, it is gone
}

// A store holds objects and what has happened to them.
type store struct {
	now  func() time.Time
	seen func(event) // is told of each event when it happens, and calls nothing of the store; nil: nobody is

	mu       sync.Mutex
	revision uint64
	tried    uint64                             // how many objects dry runs have made
	objects  map[ref]*unstructured.Unstructured // which nobody changes
	log      []event                            // in order of revision
	oldest   map[*kind]uint64                   // what was before is forgotten
	expired  map[*kind]int                      // how often it was
	kept     *backup
	ahead    time.Duration                // of its clock
	created  map[*kind]map[time.Time]bool // when objects were
	// closed, and forgotten, when something happens to an object of the kind; of nil: of any
	changed map[*kind]chan struct{}
}

func newStore(now func() time.Time) *store {
	return &store{now: now, objects: map[ref]*unstructured.Unstructured{}, changed: map[*kind]chan struct{}{},
		oldest: map[*kind]uint64{}, expired: map[*kind]int{}, created: map[*kind]map[time.Time]bool{},
		revision: 1}
}

// jump has the clock jump by a while.
func (s *store) jump(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ahead += by
}

// stamp is the time that objects are given. mu is held.
func (s *store) stamp() metav1.Time {
	return metav1.NewTime(s.now().Add(s.ahead).Truncate(time.Second))
}

// creation is the time that a new object is given, and no other one of its kind. Of two of one second that goes first
// which precedes by name. Who waits for an operator that is paused may make the later one a second later, and then all
// would end otherwise. mu is held.
func (s *store) creation(k *kind) metav1.Time {
	at := s.stamp().Time
	for s.created[k][at] {
		at = at.Add(time.Second)
	}
	if s.created[k] == nil {
		s.created[k] = map[time.Time]bool{}
	}
	s.created[k][at] = true
	return metav1.NewTime(at)
}

// next is closed when something happens to an object of a kind, or, of nil, of any. mu is held.
func (s *store) next(k *kind) <-chan struct{} {
	if s.changed[k] == nil {
		s.changed[k] = make(chan struct{})
	}
	return s.changed[k]
}

// wake has those look again who wait for objects of a kind. mu is held.
func (s *store) wake(k *kind) {
	for _, k := range []*kind{k, nil} {
		if s.changed[k] != nil {
			close(s.changed[k])
			delete(s.changed, k)
		}
	}
}

// put stores an object, or, if it is nil, forgets it. mu is held.
func (s *store) put(r ref, object *unstructured.Unstructured) {
	before := s.objects[r]
	s.revision++
	if object == nil {
		delete(s.objects, r)
	} else {
		object.SetResourceVersion(strconv.FormatUint(s.revision, 10))
		s.objects[r] = object
		if s.bereft(object) {
			time.AfterFunc(lookDelay, func() { s.collect(r, object.GetUID()) })
		}
	}
	what := event{r, s.revision, s.now(), before, object}
	if s.log = append(s.log, what); s.seen != nil {
		s.seen(what)
	}
	s.wake(r.kind)
}

// remove forgets an object and what it owned, and ends a namespace that nothing is left in. mu is held.
func (s *store) remove(r ref) {
	uid := s.objects[r].GetUID()
	s.put(r, nil)
	for _, other := range s.sorted(func(o ref, object *unstructured.Unstructured) bool {
		return slices.ContainsFunc(object.GetOwnerReferences(), func(owner metav1.OwnerReference) bool {
			return owner.UID == uid
		})
	}) {
		if object := s.objects[other]; object != nil {
			s.disown(other, object)
		}
	}
	s.sweep(r.Namespace)
}

// disown ends an object that has no owner any more, or has it forget those that are gone. mu is held.
func (s *store) disown(r ref, object *unstructured.Unstructured) {
	all := object.GetOwnerReferences()
	left := slices.DeleteFunc(slices.Clone(all), s.lacks)
	switch {
	case len(left) == 0:
		s.end(r)
	case len(left) < len(all):
		after := object.DeepCopy()
		after.SetOwnerReferences(left)
		s.put(r, after)
	}
}

// collect ends an object whose owners are gone, as the garbage collector does: an operator that was stopped has made it
// late.
func (s *store) collect(r ref, uid types.UID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if object := s.objects[r]; object != nil && object.GetUID() == uid && s.bereft(object) {
		s.disown(r, object)
	}
}

// bereft reports whether an object has an owner that is gone. mu is held.
func (s *store) bereft(object *unstructured.Unstructured) bool {
	if object.GetKind() == "Pod" { // ReplicaSets are no objects here
		return false
	}
	return slices.ContainsFunc(object.GetOwnerReferences(), s.lacks)
}

// lacks reports whether an owner is gone. mu is held.
func (s *store) lacks(owner metav1.OwnerReference) bool {
	for _, o := range s.objects {
		if o.GetUID() == owner.UID {
			return false
		}
	}
	return true
}

// end removes an object, or has it wait for its finalizers. mu is held.
func (s *store) end(r ref) {
	object := s.objects[r]
	if r.kind.Kind == "Namespace" && r.kind.Group == "" {
		s.endNamespace(r, object)
		return
	}
	grace := int64(0)
	if r.kind.Kind == "Pod" {
		grace = podGrace
	}
	if len(object.GetFinalizers()) == 0 && grace == 0 {
		s.remove(r)
		return
	}
	if object.GetDeletionTimestamp() != nil {
		return
	}
	ending := object.DeepCopy()
	now := metav1.NewTime(s.stamp().Add(time.Duration(grace) * time.Second))
	ending.SetDeletionTimestamp(&now)
	ending.SetDeletionGracePeriodSeconds(&grace)
	if r.kind.counts() {
		ending.SetGeneration(object.GetGeneration() + 1)
	}
	s.put(r, ending)
}

// endNamespace ends all that is in a namespace, and it when nothing is left. mu is held.
func (s *store) endNamespace(r ref, object *unstructured.Unstructured) {
	if object.GetDeletionTimestamp() == nil {
		ending := object.DeepCopy()
		now := s.stamp()
		ending.SetDeletionTimestamp(&now)
		_ = unstructured.SetNestedField(ending.Object, terminating, "status", "phase") // it is a map, or is not there
		s.put(r, ending)
	}
	for _, other := range s.sorted(func(o ref, _ *unstructured.Unstructured) bool { return o.Namespace == r.Name }) {
		if s.objects[other] != nil {
			s.end(other)
		}
	}
	s.sweep(r.Name)
}

// sweep removes a namespace that is being deleted once nothing is left in it. mu is held.
func (s *store) sweep(namespace string) {
	for r, object := range s.objects {
		if r.kind.Kind != "Namespace" || r.kind.Group != "" || r.Name != namespace || object.GetDeletionTimestamp() == nil {
			continue
		}
		if len(s.sorted(func(o ref, _ *unstructured.Unstructured) bool { return o.Namespace == namespace })) == 0 {
			s.put(r, nil)
		}
		return
	}
}

// sorted are the objects that a test chooses, in the order of a list. mu is held.
func (s *store) sorted(test func(ref, *unstructured.Unstructured) bool) []ref {
	var out []ref
	for r, object := range s.objects {
		if test(r, object) {
			out = append(out, r)
		}
	}
	slices.SortFunc(out, func(a, b ref) int {
		return cmp.Or(compare(a.kind.plural, b.kind.plural), compare(a.Namespace, b.Namespace), compare(a.Name, b.Name))
	})
	return out
}

// namespace returns the object of a namespace, nil if there is none. mu is held.
func (s *store) namespace(name string) *unstructured.Unstructured {
	for r, object := range s.objects {
		if r.kind.Kind == "Namespace" && r.kind.Group == "" && r.Name == name {
			return object
		}
	}
	return nil
}

// uid returns one that no other object has: of those that are stored it is their first revision.
func (s *store) uid(dry bool) types.UID {
	n := s.revision
	if dry {
		s.tried++
		n = 1<<47 + s.tried
	}
	return types.UID(fmt.Sprintf("00000000-0000-4000-8000-%012x", n))
}
