package check

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	homelab "github.com/zonefold/zonefold/api/homelab/v1alpha1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/config/crd"
	"github.com/zonefold/zonefold/config/rbac"
	"github.com/zonefold/zonefold/internal/cli/command"
)

const extensions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/"

// definitions compares the CustomResourceDefinitions with those that this version has. Without an API server there is
// nothing to look at.
func (d *doctor) definitions(ctx context.Context) error {
	files, err := fs.Glob(crd.Files, "*.yaml")
	if err != nil {
		return err
	}
	var hidden []string
	for _, file := range files {
		text, err := crd.Files.ReadFile(file)
		if err != nil {
			return err
		}
		var own, there apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(text, &own); err != nil {
			return fmt.Errorf("reading %s: %w", file, err)
		}
		object := "CustomResourceDefinition " + own.Name
		err = d.api.Read(ctx, extensions+own.Name, &there)
		switch {
		case apierrors.IsNotFound(err) && !d.needed(&own):
		case apierrors.IsNotFound(err):
			d.say(doctorError, object, "it is not there", "apply config/crd of this version, or install the chart")
		case apierrors.IsForbidden(err):
			hidden = append(hidden, object)
		case err != nil:
			return fmt.Errorf("reading %s: %w", object, err)
		default:
			d.definition(object, &own, &there)
		}
	}
	if len(hidden) > 0 {
		object := hidden[0]
		if more := len(hidden) - 1; more > 0 {
			object += " and " + command.Count(more, "other")
		}
		d.say(doctorUnknown, object, "you may not get it", "ask for the right to get customresourcedefinitions")
	}
	return nil
}

// needed reports whether the operator needs a definition.
func (d *doctor) needed(own *apiextensionsv1.CustomResourceDefinition) bool {
	switch own.Spec.Group {
	case bindy.GroupVersion.Group:
		return d.serves("bindy")
	case homelab.GroupVersion.Group:
		return d.serves("homelab")
	case kubizone.GroupVersion.Group:
		return d.serves(usualDialect)
	case zonefold.GroupVersion.Group:
		return d.serves(usualDialect) || own.Spec.Names.Kind == "ZoneRevision" && d.serves("bindy") // the history of DNSZones
	}
	return false
}

// definition compares one definition, version by version, by the fields that there are.
func (d *doctor) definition(object string, own, there *apiextensionsv1.CustomResourceDefinition) {
	for _, version := range own.Spec.Versions {
		i := slices.IndexFunc(there.Spec.Versions, func(v apiextensionsv1.CustomResourceDefinitionVersion) bool {
			return v.Name == version.Name && v.Served
		})
		if i < 0 {
			d.say(doctorError, object, "it does not serve the version "+version.Name, "apply config/crd of this version")
			continue
		}
		mine, theirs := fieldsOf(version.Schema), fieldsOf(there.Spec.Versions[i].Schema)
		if lacks := missingFrom(mine, theirs); lacks != "" {
			d.say(doctorError, object, "it has an older version: it lacks "+lacks,
				"apply config/crd of the operator's version before the operator is upgraded")
		} else if more := missingFrom(theirs, mine); more != "" {
			d.say(doctorWarning, object, "it has a newer version than this command: it has "+more,
				"use the command of the operator's version")
		}
	}
}

// missingFrom returns some of the fields that other lacks.
func missingFrom(fields, other map[string]bool) string {
	var lacks []string
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		if !other[field] {
			lacks = append(lacks, field)
		}
	}
	if n := len(lacks); n > 3 {
		lacks = append(lacks[:3], fmt.Sprintf("and %d more", n-3))
	}
	return strings.Join(lacks, ", ")
}

// fieldsOf returns the paths of all fields of a schema.
func fieldsOf(schema *apiextensionsv1.CustomResourceValidation) map[string]bool {
	out := map[string]bool{}
	var walk func(path string, p *apiextensionsv1.JSONSchemaProps)
	walk = func(path string, p *apiextensionsv1.JSONSchemaProps) {
		if p == nil {
			return
		}
		for name, field := range p.Properties {
			at := strings.TrimPrefix(path+"."+name, ".")
			out[at] = true
			walk(at, &field)
		}
		if p.Items != nil {
			walk(path+"[]", p.Items.Schema)
		}
		if p.AdditionalProperties != nil {
			walk(path+".*", p.AdditionalProperties.Schema)
		}
	}
	if schema != nil {
		walk("", schema.OpenAPIV3Schema)
	}
	return out
}

