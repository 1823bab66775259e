package admission

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/zonefold/zonefold/internal/controller"
)

// patience is how long it may take to look at other objects. The API server waits longer.
const patience = time.Second

// Config is what a Reviewer needs.
type Config struct {
	Scheme    *runtime.Scheme
	Examiners []controller.Examiner
	Self      string // the name of the operator as a user; its own requests are not reviewed
	Log       *slog.Logger
	Clock     func() time.Time
}

// Reviewer reviews objects of the kinds that its Examiners know.
type Reviewer struct {
	Config
	decoder admission.Decoder
	kinds   map[schema.GroupKind]controller.Examiner
}

// New returns a Reviewer.
func New(c Config) (*Reviewer, error) {
	r := &Reviewer{Config: c, decoder: admission.NewDecoder(c.Scheme), kinds: map[schema.GroupKind]controller.Examiner{}}
	for _, e := range c.Examiners {
		gvk, err := apiutil.GVKForObject(e.Kind, c.Scheme)
		if err != nil {
			return nil, fmt.Errorf("finding the kind of %T: %w", e.Kind, err)
		}
		r.kinds[gvk.GroupKind()] = e
	}
	return r, nil
}

// Handler returns the Reviewer for an HTTPS server. All paths of a server share one.
func (r *Reviewer) Handler() http.Handler { return bound(&admission.Webhook{Handler: r}, r.Clock) }

// Handle implements admission.Handler. What goes wrong here is no reason to refuse an object: the controllers judge it
// all the same.
func (r *Reviewer) Handle(ctx context.Context, req admission.Request) (resp admission.Response) {
	defer func() {
		if p := recover(); p != nil {
			r.Log.Error("reviewing an object failed; it was admitted", "kind", req.Kind.Kind, "namespace", req.Namespace,
				"name", req.Name,
				"panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			resp = admission.Allowed("")
		}
	}()
	examiner, known := r.kinds[schema.GroupKind{Group: req.Kind.Group, Kind: req.Kind.Kind}]
	if !known || r.exempt(examiner, req) {
		return admission.Allowed("")
	}
	o, err := r.decode(examiner, req.Object)
	if err != nil { // nor could the controllers read it, and any other object of the kind with it
		return denied([]string{fmt.Sprintf("%s %s/%s cannot be read: %v; correct it.", req.Kind.Kind, req.Namespace, req.Name,
			err)})
	}
	var old client.Object
	if len(req.OldObject.Raw) > 0 {
		if was, err := r.decode(examiner, req.OldObject); err == nil {
			old = was
		}
	}
	return r.review(ctx, examiner, old, o)
}

func (r *Reviewer) decode(e controller.Examiner, raw runtime.RawExtension) (client.Object, error) {
	o, ok := e.Kind.DeepCopyObject().(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", e.Kind)
	}
	return o, r.decoder.DecodeRaw(raw, o)
}

func (r *Reviewer) review(ctx context.Context, e controller.Examiner, old, o client.Object) admission.Response {
	var known, denials []string
	if old != nil {
		known = e.Faults(old)
	}
	var found controller.Findings
	for _, fault := range e.Faults(o) {
		if slices.Contains(known, fault) {
			found.Warnings = append(found.Warnings, fault)
		} else {
			denials = append(denials, fault)
		}
	}
	if len(denials) == 0 && len(found.Warnings) == 0 && e.Look != nil {
		ctx, cancel := context.WithTimeout(ctx, patience)
		defer cancel()
		found = e.Look(ctx, old, o)
		denials = found.Denials
	}
	if len(denials) > 0 {
		return denied(denials).WithWarnings(found.Warnings...)
	}
	return admission.Allowed("").WithWarnings(found.Warnings...)
}

// denied refuses an object for good: who applies it has to change it.
func denied(sentences []string) admission.Response {
	resp := admission.Denied("")
	resp.Result = &metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnprocessableEntity, Reason: metav1.StatusReasonInvalid,
		Message: strings.Join(sentences, " "),
	}
	return resp
}
