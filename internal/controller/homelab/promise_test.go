package homelab

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	clocktesting "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	"github.com/zonefold/zonefold/internal/zone"
)

// A silentAPI stores statuses, and does not answer some of the writes.
type silentAPI struct {
	client.Client

	version string
	stored  map[string]any
	silent  bool
}

func (*silentAPI) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return v1alpha1.GroupVersion.WithKind("DNSRecord"), nil
}

func (a *silentAPI) Status() client.SubResourceWriter { return statuses{a: a} }

// Patch takes any metadata.
func (a *silentAPI) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return nil
}

type statuses struct {
	client.SubResourceWriter

	a *silentAPI
}

// Patch merges the fields of a status.
func (s statuses) Patch(_ context.Context, o client.Object, p client.Patch, _ ...client.SubResourcePatchOption) error {
	body, err := p.Data(o)
	if err != nil {
		return err
	}
	var merge struct {
		Metadata struct{ ResourceVersion string }
		Status   map[string]any
	}
	if err := json.Unmarshal(body, &merge); err != nil {
		return err
	}
	if merge.Metadata.ResourceVersion != s.a.version {
		return apierrors.NewConflict(schema.GroupResource{}, o.GetName(), errors.New("it is another version"))
	}
	s.a.version += "1"
	o.SetResourceVersion(s.a.version)
	for name, value := range merge.Status {
		if s.a.stored[name] = value; value == nil {
			delete(s.a.stored, name)
		}
	}
	if s.a.silent {
		return errors.New("the connection breaks")
	}
	return nil
}

// TestAnErrorThatNobodyHeardBeingStored has the status of a record that failed be stored without an answer, and the
// record be served before the operator sees it.
func TestAnErrorThatNobodyHeardBeingStored(t *testing.T) {
	api := &silentAPI{stored: map[string]any{}}
	k := New(Config{
		Client: api, Clock: clocktesting.NewFakeClock(time.Unix(1e9, 0)), Log: slog.New(slog.DiscardHandler),
		Metrics: controller.NewMetrics(),
		Numbers: NewNumbers(), Events: events.NewFakeRecorder(10),
	})
	k.ctx = t.Context()
	r := load(&v1alpha1.DNSRecord{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "www", UID: "1", Generation: 1,
			Finalizers: []string{v1alpha1.Finalizer}},
		Spec: v1alpha1.DNSRecordSpec{
			Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.0.2.1"},
			DNSClassRef: v1alpha1.DNSClassRef{Name: "dns"},
		},
	})
	m, unlock := k.model.Lock()
	m.classes["dns"] = &class{name: "dns",
		object: &v1alpha1.DNSClass{Spec: v1alpha1.DNSClassSpec{Server: "http://dns:7100"}}}
	m.queues["dns"] = workqueue.NewTypedDelayingQueue[slotKey]()
	m.records[r.id] = r
	m.reindex(r)
	unlock()
	r.settled, r.verdict = r.current(), zone.Verdict{Reason: zone.NotDelegated, Message: "DNSClass dns does not let " +
		"namespace team have it."}
	api.silent = true
	if err := k.writeRecord(t.Context(), r.id); err == nil || api.stored["error"] == nil {
		t.Fatalf("the write of the failure ends with %v, and this is stored: %v", err, api.stored)
	}
	api.silent = false
	r.verdict = zone.Verdict{Accepted: true, Reason: zone.Accepted}
	m, unlock = k.model.Lock()
	s := m.slots[r.key]
	w, _ := m.want(s)
	m.hold(w)
	m.has(s, w)
	unlock()
	if err := k.writeRecord(t.Context(), r.id); !apierrors.IsConflict(err) {
		t.Fatalf("a write in the place of a status that nobody has seen ends with %v", err)
	}
	text, err := json.Marshal(api.stored)
	if err != nil {
		t.Fatal(err)
	}
	seen := r.object.DeepCopy()
	seen.ResourceVersion = api.version
	if err := json.Unmarshal(text, &seen.Status); err != nil {
		t.Fatal(err)
	}
	k.putRecord(seen)
	if err := k.writeRecord(t.Context(), r.id); err != nil {
		t.Fatal(err)
	}
	if api.stored["state"] != "Created" || api.stored["error"] != nil {
		t.Errorf("it is stored that the record is %v, with the error %v", api.stored["state"], api.stored["error"])
	}
}

