package sim

import (
	"errors"
	"maps"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

// A backup is what an API server had.
type backup struct {
	revision uint64
	objects  map[ref]*unstructured.Unstructured
}

// bump is by how much revisions grow when a backup is restored as etcd's documentation has it (etcdutl snapshot restore
// --bump-revision --mark-compacted): then who watches hears that what it knows is too old.
const bump = 1_000_000

// backUp keeps what there is.
func (s *store) backUp() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = &backup{s.revision, maps.Clone(s.objects)}
}

// restore has the API server come back with the last backup, and returns what is otherwise than it was.
func (a *API) restore(bumped bool) (undone []event, err error) {
	s := a.store
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.kept == nil {
		return nil, errors.New("there is no backup")
	}
	for r, is := range s.objects {
		if was := s.kept.objects[r]; was != is {
			undone = append(undone, event{r, s.revision, s.now(), is, was})
		}
	}
	for r, was := range s.kept.objects {
		if s.objects[r] == nil {
			undone = append(undone, event{r, s.revision, s.now(), nil, was})
		}
	}
	s.objects, s.log = maps.Clone(s.kept.objects), nil
	if bumped {
		s.revision += bump
	} else {
		s.revision = s.kept.revision
	}
	for _, k := range a.kinds.all {
		s.oldest[k] = s.revision
	}
	a.trouble.begun = true // who was the leader may not be, by what the Lease says now
	close(a.trouble.away)
	a.trouble.away = make(chan struct{})
	return undone, nil
}

// expire forgets what has happened to objects of some kinds, and breaks off who watches them.
func (a *API) expire(plural string) {
	s := a.store
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range a.kinds.all {
		if k.plural != plural {
			continue
		}
		s.oldest[k] = s.revision
		s.expired[k]++
		s.wake(k)
	}
}

// errExpired is the answer to who asks for what is forgotten.
func errExpired() *apierrors.StatusError {
	return apierrors.NewResourceExpired("The provided resource version is too old.")
}

// errAhead is the answer to who knows more than there is.
func errAhead() error {
	err := apierrors.NewTimeoutError("Too large resource version", 1)
	err.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: metav1.CauseTypeResourceVersionTooLarge,
		Message: "Too large resource version"}}
	return err
}

// refuse tells who watches that what it asks for is forgotten.
func (f *follower) refuse() error {
	status := errExpired().ErrStatus
	status.Kind, status.APIVersion = "Status", "v1"
	return f.tell(watch.Error, status)
}
