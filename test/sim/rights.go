package sim

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"
)

// Rights are what the roles of operators allow. They hold no state.
type Rights struct {
	everywhere []rbacv1.PolicyRule
	within     map[string][]rbacv1.PolicyRule // by namespace
}

// NewRights reads the ClusterRoles and Roles in YAML files.
func NewRights(roles fs.FS, files ...string) (*Rights, error) {
	r := &Rights{within: map[string][]rbacv1.PolicyRule{}}
	for _, name := range files {
		text, err := fs.ReadFile(roles, name)
		if err != nil {
			return nil, fmt.Errorf("reading roles: %w", err)
		}
		for document := range strings.SplitSeq(string(text), "---\n") {
			var role rbacv1.Role // a ClusterRole has the same fields, but for aggregation, and no namespace
			if err := yaml.Unmarshal([]byte(document), &role); err != nil {
				return nil, fmt.Errorf("reading a role in %s: %w", name, err)
			}
			switch role.Kind {
			case "ClusterRole":
				r.everywhere = append(r.everywhere, role.Rules...)
			case "Role":
				r.within[role.Namespace] = append(r.within[role.Namespace], role.Rules...)
			}
		}
	}
	return r, nil
}

// Without returns the rights but for those to a resource, such as "records/status".
func (r *Rights) Without(resource string) *Rights {
	out := &Rights{within: r.within}
	for _, rule := range r.everywhere {
		rule.Resources = slices.DeleteFunc(slices.Clone(rule.Resources), func(s string) bool { return s == resource })
		out.everywhere = append(out.everywhere, rule)
	}
	return out
}

// allow returns the answer to a request that no role allows, nil to one that some role does.
func (r *Rights) allow(q request) error {
	allows := func(rule rbacv1.PolicyRule) bool { return q.in(rule) }
	if slices.ContainsFunc(r.everywhere, allows) || slices.ContainsFunc(r.within[q.namespace], allows) {
		return nil
	}
	return apierrors.NewForbidden(q.kind.resource(), q.name, fmt.Errorf("no role of the operator allows to %s %s %s/%s",
		q.verb, q.resource(), q.namespace, q.name))
}

// resource is the resource of a request as rules name it.
func (q request) resource() string {
	if q.subresource != "" {
		return q.kind.plural + "/" + q.subresource
	}
	return q.kind.plural
}

// in reports whether a rule is about a request.
func (q request) in(rule rbacv1.PolicyRule) bool {
	name := q.name
	if name == "" { // of a list or watch of one object
		name, _ = strings.CutPrefix(q.query.Get("fieldSelector"), "metadata.name=")
	}
	return slices.Contains(rule.Verbs, q.verb) && slices.Contains(rule.APIGroups, q.kind.Group) &&
		slices.Contains(rule.Resources, q.resource()) &&
		(len(rule.ResourceNames) == 0 || slices.Contains(rule.ResourceNames, name))
}
