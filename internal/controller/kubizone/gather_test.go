package kubizone

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

func TestEventsReachTheFunctionOfTheirKind(t *testing.T) {
	var heard []string
	h := controller.Handler(
		func(before, after *v1alpha1.Record) {
			heard = append(heard, fmt.Sprintf("put %s new=%v", after.Name, before == nil))
		},
		func(gone *v1alpha1.Record) { heard = append(heard, "drop "+gone.Name) })
	r := &v1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Name: "www"}}
	h.OnAdd(r, true)
	h.OnUpdate(r, r)
	h.OnDelete(r)
	h.OnDelete(toolscache.DeletedFinalStateUnknown{Key: "a/www", Obj: r}) // the watch has missed it
	h.OnAdd(&v1alpha1.Zone{}, true)                                       // of another kind
	if want := []string{"put www new=true", "put www new=false", "drop www", "drop www"}; !slices.Equal(heard, want) {
		t.Errorf("it heard %q, want %q", heard, want)
	}
}

func TestOnlyWhatTheWorldDecidesByReachesIt(t *testing.T) {
	for _, c := range []struct {
		name    string
		change  func(*v1alpha1.Record)
		settles bool
	}{
		{"its spec has changed", func(r *v1alpha1.Record) { r.Generation++ }, true},
		{"it is another one of the same name", func(r *v1alpha1.Record) { r.UID = "2" }, true},
		{"it is being deleted", func(r *v1alpha1.Record) { r.DeletionTimestamp = &metav1.Time{Time: noon} }, true},
		{"somebody has changed a label", func(r *v1alpha1.Record) { r.Labels = map[string]string{"a": "b"} }, false},
		{"we have written its status ourselves", func(r *v1alpha1.Record) { r.ResourceVersion = "9" }, false},
		{"its spec has changed just before we wrote", func(r *v1alpha1.Record) {
			r.ResourceVersion, r.Generation = "8", r.Generation+1
		}, true},
		{"it was deleted just before we wrote", func(r *v1alpha1.Record) {
			r.ResourceVersion, r.DeletionTimestamp = "8", &metav1.Time{Time: noon}
		}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := New(Config{Log: slog.New(slog.DiscardHandler), Metrics: controller.NewMetrics(), Clock: backend.SystemClock{},
				Rand: rand.Float64})
			go func() { _ = k.Core.Run(t.Context(), func(context.Context) bool { return true }) }()
			r := &v1alpha1.Record{ObjectMeta: metav1.ObjectMeta{
				Namespace: "a", Name: "www", UID: types.UID("1"), Generation: 1, ResourceVersion: "7",
				CreationTimestamp: metav1.Time{Time: noon},
			}}
			r.Spec = v1alpha1.RecordSpec{DomainName: "www.example.org.", Type: "A", RData: "192.0.2.1"}
			gatherer{k}.putRecord(nil, r)
			settle(t, k, "before")
			id := dialect.RecordID("a", "www")
			if v, ok := k.Core.Verdict(id); !ok || v.Reason != zone.NoZone {
				t.Fatalf("it is judged %+v", v)
			}
			next := r.DeepCopy()
			next.ResourceVersion, next.Spec.RData = "10", "bad"
			c.change(next)
			gatherer{k}.putRecord(r, next)
			settle(t, k, "after")
			v, ok := k.Core.Verdict(id)
			if settled := !ok || v.Reason == zone.InvalidData; settled != c.settles {
				t.Errorf("the World is asked: %v, want %v", settled, c.settles)
			}
		})
	}
}

// settle returns when everything that was put has been settled.
func settle(t *testing.T, k *Controller, sentinel string) {
	t.Helper()
	id := dialect.RecordID("a", sentinel)
	k.Core.PutClaim(zone.Claim{ID: id, Where: zone.Where{Name: parse(t, sentinel+".example.org.")}, Type: rr.TypeA,
		Data: []string{"192.0.2.1"}}, core.Version{UID: "1"})
	for {
		if _, ok := k.Core.Verdict(id); ok {
			return
		}
		select {
		case <-t.Context().Done():
			t.Fatal("it does not settle")
		case <-time.After(time.Millisecond):
		}
	}
}
