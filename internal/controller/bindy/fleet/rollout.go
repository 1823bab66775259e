package fleet

import (
	"context"
	"slices"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
)

// A member is a server of a cluster as a decision about a roll-out sees it.
type member struct {
	name    string
	due     bool // its pods are not of the template that they should be of
	settled bool // every pod that it should have is of the template that its Deployment has, and is ready
	rolling bool // its pods are being replaced
	serves  bool // a pod is ready, of whichever template
}

// A decision says whether the pods of a server may be replaced now.
type decision struct {
	may      bool
	waitsFor string // the server that it waits for
	unready  bool   // that one is not ready; otherwise it only goes first
}

// mayRoll decides whether the pods of a server may be replaced. Of the servers of a cluster one at a time is, in the
// order of their names, and only while all others serve. One whose pods are not ready anyhow may: nothing is lost by
// it, and it is how a bad version is mended. As long as it serves all the same, it waits for a sibling that has just
// been given what is wanted now: a bad version stops at the first server. Siblings are the other servers, those without
// pods left out.
func mayRoll(self member, siblings []member) decision {
	siblings = slices.Clone(siblings)
	slices.SortFunc(siblings, func(a, b member) int { return dialect.CompareInstances(a.name, b.name) })
	for _, s := range siblings {
		if self.settled && !s.settled || self.serves && s.rolling && !s.due {
			return decision{waitsFor: s.name, unready: true}
		}
	}
	for _, s := range siblings {
		if self.settled && s.due && dialect.CompareInstances(s.name, self.name) < 0 {
			return decision{waitsFor: s.name}
		}
	}
	return decision{may: true}
}

// isBehind reports whether an instance that a cluster made does not repeat yet what the cluster says. It is about to,
// which is an event: pods that were replaced before that would be replaced twice.
func (r *rollouts) isBehind(ctx context.Context, i *v1beta1.Bind9Instance) (bool, error) {
	ref := metav1.GetControllerOf(i)
	if ref == nil || ref.Kind != v1beta1.KindCluster {
		return false, nil
	}
	var cluster v1beta1.Bind9Cluster
	if err := r.client.Get(ctx, client.ObjectKey{Namespace: i.Namespace, Name: ref.Name}, &cluster); err != nil {
		return false, client.IgnoreNotFound(err)
	}
	_, number, _ := dialect.CutLast(i.Name)
	index, err := strconv.ParseInt(number, 10, 32)
	if err != nil || !metav1.IsControlledBy(i, &cluster) || !cluster.DeletionTimestamp.IsZero() {
		return false, nil //nolint:nilerr // it is none of those that the cluster makes
	}
	want := dialect.InstanceFor(&cluster, i.Spec.Role.Canonical(), int32(index))
	if want.Name != i.Name {
		return false, nil
	}
	hash, err := r.children.Hash(&cluster, want)
	return err == nil && i.Annotations[v1beta1.AppliedAnnotation] != hash, err
}
