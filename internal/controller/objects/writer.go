package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/guarded"
)

// Manager is the field manager of everything that the operator writes.
const Manager = "zonefold"

// ErrNotLeading says that nothing was written: another operator may lead by now, and writes what is to be written.
var ErrNotLeading = errors.New("another operator may lead now; nothing is written")

// NothingWritten reports whether an error of a Writer says that nothing was written. After others, such as that nobody
// has answered, what was to be written may be stored.
func NothingWritten(err error) bool {
	return errors.Is(err, ErrNotLeading) || errors.As(err, new(*Behind)) || errors.As(err, new(*Contested)) ||
		apierrors.IsConflict(err) || apierrors.IsInvalid(err) || apierrors.IsNotFound(err)
}

// Refused reports whether a right, a policy or the schema is against a write, which is refused until somebody changes
// that.
func Refused(err error) bool {
	return apierrors.IsInvalid(err) || apierrors.IsForbidden(err) || apierrors.IsBadRequest(err)
}

// A Writer writes to the cluster while its operator leads. It knows the last write of every object that exists, and
// whether the cache has it: whoever follows objects calls Saw and Forget.
type Writer struct {
	Client client.Client
	Leads  func() bool             // whether nobody else can have become the leader; nil: nobody else ever does
	Wrote  func(kind, what string) // counts writes
	Now    func() time.Time

	writes   writes
	contests guarded.Value[contests]
}

// ChangeStatus makes the status of an object, which was read with one status, another one: what differs is written,
// once, and to nothing but the very version that was read. It returns the object as it is then, with its metadata alone
// if anything was written. The error is a *Behind, a *Contested, ErrNotLeading or the API server's; a conflict means
// that a newer version is on its way.
func (w *Writer) ChangeStatus(ctx context.Context, read client.Object, status, wanted any) (client.Object, error) {
	if err := w.Behind(read); err != nil {
		return nil, err
	}
	changes, err := Differences(status, wanted)
	if err != nil {
		return nil, fmt.Errorf("comparing the status of %s/%s: %w", read.GetNamespace(), read.GetName(), err)
	}
	if len(changes) == 0 {
		return read, nil
	}
	if err := w.contested(read); err != nil {
		return nil, err
	}
	return w.Change(ctx, read, "status", changes)
}

// Change changes one field of an object, such as "metadata", by a JSON merge patch (RFC 7386): what that leaves out
// stays as it is. It is ChangeStatus otherwise.
func (w *Writer) Change(ctx context.Context, read client.Object, field string, changes any) (client.Object, error) {
	return w.ChangeFields(ctx, read, field, map[string]any{field: changes})
}

// ChangeFields is Change for several fields at once, of which what names the main one.
func (w *Writer) ChangeFields(ctx context.Context, read client.Object, what string,
	changes map[string]any) (client.Object, error) {
	if err := w.Behind(read); err != nil {
		return nil, err
	}
	body, metadata := maps.Clone(changes), map[string]any{}
	if of, ok := changes["metadata"].(map[string]any); ok {
		maps.Copy(metadata, of)
	}
	metadata["uid"], metadata["resourceVersion"] = read.GetUID(), read.GetResourceVersion()
	body["metadata"] = metadata
	return w.send(ctx, message{of: read, what: what, kind: types.MergePatchType, body: body})
}

// SetFinalizer puts a finalizer on an object, or takes it off; others' stay. It is ChangeStatus otherwise.
func (w *Writer) SetFinalizer(ctx context.Context, read client.Object, finalizer string, on bool) (client.Object,
	error) {
	list := slices.Clone(read.GetFinalizers())
	switch there := slices.Contains(list, finalizer); {
	case there == on:
		return read, nil
	case on:
		list = append(list, finalizer)
	default:
		list = slices.DeleteFunc(list, func(f string) bool { return f == finalizer })
	}
	return w.Change(ctx, read, "metadata", map[string]any{"finalizers": list})
}

// Finalize is SetFinalizer for an object that is the caller's own: it then has the finalizers and the version that were
// written. That the object is gone is no error if it is to lose a finalizer. If it is to get one, nothing holds it.
func (w *Writer) Finalize(ctx context.Context, own client.Object, finalizer string, on bool) error {
	got, err := w.SetFinalizer(ctx, own, finalizer, on)
	if apierrors.IsNotFound(err) && !on {
		return nil
	}
	if err != nil {
		return err
	}
	own.SetFinalizers(got.GetFinalizers())
	own.SetResourceVersion(got.GetResourceVersion())
	return nil
}

