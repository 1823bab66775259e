package kubizone

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
)

// TestAJournalThatIsDeletedStaysUntilItsZoneIsWithdrawn has the page and the Zone be deleted as the end of their
// namespace does it, between two leaders.
func TestAJournalThatIsDeletedStaysUntilItsZoneIsWithdrawn(t *testing.T) {
	c := newCluster(t)
	first := c.leader()
	where := []delivery.Delivered{{Place: "one", Zone: parse(t, "example.org.")}}
	if err := (*store)(first.Controller).Hold(c.ctx, c.id, where); err != nil {
		t.Fatal(err)
	}
	first.publishes(c, "one")
	c.eventually("the finalizer in the cache", func() string {
		if z, err := zoneAt(c.ctx, first.Client, c.id); err != nil || !finalized(z) {
			return fmt.Sprintf("it is not there, %v", err)
		}
		return ""
	})
	page := c.pages()[0]
	if err := c.live.Delete(c.ctx, &page); err != nil {
		t.Fatal(err)
	}
	recorder, _ := first.Events.(*events.FakeRecorder)
	if told := <-recorder.Events; !strings.Contains(told, "Kept Zone org needs it") {
		t.Errorf("the event is %q", told)
	}
	z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: c.id.Namespace, Name: c.id.Name}}
	if err := c.live.Delete(c.ctx, z); err != nil {
		t.Fatal(err)
	}

	second := c.leader()
	second.load(c)
	if missing := second.lacks(c, "one"); missing != "" {
		t.Error(missing)
	}
	if err := second.writeZone(c.ctx, c.id); err != nil && !errors.As(err, new(*controller.Later)) {
		t.Error(err)
	}
	if pages := c.pages(); len(pages) != 1 {
		t.Errorf("before it is withdrawn there are %+v", pages)
	}
	if err := (*store)(second.Controller).Hold(c.ctx, c.id, nil); err != nil {
		t.Fatal(err)
	}
	if err := c.live.Get(c.ctx, client.ObjectKeyFromObject(z), z); client.IgnoreNotFound(err) != nil || err == nil {
		t.Errorf("when it is withdrawn the Zone is there, %v", err)
	}
	if pages := c.pages(); len(pages) > 0 {
		t.Errorf("when it is withdrawn there are %+v", pages)
	}
}

// TestASliceWhoseZoneIsGoneIsLetGo has somebody take the finalizer off a Zone: nobody withdraws it.
func TestASliceWhoseZoneIsGoneIsLetGo(t *testing.T) {
	for name, next := range map[string]func(*cluster, *leader) *leader{
		"by the leader":      func(_ *cluster, same *leader) *leader { return same },
		"by the next leader": func(c *cluster, _ *leader) *leader { return c.leader() },
	} {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t)
			first := c.leader()
			first.publishes(c, "one")
			z := &v1alpha1.Zone{ObjectMeta: metav1.ObjectMeta{Namespace: c.id.Namespace, Name: c.id.Name}}
			if err := c.live.Delete(c.ctx, z); err != nil {
				t.Fatal(err)
			}
			page := c.pages()[0]
			if err := c.live.Delete(c.ctx, &page); err != nil { // as the garbage collector does
				t.Fatal(err)
			}
			l := next(c, first)
			c.eventually("the page", func() string {
				if err := l.writeZone(c.ctx, c.id); err != nil {
					return err.Error()
				}
				if pages := c.pages(); len(pages) > 0 {
					return fmt.Sprintf("there are %+v", pages)
				}
				return ""
			})
		})
	}
}
