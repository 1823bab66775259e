package bindytest

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/testcluster"
)

// Namespace makes a namespace of this test and returns its name.
func (s *Stage) Namespace(name string) string {
	s.Helper()
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.Word + "-" + name}}
	if err := s.Live.Create(s.Ctx, ns); err != nil {
		s.Fatal(err)
	}
	return ns.Name
}

// Apply is what a person does with kubectl.
func (s *Stage) Apply(manifest string, args ...any) {
	s.Helper()
	object := &unstructured.Unstructured{}
	if err := yaml.Unmarshal(fmt.Appendf(nil, manifest, args...), &object.Object); err != nil {
		s.Fatal(err)
	}
	if err := s.Live.Apply(s.Ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("person"),
		client.ForceOwnership); err != nil {
		s.Fatal(err)
	}
}

// Patch is what a person does with kubectl patch.
func (s *Stage) Patch(object client.Object, body string) {
	s.Helper()
	if err := s.Live.Patch(s.Ctx, object, client.RawPatch(types.MergePatchType, []byte(body)),
		client.FieldOwner("person")); err != nil {
		s.Fatal(err)
	}
}

// Remove is what a person does with kubectl delete.
func (s *Stage) Remove(object client.Object, opts ...client.DeleteOption) {
	s.Helper()
	if err := s.Live.Delete(s.Ctx, object, opts...); err != nil {
		s.Fatal(err)
	}
}

// Get reads an object by what its metadata say.
func (s *Stage) Get(object client.Object) bool {
	s.Helper()
	err := s.Live.Get(s.Ctx, client.ObjectKeyFromObject(object), object)
	if client.IgnoreNotFound(err) != nil {
		s.Fatal(err)
	}
	return err == nil
}

// Eventually waits until check has nothing to complain of.
func (s *Stage) Eventually(what string, check func() string) {
	s.Helper()
	testcluster.Eventually(s.Ctx, s, what, check)
}

// Clean is a context for what is removed after a test.
func (s *Stage) Clean() context.Context { return context.WithoutCancel(s.Ctx) }

// PatchStatus is Patch for a status.
func (s *Stage) PatchStatus(object client.Object, body string) {
	s.Helper()
	if err := s.Live.Status().Patch(s.Ctx, object, client.RawPatch(types.MergePatchType, []byte(body)), client.FieldOwner(
		"person")); err != nil {
		s.Fatal(err)
	}
}

// IsGone complains unless an object is gone.
func (s *Stage) IsGone(object client.Object) string {
	s.Helper()
	if s.Get(object) && object.GetUID() != "" {
		return fmt.Sprintf("%s is still there, with the finalizers %v", object.GetName(), object.GetFinalizers())
	}
	return ""
}

// Loosen takes the rules out of a definition, as it would be if an older schema had let objects in, until the test
// ends.
func (s *Stage) Loosen(plural string) {
	s.Helper()
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1",
		Kind: "CustomResourceDefinition"})
	crd.SetName(plural + "." + v1beta1.GroupVersion.Group)
	if !s.Get(crd) {
		s.Fatal("there is no " + crd.GetName())
	}
	strict := crd.DeepCopy()
	dropRules(crd.Object)
	if err := s.Live.Update(s.Ctx, crd); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() {
		strict.SetResourceVersion("")
		strict.SetManagedFields(nil)
		ctx := context.WithoutCancel(s.Ctx)
		now := strict.DeepCopy()
		if err := s.Live.Get(ctx, client.ObjectKeyFromObject(now), now); err != nil {
			s.Error(err)
		}
		strict.SetResourceVersion(now.GetResourceVersion())
		if err := s.Live.Update(ctx, strict); err != nil {
			s.Error(err)
		}
	})
}

func dropRules(v any) {
	switch v := v.(type) {
	case map[string]any:
		delete(v, "x-kubernetes-validations")
		for _, e := range v {
			dropRules(e)
		}
	case []any:
		for _, e := range v {
			dropRules(e)
		}
	}
}

// PatchAnyway is Patch for what the rules forbid: after Loosen, when the API server has taken notice.
func (s *Stage) PatchAnyway(object client.Object, body string) {
	s.Helper()
	s.Eventually("patching "+object.GetName(), func() string {
		if err := s.Live.Patch(s.Ctx, object, client.RawPatch(types.MergePatchType, []byte(body)),
			client.FieldOwner("person")); err != nil {
			return err.Error()
		}
		return ""
	})
}
