package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// A visit is one look at an instance: what was wanted, and what came of it.
type visit struct {
	*instances
	instance *v1beta1.Bind9Instance
	plan     *dialect.Plan // nil: there is none that could be carried out
	troubles []dialect.Trouble
	kept     bool          // the pods were left as they are because of the troubles
	held     string        // why the pods are not replaced yet, as a sentence; "": nothing is in the way
	after    time.Duration // when to look again; 0: an event will tell
	rotation *v1beta1.RNDCKeyRotation
	pods     []corev1.Pod
	account  types.UID              // of the ServiceAccount of the pods
	listed   []v1beta1.InstanceZone // zones that it has or is to have
	lags     bool                   // the cache has the Deployment from before our last write
}

// again asks for another look after a while, if there is not one before that.
func (v *visit) again(after time.Duration) {
	if after > 0 && (v.after == 0 || after < v.after) {
		v.after = after
	}
}

// applyChild brings a child to what is wanted. What people have to put right is noted; the child is not as wanted then.
func (v *visit) applyChild(ctx context.Context, child client.Object) (ok bool, err error) {
	_, err = v.children.Apply(ctx, v.instance, child)
	return v.addTrouble(err)
}

func (v *visit) addTrouble(err error) (ok bool, _ error) {
	var notOwned *objects.NotOwnedError
	if errors.As(err, &notOwned) {
		v.again(afterNotOwned) // what is somebody else's may not be watched
	}
	ok = err == nil
	t, err := troubleOf(err, v.instance.Namespace)
	if t != nil {
		v.troubles = append(v.troubles, *t)
	}
	if notOwned != nil {
		err = nil
	}
	return ok, err
}

// carryOut brings the children of an instance to what its plan says. What is wrong with one holds up only what cannot
// do without it: pods are started, or replaced, when their configuration and keys are there.
func (v *visit) carryOut(ctx context.Context) error {
	var errs []error
	complete := true
	step := func(ok bool, err error) {
		complete = complete && ok
		errs = append(errs, err)
	}
	var err error
	if v.pods, err = v.servers.Pods(ctx, v.plan.Server); err != nil {
		return err
	}
	step(v.applyAccount(ctx))
	step(v.applyConfig(ctx))
	step(v.applyClaim(ctx))
	step(v.applyKeySecrets(ctx))
	_, err = v.applyChild(ctx, v.plan.Service)
	_, apiErr := v.applyChild(ctx, v.plan.API)
	errs = append(errs, err, apiErr, v.applyBudget(ctx), v.checkBinding(ctx))
	if complete {
		errs = append(errs, v.rollouts.apply(ctx, v))
	} else {
		v.kept = true
	}
	errs = append(errs, v.lookForZones(ctx, client.ObjectKeyFromObject(v.instance)))
	v.sweep(ctx)
	v.declare(ctx)
	return errors.Join(append(errs, v.removeLeftovers(ctx))...)
}

// keepUp has the pods of an instance whose spec cannot be carried out go on with their zones, those that were made anew
// since, too, and lose those that it is not to have any more, and says why nothing else is done.
func (v *visit) keepUp(ctx context.Context, problem *dialect.Trouble) (time.Duration, error) {
	v.kept, v.troubles = true, []dialect.Trouble{*problem}
	err := v.goOn(ctx)
	return v.after, errors.Join(err, v.report(ctx))
}

// keepZones has the pods of an instance that waits for what its cluster says go on as well. That takes long where the
// cluster's spec cannot be carried out, or the API server refuses the change. Nothing else is to be said yet.
func (v *visit) keepZones(ctx context.Context) (time.Duration, error) {
	err := v.goOn(ctx)
	if v.zones == nil {
		return v.after, err
	}
	status := *v.instance.Status.DeepCopy()
	status.Zones, status.ZonesCount = v.listed, int32(len(v.listed))
	written := v.writeStatus(ctx, v.instance, v.instance.Status, status)
	if written == nil {
		v.zones.Stored(client.ObjectKeyFromObject(v.instance), v.listed)
	}
	return v.after, errors.Join(err, written)
}

