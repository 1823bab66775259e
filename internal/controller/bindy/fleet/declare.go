package fleet

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// errUndelivered says that a pod does not have all zones that it is to have before it is ready.
var errUndelivered = errors.New("some of its zones have not been delivered to it")

// declare tells the sidecar of each pod which zones it has to have before it is ready, once for each start of it. after
// says when to try again those that could not be told; 0: an event will tell.
func (b *Controller) declare(ctx context.Context, s *dialect.Server,
	pods []corev1.Pod) (after time.Duration, troubles []dialect.Trouble) {
	now := b.Clock()
	instance := client.ObjectKeyFromObject(s.Instance)
	told := b.declared.forget(instance, pods)
	todo := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool {
		began, _ := dialect.SidecarState(&p)
		before, ok := told[p.UID]
		return began.IsZero() || !dialect.IsServer(&p) || !p.DeletionTimestamp.IsZero() || dialect.IsOver(&p) ||
			p.Status.PodIP == "" || ok && before == dialect.StartsOf(&p)
	})
	errs := b.Servers.Each(ctx, now, todo, func(ctx context.Context, i int) error {
		return b.declareTo(ctx, instance, &todo[i])
	})
	for i, err := range errs {
		if err == nil {
			b.declared.note(instance, todo[i].UID, dialect.StartsOf(&todo[i]))
			continue
		}
		if errors.Is(err, errUndelivered) {
			continue // the zones say what is in the way, and an event that it is not any more
		}
		again, bad := b.Servers.Failing(&todo[i], err, now)
		troubles = append(troubles, bad...)
		if after == 0 || again < after {
			after = again
		}
	}
	return after, troubles
}

// declareTo tells one sidecar, unless it knows already: it writes that down beside its zones.
func (b *Controller) declareTo(ctx context.Context, instance client.ObjectKey, p *corev1.Pod) error {
	c, err := b.Servers.Sidecar(ctx, p)
	if err != nil {
		return err
	}
	content, err := c.Content(ctx)
	if err != nil || content.Declared {
		return err
	}
	if b.Zones != nil {
		zones, complete := b.Zones.ContentOf(instance, p.UID)
		if !complete {
			return errUndelivered
		}
		return c.Declare(ctx, zones)
	}
	zones, err := c.Zones(ctx)
	if err != nil {
		return err
	}
	return c.Declare(ctx, zones)
}

// declared are the pods that know what they are to have. Its zero value is ready for use.
type declared struct {
	mu sync.Mutex
	of map[client.ObjectKey]map[types.UID]int32 // by instance and pod: how often the pod had been started again
}

// forget drops what is known of pods that are gone, and returns the rest.
func (d *declared) forget(instance client.ObjectKey, pods []corev1.Pod) map[types.UID]int32 {
	d.mu.Lock()
	defer d.mu.Unlock()
	left := map[types.UID]int32{}
	for i := range pods {
		if restarts, ok := d.of[instance][pods[i].UID]; ok {
			left[pods[i].UID] = restarts
		}
	}
	if d.of == nil {
		d.of = map[client.ObjectKey]map[types.UID]int32{}
	}
	if d.of[instance] = left; len(left) == 0 {
		delete(d.of, instance)
	}
	out := make(map[types.UID]int32, len(left))
	for uid, restarts := range left {
		out[uid] = restarts
	}
	return out
}

func (d *declared) note(instance client.ObjectKey, pod types.UID, restarts int32) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.of[instance] == nil {
		d.of[instance] = map[types.UID]int32{}
	}
	d.of[instance][pod] = restarts
}
