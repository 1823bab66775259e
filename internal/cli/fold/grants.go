package fold

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/zonefold/zonefold/internal/cli/manifest"
	"github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/zone"
)

// Reasons of problems with Backends.
const (
	InvalidGrant  = "InvalidGrant"  // a grant that cannot be read gives nothing
	unknownLabels = "UnknownLabels" // a grant selects by labels that the input does not have
)

// grant gives the World what the Backends grant.
func (c *Composition) grant(world *zone.World, objects []*manifest.Object) {
	all := namespacesOf(objects)
	c.world, c.granted = world, map[string][]zone.Grant{}
	conflicted := map[manifest.Ref]bool{}
	for _, p := range c.Problems {
		conflicted[p.Object.Ref] = true
	}
	for _, o := range c.Backends {
		known := o.Backend != nil && !conflicted[o.Ref]
		var grants []zone.Grant
		if known {
			grants = c.convertGrants(o, all)
		}
		if len(grants) == 0 && mentionsGrants(objects, o.Ref) {
			// It grants something, and nobody knows what: that closes the cluster.
			grants = []zone.Grant{{}}
		}
		if len(grants) > 0 {
			c.granted[o.Name] = grants
		}
		world.PutGrants(o.Name, grants)
	}
}

// convertGrants reads the grants of a Backend as the operator does.
func (c *Composition) convertGrants(o *manifest.Object, all namespaces) []zone.Grant {
	grants, problems := backends.ConvertGrants(o.Backend, all.labels)
	for _, message := range problems {
		c.Problems = append(c.Problems, problem{o, "spec.grants", false, InvalidGrant, message})
	}
	for i := range o.Backend.Spec.Grants {
		selector := o.Backend.Spec.Grants[i].NamespaceSelector
		if name := all.withoutLabels(selector); name != "" {
			field := fmt.Sprintf("spec.grants[%d].namespaceSelector", i)
			c.Problems = append(c.Problems, problem{o, field, true, unknownLabels, fmt.Sprintf(
				"Grant %d of %s selects namespaces by labels, and the input has Zones in %s, but no Namespace object that tells "+
					"its labels; add it.",
				i, o.Ref, name)})
		}
	}
	return grants
}

// namespaces are those of the input with their labels, as far as they are known.
type namespaces struct {
	labels map[string]labels.Set
	told   map[string]bool // there is a Namespace object
	zones  map[string]bool // there are Zones in it
}

func namespacesOf(objects []*manifest.Object) namespaces {
	out := namespaces{labels: map[string]labels.Set{}, told: map[string]bool{}, zones: map[string]bool{}}
	for _, o := range objects {
		name := o.Ref.Namespace
		if o.Kind == manifest.Namespace {
			name = o.Name
		}
		if name == "" {
			continue
		}
		if out.labels[name] == nil {
			out.labels[name] = labels.Set{}
		}
		maps.Copy(out.labels[name], o.Labels)
		out.labels[name][corev1.LabelMetadataName] = name // as the API server does
		out.told[name] = out.told[name] || o.Kind == manifest.Namespace
		out.zones[name] = out.zones[name] || o.Kind == manifest.Zone
	}
	return out
}

// withoutLabels returns a namespace with Zones for which a selector cannot be judged
// for want of its labels, or "".
func (n namespaces) withoutLabels(s *metav1.LabelSelector) string {
	if s == nil || len(s.MatchLabels)+len(s.MatchExpressions) == 0 {
		return ""
	}
	if _, byName := s.MatchLabels[corev1.LabelMetadataName]; byName {
		return ""
	}
	for _, e := range s.MatchExpressions {
		if e.Key == corev1.LabelMetadataName {
			return ""
		}
	}
	for _, name := range slices.Sorted(maps.Keys(n.zones)) {
		if n.zones[name] && !n.told[name] {
			return name
		}
	}
	return ""
}

// mentionsGrants reports whether any object of the name seems to have grants.
func mentionsGrants(objects []*manifest.Object, ref manifest.Ref) bool {
	for _, o := range objects {
		if o.Ref != ref {
			continue
		}
		var raw struct {
			Spec struct {
				Grants json.RawMessage `json:"grants"`
			} `json:"spec"`
		}
		if json.Unmarshal(o.JSON, &raw) != nil {
			return true
		}
		if g := string(raw.Spec.Grants); g != "" && g != "null" && g != "[]" {
			return true
		}
	}
	return false
}
