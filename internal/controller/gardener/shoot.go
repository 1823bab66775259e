package gardener

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
)

// A shoot is what counts of the Shoot that an object belongs to.
type shoot struct {
	Failed bool // Gardener has given up, and nothing is done until it has not
	Forced bool // it goes, whatever is left behind
	Lost   bool // there is no Cluster for it, or not even a definition of Clusters
}

// shootOf reads the shoot that an object belongs to; the zero shoot where there is none. An object that goes by force
// itself does so whatever has become of that.
func shootOf(ctx context.Context, cached, live client.Reader, o *v1alpha1.DNSRecord) (shoot, error) {
	if forced(o) {
		return shoot{Forced: true}, nil
	}
	namespace, ns := o.Namespace, metadata("Namespace")
	if err := cached.Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
		return shoot{}, fmt.Errorf("reading the Namespace %s: %w", namespace, err)
	}
	if ns.Labels[v1alpha1.RoleLabel] != v1alpha1.RoleShoot {
		return shoot{}, nil
	}
	cluster := blankCluster()
	if err := live.Get(ctx, client.ObjectKey{Name: namespace}, cluster); err != nil {
		return shoot{Lost: apierrors.IsNotFound(err) || apimeta.IsNoMatchError(err)}, fmt.Errorf(
			"reading the Cluster %s, which the namespace of a shoot needs: %w", namespace, err)
	}
	return readShoot(cluster)
}

// readShoot finds in a Cluster what counts.
func readShoot(cluster *unstructured.Unstructured) (shoot, error) {
	raw, _, err := unstructured.NestedMap(cluster.Object, "spec", "shoot")
	if err != nil {
		return shoot{}, fmt.Errorf("reading the Shoot in the Cluster %s: %w", cluster.GetName(), err)
	}
	text, err := json.Marshal(raw)
	if err != nil {
		return shoot{}, fmt.Errorf("reading the Shoot in the Cluster %s: %w", cluster.GetName(), err)
	}
	var s struct {
		Metadata struct {
			Annotations map[string]string `json:"annotations"`
		} `json:"metadata"`
		Status struct {
			LastOperation *struct {
				State string `json:"state"`
			} `json:"lastOperation"`
		} `json:"status"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return shoot{}, fmt.Errorf("reading the Shoot in the Cluster %s: %w", cluster.GetName(), err)
	}
	forced, _ := strconv.ParseBool(s.Metadata.Annotations[v1alpha1.ForceDeletionAnnotation])
	return shoot{
		Failed: s.Status.LastOperation != nil && s.Status.LastOperation.State == "Failed",
		Forced: forced,
	}, nil
}

// prune leaves of a Cluster what readShoot reads: the whole is as large as everything that there is about a shoot.
func prune(cluster *unstructured.Unstructured) {
	kept := map[string]any{}
	for _, path := range [][]string{
		{"metadata", "annotations", v1alpha1.ForceDeletionAnnotation}, {"status", "lastOperation", "state"},
	} {
		if v, ok, _ := unstructured.NestedFieldNoCopy(cluster.Object, append([]string{"spec", "shoot"}, path...)...); ok {
			_ = unstructured.SetNestedField(kept, v, path...)
		}
	}
	cluster.Object["spec"] = map[string]any{"shoot": kept}
}

// putCluster has everything about a shoot looked at when it counts again, or goes by force.
func (k gatherer) putCluster(_, o *unstructured.Unstructured) {
	now, err := readShoot(o)
	s, unlock := k.state.Lock()
	defer unlock()
	was, known := s.shoots[o.GetName()]
	s.shoots[o.GetName()] = now
	if err != nil || !known || was == now {
		return
	}
	for _, r := range sorted(maps.Values(s.records)) {
		if r.id.Namespace == o.GetName() {
			r.request = asked
			k.writer.Enqueue(r.id)
		}
	}
}
