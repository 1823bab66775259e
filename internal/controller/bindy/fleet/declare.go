package fleet

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// errUndelivered says that a pod does not have all zones that it is to have before it is ready.
var errUndelivered = errors.New("some of its zones have not been delivered to it")

// declarations are what the sidecar of each pod is told that the pod is to have before it is ready, and which pods know
// it.
type declarations struct {
	servers *servers.Servers
	zones   Zones // nil: servers get no zones
	clock   func() time.Time
	known   guarded.Value[declared]
}

// declared is, by instance and pod, how often the pod had been started again when its sidecar was told.
type declared map[client.ObjectKey]map[types.UID]int32

// declare tells the sidecar of each pod which zones it has to have before it is ready, once for each start of it. after
// says when to try again those that could not be told; 0: an event will tell.
func (d *declarations) declare(ctx context.Context, instance client.ObjectKey,
	pods []corev1.Pod) (after time.Duration, troubles []dialect.Trouble) {
	now := d.clock()
	told := d.forget(instance, pods)
	todo := slices.DeleteFunc(slices.Clone(pods), func(p corev1.Pod) bool {
		began, _ := dialect.SidecarState(&p)
		before, ok := told[p.UID]
		return began.IsZero() || !dialect.IsServer(&p) || !p.DeletionTimestamp.IsZero() || dialect.IsOver(&p) ||
			p.Status.PodIP == "" || ok && before == dialect.StartsOf(&p)
	})
	errs := d.servers.Each(ctx, now, todo, func(ctx context.Context, i int) error {
		return d.declareTo(ctx, instance, &todo[i])
	})
	for i, err := range errs {
		if err == nil {
			d.note(instance, todo[i].UID, dialect.StartsOf(&todo[i]))
			continue
		}
		if errors.Is(err, errUndelivered) {
			continue // the zones say what is in the way, and an event that it is not any more
		}
		again, bad := d.servers.Failing(&todo[i], err, now)
		troubles = append(troubles, bad...)
		if after == 0 || again < after {
			after = again
		}
	}
	return after, troubles
}

// declareTo tells one sidecar, unless it knows already: it writes that down beside its zones.
func (d *declarations) declareTo(ctx context.Context, instance client.ObjectKey, p *corev1.Pod) error {
	c, err := d.servers.Sidecar(ctx, p)
	if err != nil {
		return err
	}
	content, err := c.Content(ctx)
	if err != nil || content.Declared {
		return err
	}
	if d.zones != nil {
		zones, complete := d.zones.ContentOf(instance, p.UID)
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

// forget drops what is known of pods that are gone, and returns the rest.
func (d *declarations) forget(instance client.ObjectKey, pods []corev1.Pod) map[types.UID]int32 {
	told, unlock := d.known.Lock()
	defer unlock()
	left := map[types.UID]int32{}
	for i := range pods {
		if restarts, ok := (*told)[instance][pods[i].UID]; ok {
			left[pods[i].UID] = restarts
		}
	}
	if *told == nil {
		*told = declared{}
	}
	if (*told)[instance] = left; len(left) == 0 {
		delete(*told, instance)
	}
	return maps.Clone(left)
}

func (d *declarations) note(instance client.ObjectKey, pod types.UID, restarts int32) {
	told, unlock := d.known.Lock()
	defer unlock()
	if (*told)[instance] == nil {
		(*told)[instance] = map[types.UID]int32{}
	}
	(*told)[instance][pod] = restarts
}
