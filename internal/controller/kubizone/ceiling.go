package kubizone

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// Raise implements controller.Store. A ceiling takes the place of the one that is known,
// and of no other: a leader whose term is over and one whose cache lags behind store none,
// and so never use a serial that another one may use. One that was paused until its term
// was over learns by its cache what the next one has stored, and stores nothing above that.
func (s *store) Raise(ctx context.Context, id zone.ID, ceiling uint32) error {
	k := s.k()
	if k.Leads != nil && !k.Leads() {
		return fmt.Errorf("storing the ceiling of %s: another operator may have become the leader: %w", id, backend.ErrConflict)
	}
	z, err := k.zone(ctx, id)
	if err != nil {
		return err
	}
	known, err := k.knownCeiling(id, z)
	if err != nil {
		return err
	}
	ceiling = rr.LaterSerial(known, ceiling)
	kind, body, err := k.raising(id, z, known, ceiling)
	if err != nil {
		return fmt.Errorf("encoding the ceiling of %s: %w", id, err)
	}
	got := blank(id)
	err = k.Client.Status().Patch(ctx, got, client.RawPatch(kind, body), client.FieldOwner(controller.Manager))
	switch {
	case apierrors.IsInvalid(err) || apierrors.IsConflict(err):
		return fmt.Errorf("storing the ceiling of %s in place of %d: %w: %w", id, known, backend.ErrConflict, err)
	case err != nil:
		return fmt.Errorf("storing the ceiling of %s: %w", id, err)
	}
	k.wrote(id, got, "status")
	k.ceiling(id, ceiling)
	return nil
}

// knownCeiling returns the ceiling that is stored, 0 if none is. That another operator has
// stored a later one since is an error.
func (k *Controller) knownCeiling(id zone.ID, z *v1alpha1.Zone) (uint32, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	state := k.zoneState(id)
	if version(z) < k.state(id).version { // the cache does not know of our own last write yet
		return state.ceiling, nil
	}
	stored := uint32(0)
	if z.Status.SerialCeiling != nil {
		stored = uint32(*z.Status.SerialCeiling)
	}
	if state.ceiling != 0 && stored != 0 && rr.SerialLess(state.ceiling, stored) {
		state.ceiling = stored
		return 0, &backend.Overtaken{Ceiling: stored}
	}
	return stored, nil
}

func (k *Controller) ceiling(id zone.ID, ceiling uint32) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.zoneState(id).ceiling = ceiling
}

// raising is the patch that stores a ceiling in place of the known one; of the first
// ceiling it demands that nobody else has changed the object.
func (k *Controller) raising(id zone.ID, z *v1alpha1.Zone, known, ceiling uint32) (types.PatchType, []byte, error) {
	const path = "/status/serialCeiling"
	if known != 0 {
		body, err := json.Marshal([]map[string]any{
			{"op": "test", "path": "/metadata/uid", "value": z.UID},
			{"op": "test", "path": path, "value": known},
			{"op": "replace", "path": path, "value": ceiling},
		})
		return types.JSONPatchType, body, err
	}
	k.mu.Lock()
	newest := max(version(z), k.state(id).version)
	k.mu.Unlock()
	body, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": z.UID, "resourceVersion": strconv.FormatUint(newest, 10)},
		"status":   map[string]any{"serialCeiling": ceiling},
	})
	return types.MergePatchType, body, err
}

// settle adds to the patch of a Zone's status, which is going to tell of a label, that no
// serial after it was used: a server that forgets what it served cannot say so itself.
// It returns Later while that is not so.
func (k *Controller) settle(id zone.ID, z *v1alpha1.Zone, label backend.Label, patch map[string]any) error {
	stored := z.Status.SerialCeiling
	if label.ID == "" || stored == nil || uint32(*stored) == label.Serial {
		return nil
	}
	now, settled, forgets := k.Deliveries.SettleSerial(id)
	switch {
	case !forgets:
		return nil
	case !settled || now.ID != label.ID || now.Serial != label.Serial:
		return &controller.Later{After: grace}
	}
	patch["serialCeiling"] = label.Serial
	return nil
}