// rights asks for the rights of who asks, and those of the operator.
func (d *doctor) rights(ctx context.Context) {
	for _, need := range []struct{ group, resource, verb, namespace, what string }{
		{"kubi.zone", "zones", "list", "", "explain, plan, diff and tree see only a part of the zones"},
		{"kubi.zone", "records", "list", "", "explain, plan, diff and tree see only a part of the records"},
		{"zonefold.dev", "backends", "list", "", "explain, plan, diff and tree do not see where zones go"},
		{"zonefold.dev", "zoneslices", "list", "", "export and diff do not see what is published of large zones"},
		{"", "namespaces", "list", "", "grants by labels of namespaces cannot be judged"},
		{"", "secrets", "get", d.flags.diff.Operator, "diff and import cannot reach servers that need a key"},
		{"coordination.k8s.io", "leases", "list", "", "it is unknown whether an operator is running"},
	} {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Group: need.group, Resource: need.resource,
				Verb: need.verb, Namespace: need.namespace}}}
		where := "in all namespaces"
		if need.namespace != "" {
			where = "in namespace " + need.namespace
		}
		switch err := d.api.Review(ctx, command.Authorization+"selfsubjectaccessreviews", review); {
		case err != nil:
			d.say(doctorUnknown, "your rights", err.Error(), "")
			return
		case !review.Status.Allowed:
			d.say(doctorUnknown, "your rights", fmt.Sprintf("you may not %s %s %s: %s", need.verb, need.resource, where,
				need.what), "")
		}
	}
	d.operatorsRights(ctx)
}

// operatorsRights asks for the rights that every operator needs, and those of the usual dialect.
func (d *doctor) operatorsRights(ctx context.Context) {
	object := fmt.Sprintf("ServiceAccount %s/%s", d.flags.diff.Operator, d.flags.account)
	files := []string{"controller.yaml"}
	if d.serves(usualDialect) {
		files = append(files, "kubizone.yaml", "backends.yaml")
	}
	rules, err := operatorRules(d.flags.diff.Operator, files)
	if err != nil {
		d.say(doctorUnknown, object, err.Error(), "")
		return
	}
	lacks := map[string][]string{} // verbs
	for _, need := range rules {
		review := d.asOperator(need)
		err := d.api.Review(ctx, command.Authorization+"subjectaccessreviews", review)
		switch {
		case apierrors.IsForbidden(err):
			d.say(doctorUnknown, object, "you may not check its rights", "ask for the right to create subjectaccessreviews")
			return
		case err != nil:
			d.say(doctorUnknown, object, err.Error(), "")
			return
		case !review.Status.Allowed:
			what := resourceOf(&need)
			lacks[what] = append(lacks[what], need.Verb)
		}
	}
	for _, what := range slices.Sorted(maps.Keys(lacks)) {
		d.say(doctorError, object, fmt.Sprintf("it may not %s %s", strings.Join(lacks[what], ", "), what),
			"install the chart of the operator's version, or apply config/install; if the operator has another account, name "+
				"it with --operator-account and --operator-namespace")
	}
}

// asOperator asks whether the operator's account has a right.
func (d *doctor) asOperator(need authorizationv1.ResourceAttributes) *authorizationv1.SubjectAccessReview {
	return &authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User:               fmt.Sprintf("system:serviceaccount:%s:%s", d.flags.diff.Operator, d.flags.account),
		Groups:             []string{"system:serviceaccounts", "system:serviceaccounts:" + d.flags.diff.Operator},
		ResourceAttributes: &need}}
}

// resourceOf names what a right is about, as kubectl does.
func resourceOf(need *authorizationv1.ResourceAttributes) string {
	what := need.Resource
	if need.Group != "" {
		what += "." + need.Group
	}
	if need.Subresource != "" {
		what += "/" + need.Subresource
	}
	if need.Name != "" {
		what += " " + need.Name
	}
	if need.Namespace != "" {
		what += " in namespace " + need.Namespace
	}
	return what
}

// operatorRules are the rights that some files give an operator.
func operatorRules(namespace string, files []string) ([]authorizationv1.ResourceAttributes, error) {
	var out []authorizationv1.ResourceAttributes
	for _, file := range files {
		f, err := rbac.Files.Open(file)
		if err != nil {
			return nil, err
		}
		docs := utilyaml.NewYAMLOrJSONDecoder(f, 4096)
		for {
			var role rbacv1.Role // a ClusterRole has the same fields, and no namespace
			if err := docs.Decode(&role); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("reading %s: %w", file, err)
			}
			if role.Namespace != "" {
				role.Namespace = namespace
			}
			for _, rule := range role.Rules {
				out = append(out, attributesOf(rule, role.Namespace)...)
			}
		}
	}
	return out, nil
}

// attributesOf takes a rule apart.
func attributesOf(rule rbacv1.PolicyRule, namespace string) []authorizationv1.ResourceAttributes {
	var out []authorizationv1.ResourceAttributes
	names := rule.ResourceNames
	if len(names) == 0 {
		names = []string{""}
	}
	for _, group := range rule.APIGroups {
		for _, resource := range rule.Resources {
			resource, sub, _ := strings.Cut(resource, "/")
			for _, verb := range rule.Verbs {
				for _, name := range names {
					out = append(out, authorizationv1.ResourceAttributes{Group: group, Resource: resource,
						Subresource: sub, Verb: verb, Name: name, Namespace: namespace})
				}
			}
		}
	}
	return out
}
