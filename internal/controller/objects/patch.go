package objects

import (
	"context"
	"maps"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Patch changes fields of an object, as a JSON merge patch (RFC 7386): what it leaves out stays as it is. It has
// fields of the status, of the metadata, or of the object, and nothing else beside them. ChangeStatus and Change take
// its place.
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

// Fields returns a value as JSON has it.
func Fields(v any) (map[string]any, error) { return fields(v) }
