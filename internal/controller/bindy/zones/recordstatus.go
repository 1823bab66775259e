package zones

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/rr"
	"github.com/zonefold/zonefold/internal/zone"
)

// A recordReport is one look at what the status of a record is to say.
type recordReport struct {
	report
	dialect.Record
	verdict zone.Verdict // zero: the record is being deleted
}

// writeRecord brings the status of a record up to date.
func (z *Zones) writeRecord(ctx context.Context, id zone.ID) error {
	st, unlock := z.state.Lock()
	k := st.known[id]
	if k == nil || k.record.Object == nil {
		unlock()
		return nil
	}
	r, taken := recordReport{report: report{z}, Record: k.record}, k.taken
	unlock()
	if !r.Object.GetDeletionTimestamp().IsZero() {
		return errors.Join(r.letGo(ctx), r.parted(ctx))
	}
	v, ok := z.core.Verdict(id)
	if !ok || taken != core.VersionOf(r.Object) {
		return nil // Settle asks again
	}
	r.verdict = v
	served := controller.Not(v1beta1.ReasonNotReady, "")
	if v.Accepted {
		served = z.deliveries.Reached(v.Zone, id, rr.Key{Name: v.Name, Type: r.Type})
	}
	if v.Accepted && r.soon(id, served) {
		return r.lookAgain()
	}
	c := controller.Conditions{Old: r.Status.Conditions, Generation: r.Object.GetGeneration(), Now: z.Clock.Now()}
	ready := r.ready(served)
	c.Set(v1beta1.ConditionReady, ready)
	warn(&c, v)
	status := *r.Status.DeepCopy()
	status.Conditions, status.ObservedGeneration = c.List(), r.Object.GetGeneration()
	r.placed(&status)
	if ready.Status == metav1.ConditionTrue {
		r.confirmed(&status)
	} else if !v.Accepted {
		unpublished(&status)
	}
	sent, err := r.patchStatus(ctx, r.Object, *r.Status, status)
	if !sent || err != nil {
		return err
	}
	if ready.Status != metav1.ConditionTrue && ready.Reason != controller.ReasonPending && !isIntended(ready.Reason) &&
		!dialect.HasReason(r.Status.Conditions, ready.Reason) {
		r.warning(r.Object, ready.Reason, v1beta1.ConditionReady, ready.Message)
	}
	return nil
}

// letGo takes off a record that is being deleted the finalizer that the existing Bindy put on it. We put none:
// the servers lose what no object asks for, whenever that is noticed.
func (r recordReport) letGo(ctx context.Context) error {
	o, ok := r.Object.DeepCopyObject().(client.Object)
	if !ok {
		return fmt.Errorf("%T is no object", r.Object)
	}
	return r.z.Objects.Finalize(ctx, o, r.finalizer(), false)
}

func (r recordReport) finalizer() string {
	return v1beta1.GroupVersion.Group + "/" + strings.ToLower(r.ID.Kind) + "-finalizer"
}

// parted says of a record that is being deleted, and that somebody else keeps, that no server is to have it.
func (r recordReport) parted(ctx context.Context) error {
	if !slices.ContainsFunc(r.Object.GetFinalizers(), func(f string) bool { return f != r.finalizer() }) {
		return nil
	}
	c := controller.Conditions{Old: r.Status.Conditions, Generation: r.Object.GetGeneration(), Now: r.z.Clock.Now()}
	c.Set(v1beta1.ConditionReady, controller.Not(v1beta1.ReasonDeleting, isRemoved))
	status := *r.Status.DeepCopy()
	status.Conditions, status.ObservedGeneration = c.List(), r.Object.GetGeneration()
	status.Zone, status.ZoneRef = "", nil
	unpublished(&status)
	_, err := r.patchStatus(ctx, r.Object, *r.Status, status)
	return err
}

// ready is the condition Ready of a record.
func (r recordReport) ready(served controller.Outcome) controller.Outcome {
	v := r.verdict
	if !v.Accepted {
		return controller.Not(string(v.Reason), v.Message)
	}
	if n, hidden := v.Note(zone.Occluded); hidden {
		return controller.Not(string(n.Reason), n.Message)
	}
	st, unlock := r.z.state.Lock()
	fleet := st.fleets[v.Zone]
	unlock()
	if lack, lacks := fleet.lack(v.Zone); lacks {
		return lack
	}
	if served.Status != metav1.ConditionTrue {
		return served
	}
	return controller.OK(v1beta1.ReasonReconcileSucceeded, fmt.Sprintf("All primary servers of %s have it.", v.Zone))
}

// lack is what keeps the records of a zone from all primaries.
func (f fleetOf) lack(id zone.ID) (lack controller.Outcome, lacks bool) {
	switch {
	case len(f.all()) == 0:
		return controller.Not(v1beta1.ReasonNoInstances, dialect.Sentence(
			"No server has %s, the record's zone; see its conditions.", id)), true
	case f.signer.gone:
		return controller.Not(v1beta1.ReasonSigningRefused, f.signer.trouble), true
	case len(f.primaries) == 0:
		return controller.Not(v1beta1.ReasonNoPrimaryInstances, dialect.Sentence(
			"No primary server has %s, the record's zone; see its conditions.", id)), true
	}
	return controller.Outcome{}, false
}

// placed says which zone has the record.
func (r recordReport) placed(status *v1beta1.RecordStatus) {
	v := r.verdict
	if !v.Accepted {
		status.Zone, status.ZoneRef = "", nil
		return
	}
	st, unlock := r.z.state.Lock()
	defer unlock()
	if k := st.known[v.Zone]; k != nil && k.zone != nil {
		name := strings.TrimSuffix(k.zone.Spec.ZoneName, ".")
		status.Zone = name
		status.ZoneRef = &v1beta1.ZoneReference{
			APIVersion: v1beta1.GroupVersion.String(), Kind: v1beta1.KindZone, Name: v.Zone.Name, Namespace: v.Zone.Namespace,
			ZoneName: name,
		}
	}
}

// confirmed says what servers have confirmed, and since when that is so.
func (r recordReport) confirmed(status *v1beta1.RecordStatus) {
	hash := hashOf(r.Object)
	name := r.verdict.Name.String()
	if status.RecordHash == hash && status.PublishedName == name {
		return
	}
	status.RecordHash, status.PublishedName, status.LastUpdated = hash, name, r.z.Clock.Now().UTC().Format(time.RFC3339)
	status.Addresses = ""
	if r.Type == rr.TypeA || r.Type == rr.TypeAAAA {
		if data, err := r.Data(); err == nil {
			status.Addresses = strings.Join(data, ",")
		}
	}
}

func unpublished(status *v1beta1.RecordStatus) {
	status.PublishedName, status.RecordHash, status.Addresses, status.LastUpdated = "", "", "", ""
}

// hashOf is a hash over the spec of an object.
func hashOf(o client.Object) string {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return ""
	}
	text, err := json.Marshal(content["spec"])
	if err != nil {
		return ""
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
