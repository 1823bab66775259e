package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"time"

	admissionv1 "k8s.io/api/admission/v1"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/yaml"
)

// Reviews say about which objects operators are asked before they are stored. They hold no state.
type Reviews struct {
	about    map[schema.GroupResource]bool
	fails    bool // without an answer nothing is stored
	patience time.Duration
}

// NewReviews reads the ValidatingWebhookConfiguration in a rendered chart, and what else the chart has reviewed for
// dialects that are off there, in its template "zonefold.needs".
func NewReviews(rendered, templates string) (*Reviews, error) {
	var config admissionregistrationv1.ValidatingWebhookConfiguration
	for document := range strings.SplitSeq(rendered, "\n---\n") {
		if strings.Contains(document, "kind: ValidatingWebhookConfiguration\n") {
			if err := yaml.Unmarshal([]byte(document), &config); err != nil {
				return nil, fmt.Errorf("reading the ValidatingWebhookConfiguration: %w", err)
			}
		}
	}
	if len(config.Webhooks) == 0 {
		return nil, errors.New("there is no ValidatingWebhookConfiguration")
	}
	one := config.Webhooks[0] // the others differ by what they are about
	r := &Reviews{
		about: map[schema.GroupResource]bool{}, fails: *one.FailurePolicy == admissionregistrationv1.Fail,
		patience: time.Duration(*one.TimeoutSeconds) * time.Second,
	}
	_, needs, _ := strings.Cut(templates, `{{- define "zonefold.needs" -}}`)
	needs, _, _ = strings.Cut(needs, "{{- end }}\n\n")
	var dialects map[string]struct {
		Reviewed map[string][]string `json:"reviewed"`
	}
	if err := yaml.Unmarshal([]byte(regexp.MustCompile(`{{.*?}}`).ReplaceAllString(needs, "")), &dialects); err != nil ||
		len(dialects) == 0 {
		return nil, fmt.Errorf("reading what %d dialects have reviewed: %w", len(dialects), err)
	}
	for _, d := range dialects {
		for group, resources := range d.Reviewed {
			for _, resource := range resources {
				r.about[schema.GroupResource{Group: group, Resource: resource}] = true
			}
		}
	}
	return r, nil
}

// admit has an operator be asked for reviews until the context ends.
func (o *operator) reviews(ctx context.Context, h http.Handler) error {
	set := func(h http.Handler) {
		o.world.mu.Lock()
		defer o.world.mu.Unlock()
		o.admit = h
	}
	set(h)
	<-ctx.Done()
	set(nil)
	return nil
}

// errDenied is what people get for an object that is not stored.
var errDenied = errors.New("the object is denied")

// attempt has somebody want objects that are wrong. They are denied, or, if nobody was there to be asked, stored; to
// try is to want what may be wrong.
func (w *World) attempt(ctx context.Context, how, text string) error {
	for document := range strings.SplitSeq(text, "\n---\n") {
		r, object, err := w.read(document)
		if err != nil {
			return err
		}
		w.attempted[r] = how
		asked, err := w.put(ctx, r, object)
		switch {
		case errors.Is(err, errDenied):
			w.denied = append(w.denied, r.String())
		case err != nil && !apierrors.IsInvalid(err):
			return err
		case err == nil && asked && how == "deny":
			w.fail(fmt.Sprintf("%s was not denied", r))
		}
	}
	return nil
}

// read reads an object.
func (w *World) read(document string) (ref, *unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	text, err := yaml.YAMLToJSON([]byte(document))
	if err == nil {
		err = object.UnmarshalJSON(text) // whole numbers are such
	}
	if err != nil {
		return ref{}, nil, err
	}
	k := w.api.kinds.named(object.GroupVersionKind().GroupKind().String())
	if k == nil {
		return ref{}, nil, fmt.Errorf("there is no kind %s", object.GetKind())
	}
	return ref{k, types.NamespacedName{Namespace: object.GetNamespace(), Name: object.GetName()}}, object, nil
}

// put stores an object when operators had a look at it, and says whether one did.
func (w *World) put(ctx context.Context, r ref, object *unstructured.Unstructured) (asked bool, err error) {
	before, after, err := w.store(ctx, write{ref: r, manager: "person", dry: true}, object)
	if err != nil {
		return false, err
	}
	if asked, err = w.review(ctx, r, before, after); err != nil {
		return asked, err
	}
	_, _, err = w.store(ctx, write{ref: r, manager: "person"}, object)
	return asked, err
}