// goOn has the pods of an instance get what is new of their zones, and lose those that it is not to have any more.
func (v *visit) goOn(ctx context.Context) error {
	looked := v.lookForZones(ctx, client.ObjectKeyFromObject(v.instance))
	var err error
	if v.pods, err = v.servers.Pods(ctx, &dialect.Server{Instance: v.instance}); err == nil {
		v.sweep(ctx)
		v.declare(ctx)
	}
	return errors.Join(looked, err)
}

// delete deletes everything that an instance has, and lets it go when all of it is gone or on its way. It waits for no
// pod: one on a node that does not answer may never end.
func (v *visit) delete(ctx context.Context) error {
	if !slices.Contains(v.instance.Finalizers, v1beta1.InstanceFinalizer) {
		return nil
	}
	if !orphans(v.instance) {
		if err := v.removeChildren(ctx, v.instance); err != nil {
			v.troubles = []dialect.Trouble{{Reason: v1beta1.ReasonDeleting, Message: dialect.Sentence(
				"It is being deleted, but its children cannot be deleted: %v.", err)}}
			return errors.Join(err, v.updateStatus(ctx))
		}
	}
	return v.withoutFinalizer(ctx, v.instance, v1beta1.InstanceFinalizer)
}

func (v *visit) report(ctx context.Context) error {
	err := v.updateStatus(ctx)
	if v.zones != nil && err == nil {
		v.zones.Stored(client.ObjectKeyFromObject(v.instance), v.listed)
	}
	return err
}

// sweep removes from the pods of an instance the zones that it is not to have any more.
func (v *visit) sweep(ctx context.Context) {
	if v.zones == nil {
		return
	}
	zones, again := v.zones.Sweep(ctx, v.instance, v.pods)
	v.listed = zones
	v.again(again)
}

// declare tells the pods of an instance what they are to have before they are ready.
func (v *visit) declare(ctx context.Context) {
	after, troubles := v.declared.declare(ctx, client.ObjectKeyFromObject(v.instance), v.pods)
	v.again(after)
	v.troubles = append(v.troubles, troubles...)
}

// applyKeySecrets brings the keys of a server on, and reports whether it has all that it cannot start without.
func (v *visit) applyKeySecrets(ctx context.Context) (bool, error) {
	keys, err := v.keys.applyInstance(ctx, v.plan.Server, v.pods)
	v.rotation = keys.rotation
	v.again(keys.after)
	v.troubles = append(v.troubles, keys.troubles...)
	if err != nil {
		return v.addTrouble(err)
	}
	if keys.missing || v.plan.Parent == nil || v.plan.Parent.Kind != v1beta1.KindCluster {
		return !keys.missing, nil
	}
	return v.hasTransferKeys(ctx)
}

// hasTransferKeys reports whether the cluster of a server has its Secret for zone transfers. With one of somebody else,
// which need not have the items that pods mount, no pod would start.
func (v *visit) hasTransferKeys(ctx context.Context) (bool, error) {
	var cluster v1beta1.Bind9Cluster
	secret := servers.Metadata("Secret")
	key := client.ObjectKey{Namespace: v.instance.Namespace, Name: v.plan.TransferSecret()}
	err := v.client.Get(ctx, client.ObjectKey{Namespace: key.Namespace, Name: v.plan.Cluster()}, &cluster)
	if err == nil {
		err = v.client.Get(ctx, key, secret)
	}
	switch {
	case client.IgnoreNotFound(err) != nil:
		return false, fmt.Errorf("reading what %s is to have: %w", dialect.Describe("Secret", key), err)
	case err == nil && metav1.IsControlledBy(secret, &cluster):
		return true, nil
	case err == nil && secret.DeletionTimestamp.IsZero() &&
		(metav1.GetControllerOf(secret) != nil || secret.Labels[v1beta1.PartOfLabel] != v1beta1.PartOfValue):
		return v.addTrouble(&objects.NotOwnedError{Kind: "Secret", Key: key, Controller: metav1.GetControllerOf(secret)})
	}
	v.held = dialect.Sentence("The Secret %s of Bind9Cluster %s is not there yet.", key.Name, v.plan.Cluster())
	return false, nil
}
