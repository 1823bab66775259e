package kubizone

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
)

// pages counts the pages of lists after the first.
type pages struct {
	http.RoundTripper
	seen *atomic.Int32
}

func (p pages) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Query().Has("continue") {
		p.seen.Add(1)
	}
	return p.RoundTripper.RoundTrip(r)
}

// TestANewLeaderDoesNotListManyRecords has a cache that lags behind, beside so many Records that they have two pages.
func TestANewLeaderDoesNotListManyRecords(t *testing.T) {
	c := newCluster(t)
	record := func(i int) *v1alpha1.Record {
		return &v1alpha1.Record{
			ObjectMeta: metav1.ObjectMeta{Namespace: c.id.Namespace, Name: fmt.Sprintf("r%d", i)},
			Spec:       v1alpha1.RecordSpec{DomainName: fmt.Sprintf("r%d.example.org.", i), Type: "A", RData: "192.0.2.1"},
		}
	}
	const many = 502
	for i := range many {
		if err := c.live.Create(c.ctx, record(i)); err != nil {
			t.Fatal(err)
		}
	}
	l := c.leader()
	l.watch.close()
	late := record(many)
	if err := c.live.Create(c.ctx, late); err != nil {
		t.Fatal(err)
	}
	var further atomic.Int32
	config := rest.CopyConfig(c.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return pages{next, &further} })
	counted, err := client.NewWithWatch(config, client.Options{Scheme: c.scheme})
	if err != nil {
		t.Fatal(err)
	}
	catchUp := controller.CatchUp{Live: counted, Cached: l.Client, Cache: l.Cache, Log: l.Log, Many: 1}
	early, cancel := context.WithTimeout(c.ctx, 4*time.Second) // longer than it asks for changes
	defer cancel()
	if err := catchUp.Try(early, &v1alpha1.Record{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it does not wait for a Record that its cache lacks: %v", err)
	}
	l.watch.open()
	if err := catchUp.Try(c.ctx, &v1alpha1.Record{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Client.Get(c.ctx, client.ObjectKeyFromObject(late), &v1alpha1.Record{}); err != nil {
		t.Errorf("it goes on without a Record: %v", err)
	}
	if n := further.Load(); n > 0 {
		t.Errorf("it lists %d further pages of Records", n)
	}
}