// A refusingAPI takes no metadata.
type refusingAPI struct {
	silentAPI

	with error
}

// Patch implements client.Writer.
func (a *refusingAPI) Patch(context.Context, client.Object, client.Patch, ...client.PatchOption) error {
	return a.with
}

// notedQueue has nothing, and notes what waits for how long.
type notedQueue struct {
	slotQueue

	after []time.Duration
}

// AddAfter implements slotQueue.
func (q *notedQueue) AddAfter(_ slotKey, after time.Duration) { q.after = append(q.after, after) }

// TestWhatCannotBeStored has the API server not store what is to be sent.
func TestWhatCannotBeStored(t *testing.T) {
	kind := schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: "dnsrecords"}
	for _, c := range []struct {
		sentence string
		err      error
		want     []time.Duration
	}{
		{"no answer is asked for again soon", errors.New("the connection breaks"), []time.Duration{time.Second}},
		{"a webhook that fails too", apierrors.NewInternalError(errors.New("failed calling webhook")),
			[]time.Duration{time.Second}},
		{"an older version in the cache at once", apierrors.NewConflict(kind, "www", nil),
			[]time.Duration{50 * time.Millisecond}},
		{"what may not be written much later", apierrors.NewForbidden(kind, "www", nil), []time.Duration{time.Minute}},
		{"what a policy forbids too", apierrors.NewBadRequest("admission webhook denied the request"),
			[]time.Duration{time.Minute}},
		{"an object that is gone never", apierrors.NewNotFound(kind, "www"), nil},
	} {
		k := New(Config{
			Client: &refusingAPI{with: c.err}, Clock: clocktesting.NewFakeClock(time.Unix(1e9, 0)),
			Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Numbers: NewNumbers(),
			Retry: servers.Retry{MaxDelay: time.Minute},
		})
		k.shutDown()
		r := load(&v1alpha1.DNSRecord{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "www", UID: "1"}})
		place := v1alpha1.Applied{Class: "dns", Type: "A", Domain: "example.com", Subdomain: "www"}
		q := &notedQueue{}
		k.writeDown(t.Context(), q, slotOf(place), step{prepare: r, place: &place})
		if !slices.Equal(q.after, c.want) {
			t.Errorf("%s: %v, want %v", c.sentence, q.after, c.want)
		}
	}
}

// TestAClassStaysForWhatAStatusSays has a class be deleted, and the server have nothing of its last record any more,
// which is not written yet.
func TestAClassStaysForWhatAStatusSays(t *testing.T) {
	applied := v1alpha1.Applied{Class: "dns", Type: "A", Domain: "example.com", Subdomain: "www", Confirmed: true}
	k := New(Config{
		Client: &silentAPI{stored: map[string]any{}}, Clock: clocktesting.NewFakeClock(time.Unix(1e9, 0)),
		Log:     slog.New(slog.DiscardHandler),
		Metrics: controller.NewMetrics(), Numbers: NewNumbers(), Events: events.NewFakeRecorder(10),
	})
	k.ctx = t.Context()
	r := load(&v1alpha1.DNSRecord{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "team", Name: "www", UID: "1", Generation: 2, Finalizers: []string{v1alpha1.Finalizer, "theirs/x"},
			DeletionTimestamp: &metav1.Time{Time: time.Unix(9e8, 0)},
		},
		Spec: v1alpha1.DNSRecordSpec{
			Type: "A", Domain: "example.com", Subdomain: "www", Values: []string{"192.0.2.1"},
			DNSClassRef: v1alpha1.DNSClassRef{Name: "dns"},
		},
		Status: v1alpha1.DNSRecordStatus{State: v1alpha1.StateCreated, Applied: &applied},
	})
	m, unlock := k.model.Lock()
	m.records[r.id], r.settled = r, r.current()
	m.reindex(r)
	s := m.slots[r.key]
	m.forget(s, evidenceOf(s))
	needed := len(m.needs["dns"])
	unlock()
	if needed == 0 {
		t.Error("the class may go before the status says that its server has nothing any more")
	}
	if err := k.writeRecord(t.Context(), r.id); err != nil {
		t.Fatal(err)
	}
	m, unlock = k.model.Lock()
	defer unlock()
	if len(m.needs["dns"]) > 0 || r.status.Applied != nil {
		t.Errorf("the class is needed yet, and the status says %+v", r.status.Applied)
	}
}
