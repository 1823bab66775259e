package bindy

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// A result says what came of an apply.
type result int

const (
	unchanged result = iota // nothing was to be done, and nothing was written
	created
	updated
	ending // the object is being deleted; its end is an event, and then it is made anew
)

// An applier brings children to what is wanted, by server-side apply. It writes only what changes something: the API
// server would take an apply that changes nothing for a request all the same.
type applier struct {
	objects *objects.Writer
	live    client.Reader // asks the API server

	mu      sync.Mutex
	applied map[objectID]applied
}

type objectID struct {
	schema.GroupKind
	client.ObjectKey
}

// applied is what the API server made of our last apply of an object.
type applied struct {
	hash    string
	uid     types.UID
	version uint64
}

// apply brings an object to what is wanted of it. With an owner, the object is controlled by it; one that somebody else
// controls is left alone, with a *NotOwnedError. Typed objects and unstructured ones are taken. Secrets are asked for
// at the API server, for only their metadata are in the cache.
func (a *applier) apply(ctx context.Context, owner, desired client.Object) (result, error) {
	w, err := a.wanted(owner, desired)
	if err != nil {
		return unchanged, err
	}
	live, err := a.read(ctx, w)
	if err != nil {
		return unchanged, err
	}
	what := created
	if live != nil {
		what = updated
		if !live.GetDeletionTimestamp().IsZero() {
			return ending, nil // whosever it is
		}
		if err := mayTake(owner, live, w); err != nil {
			return unchanged, err
		}
		if goes, err := a.lostToItsEnd(ctx, owner, live); goes || err != nil {
			return unchanged, err // which is an event
		}
		same, err := a.same(live, w)
		if same || err != nil {
			return unchanged, err
		}
		w.object.SetUID(live.GetUID()) // or a conflict: not one that somebody made in its place meanwhile
	}
	if err := a.write(ctx, w); err != nil {
		return unchanged, err
	}
	return what, nil
}

// wanted is an object as it is sent.
type wanted struct {
	id     objectID
	gvk    schema.GroupVersionKind
	object *unstructured.Unstructured
	hash   string
}

func (w wanted) String() string { return dialect.Describe(w.gvk.Kind, w.id.ObjectKey) }

// wanted makes what is sent: without status and nulls, which belong to others.
func (a *applier) wanted(owner, desired client.Object) (wanted, error) {
	gvk, err := a.objects.Client.GroupVersionKindFor(desired)
	if err != nil {
		return wanted{}, fmt.Errorf("finding the kind of %T: %w", desired, err)
	}
	w := wanted{gvk: gvk, id: objectID{gvk.GroupKind(), client.ObjectKeyFromObject(desired)}}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(desired)
	if err != nil {
		return w, fmt.Errorf("encoding %s: %w", w, err)
	}
	delete(content, "status")
	dropNulls(content)
	w.object = &unstructured.Unstructured{Object: content}
	w.object.SetGroupVersionKind(gvk)
	for _, field := range []string{"creationTimestamp", "managedFields", "resourceVersion", "generation", "uid"} {
		unstructured.RemoveNestedField(content, "metadata", field)
	}
	if owner != nil {
		ref, err := ownerReference(a.objects.Client, owner)
		if err != nil {
			return w, err
		}
		w.object.SetOwnerReferences([]metav1.OwnerReference{ref})
	}
	text, err := json.Marshal(content)
	if err != nil {
		return w, fmt.Errorf("encoding %s: %w", w, err)
	}
	sum := sha256.Sum256(text)
	w.hash = hex.EncodeToString(sum[:16])
	annotations := w.object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[v1beta1.AppliedAnnotation] = w.hash // by it we notice what we do not want any more
	w.object.SetAnnotations(annotations)
	return w, nil
}

// dropNulls removes what typed objects say of fields that nobody set: to apply null is to ask for nothing.
func dropNulls(m map[string]any) {
	for k, v := range m {
		switch v := v.(type) {
		case nil:
			delete(m, k)
		case map[string]any:
			dropNulls(v)
		case []any:
			for _, e := range v {
				if e, ok := e.(map[string]any); ok {
					dropNulls(e)
				}
			}
		}
	}
}

// read returns the object as it is, nil if there is none. The cache is asked first; the API server, when the cache has
// none (it lags behind, or the object lost the label that the cache selects by) or only one from before our last write.
func (a *applier) read(ctx context.Context, w wanted) (client.Object, error) {
	if w.gvk.GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		object, err := a.get(ctx, a.objects.Client, w)
		if err != nil {
			return nil, err
		}
		if object != nil && a.objects.Behind(object) == nil {
			return object, nil
		}
	}
	object, err := a.get(ctx, a.live, w)
	if object == nil && err == nil {
		a.forget(w.id)
	}
	return object, err
}

func (a *applier) get(ctx context.Context, from client.Reader, w wanted) (client.Object, error) {
	blank, err := a.objects.Client.Scheme().New(w.gvk)
	if err != nil {
		return nil, fmt.Errorf("making an empty %s: %w", w.gvk.Kind, err)
	}
	object, ok := blank.(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", blank)
	}
	err = from.Get(ctx, w.id.ObjectKey, object)
	if apierrors.IsNotFound(err) {
		return nil, nil //nolint:nilnil // none is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", w, err)
	}
	return object, nil
}

// same reports whether applying would change nothing: the hash is that of last time, and every wanted field is as
// wanted.
func (a *applier) same(live client.Object, w wanted) (bool, error) {
	if last := a.last(w.id); last.hash == w.hash && last.uid == live.GetUID() && last.version == objects.Version(live) {
		return true, nil // the very answer to our last apply, whatever the API server made of the fields
	}
	if live.GetAnnotations()[v1beta1.AppliedAnnotation] != w.hash {
		return false, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return false, fmt.Errorf("reading the fields of %s: %w", w, err)
	}
	// what came from a cache may lack them
	content["apiVersion"], content["kind"] = w.object.GetAPIVersion(), w.object.GetKind()
	s := workload()
	if w.gvk.Group == v1beta1.GroupVersion.Group {
		s = custom()
	}
	return s.holds(content, w.object.Object, "", ""), nil
}

func (a *applier) write(ctx context.Context, w wanted) error {
	if _, err := a.objects.Apply(ctx, w.object, "apply", w.object); err != nil {
		return err
	}
	a.remember(w.id, applied{hash: w.hash, uid: w.object.GetUID(), version: objects.Version(w.object)})
	return nil
}

func (a *applier) remember(id objectID, what applied) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.applied == nil {
		a.applied = map[objectID]applied{}
	}
	a.applied[id] = what
}

func (a *applier) last(id objectID) applied {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.applied[id]
}

func (a *applier) forget(id objectID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.applied, id)
}

// remove deletes an object if the owner controls it, this very one, and reports whether it did. One that is gone, or on
// its way, or somebody else's is left alone.
func (a *applier) remove(ctx context.Context, owner, object client.Object) (bool, error) {
	if !metav1.IsControlledBy(object, owner) || !object.GetDeletionTimestamp().IsZero() {
		return false, nil
	}
	gvk, err := a.objects.Client.GroupVersionKindFor(object)
	if err != nil {
		return false, fmt.Errorf("finding the kind of %T: %w", object, err)
	}
	err = a.objects.Delete(ctx, object)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a.forget(objectID{gvk.GroupKind(), client.ObjectKeyFromObject(object)})
	return true, nil
}
