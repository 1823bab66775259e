package sim

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// errModified is what kube-apiserver says of an object that is newer than the one that was changed.
var errModified = errors.New(
	"the object has been modified; please apply your changes to the latest version and try again")

// A write is what a request does to one object.
type write struct {
	ref
	subresource string // "" or "status"
	manager     string // of fields
	force       bool   // takes fields from other managers
	dry         bool
}

// create stores a new object.
func (a *API) create(ctx context.Context, w write,
	object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	if object.GetName() == "" && object.GetGenerateName() != "" {
		object.SetName(fmt.Sprintf("%s%05x", object.GetGenerateName(), a.store.revision))
	}
	w.Name = object.GetName()
	if err := w.named(object); err != nil {
		return nil, err
	}
	return a.make(ctx, w, object)
}

// make makes an object of what somebody wants. store.mu is held.
func (a *API) make(ctx context.Context, w write,
	object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	w.kind.decoded(object)
	object = w.managed(&unstructured.Unstructured{Object: map[string]any{"apiVersion": object.GetAPIVersion(),
		"kind": object.GetKind()}}, object)
	if err := a.add(ctx, w, object); err != nil {
		return nil, err
	}
	return object, nil
}

// add stores an object that is new. store.mu is held.
func (a *API) add(ctx context.Context, w write, object *unstructured.Unstructured) error {
	if err := a.room(w); err != nil {
		return err
	}
	object.SetUID(a.store.uid(w.dry))
	object.SetCreationTimestamp(a.store.creation(w.kind))
	object.SetDeletionTimestamp(nil)
	if w.kind.hasStatus {
		delete(object.Object, "status")
	}
	if w.kind.counts() {
		object.SetGeneration(1)
	}
	if errs := w.kind.admit(ctx, object); len(errs) > 0 {
		return apierrors.NewInvalid(w.kind.GroupKind(), w.Name, errs)
	}
	switch {
	case object.GetResourceVersion() != "" && !w.dry:
		return errors.New("resourceVersion should not be set on objects to be created")
	case a.store.objects[w.ref] != nil:
		return apierrors.NewAlreadyExists(w.kind.resource(), w.Name)
	}
	if !w.dry {
		a.store.put(w.ref, object)
	}
	return nil
}

// named fails if an object is not the one that the URL names, and makes its metadata what they are stored as.
func (w write) named(object *unstructured.Unstructured) error {
	switch namespace := object.GetNamespace(); {
	case namespace != "" && w.Namespace != "" && namespace != w.Namespace:
		return apierrors.NewBadRequest(
			"the namespace of the provided object does not match the namespace sent on the request")
	case object.GetName() != w.Name:
		return apierrors.NewBadRequest(fmt.Sprintf(
			"the name of the object (%s) does not match the name on the URL (%s)", object.GetName(), w.Name))
	}
	object.SetNamespace(w.Namespace)
	metadata, _ := object.Object["metadata"].(map[string]any) // it has a name
	for _, field := range []string{"finalizers", "ownerReferences"} {
		if list, ok := metadata[field].([]any); ok && len(list) == 0 { // it is not there
			delete(metadata, field)
		}
	}
	return nil
}

// room says why nothing can be made in a namespace. store.mu is held.
func (a *API) room(w write) error {
	if !w.kind.namespaced {
		return nil
	}
	namespace := a.store.namespace(w.Namespace)
	if namespace == nil {
		return apierrors.NewNotFound(corev1.Resource("namespaces"), w.Namespace)
	}
	if namespace.GetDeletionTimestamp() == nil {
		return nil
	}
	err := apierrors.NewForbidden(w.kind.resource(), w.Name, fmt.Errorf(
		"unable to create new content in namespace %s because it is being terminated", w.Namespace))
	err.ErrStatus.Details.Causes = append(err.ErrStatus.Details.Causes, metav1.StatusCause{
		Type: corev1.NamespaceTerminatingCause, Message: fmt.Sprintf("namespace %s is being terminated", w.Namespace),
		Field: "metadata.namespace",
	})
	return err
}

// update puts an object in the place of another.
func (a *API) update(ctx context.Context, w write,
	object *unstructured.Unstructured) (after *unstructured.Unstructured, made bool, err error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	if err := w.named(object); err != nil {
		return nil, false, err
	}
	before := a.store.objects[w.ref]
	made = before == nil && w.kind.Kind == "Lease" // of which an update may be the first that there is
	switch {
	case made:
		before = &unstructured.Unstructured{Object: map[string]any{}}
	case before == nil:
		return nil, false, apierrors.NewNotFound(w.kind.resource(), w.Name)
	}
	if u := object.GetUID(); u != "" && u != before.GetUID() {
		return nil, false, apierrors.NewConflict(w.kind.resource(), w.Name, fmt.Errorf(
			"precondition failed: UID in precondition: %s, UID in object meta: %s", u, before.GetUID()))
	}
	if made {
		object.SetResourceVersion("")
		after, err = a.make(ctx, w, object)
		return after, made, err
	}
	after, err = a.replace(ctx, w, before, object)
	return after, false, err
}

