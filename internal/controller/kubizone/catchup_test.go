package kubizone

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
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
	catchUp := controller.CatchUp{Live: c.counted(&further), Cached: l.Client, Cache: l.Cache, Log: l.Log, Many: 1}
	c.waits(catchUp, "for a Record that its cache lacks")
	l.watch.open()
	if err := catchUp.Try(c.ctx, &v1alpha1.Record{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Client.Get(c.ctx, client.ObjectKeyFromObject(late), &v1alpha1.Record{}); err != nil {
		t.Errorf("it goes on without a Record: %v", err)
	}
	l.watch.close()
	if err := c.live.Delete(c.ctx, late); err != nil {
		t.Fatal(err)
	}
	c.waits(catchUp, "for its cache to lose a Record that is gone")
	if n := further.Load(); n > 0 {
		t.Errorf("it lists %d further pages of Records", n)
	}
	catchUp.Many = 0
	c.waits(catchUp, "for its cache to lose a Record that a list does not have")
	l.watch.open()
	if err := catchUp.Try(c.ctx, &v1alpha1.Record{}); err != nil {
		t.Fatal(err)
	}
	if err := l.Client.Get(c.ctx, client.ObjectKeyFromObject(late), late); !apierrors.IsNotFound(err) {
		t.Errorf("it goes on with a Record that is gone: %v", err)
	}
}

// counted is a client that counts the further pages of lists.
func (c *cluster) counted(further *atomic.Int32) client.WithWatch {
	c.t.Helper()
	config := rest.CopyConfig(c.config)
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return pages{next, further} })
	counted, err := client.NewWithWatch(config, client.Options{Scheme: c.scheme})
	if err != nil {
		c.t.Fatal(err)
	}
	return counted
}

// waits looks whether a CatchUp still waits after longer than it asks for changes.
func (c *cluster) waits(catchUp controller.CatchUp, what string) {
	c.t.Helper()
	early, cancel := context.WithTimeout(c.ctx, 4*time.Second)
	defer cancel()
	if err := catchUp.Try(early, &v1alpha1.Record{}); !errors.Is(err, context.DeadlineExceeded) {
		c.t.Errorf("it does not wait %s: %v", what, err)
	}
}
