package sources

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/sources"
)

// Between two tries to read a kind pass at least and at most these.
const (
	firstPause = time.Second
	lastPause  = 30 * time.Second
)

// errBeingDeleted is why a kind cannot be read whose definition goes: its objects go with it, and nobody wants that of
// them.
var errBeingDeleted = errors.New("their definition is being deleted")

// A sight is one kind of objects, as far as it can be read. What changes belongs to who has the Controller's state.
type sight struct {
	object     client.Object
	served     client.Object // object, or an earlier version, as the API server has it
	goType     string
	definition string // see definitionOf

	settle  func()          // closes settled
	settled <-chan struct{} // closed when the kind has been read for the first time, or refused
	gone    chan struct{}   // is told when absent grows

	read    bool // all that exists is known, or was when the kind could be read
	missing bool // the API server does not know the kind, and need not
	again   bool // it was read before, and is read once more
	round   int  // how often it was looked at: what comes late of an earlier time does not count
	have    map[types.NamespacedName]client.Object
	absent  map[types.NamespacedName]absence // what is gone, unless its definition is
}

// An absence is the last that was heard of an object: that it is gone, or is being deleted.
type absence struct {
	client.Object
	gone bool
}

func newSight(o client.Object) *sight {
	settled := make(chan struct{})
	return &sight{object: o, served: o, goType: fmt.Sprintf("%T", o), definition: definitionOf(o),
		settle: sync.OnceFunc(func() { close(settled) }), settled: settled, gone: make(chan struct{}, 1),
		have: map[types.NamespacedName]client.Object{}, absent: map[types.NamespacedName]absence{}}
}

// keepInSight follows a kind until ctx ends, again and again where it cannot be read.
func (s *Controller) keepInSight(ctx context.Context, k *sight) {
	for wait, refused := firstPause, 0; ; wait = min(2*wait, lastPause) {
		err := s.see(ctx, k)
		if ctx.Err() != nil {
			return
		}
		if err == nil { // it was read, and its definition goes
			wait, refused, err = firstPause, 0, errBeingDeleted
		}
		if s.missesNothing(k, err) {
			s.Unread(k.goType, nil)
			k.settle()
		} else if message, is := CannotRead(k.goType, s.Sources, err); is {
			_ = s.Cache.RemoveInformer(ctx, k.served) // it would say that it has all
			s.Unread(k.goType, err)
			if refused++; refused == 2 { // once may be a moment
				s.Log.Warn(message)
				k.settle()
			}
		} else {
			s.Log.Warn("objects that ask for names cannot be read yet", "kind", k.goType, "error", err)
		}
		if !controller.Pause(ctx, wait) {
			return
		}
	}
}

// see follows a kind until ctx ends, or its definition goes; the error says why it cannot be read. What a cache has
// without its definition, or by an earlier one, is not all that there is.
func (s *Controller) see(ctx context.Context, k *sight) error {
	definition, err := s.defined(ctx, k)
	if err != nil {
		return err
	}
	if k.served, err = find(k.object, func(o client.Object) error { return s.CatchUp.Try(ctx, o) }); err != nil {
		return err
	}
	informer, err := s.Cache.GetInformer(ctx, k.served, cache.BlockUntilSynced(false))
	if err != nil {
		return fmt.Errorf("watching %s: %w", k.goType, err)
	}
	round := s.begins(k)
	following, err := informer.AddEventHandler(controller.Handler(
		func(_, o client.Object) { s.typed(k, o, func(o client.Object) { s.put(k, round, o) }) },
		func(o client.Object) { s.typed(k, o, func(o client.Object) { s.drop(k, round, o, true) }) }))
	if err != nil {
		return fmt.Errorf("following %s: %w", k.goType, err)
	}
	defer func() { _ = informer.RemoveEventHandler(following) }()
	if !toolscache.WaitForCacheSync(ctx.Done(), following.HasSynced) {
		return ctx.Err()
	}
	if now, err := s.defined(ctx, k); err != nil || now != definition {
		return cmp.Or(err, errBeingDeleted)
	}
	s.saw(ctx, k)
	for {
		select {
		case <-k.gone:
		case <-ctx.Done():
			return nil
		}
		if there := s.believe(ctx, k, definition); !there {
			return nil
		}
	}
}

// find tries to read a kind, and earlier versions of it where the API server does not know that one. It returns what it
// has tried last.
func find(o client.Object, try func(client.Object) error) (client.Object, error) {
	err := try(o)
	for _, before := range earlier(o) {
		if !unknown(err) {
			break
		}
		o, err = before, try(before)
	}
	return o, err
}

// unknown reports whether an API server does not know a kind.
func unknown(err error) bool { return meta.IsNoMatchError(err) || apierrors.IsNotFound(err) }

// missesNothing reports whether a kind cannot be read and need not be.
func (s *Controller) missesNothing(k *sight, err error) bool {
	t, unlock := s.state.Lock()
	defer unlock()
	k.missing = dialect.Optional(resourceOf(k.object)) && unknown(err) && len(k.have) == 0
	return k.missing && !t.inventory.NeedsListenerSets()
}