// patch changes an object by a patch of one of the types that there are, but for strategic ones. An object that is
// applied may be made.
func (a *API) patch(ctx context.Context, w write, kind types.PatchType,
	body []byte) (after *unstructured.Unstructured, made bool, err error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	before := a.store.objects[w.ref]
	if kind == types.ApplyPatchType {
		after, err = a.apply(ctx, w, before, body)
		return after, before == nil, err
	}
	after, err = a.change(ctx, w, kind, body)
	return after, false, err
}

// change changes an object by a patch. store.mu is held.
func (a *API) change(ctx context.Context, w write, kind types.PatchType,
	body []byte) (*unstructured.Unstructured, error) {
	before := a.store.objects[w.ref]
	if before == nil {
		return nil, apierrors.NewNotFound(w.kind.resource(), w.Name)
	}
	after := &unstructured.Unstructured{}
	switch kind {
	case types.MergePatchType:
		var patch map[string]any
		if err := utiljson.Unmarshal(body, &patch); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		after.Object = merged(atopOf(before).Object, patch)
	case types.JSONPatchType:
		patch, err := jsonpatch.DecodePatch(body)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		document, err := before.MarshalJSON()
		if err != nil {
			return nil, apierrors.NewInternalError(err)
		}
		if document, err = patch.Apply(document); err != nil {
			return nil, apierrors.NewGenericServerResponse(422, "", w.kind.resource(), w.Name, err.Error(), 0, false)
		}
		if err := after.UnmarshalJSON(document); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
	default:
		return nil, apierrors.NewGenericServerResponse(415, "", w.kind.resource(), w.Name, fmt.Sprintf(
			"patches of the type %s are not taken", kind), 0, false)
	}
	if _, _, err := objectmeta.GetObjectMeta(after.Object, false); err != nil {
		return nil, apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{
			field.Invalid(field.NewPath("patch"), "", err.Error())})
	}
	if err := w.named(after); err != nil {
		return nil, err
	}
	return a.replace(ctx, w, before, after)
}

// merged is an object that a merge patch (RFC 7396) has changed. It shares with the object what it has not.
func merged(object, patch map[string]any) map[string]any {
	if object = maps.Clone(object); object == nil {
		object = map[string]any{}
	}
	for key, value := range patch {
		inner, isMap := value.(map[string]any)
		switch {
		case value == nil:
			delete(object, key)
		case isMap:
			before, _ := object[key].(map[string]any)
			object[key] = merged(before, inner)
		default:
			object[key] = value
		}
	}
	return object
}