// store makes an object, or puts what it says in the place of what is there.
func (w *World) store(ctx context.Context, at write,
	object *unstructured.Unstructured) (before, after *unstructured.Unstructured, err error) {
	for again := true; again; again = apierrors.IsAlreadyExists(err) || apierrors.IsConflict(err) { // one came between
		if before, err = w.api.get(at.ref); apierrors.IsNotFound(err) {
			after, err = w.api.create(ctx, at, object.DeepCopy())
			continue
		} else if err != nil {
			return nil, nil, err
		}
		next := before.DeepCopy()
		for key, value := range object.Object {
			if key != "metadata" {
				next.Object[key] = value
			}
		}
		next.SetLabels(object.GetLabels())
		after, _, err = w.api.update(ctx, at, next)
	}
	return before, after, err
}

// review asks an operator about an object, if there is one to ask.
func (w *World) review(ctx context.Context, r ref, before, after *unstructured.Unstructured) (asked bool, err error) {
	if w.reviews == nil || !w.reviews.about[r.kind.resource()] {
		return false, nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.reviews.patience)
	defer cancel()
	body, err := question(r, before, after)
	if err != nil {
		return false, err
	}
	answer, err := w.reviewer().review(ctx, body)
	switch {
	case err != nil && w.reviews.fails:
		return false, fmt.Errorf("%w: %w", errDenied, err)
	case err != nil:
		return false, nil
	case !answer.Allowed:
		return true, fmt.Errorf("%w: %s", errDenied, answer.Result.Message)
	}
	return true, nil
}

// reviewer is one of the operators that answer, nil if none does.
func (w *World) reviewer() *operator {
	w.mu.Lock()
	defer w.mu.Unlock()
	var some []*operator
	for _, o := range w.living {
		if o.admit != nil && !o.crashed() {
			some = append(some, o)
		}
	}
	if len(some) == 0 {
		return nil
	}
	w.asked++
	return some[w.asked%len(some)]
}

// question is a review that is asked for.
func question(r ref, before, after *unstructured.Unstructured) ([]byte, error) {
	q := &admissionv1.AdmissionRequest{
		UID: "one", Kind: metav1.GroupVersionKind(r.kind.GroupVersionKind), Name: r.Name, Namespace: r.Namespace,
		Operation: admissionv1.Create,
		Resource:  metav1.GroupVersionResource{Group: r.kind.Group, Version: r.kind.Version, Resource: r.kind.plural},
		UserInfo:  authenticationv1.UserInfo{Username: "person"},
	}
	var err error
	if q.Object.Raw, err = after.MarshalJSON(); err == nil && before != nil {
		q.Operation = admissionv1.Update
		q.OldObject.Raw, err = before.MarshalJSON()
	}
	if err != nil {
		return nil, err
	}
	return json.Marshal(admissionv1.AdmissionReview{TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1",
		Kind: "AdmissionReview"}, Request: q})
}

// review asks an operator.
func (o *operator) review(ctx context.Context, body []byte) (*admissionv1.AdmissionResponse, error) {
	if o == nil {
		return nil, errors.New("nobody answers")
	}
	o.world.mu.Lock()
	handler := o.admit
	o.world.mu.Unlock()
	out, done := &reviewed{httptest.NewRecorder()}, make(chan error, 1)
	go func() {
		if err := o.pass(ctx, messageTime); err != nil {
			done <- err
			return
		}
		in := httptest.NewRequestWithContext(ctx, http.MethodPost, "/validate", bytes.NewReader(body))
		in.Header.Set("Content-Type", "application/json")
		handler.ServeHTTP(out, in)
		done <- o.awake()
	}()
	select {
	case err := <-done:
		if err != nil {
			return nil, err
		}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var answer admissionv1.AdmissionReview
	text, err := io.ReadAll(out.Body)
	if err == nil && out.Code != http.StatusOK {
		err = fmt.Errorf("the review was answered %d: %s", out.Code, text)
	}
	if err == nil {
		err = json.Unmarshal(text, &answer)
	}
	return answer.Response, err
}

// reviewed is the answer to a review, whose connection is never slow.
type reviewed struct{ *httptest.ResponseRecorder }

// SetReadDeadline is what http.ResponseController asks for.
func (*reviewed) SetReadDeadline(time.Time) error { return nil }
