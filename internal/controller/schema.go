package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A Schema is what a dialect needs of one of its CustomResourceDefinitions.
type Schema struct {
	CRD     string   // name, such as "zones.kubi.zone"
	Version string   // such as "v1alpha1"
	Fields  []string // paths that only zonefold's own schema has, such as "status.conditions"
}

// Check says why the dialect cannot work with what is installed under the name: the
// schema of another operator would drop what is written, again and again.
func (s Schema) Check(ctx context.Context, reader client.Reader) error {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1",
		Kind: "CustomResourceDefinition"})
	err := reader.Get(ctx, client.ObjectKey{Name: s.CRD}, crd)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the CustomResourceDefinition %s is not installed; apply zonefold's from config/crd", s.CRD)
	}
	if err != nil {
		return fmt.Errorf("reading the CustomResourceDefinition %s: %w", s.CRD, err)
	}
	lacks := s.lacks(crd.Object)
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf(
		"the CustomResourceDefinition %s belongs to another operator, or is outdated: it lacks %s; apply zonefold's from "+
			"config/crd",
		s.CRD, strings.Join(lacks, ", "))
}

// lacks only looks: a copy of a schema for each field would cost more than the rest of a start.
func (s Schema) lacks(crd map[string]any) []string {
	value, _, _ := unstructured.NestedFieldNoCopy(crd, "spec", "versions")
	versions, _ := value.([]any)
	i := slices.IndexFunc(versions, func(v any) bool {
		m, ok := v.(map[string]any)
		return ok && m["name"] == s.Version && m["served"] == true
	})
	if i < 0 {
		return []string{"the version " + s.Version}
	}
	version, _ := versions[i].(map[string]any)
	var out []string
	if member(version, "subresources", "status") == nil {
		out = append(out, "the status subresource")
	}
	for _, path := range s.Fields {
		if !hasField(version, strings.Split(path, ".")) {
			out = append(out, path)
		}
	}
	return out
}

// hasField follows a path of field names through an OpenAPI schema, into the items of
// lists.
func hasField(version map[string]any, path []string) bool {
	node := member(version, "schema", "openAPIV3Schema")
	for _, field := range path {
		if items := member(node, "items"); items != nil {
			node = items
		}
		if node = member(node, "properties", field); node == nil {
			return false
		}
	}
	return node != nil
}

// member returns the object at a path, nil if there is none.
func member(of map[string]any, path ...string) map[string]any {
	value, _, _ := unstructured.NestedFieldNoCopy(of, path...)
	object, _ := value.(map[string]any)
	return object
}