// apply is server-side apply. store.mu is held.
func (a *API) apply(ctx context.Context, w write, before *unstructured.Unstructured,
	body []byte) (*unstructured.Unstructured, error) {
	applied, err := a.decode(body, "application/yaml")
	if err != nil {
		return nil, err
	}
	fields := w.kind.fields(w.subresource)
	if fields == nil || w.manager == "" {
		return nil, apierrors.NewBadRequest(
			"objects of this kind are not applied here, and none without the name of a field manager")
	}
	live := before
	if live == nil {
		if w.subresource != "" {
			return nil, apierrors.NewNotFound(w.kind.resource(), w.Name)
		}
		live = &unstructured.Unstructured{}
		live.SetGroupVersionKind(w.kind.GroupVersionKind)
		live.SetName(w.Name)
		live.SetNamespace(w.Namespace)
	}
	merged, err := fields.Apply(live.DeepCopy(), applied, w.manager, w.force)
	if err != nil {
		return nil, err
	}
	after := merged.(*unstructured.Unstructured)
	if uid := after.GetUID(); uid != "" && before == nil {
		return nil, apierrors.NewConflict(w.kind.resource(), w.Name, fmt.Errorf(
			"uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := w.named(after); err != nil {
		return nil, err
	}
	w.kind.complete(after)
	if before != nil {
		return a.replaceManaged(ctx, w, before, after)
	}
	if err := a.add(ctx, w, after); err != nil {
		return nil, err
	}
	return after, nil
}

// replace puts an object in the place of another, and notes who set what. store.mu is held.
func (a *API) replace(ctx context.Context, w write, before,
	after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	w.kind.decoded(after)
	return a.replaceManaged(ctx, w, before, w.managed(before, after))
}

// atopOf returns an object that has its own metadata, and shares everything else, which nobody changes that is stored.
func atopOf(object *unstructured.Unstructured) *unstructured.Unstructured {
	out := &unstructured.Unstructured{Object: maps.Clone(object.Object)}
	if metadata, ok := object.Object["metadata"].(map[string]any); ok {
		out.Object["metadata"] = maps.Clone(metadata)
	}
	return out
}

// keep has an object keep what a request of this kind does not change.
func (w write) keep(before, after *unstructured.Unstructured) {
	if w.subresource == "status" {
		status, ok := after.Object["status"]
		fields := after.GetManagedFields()
		clear(after.Object)
		maps.Copy(after.Object, atopOf(before).Object)
		after.SetManagedFields(fields)
		if delete(after.Object, "status"); ok {
			after.Object["status"] = status
		}
		return
	}
	if w.kind.hasStatus {
		status, ok := before.Object["status"]
		if delete(after.Object, "status"); ok {
			after.Object["status"] = status
		}
	}
	if after.GetUID() == "" {
		after.SetUID(before.GetUID())
	}
	after.SetResourceVersion(before.GetResourceVersion())
	after.SetCreationTimestamp(before.GetCreationTimestamp())
	after.SetDeletionTimestamp(before.GetDeletionTimestamp())
	after.SetDeletionGracePeriodSeconds(before.GetDeletionGracePeriodSeconds())
	after.SetGeneration(before.GetGeneration())
}

// replaceManaged stores an object whose managed fields are right. store.mu is held.
func (a *API) replaceManaged(ctx context.Context, w write, before,
	after *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	switch version := after.GetResourceVersion(); {
	case version == "" && !w.kind.unconditional():
		return nil, apierrors.NewInvalid(w.kind.GroupKind(), w.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "resourceVersion"), uint64(0), "must be specified for an update"),
		})
	case version != "" && version != before.GetResourceVersion():
		return nil, apierrors.NewConflict(w.kind.resource(), w.Name, errModified)
	}
	w.keep(before, after)
	if errs := w.kind.admitUpdate(ctx, w.subresource, after, before); len(errs) > 0 {
		return nil, apierrors.NewInvalid(w.kind.GroupKind(), w.Name, errs)
	}
	if w.subresource == "" && w.kind.counts() &&
		!reflect.DeepEqual(wanted(before, w.kind.hasStatus), wanted(after, w.kind.hasStatus)) {
		after.SetGeneration(before.GetGeneration() + 1)
	}
	if w.dry || same(before, after) {
		return after, nil
	}
	if after.GetDeletionTimestamp() != nil && len(after.GetFinalizers()) == 0 {
		a.store.remove(w.ref) // who watches is told of it as it was stored
		return after, nil
	}
	a.store.put(w.ref, after)
	return after, nil
}

// wanted is what of an object its generation counts.
func wanted(object *unstructured.Unstructured, hasStatus bool) map[string]any {
	out := map[string]any{}
	for key, value := range object.Object {
		if key != "metadata" && (key != "status" || !hasStatus) {
			out[key] = value
		}
	}
	return out
}

// same reports whether nothing but times of managed fields differs: then nothing is stored.
func same(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(timeless(a), timeless(b))
}

// timeless is an object without its revision and the times of managed fields; it shares all else with the object.
func timeless(object *unstructured.Unstructured) map[string]any {
	out := maps.Clone(object.Object)
	metadata, _, _ := unstructured.NestedFieldNoCopy(object.Object, "metadata")
	fields, ok := metadata.(map[string]any)
	if !ok {
		return out
	}
	fields = maps.Clone(fields)
	delete(fields, "resourceVersion")
	if managed, ok := fields["managedFields"].([]any); ok {
		managed = slices.Clone(managed)
		for i, one := range managed {
			if entry, ok := one.(map[string]any); ok {
				managed[i] = maps.Clone(entry)
				delete(managed[i].(map[string]any), "time")
			}
		}
		fields["managedFields"] = managed
	}
	out["metadata"] = fields
	return out
}

// managed notes who set which fields. If it cannot, nobody has set any from then on.
func (w write) managed(before, after *unstructured.Unstructured) *unstructured.Unstructured {
	fields := w.kind.fields(w.subresource)
	if fields == nil {
		return after
	}
	out, err := fields.Update(before, after, w.manager)
	if err != nil { // a value is of a wrong type, or will be
		after.SetManagedFields(nil)
		return after
	}
	return out.(*unstructured.Unstructured)
}

// remove deletes an object. It returns it if it has to wait for its finalizers, and else what says that it is gone.
func (a *API) remove(r ref, options *metav1.DeleteOptions) (*unstructured.Unstructured, error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	object := a.store.objects[r]
	if object == nil {
		return nil, apierrors.NewNotFound(r.kind.resource(), r.Name)
	}
	if p := options.Preconditions; p != nil {
		if p.UID != nil && *p.UID != object.GetUID() ||
			p.ResourceVersion != nil && *p.ResourceVersion != object.GetResourceVersion() {
			text, _ := json.Marshal(p)
			return nil, apierrors.NewConflict(r.kind.resource(), r.Name, fmt.Errorf("precondition failed: %s", text))
		}
	}
	a.store.end(r)
	if left := a.store.objects[r]; left != nil {
		return left, nil
	}
	return gone(), nil
}

// gone says that something was deleted.
func gone() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Status", "status": "Success"}}
}
