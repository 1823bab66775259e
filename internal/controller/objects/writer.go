package objects

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Manager is the field manager of everything that the operator writes.
const Manager = "zonefold"

// ErrNotLeading says that nothing was written: another operator may lead by now, and writes what is to be written.
var ErrNotLeading = errors.New("another operator may lead by now; nothing is written")

// A Writer writes to the cluster while its operator leads.
type Writer struct {
	Client client.Client
	Leads  func() bool             // whether nobody else can have become the leader; nil: nobody else ever does
	Wrote  func(kind, what string) // counts writes
}

// A Patch changes fields of an object, as a JSON merge patch (RFC 7386): what it leaves out stays as it is. It has
// fields of the status, of the metadata, or of the object, and nothing else beside them.
type Patch struct {
	Of      client.Object // as it was read: another object under its name is left alone
	Exactly bool          // this version of it: whoever has written since is not overwritten

	Status   any
	Metadata map[string]any
	Fields   map[string]any
	What     string // Fields are called in errors and metrics

	Into client.Object // takes the answer; nil: the metadata of it are enough
}

// Patch sends a patch, and returns what the API server has answered. The error is ErrNotLeading or the API server's.
func (w *Writer) Patch(ctx context.Context, p Patch) (client.Object, error) {
	metadata := map[string]any{}
	body, what := map[string]any{"metadata": metadata}, p.What
	switch {
	case p.Status != nil:
		body["status"], what = p.Status, "status"
	case p.Metadata != nil:
		maps.Copy(metadata, p.Metadata)
		what = "metadata"
	default:
		maps.Copy(body, p.Fields)
	}
	metadata["uid"] = p.Of.GetUID()
	if p.Exactly {
		metadata["resourceVersion"] = p.Of.GetResourceVersion()
	}
	return w.send(ctx, message{of: p.Of, what: what, kind: types.MergePatchType, body: body, into: p.Into})
}

// SetFinalizer puts a finalizer on an object, or takes it off: others' stay, whatever the cache lacks, for the list is
// that of this version. It returns the object as it is then, with its metadata alone if anything was written.
func (w *Writer) SetFinalizer(ctx context.Context, o client.Object, finalizer string, on bool) (client.Object, error) {
	list := slices.Clone(o.GetFinalizers())
	switch there := slices.Contains(list, finalizer); {
	case there == on:
		return o, nil
	case on:
		list = append(list, finalizer)
	default:
		list = slices.DeleteFunc(list, func(f string) bool { return f == finalizer })
	}
	return w.Patch(ctx, Patch{Of: o, Exactly: true, Metadata: map[string]any{"finalizers": list}})
}

// An Operation is one of a JSON patch (RFC 6902).
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value"`
}

// PatchStatus sends a JSON patch of the status of an object, and returns the metadata of the answer. A test that fails
// is an error that apierrors.IsInvalid knows.
func (w *Writer) PatchStatus(ctx context.Context, of client.Object, operations ...Operation) (client.Object, error) {
	all := append([]Operation{{"test", "/metadata/uid", of.GetUID()}}, operations...)
	return w.send(ctx, message{of: of, what: "status", kind: types.JSONPatchType, body: all})
}

// Apply has fields of an object be as they are wanted, by server-side apply: what was applied before and is not wanted
// any more goes. wanted says its kind and name. It returns the answer, in into if that is not nil.
func (w *Writer) Apply(ctx context.Context, of client.Object, what string, wanted any,
	into client.Object) (client.Object, error) {
	return w.send(ctx, message{of: of, what: what, kind: types.ApplyPatchType, body: wanted, into: into})
}

// Create makes an object, and fails if there is one of that name.
func (w *Writer) Create(ctx context.Context, o client.Object) error {
	if w.Leads != nil && !w.Leads() {
		return ErrNotLeading
	}
	name, gvk, err := w.describe(o)
	if err != nil {
		return err
	}
	if err := w.Client.Create(ctx, o, client.FieldOwner(Manager)); err != nil {
		return fmt.Errorf("creating %s: %w", name, err)
	}
	w.Wrote(gvk.Kind, "create")
	return nil
}

// Delete deletes an object, and what it owns in the background: this very one if its UID is known.
func (w *Writer) Delete(ctx context.Context, o client.Object) error {
	if w.Leads != nil && !w.Leads() {
		return ErrNotLeading
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
	if w.Leads != nil && !w.Leads() {
		return nil, ErrNotLeading
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
	patch := client.RawPatch(m.kind, body)
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
	w.Wrote(gvk.Kind, m.what)
	return got, nil
}

// describe names an object, such as "Zone dns/example-org", and its kind.
func (w *Writer) describe(o client.Object) (name string, gvk schema.GroupVersionKind, err error) {
	if gvk = o.GetObjectKind().GroupVersionKind(); gvk.Kind == "" { // what came from a cache does not say
		if gvk, err = w.Client.GroupVersionKindFor(o); err != nil {
			return "", gvk, fmt.Errorf("finding the kind of %T: %w", o, err)
		}
	}
	return gvk.Kind + " " + strings.TrimPrefix(o.GetNamespace()+"/"+o.GetName(), "/"), gvk, nil
}
