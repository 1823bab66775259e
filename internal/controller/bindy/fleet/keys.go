package fleet

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/bind9"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/bindy/servers"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// +kubebuilder:rbac:groups="",resources=secrets,verbs=get;list;watch;create;patch

// A keeper keeps the keys of servers in Secrets, and replaces them in time.
type keeper struct {
	*owners
	servers *servers.Servers
	memory  keyset
}

// A keyReport is what came of a look at keys.
type keyReport struct {
	after    time.Duration // when to look again; 0: an event will tell
	troubles []dialect.Trouble
	missing  bool                     // there is no key at all, so that no server can start
	rotation *v1beta1.RNDCKeyRotation // for the status; nil: keys are not replaced by themselves
}

// A keyTask is a Secret with keys, and what it is to hold.
type keyTask struct {
	*keeper
	owner    client.Object
	secret   client.ObjectKey
	labels   map[string]string
	source   dialect.KeySource
	settings bind9.Settings
	pods     []corev1.Pod // that have the keys
	past     int          // keys that there have been at least
}

// applyInstance brings the Secrets with the keys of an instance one step on: the one that its sidecar and the operator
// sign with, and, where no cluster has one, the one for zone transfers.
func (k *keeper) applyInstance(ctx context.Context, s *dialect.Server, pods []corev1.Pod) (keyReport, error) {
	t := k.task(s.Instance, dialect.KeySecret(s.Instance.Name), s.Labels(), pods)
	if r := s.Instance.Status.RNDCKeyRotation; r != nil {
		t.past = int(r.RotationCount) + 1
	}
	var err error
	if t.source, err = s.KeySource(); err == nil {
		t.settings, err = t.source.Settings(bind9.ForOperator)
	}
	var troubles []dialect.Trouble
	if err != nil {
		troubles = append(troubles, dialect.Trouble{Reason: v1beta1.ReasonInvalidKey, Message: dialect.Sentence(
			"%v. The keys in use stay.", err)})
		t.settings = bind9.Settings{Purpose: bind9.ForOperator, Unusable: true}
		t.source.Ref = nil
	}
	bad, err := t.supply(ctx)
	if bad != nil {
		troubles = append(troubles, *bad)
	}
	if err != nil {
		return keyReport{troubles: troubles}, err
	}
	report, err := t.turn(ctx)
	report.troubles = append(troubles, report.troubles...)
	if s.Parent != nil && s.Parent.Kind == v1beta1.KindCluster {
		return report, err
	}
	transfer := k.task(s.Instance, s.TransferSecret(), s.Labels(), pods)
	transfer.source = dialect.KeySource{Field: t.source.Field, Key: t.source.Key}
	more, moreErr := transfer.turnTransfer(ctx)
	return report.with(more), errors.Join(err, moreErr)
}

// applyCluster does the same for the Secret that the servers of a cluster have for zone transfers, whosever pods they
// run in.
func (k *keeper) applyCluster(ctx context.Context, c *v1beta1.Bind9Cluster) (keyReport, error) {
	pods, err := k.clusterPods(ctx, client.ObjectKeyFromObject(c))
	if err != nil {
		return keyReport{}, err
	}
	t := k.task(c, dialect.TransferName(c.Name), dialect.SharedLabels(c.Name), pods)
	t.source = dialect.TransferSource(&c.Spec.CommonSpec)
	return t.turnTransfer(ctx)
}

// task is about the Secret of this name.
func (k *keeper) task(owner client.Object, secret string, labels map[string]string, pods []corev1.Pod) *keyTask {
	at := client.ObjectKey{Namespace: owner.GetNamespace(), Name: secret}
	return &keyTask{keeper: k, owner: owner, secret: at, labels: labels, pods: pods}
}

// clusterPods are the pods that were made for a cluster: the instance of one may be in another cluster by now.
func (k *keeper) clusterPods(ctx context.Context, cluster client.ObjectKey) ([]corev1.Pod, error) {
	var pods corev1.PodList
	of := client.MatchingLabels{v1beta1.PartOfLabel: v1beta1.PartOfValue, v1beta1.ClusterLabel: cluster.Name}
	if err := k.client.List(ctx, &pods, client.InNamespace(cluster.Namespace), of); err != nil {
		return nil, fmt.Errorf("listing the pods of Bind9Cluster %s: %w", cluster, err)
	}
	return pods.Items, nil
}

// supply gets the key that somebody made, if the spec names one.
func (t *keyTask) supply(ctx context.Context) (bad *dialect.Trouble, err error) {
	instance := client.ObjectKeyFromObject(t.owner)
	if t.source.Ref == nil {
		t.refer(instance, client.ObjectKey{})
		return nil, nil
	}
	at := client.ObjectKey{Namespace: instance.Namespace, Name: string(t.source.Ref.Name)}
	t.refer(instance, at) // before it is read: a change from now on wakes the instance
	if at == t.secret {
		t.settings.Unusable = true
		return &dialect.Trouble{Reason: v1beta1.ReasonInvalidKey, Message: dialect.Sentence(
			"%s names the Secret %s, which the operator makes; remove the reference, or put the key into a Secret of another "+
				"name.",
			controller.Capital(t.source.Field), at)}, nil
	}
	t.settings.External, bad, err = t.supplied(ctx, at)
	t.settings.Unusable = bad != nil
	return bad, err
}

