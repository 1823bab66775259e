package controller

import (
	"context"
	"encoding/json"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/zone"
)

// A slowAPI has one object with a ceiling. Its answers to writes take longer than what is asked after them.
type slowAPI struct {
	client.Client

	mu      sync.Mutex
	ceiling uint32
}

func (a *slowAPI) Get(_ context.Context, _ client.ObjectKey, o client.Object, _ ...client.GetOption) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	o.SetUID("1")
	o.SetAnnotations(map[string]string{"ceiling": strconv.FormatUint(uint64(a.ceiling), 10)})
	return nil
}

func (a *slowAPI) GroupVersionKindFor(runtime.Object) (schema.GroupVersionKind, error) {
	return corev1.SchemeGroupVersion.WithKind("ConfigMap"), nil
}

func (a *slowAPI) Status() client.SubResourceWriter { return slowStatus{a: a} }

type slowStatus struct {
	client.SubResourceWriter

	a *slowAPI
}

// Patch replaces the ceiling that the patch expects.
func (s slowStatus) Patch(_ context.Context, o client.Object, p client.Patch,
	_ ...client.SubResourcePatchOption) error {
	body, err := p.Data(o)
	if err != nil {
		return err
	}
	var steps []struct{ Value json.RawMessage }
	if err := json.Unmarshal(body, &steps); err != nil {
		return err
	}
	var known, next uint32
	if err := json.Unmarshal(steps[1].Value, &known); err != nil {
		return err
	}
	if err := json.Unmarshal(steps[2].Value, &next); err != nil {
		return err
	}
	s.a.mu.Lock()
	same := s.a.ceiling == known
	if same {
		s.a.ceiling = next
	}
	s.a.mu.Unlock()
	if !same {
		return apierrors.NewInvalid(corev1.SchemeGroupVersion.WithKind("ConfigMap").GroupKind(), "zone", nil)
	}
	<-time.After(time.Second)
	return nil
}

// TestTwoNamesOfAZoneRaiseItsCeilingInTurn has a Zone be renamed: it is withdrawn under the old name while it is
// published under the new one, each with a feed of its own.
func TestTwoNamesOfAZoneRaiseItsCeilingInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		api := &slowAPI{ceiling: 100}
		c := &Ceilings{
			Objects: &objects.Writer{Client: api, Wrote: func(string, string) {}, Now: time.Now}, Live: api,
			New: func() client.Object { return &corev1.ConfigMap{} },
			Stored: func(o client.Object) uint32 {
				n, _ := strconv.ParseUint(o.GetAnnotations()["ceiling"], 10, 32)
				return uint32(n)
			},
		}
		id := zone.ID{Kind: zone.KindZone, Namespace: "team", Name: "zone"}
		c.Begin(id, 100)
		var feeds sync.WaitGroup
		for _, asked := range []uint32{132, 140} {
			feeds.Go(func() {
				if err := c.Raise(t.Context(), id, asked); err != nil {
					t.Errorf("%d is not stored: %v", asked, err)
				}
			})
		}
		feeds.Wait()
		if api.ceiling != 140 && api.ceiling != 141 { // the second where the higher one was asked for first
			t.Errorf("%d is stored", api.ceiling)
		}
		gone, cancel := context.WithCancel(t.Context())
		feeds.Go(func() { _ = c.Raise(t.Context(), id, 200) })
		synctest.Wait()
		cancel()
		if err := c.Raise(gone, id, 300); err == nil {
			t.Error("who does not wait any more is told that it is stored")
		}
		feeds.Wait()
	})
}
