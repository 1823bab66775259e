package objects

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/guarded"
)

// A Result says what came of an apply.
type Result int

// What can come of it.
const (
	Unchanged Result = iota // nothing was to be done, and nothing was written
	Created
	Updated
	Ending // the object is being deleted; its end is an event, and then it is made anew
)

// An Applier brings children to what is wanted, by server-side apply. It writes only what changes something: the API
// server would take an apply that changes nothing for a request all the same.
type Applier struct {
	Writer     *Writer
	Live       client.Reader // asks the API server
	Annotation string        // of each child: the hash of what was applied last
	Custom     string        // the group of the kinds whose specs are atomic
	// Takes reports whether a child that nobody controls may be taken: it has lost its owner, or is as it is wanted.
	Takes func(live client.Object, want *unstructured.Unstructured) bool

	applied guarded.Value[map[objectID]applied]
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

// Apply brings an object to what is wanted of it. With an owner, the object is controlled by it; one that somebody else
// controls is left alone, with a *NotOwnedError. Typed objects and unstructured ones are taken. Secrets are asked for
// at the API server, for only their metadata are in the cache.
func (a *Applier) Apply(ctx context.Context, owner, desired client.Object) (Result, error) {
	w, err := a.wanted(owner, desired)
	if err != nil {
		return Unchanged, err
	}
	live, err := a.read(ctx, w)
	if err != nil {
		return Unchanged, err
	}
	if live == nil {
		if err := a.write(ctx, w); err != nil {
			return Unchanged, err
		}
		return Created, nil
	}
	return a.update(ctx, owner, live, w)
}

// Replace is Apply to the very version of an object that was read; live is nil if there was none. An object that has
// changed since, or that somebody has made, is a conflict, and nothing is written. It returns the answer too, which is
// nil where there is none.
func (a *Applier) Replace(ctx context.Context, owner, live, desired client.Object) (Result, *unstructured.Unstructured,
	error) {
	w, err := a.wanted(owner, desired)
	if err != nil {
		return Unchanged, nil, err
	}
	if live == nil {
		if err := a.create(ctx, w); err != nil {
			return Unchanged, nil, err
		}
		return Created, w.object, nil
	}
	w.object.SetResourceVersion(live.GetResourceVersion())
	what, err := a.update(ctx, owner, live, w)
	if err != nil || what != Updated {
		return what, nil, err
	}
	return what, w.object, nil
}

// Same reports whether Apply would change nothing of an object.
func (a *Applier) Same(owner, live, desired client.Object) (bool, error) {
	w, err := a.wanted(owner, desired)
	if err != nil {
		return false, err
	}
	return a.same(live, w)
}

// Hash is what the annotation of an object will be when it is as it is wanted.
func (a *Applier) Hash(owner, desired client.Object) (string, error) {
	w, err := a.wanted(owner, desired)
	return w.hash, err
}

// update brings a live object to what is wanted, if it is ours.
func (a *Applier) update(ctx context.Context, owner, live client.Object, w wanted) (Result, error) {
	if !live.GetDeletionTimestamp().IsZero() {
		return Ending, nil // whosever it is
	}
	if err := a.mayTake(owner, live, w); err != nil {
		return Unchanged, err
	}
	if goes, err := a.lostToItsEnd(ctx, owner, live); goes || err != nil {
		return Unchanged, err // which is an event
	}
	if same, err := a.same(live, w); same || err != nil {
		return Unchanged, err
	}
	w.object.SetUID(live.GetUID()) // or a conflict: not one that somebody made in its place meanwhile
	if err := a.write(ctx, w); err != nil {
		return Unchanged, err
	}
	return Updated, nil
}

// wanted is an object as it is sent.
type wanted struct {
	id     objectID
	gvk    schema.GroupVersionKind
	object *unstructured.Unstructured
	hash   string
}

func (w wanted) String() string { return named(w.gvk.Kind, w.id.ObjectKey) }

// wanted makes what is sent: without status and nulls, which belong to others.
func (a *Applier) wanted(owner, desired client.Object) (wanted, error) {
	gvk, err := a.Writer.Client.GroupVersionKindFor(desired)
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
		ref, err := a.ownerReference(owner)
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
	annotations[a.Annotation] = w.hash // by it we notice what we do not want any more
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
func (a *Applier) read(ctx context.Context, w wanted) (client.Object, error) {
	if w.gvk.GroupKind() != (schema.GroupKind{Kind: "Secret"}) {
		object, err := a.get(ctx, a.Writer.Client, w)
		if err != nil {
			return nil, err
		}
		if object != nil && a.Writer.Behind(object) == nil {
			return object, nil
		}
	}
	object, err := a.get(ctx, a.Live, w)
	if object == nil && err == nil {
		a.forget(w.id)
	}
	return object, err
}

func (a *Applier) get(ctx context.Context, from client.Reader, w wanted) (client.Object, error) {
	blank, err := a.Writer.Client.Scheme().New(w.gvk)
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
func (a *Applier) same(live client.Object, w wanted) (bool, error) {
	if last := a.last(w.id); last.hash == w.hash && last.uid == live.GetUID() && last.version == Version(live) {
		return true, nil // the very answer to our last apply, whatever the API server made of the fields
	}
	if live.GetAnnotations()[a.Annotation] != w.hash {
		return false, nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(live)
	if err != nil {
		return false, fmt.Errorf("reading the fields of %s: %w", w, err)
	}
	// what came from a cache may lack them
	content["apiVersion"], content["kind"] = w.object.GetAPIVersion(), w.object.GetKind()
	shape := Builtin()
	if w.gvk.Group == a.Custom {
		shape = Custom()
	}
	return shape.holds(content, w.object.Object, "", ""), nil
}

func (a *Applier) write(ctx context.Context, w wanted) error {
	if _, err := a.Writer.Apply(ctx, w.object, "apply", w.object); err != nil {
		return err
	}
	a.remember(w)
	return nil
}

// create makes an object that must not exist: an apply would take one that another operator has just made.
func (a *Applier) create(ctx context.Context, w wanted) error {
	err := a.Writer.Create(ctx, w.object)
	if apierrors.IsAlreadyExists(err) {
		return apierrors.NewConflict(schema.GroupResource{Group: w.gvk.Group, Resource: w.gvk.Kind}, w.id.Name, err)
	}
	if err != nil {
		return err
	}
	a.remember(w)
	return nil
}

// remember notes the answer to an apply.
func (a *Applier) remember(w wanted) {
	all, unlock := a.applied.Lock()
	defer unlock()
	if *all == nil {
		*all = map[objectID]applied{}
	}
	(*all)[w.id] = applied{hash: w.hash, uid: w.object.GetUID(), version: Version(w.object)}
}

func (a *Applier) last(id objectID) applied {
	all, unlock := a.applied.Lock()
	defer unlock()
	return (*all)[id]
}

// Forget forgets an object that is not there any more.
func (a *Applier) Forget(kind schema.GroupKind, key client.ObjectKey) { a.forget(objectID{kind, key}) }

func (a *Applier) forget(id objectID) {
	all, unlock := a.applied.Lock()
	defer unlock()
	delete(*all, id)
}

// Remove deletes an object if the owner controls it, this very one, and reports whether it did. One that is gone, or on
// its way, or somebody else's is left alone.
func (a *Applier) Remove(ctx context.Context, owner, object client.Object) (bool, error) {
	if !metav1.IsControlledBy(object, owner) || !object.GetDeletionTimestamp().IsZero() {
		return false, nil
	}
	gvk, err := a.Writer.Client.GroupVersionKindFor(object)
	if err != nil {
		return false, fmt.Errorf("finding the kind of %T: %w", object, err)
	}
	err = a.Writer.Delete(ctx, object)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	a.forget(objectID{gvk.GroupKind(), client.ObjectKeyFromObject(object)})
	return true, nil
}