func (t *keyTask) turnTransfer(ctx context.Context) (keyReport, error) {
	var err error
	if t.settings, err = t.source.Settings(bind9.ForTransfer); err != nil { // it is said about the other key
		t.settings = bind9.Settings{Purpose: bind9.ForTransfer}
	}
	if t.source.Key != nil {
		copied := *t.source.Key
		copied.Secret = nil // its metadata are for the other Secret
		t.source.Key = &copied
	}
	return t.turn(ctx)
}

// with adds what came of another Secret of the same servers.
func (r keyReport) with(more keyReport) keyReport {
	r.troubles = append(r.troubles, more.troubles...)
	r.missing = r.missing || more.missing
	if more.after > 0 && (r.after == 0 || more.after < r.after) {
		r.after = more.after
	}
	return r
}

// lookAtLeast is how often a Secret with a date in it is looked at: when a look is due is only roughly kept to.
const lookAtLeast = time.Hour

// turn takes a ring one step on and publishes it.
func (t *keyTask) turn(ctx context.Context) (keyReport, error) {
	now := t.clock()
	remembered, _ := t.memory.ring(t.secret, t.owner.GetUID())
	report := keyReport{rotation: t.rotation(remembered.ring)}
	live, err := t.servers.Secret(ctx, t.secret)
	if err != nil {
		return report, err
	}
	known := t.knownRing(live, now)
	var said *evidence
	ask := func() evidence { // only if anybody wants to know
		if said == nil {
			said = ptr.To(t.ask(ctx, now))
		}
		return *said
	}
	if len(known.ring.Keys) == 0 {
		if t.settings.Unusable {
			report.missing = true
			return report, nil
		}
		t.settings.Past = max(t.past, t.settings.Purpose.Past(ask().names()...))
	}
	t.settings.Rand = rand.Reader
	next, step, err := bind9.Next(known.ring, now, t.settings, func(k bind9.Key) bool {
		return !now.Before(known.since.Add(settle)) && ask().accept(k)
	})
	if err != nil {
		return report, err
	}
	what, err := t.publish(ctx, live, next)
	if err != nil || what == objects.Ending {
		return t.notPublished(known, err)
	}
	t.notePublished(known, next, now)
	if what != objects.Unchanged {
		t.reportChange(change{made: live == nil, before: known.ring, after: next, move: step.Move})
	}
	if said != nil {
		report.troubles = said.troubles
	}
	if !step.Again.IsZero() {
		report.after = min(max(step.Again.Sub(now), 50*time.Millisecond), lookAtLeast)
	}
	report.rotation = t.rotation(next)
	return report, nil
}

// settle is how long a ring has to have been published before pods are asked about it: one that was started with the
// keys of before may not be in the cache until then.
const settle = 4 * time.Second

// knownRing is the ring as servers have it. What is remembered counts more than a Secret that somebody has edited.
func (t *keyTask) knownRing(live *corev1.Secret, now time.Time) published {
	known, remembered := t.memory.ring(t.secret, t.owner.GetUID())
	if live == nil || remembered && known.version == live.ResourceVersion {
		return known
	}
	ring, err := bind9.ReadRing(t.settings.Purpose, live.Data, live.Annotations)
	if remembered && (err != nil || !t.intact(live, ring)) {
		return known
	}
	if err != nil {
		t.log.Warn("a Secret of the operator has no usable key; the operator makes another one", "secret", t.secret.String(),
			"error", err)
	}
	return published{ring: ring, owner: t.owner.GetUID(), version: live.ResourceVersion, since: now}
}

// notePublished notes what stands in the Secret now.
func (t *keyTask) notePublished(before published, ring bind9.Ring, now time.Time) {
	p := published{ring: ring, owner: t.owner.GetUID(), since: before.since}
	if s := t.servers.KnownSecret(t.secret); s != nil {
		p.version = s.ResourceVersion
	}
	if p.since.IsZero() || !slices.Equal(before.ring.Keys, ring.Keys) {
		p.since = now
	}
	t.memory.rememberRing(t.secret, p)
}

// notPublished reports what kept a ring from its Secret.
func (t *keyTask) notPublished(known published, err error) (keyReport, error) {
	var notOwned *objects.NotOwnedError
	report := keyReport{missing: len(known.ring.Keys) == 0 || errors.As(err, &notOwned), rotation: t.rotation(known.ring)}
	told, err := troubleOf(err, t.secret.Namespace)
	if told != nil {
		report.troubles = append(report.troubles, *told)
	}
	if apierrors.IsConflict(err) {
		t.servers.KeepSecret(t.secret, nil)
	}
	return report, err
}

// rotation is what the status says of a ring: something, where keys are replaced by themselves.
func (t *keyTask) rotation(r bind9.Ring) *v1beta1.RNDCKeyRotation {
	if t.settings.RotateAfter <= 0 || t.settings.External != nil || len(r.Keys) == 0 {
		return nil
	}
	format := func(at time.Time) string {
		if at.IsZero() {
			return ""
		}
		return at.UTC().Format(time.RFC3339)
	}
	return &v1beta1.RNDCKeyRotation{
		CreatedAt: format(r.CreatedAt), RotateAt: format(r.RotateAt), LastRotatedAt: format(r.SwitchedAt),
		RotationCount: int32(r.Count),
	}
}
