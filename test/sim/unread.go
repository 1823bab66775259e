package sim

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// errHidden is why objects cannot be read.
var errHidden = errors.New("the right to read them is gone")

// hide has a kind not be read until a time, and who watches it be told of no more. store.mu is held.
func (a *API) hide(plural string, until time.Time) {
	if a.trouble.unread == nil {
		a.trouble.unread = map[string]time.Time{}
	}
	a.trouble.unread[plural] = until
	a.interrupt()
}

// interrupt ends all watches. store.mu is held.
func (a *API) interrupt() {
	close(a.trouble.away)
	a.trouble.away = make(chan struct{})
}

// about understands a request, and returns whether it is for objects.
func (a *API) about(r *http.Request) (q request, is bool) {
	if discovers(r) {
		return q, false
	}
	q, err := a.read(r, strings.Split(strings.Trim(r.URL.Path, "/"), "/"))
	return q, err == nil
}

// hides reports whether a request is to read what cannot be read for a while.
func (a *API) hides(r *http.Request, t trouble, now time.Time) bool {
	if len(t.unread) == 0 || r.Method != http.MethodGet {
		return false
	}
	q, is := a.about(r)
	return is && now.Before(t.unread[q.kind.plural])
}

// lacks reports whether a request is for objects of a kind that is not defined.
func (a *API) lacks(r *http.Request, t trouble) bool {
	if len(t.lacking) == 0 {
		return false
	}
	q, is := a.about(r)
	return is && t.lacking[q.kind.plural]
}

// define has the definition of a kind be deleted, or applied again, when there are no objects yet.
func (w *World) define(plural string, again bool) error {
	k := w.api.kinds.all[0]
	for _, one := range w.api.kinds.all {
		if one.plural == plural {
			k = one
		}
	}
	if k.custom == nil {
		return fmt.Errorf("nothing defines %s", plural)
	}
	definitions := w.api.kinds.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	r := ref{definitions, types.NamespacedName{Name: k.custom.definition.GetName()}}
	if !again {
		w.api.undefine(k, r)
		return nil
	}
	s := w.api.store
	s.mu.Lock()
	defer s.mu.Unlock()
	object := atopOf(k.custom.definition)
	object.SetUID(s.uid(false))
	s.put(r, object)
	delete(w.api.trouble.lacking, plural)
	return nil
}

// undefine deletes a definition: first it is being deleted, then all objects are gone, then it is, and with it the API.
func (a *API) undefine(k *kind, definition ref) {
	s := a.store
	s.mu.Lock()
	ending := s.objects[definition].DeepCopy()
	now := s.stamp()
	ending.SetDeletionTimestamp(&now)
	s.put(definition, ending)
	for _, r := range s.sorted(func(r ref, _ *unstructured.Unstructured) bool { return r.kind == k }) {
		s.end(r)
	}
	s.mu.Unlock()
	<-time.After(time.Second)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(definition)
	if a.trouble.lacking == nil {
		a.trouble.lacking = map[string]bool{}
	}
	a.trouble.lacking[k.plural] = true
	a.interrupt()
}
