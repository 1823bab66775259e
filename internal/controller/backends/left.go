package backends

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// left is the Controller as the controller.LeftStore of its Deliveries: what Zones have left behind is listed in the
// status of the Backend where it is.
type left Controller

// leftAt is what the status of one Backend lists.
type leftAt struct {
	uid      types.UID // of the Backend
	kind     string    // of its servers
	entries  []v1alpha1.LeftBehind
	approved []string
}

// takeLeft takes in what the status of a Backend lists, unless it is older than what was written last; nil: the Backend
// is gone.
func (b *Controller) takeLeft(name string, backend *v1alpha1.Backend) {
	now := leftAt{}
	if backend != nil {
		if b.objects.Behind(backend) != nil {
			return
		}
		now = listed(backend, backend.Status.LeftBehind)
	}
	was := b.keepLeft(name, now)
	is, before := now.ids(name), was.ids(name)
	for _, id := range slices.Concat(is, before) {
		if slices.Contains(is, id) != slices.Contains(before, id) || !slices.Equal(was.approved, now.approved) {
			b.Places.SyncLeft(id)
		}
	}
}

// listed returns what a Backend lists.
func listed(backend *v1alpha1.Backend, entries []v1alpha1.LeftBehind) leftAt {
	return leftAt{backend.UID, kind(&backend.Spec), entries,
		delivery.Approvals(backend.Annotations[v1alpha1.ApproveAnnotation])}
}

// keepLeft notes and counts what a Backend lists, and returns what it listed before; without a UID: it is gone.
func (b *Controller) keepLeft(name string, now leftAt) (was leftAt) {
	st, unlock := b.state.Lock()
	defer unlock()
	was = st.left[name]
	if delete(st.left, name); now.uid != "" {
		st.left[name] = now
	}
	if was.kind != "" {
		b.Metrics.Left(was.kind, -len(was.entries))
	}
	if now.kind != "" {
		b.Metrics.Left(now.kind, len(now.entries))
	}
	return was
}

func (l leftAt) ids(place string) (ids []zone.ID) {
	for i := range l.entries {
		ids = append(ids, idOf(place, &l.entries[i]))
	}
	return ids
}

// idOf returns the ID of an entry. One whose name is none has been written by nobody of ours, and is nothing.
func idOf(place string, entry *v1alpha1.LeftBehind) zone.ID {
	name, err := dnsname.Parse(entry.FQDN)
	if err != nil {
		return zone.ID{}
	}
	return delivery.LeftID(place, name, entry.UID)
}

// All implements controller.LeftStore.
func (l *left) All() (ids []zone.ID) {
	st, unlock := l.state.Lock()
	defer unlock()
	for place, at := range st.left {
		ids = append(ids, at.ids(place)...)
	}
	return ids
}

// Load implements controller.LeftStore.
func (l *left) Load(id zone.ID) (found *delivery.Left, approved []string) {
	st, unlock := l.state.Lock()
	at := st.left[id.Namespace]
	unlock()
	i := slices.Index(at.ids(id.Namespace), id)
	if i < 0 || id.Name == "" {
		return nil, nil
	}
	e := &at.entries[i]
	name, _ := dnsname.Parse(e.FQDN)
	return &delivery.Left{
		Place: id.Namespace, Zone: name, UID: e.UID, Since: e.Since.Time, Whole: e.Whole, Sets: dialect.LeftSets(e),
		Of:      zone.ID{Kind: zone.KindZone, Namespace: e.Namespace, Name: e.Name},
		Unknown: int(e.Unlisted), Ceiling: uint32(e.SerialCeiling), Approved: delivery.Approvals(e.Approved),
	}, at.approved
}

