// Package schema finds what a Kubernetes API server would refuse in an object,
// without an API server: the same code checks it against the same
// CustomResourceDefinitions, with the same defaults, rules (CEL) and limits.
package schema

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	metavalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// A Violation is one thing that the API server refuses.
type Violation struct {
	Field   string // such as "spec.delegations[0].zones[1]"; "" is the whole object
	Message string // what is wrong with it, in the API server's words
}

// String returns the field and what is wrong with it.
func (v Violation) String() string {
	if v.Field == "" {
		return v.Message
	}
	return v.Field + ": " + v.Message
}

// A Checker checks objects of the kinds that it was made with. It is safe for
// concurrent use.
type Checker struct {
	kinds map[string]map[string]func() (*kind, error) // by name, and by group: there are two kinds of DNSRecords
}

// kind is what checking objects of one kind needs.
type kind struct {
	namespaced bool
	structure  *structural.Structural
	usual      *usual
	types      validation.SchemaValidator
	rules      *cel.Validator
}

// New makes a Checker for the CustomResourceDefinitions in the YAML files of a folder.
// A definition is compiled when the first object of its kind is checked.
func New(definitions fs.FS) (*Checker, error) {
	files, err := fs.Glob(definitions, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the CustomResourceDefinitions: %w", err)
	}
	c := &Checker{kinds: map[string]map[string]func() (*kind, error){}}
	for _, name := range files {
		text, err := fs.ReadFile(definitions, name)
		if err != nil {
			return nil, fmt.Errorf("reading a CustomResourceDefinition: %w", err)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.UnmarshalStrict(text, &crd); err != nil {
			return nil, fmt.Errorf("reading the CustomResourceDefinition %s: %w", path.Base(name), err)
		}
		groups := c.kinds[crd.Spec.Names.Kind]
		if groups == nil {
			groups = map[string]func() (*kind, error){}
			c.kinds[crd.Spec.Names.Kind] = groups
		}
		groups[crd.Spec.Group] = sync.OnceValues(func() (*kind, error) { return compile(&crd) })
	}
	return c, nil
}

func compile(crd *apiextensionsv1.CustomResourceDefinition) (*kind, error) {
	fail := func(err error) (*kind, error) {
		return nil, fmt.Errorf("compiling the CustomResourceDefinition %s: %w", crd.Name, err)
	}
	if len(crd.Spec.Versions) != 1 || crd.Spec.Versions[0].Schema == nil {
		return fail(fmt.Errorf("it has %d versions, not one with a schema", len(crd.Spec.Versions)))
	}
	var props apiextensions.JSONSchemaProps
	err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(
		crd.Spec.Versions[0].Schema.OpenAPIV3Schema, &props, nil)
	if err != nil {
		return fail(err)
	}
	k := &kind{namespaced: crd.Spec.Scope == apiextensionsv1.NamespaceScoped}
	if k.structure, err = structural.NewStructural(&props); err != nil {
		return fail(err)
	}
	k.usual = usualOf(k.structure)
	if k.types, _, err = validation.NewSchemaValidator(&props); err != nil {
		return fail(err)
	}
	k.rules = cel.NewValidator(k.structure, true, celconfig.PerCallLimit)
	return k, nil
}

// Check returns what the API server would refuse when somebody creates the object,
// given as JSON, in a namespace. The object's status is not looked at: whoever
// creates an object cannot set it. A kind without a definition has no violations.
func (c *Checker) Check(ctx context.Context, kindName, namespace string, object []byte) ([]Violation, error) {
	groups, ok := c.kinds[kindName]
	if !ok {
		return nil, nil
	}
	var value map[string]any
	if err := kjson.UnmarshalCaseSensitivePreserveInts(object, &value); err != nil {
		return nil, fmt.Errorf("reading a %s: %w", kindName, err)
	}
	apiVersion, _ := value["apiVersion"].(string)
	group, _, _ := strings.Cut(apiVersion, "/")
	compiled, ok := groups[group]
	if !ok {
		return nil, nil
	}
	k, err := compiled()
	if err != nil {
		return nil, err
	}
	delete(value, "status")
	errs := k.metadata(value, namespace)
	if !k.usual.recognises(value) {
		defaulting.PruneNonNullableNullsWithoutDefaults(value, k.structure)
		defaulting.Default(value, k.structure)
		errs = append(errs, validation.ValidateCustomResource(nil, value, k.types)...)
		errs = append(errs, listtype.ValidateListSetsAndMaps(nil, k.structure, value)...)
	}
	if !blocks(errs) {
		failed, _ := k.rules.Validate(ctx, nil, k.structure, value, nil, celconfig.RuntimeCELCostBudget)
		errs = append(errs, failed...)
	}
	return violations(errs, value), nil
}

// metadata checks what all kinds have, and completes it as kubectl does.
func (k *kind) metadata(value map[string]any, namespace string) field.ErrorList {
	at := field.NewPath("metadata")
	meta, plain := plainMetadata(value["metadata"])
	if !plain {
		text, err := json.Marshal(value["metadata"])
		if err == nil {
			err = json.Unmarshal(text, &meta)
		}
		if err != nil {
			return field.ErrorList{field.Invalid(at, "", "cannot be read: "+strings.TrimPrefix(err.Error(), "json: "))}
		}
	}
	meta.Namespace = ""
	if k.namespaced {
		meta.Namespace = namespace
	}
	return metavalidation.ValidateObjectMeta(&meta, k.namespaced, metavalidation.NameIsDNSSubdomain, at)
}

// plainMetadata reads metadata that has a name, a namespace and nothing else, as most have.
func plainMetadata(value any) (metav1.ObjectMeta, bool) {
	fields, _ := value.(map[string]any)
	name, named := fields["name"].(string)
	namespace, placed := fields["namespace"].(string)
	return metav1.ObjectMeta{Name: name, Namespace: namespace}, named && (placed && len(fields) == 2 || len(fields) == 1)
}

// blocks reports whether an error keeps the API server from looking at the rules:
// they are written for objects of the right types and sizes.
func blocks(errs field.ErrorList) bool {
	for _, e := range errs {
		switch e.Type {
		case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany,
			field.ErrorTypeTypeInvalid:
			return true
		}
	}
	return false
}

// violations turns the API server's errors about an object into ours, each once.
func violations(errs field.ErrorList, object map[string]any) []Violation {
	var out []Violation
	seen := map[Violation]bool{}
	for _, e := range errs {
		v := Violation{Field: e.Field, Message: clause(e, object)}
		if v.Field == "<nil>" {
			v.Field = ""
		}
		if !seen[v] {
			seen[v] = true
			out = append(out, v)
		}
	}
	return out
}
