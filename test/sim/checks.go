package sim

import (
	"context"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
)

// counts reports whether objects of a kind have a generation.
func (k *kind) counts() bool {
	return k.custom != nil || !slices.Contains([]string{"Namespace", "Secret", "Lease", "Event", "ConfigMap",
		"ServiceAccount", "PersistentVolumeClaim", "Node", "ClusterRoleBinding"}, k.Kind)
}

// unconditional reports whether an update need not say of which version it is.
func (k *kind) unconditional() bool { return k.custom == nil && k.Kind != "Lease" }

// typeSecret gives a Secret its type.
func typeSecret(secret *unstructured.Unstructured) {
	if kind, _, _ := unstructured.NestedString(secret.Object, "type"); kind == "" {
		secret.Object["type"] = string(corev1.SecretTypeOpaque)
	}
}

// admit says what is wrong with a new object.
func (k *kind) admit(ctx context.Context, object *unstructured.Unstructured) field.ErrorList {
	if k.custom == nil {
		return nil
	}
	c, value := k.custom, object.UnstructuredContent()
	errs := apivalidation.ValidateObjectMetaAccessor(object, k.namespaced, apivalidation.NameIsDNSSubdomain,
		field.NewPath("metadata"))
	errs = append(errs, validation.ValidateCustomResource(nil, value, c.types)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.structure, value)...)
	if blocked := c.blocking(errs); blocked != nil {
		return append(errs, blocked)
	}
	broken, _ := c.rules.Validate(ctx, nil, c.structure, value, nil, celconfig.RuntimeCELCostBudget)
	return append(errs, broken...)
}

// admitUpdate says what is wrong with an object that takes the place of another, or with its status. What was wrong
// before and is as it was may stay.
func (k *kind) admitUpdate(ctx context.Context, subresource string, object,
	before *unstructured.Unstructured) field.ErrorList {
	errs := apivalidation.ValidateObjectMetaAccessorUpdate(object, before, field.NewPath("metadata"))
	if k.custom == nil {
		return errs
	}
	c, value, old := k.custom, object.UnstructuredContent(), before.UnstructuredContent()
	both := common.NewCorrelatedObject(value, old, &model.Structural{Structural: c.structure})
	if subresource == "" {
		errs = append(errs, validation.ValidateCustomResourceUpdate(nil, value, old, c.types,
			validation.WithRatcheting(both))...)
	} else if status, ok := value["status"]; ok {
		errs = append(errs, validation.ValidateCustomResourceUpdate(field.NewPath("status"), status, old["status"], c.status,
			validation.WithRatcheting(both.Key("status")))...)
	}
	if len(listtype.ValidateListSetsAndMaps(nil, c.structure, old)) == 0 {
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, c.structure, value)...)
	}
	if blocked := c.blocking(errs); blocked != nil {
		return append(errs, blocked)
	}
	broken, _ := c.rules.Validate(ctx, nil, c.structure, value, old, celconfig.RuntimeCELCostBudget,
		cel.WithRatcheting(both))
	return append(errs, broken...)
}

// blocking says that rules were not looked at, because a value is not what they expect. It is nil if they can be.
func (c *custom) blocking(errs field.ErrorList) *field.Error {
	types := []field.ErrorType{field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong,
		field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid}
	if c.rules == nil || !slices.ContainsFunc(errs, func(e *field.Error) bool { return slices.Contains(types, e.Type) }) {
		return nil
	}
	return field.Invalid(nil, nil, "some validation rules were not checked because the object was invalid; "+
		"correct the existing errors to complete validation")
}