// Leave implements controller.LeftStore.
func (l *left) Leave(ctx context.Context, what *delivery.Left) error {
	entry := v1alpha1.LeftBehind{
		FQDN: what.Zone.String(), UID: what.UID, Namespace: what.Of.Namespace, Name: what.Of.Name,
		Since: metav1.NewTime(what.Since), Whole: what.Whole, Sets: int32(what.Unknown), Unlisted: int32(what.Unknown),
		SerialCeiling: int64(what.Ceiling), Approved: strings.Join(what.Approved, delivery.PlanSeparator),
		Reason: controller.ReasonWithdrawing,
	}
	backend, err := l.change(ctx, what.Place, func(list []v1alpha1.LeftBehind) ([]v1alpha1.LeftBehind, error) {
		return dialect.Leave(list, entry, what.Sets)
	})
	if err == nil {
		l.Events.Eventf(backend, nil, "Warning", controller.ReasonLeftBehind, "Leave", "%s", controller.Note(fmt.Sprintf(
			"%s of Zone %s/%s, which was deleted, is still on the servers; the operator removes it when it can reach "+
				"them.", entry.FQDN,
			entry.Namespace, entry.Name)))
	}
	return client.IgnoreNotFound(err) // a Backend that is gone keeps what is there
}

// Remove implements controller.LeftStore.
func (l *left) Remove(ctx context.Context, id zone.ID) error {
	_, err := l.change(ctx, id.Namespace, func(list []v1alpha1.LeftBehind) ([]v1alpha1.LeftBehind, error) {
		return slices.DeleteFunc(slices.Clone(list), func(e v1alpha1.LeftBehind) bool {
			return idOf(id.Namespace, &e) == id
		}), nil
	})
	if err = client.IgnoreNotFound(err); err == nil {
		l.Places.SyncLeft(id)
	}
	return err
}

// Raise implements controller.LeftStore.
func (l *left) Raise(ctx context.Context, id zone.ID, ceiling uint32) error {
	_, err := l.change(ctx, id.Namespace, func(list []v1alpha1.LeftBehind) ([]v1alpha1.LeftBehind, error) {
		out := slices.Clone(list)
		for i := range out {
			if idOf(id.Namespace, &out[i]) == id {
				out[i].SerialCeiling = int64(ceiling)
				return out, nil
			}
		}
		return nil, errNotListed
	})
	return err
}

var errNotListed = errors.New("it no longer lists the zone")

// patience is how long a write waits for the cache to have the one before.
const patience = 10 * time.Second

// change changes the list of a Backend, as it was written last, and returns the Backend.
func (l *left) change(ctx context.Context, place string,
	to func([]v1alpha1.LeftBehind) ([]v1alpha1.LeftBehind, error)) (*v1alpha1.Backend, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		var backend v1alpha1.Backend
		if err := l.Client.Get(ctx, client.ObjectKey{Name: place}, &backend); err != nil {
			return nil, fmt.Errorf("reading Backend %s: %w", place, err)
		}
		err := l.objects.Behind(&backend)
		if err == nil {
			want := backend.Status
			if want.LeftBehind, err = to(backend.Status.LeftBehind); err != nil {
				return nil, fmt.Errorf("listing what is left behind at Backend %s: %w", place, err)
			}
			if _, err = l.objects.ChangeStatus(ctx, &backend, backend.Status, want); err == nil {
				(*Controller)(l).keepLeft(place, listed(&backend, want.LeftBehind))
				return &backend, nil
			}
		}
		var behind *objects.Behind
		if !errors.As(err, &behind) {
			return nil, err
		}
		has := make(chan struct{})
		behind.Then(func() { close(has) })
		select {
		case <-has:
		case <-ctx.Done():
			return nil, fmt.Errorf("waiting for the last write to Backend %s: %w", place, ctx.Err())
		}
	}
}

// tellLeft returns what a Backend lists with how that stands.
func (b *Controller) tellLeft(backend *v1alpha1.Backend) []v1alpha1.LeftBehind {
	out := slices.Clone(backend.Status.LeftBehind)
	for i := range out {
		if o := b.Places.LeftOutcome(idOf(backend.Name, &out[i])); o != nil {
			out[i].Reason, out[i].Message, out[i].Plan = o.Reason, controller.Note(o.Message), o.Plan
		}
	}
	return out
}