// typed calls a function for an object of a kind as the inventory knows it, which is of an earlier version perhaps. One
// that cannot be read is as it was.
func (s *Controller) typed(k *sight, o client.Object, do func(client.Object)) {
	if from, is := o.(*unstructured.Unstructured); is {
		o = k.object.DeepCopyObject().(client.Object)
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(from.Object, o); err != nil {
			s.Log.Error("an object that asks for names cannot be read", "kind", k.goType, "object",
				client.ObjectKeyFromObject(from).String(), "error", err)
			return
		}
	}
	do(o)
}

// begins has all objects of a kind count as gone that are not put from now on, and returns the number of the round.
func (s *Controller) begins(k *sight) int {
	_, unlock := s.state.Lock()
	defer unlock()
	k.round, k.again = k.round+1, k.read
	k.absent = map[types.NamespacedName]absence{}
	for key, o := range k.have {
		k.absent[key] = absence{o, true}
	}
	return k.round
}

// defined returns the UID of the definition of a kind; "": it has none, or nobody here may know.
func (s *Controller) defined(ctx context.Context, k *sight) (types.UID, error) {
	if k.definition == "" {
		return "", nil
	}
	var crd metav1.PartialObjectMetadata
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	err := s.CatchUp.Live.Get(ctx, client.ObjectKey{Name: k.definition}, &crd)
	switch {
	case apierrors.IsNotFound(err) || apierrors.IsForbidden(err):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("reading the definition %s: %w", k.definition, err)
	case crd.DeletionTimestamp != nil:
		return "", fmt.Errorf("%s: %w", k.definition, errBeingDeleted)
	}
	return crd.UID, nil
}

// put takes in an object, or another version of it.
func (s *Controller) put(k *sight, round int, o client.Object) {
	if k.definition != "" && o.GetDeletionTimestamp() != nil {
		s.drop(k, round, o, false)
		return
	}
	t, unlock := s.state.Lock()
	defer unlock()
	if round != k.round {
		return
	}
	key := client.ObjectKeyFromObject(o)
	delete(k.absent, key)
	if k.definition != "" {
		k.have[key] = o
	}
	if id, is := t.inventory.IDOf(o); is && k.again && t.held[id] != nil {
		t.held[id].version.UID = o.GetUID() // it is put back, and may have no address yet
	}
	t.look(t.inventory.Put(o))
}

// drop takes in that an object is gone, or is being deleted. One that has a definition may go with that.
func (s *Controller) drop(k *sight, round int, o client.Object, gone bool) {
	t, unlock := s.state.Lock()
	defer unlock()
	if round != k.round {
		return
	}
	if k.definition == "" {
		t.look(t.inventory.Delete(o))
		return
	}
	k.absent[client.ObjectKeyFromObject(o)] = absence{o, gone}
	select {
	case k.gone <- struct{}{}:
	default:
	}
}

// saw takes in that all objects of a kind that exist have been put.
func (s *Controller) saw(ctx context.Context, k *sight) {
	defer k.settle()
	s.Unread(k.goType, nil)
	t, unlock := s.state.Lock()
	t.leave(k, k.absent)
	late, lost := t.ready && !k.read, dialect.LostBy(t.wishes())
	k.read, k.again = k.read || !late, false
	unlock()
	for late {
		written, err := s.written(ctx, lost)
		if err == nil {
			t, unlock := s.state.Lock()
			k.read = true
			t.release(t.begin(t.wishes(), written))
			unlock()
			s.Log.Info("objects that ask for names are read", "kind", k.goType)
			return
		}
		s.Log.Warn("the published records of names without an address cannot be read yet", "error", err)
		if !controller.Pause(ctx, firstPause) {
			return
		}
	}
}

// believe takes in what is gone by now, once it is known that the definition was not what went; false: it was, and
// what there was stays until the kind is read again.
func (s *Controller) believe(ctx context.Context, k *sight, definition types.UID) bool {
	for {
		_, unlock := s.state.Lock()
		absent := maps.Clone(k.absent)
		unlock()
		now, err := s.defined(ctx, k)
		switch {
		case errors.Is(err, errBeingDeleted), err == nil && now != definition:
			return false
		case err == nil:
			t, unlock := s.state.Lock()
			t.leave(k, absent)
			unlock()
			return true
		}
		s.Log.Warn("it is not known yet whether objects, or their definition, are gone", "kind", k.goType, "error", err)
		if !controller.Pause(ctx, firstPause) {
			return true
		}
	}
}

// leave takes in what is gone.
func (t *state) leave(k *sight, absent map[types.NamespacedName]absence) {
	for key, o := range maps.Clone(absent) {
		if k.absent[key] != o {
			continue // it is there again
		}
		delete(k.absent, key)
		if o.gone {
			delete(k.have, key)
			t.look(t.inventory.Delete(o.Object))
			continue
		}
		k.have[key] = o.Object
		t.look(t.inventory.Put(o.Object))
	}
}