// Swap puts a value in the place of another one in the status of an object, whatever its version: nil stands for none.
// That another value is there is an error that apierrors.IsInvalid knows, as is that the object has no status.
func (w *Writer) Swap(ctx context.Context, o client.Object, path string, known, value any) error {
	type operation struct { // of a JSON patch (RFC 6902)
		Op    string `json:"op"`
		Path  string `json:"path"`
		Value any    `json:"value"`
	}
	_, err := w.send(ctx, message{of: o, what: "status", kind: types.JSONPatchType, body: []operation{
		{"test", "/metadata/uid", o.GetUID()}, {"test", path, known}, {"add", path, value}, // in the place of what is there
	}})
	return err
}

// Apply has fields of an object be as they are wanted, by server-side apply: what was applied before and is not wanted
// any more goes. It returns the answer, in into if that is not nil.
func (w *Writer) Apply(ctx context.Context, wanted client.Object, what string, into client.Object) (client.Object,
	error) {
	return w.send(ctx, message{of: wanted, what: what, kind: types.ApplyPatchType, body: wanted, into: into})
}

// Create makes an object, and fails if there is one of that name.
func (w *Writer) Create(ctx context.Context, o client.Object) error {
	ctx, err := w.fenced(ctx)
	if err != nil {
		return err
	}
	name, gvk, err := w.describe(o)
	if err != nil {
		return err
	}
	w.writes.begin("")
	if err := w.Client.Create(ctx, o, client.FieldOwner(Manager)); err != nil {
		return fmt.Errorf("creating %s: %w", name, err)
	}
	w.writes.wrote("", o)
	w.Wrote(gvk.Kind, "create")
	return nil
}

// Delete deletes an object, and what it owns in the background: this very one if its UID is known.
func (w *Writer) Delete(ctx context.Context, o client.Object) error {
	ctx, err := w.fenced(ctx)
	if err != nil {
		return err
	}
	name, gvk, err := w.describe(o)
	if err != nil {
		return err
	}
	options := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if uid := o.GetUID(); uid != "" {
		options = append(options, client.Preconditions{UID: &uid})
	}
	err = w.Client.Delete(ctx, o, options...)
	if err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	w.Wrote(gvk.Kind, "delete")
	return nil
}

// A message is a patch of any type.
type message struct {
	of   client.Object
	what string // "status" goes to the subresource of that name
	kind types.PatchType
	body any
	into client.Object
}

func (w *Writer) send(ctx context.Context, m message) (client.Object, error) {
	ctx, err := w.fenced(ctx)
	if err != nil {
		return nil, err
	}
	name, gvk, err := w.describe(m.of)
	if err != nil {
		return nil, err
	}
	body, err := json.Marshal(m.body)
	if err != nil {
		return nil, fmt.Errorf("encoding the %s of %s: %w", m.what, name, err)
	}
	got := m.into
	if got == nil { // the metadata of a large object are a fraction of it
		partial := &metav1.PartialObjectMetadata{}
		partial.SetGroupVersionKind(gvk)
		got = partial
	}
	got.SetNamespace(m.of.GetNamespace())
	got.SetName(m.of.GetName())
	patch, written := client.RawPatch(m.kind, body), m.of.GetUID()
	w.writes.begin(written)
	switch {
	case m.kind == types.ApplyPatchType:
		err = w.Client.Patch(ctx, got, patch, client.FieldOwner(Manager), client.ForceOwnership)
	case m.what == "status":
		err = w.Client.Status().Patch(ctx, got, patch, client.FieldOwner(Manager))
	default:
		err = w.Client.Patch(ctx, got, patch, client.FieldOwner(Manager))
	}
	if err != nil {
		return nil, fmt.Errorf("writing the %s of %s: %w", m.what, name, err)
	}
	got.SetManagedFields(nil) // an answer is kept for as long as the cache has nothing newer, and nobody reads these
	w.writes.wrote(written, got)
	w.Wrote(gvk.Kind, m.what)
	return got, nil
}

// describe names an object and its kind.
func (w *Writer) describe(o client.Object) (name string, gvk schema.GroupVersionKind, err error) {
	if gvk = o.GetObjectKind().GroupVersionKind(); gvk.Kind == "" { // what came from a cache does not say
		if gvk, err = w.Client.GroupVersionKindFor(o); err != nil {
			return "", gvk, fmt.Errorf("finding the kind of %T: %w", o, err)
		}
	}
	return named(gvk.Kind, client.ObjectKeyFromObject(o)), gvk, nil
}

// named names an object, such as "Zone dns/example-org".
func named(kind string, key client.ObjectKey) string {
	return kind + " " + strings.TrimPrefix(key.String(), "/")
}
