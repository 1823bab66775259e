package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/zonefold/zonefold/internal/cli/command"
	dialect "github.com/zonefold/zonefold/internal/dialect/sources"
)

// operatorDeployment is what the chart calls the operator's Deployment.
const operatorDeployment = "zonefold-operator"

// usualDialect is the one of an operator that is not told otherwise.
const usualDialect = "kubizone"

// operator reads the chart's Deployment. Without it nobody can tell which dialects and sources are on.
func (d *doctor) operator(ctx context.Context) {
	var found appsv1.Deployment
	path := "/apis/apps/v1/namespaces/" + d.flags.diff.Operator + "/deployments/" + operatorDeployment
	switch err := d.api.Read(ctx, path, &found); {
	case err == nil:
		d.deployment = &found
	case !apierrors.IsNotFound(err):
		d.say(doctorUnknown, d.operatorName(), "the enabled sources cannot be read: "+err.Error(), "")
	}
}

func (d *doctor) operatorName() string {
	return fmt.Sprintf("Deployment %s/%s", d.flags.diff.Operator, operatorDeployment)
}

// serves reports whether a dialect is on, as far as it can be told.
func (d *doctor) serves(dialect string) bool {
	on := d.operatorFlag("dialects")
	return slices.Contains(on, dialect) || len(on) == 0 && dialect == usualDialect
}

// sources looks whether the operator can read what its sources need: whether the API server has it, and the operator's
// account may read it. These are the causes of the metric zonefold_unread_kinds.
func (d *doctor) sources(ctx context.Context) {
	object := d.operatorName()
	needed := map[schema.GroupVersionResource][]string{} // sources
	for _, name := range d.operatorFlag("source") {
		for _, resource := range dialect.Reads()[name] {
			needed[resource] = append(needed[resource], name)
		}
	}
	byName := func(a, b schema.GroupVersionResource) int { return strings.Compare(a.String(), b.String()) }
	for _, resource := range slices.SortedFunc(maps.Keys(needed), byName) {
		what := resource.GroupResource().String()
		whose := fmt.Sprintf("the enabled sources need %s (%s)", what, strings.Join(needed[resource], ", "))
		const stays = "their published records stay as they are"
		out := "or remove the sources from --source"
		cause, way, err := d.unreadable(ctx, resource)
		switch {
		case err != nil:
			d.say(doctorUnknown, object, fmt.Sprintf("%s, and whether the operator can read them is not known: %v", whose,
				err), "")
		case cause != "":
			d.say(doctorError, object, fmt.Sprintf("%s, and %s; %s", whose, cause, stays), way+", "+out)
		}
	}
}

// operatorFlag are the values of a flag in the arguments of the operator, none if they cannot be read.
func (d *doctor) operatorFlag(flag string) []string {
	var out []string
	if d.deployment == nil {
		return out
	}
	for i := range d.deployment.Spec.Template.Spec.Containers {
		args := d.deployment.Spec.Template.Spec.Containers[i].Args
		for i, arg := range args {
			name, value, ok := strings.Cut(strings.TrimPrefix(arg, "-"), "=")
			if !ok && i+1 < len(args) {
				value = args[i+1]
			}
			if name != "-"+flag && name != flag {
				continue
			}
			for name := range strings.SplitSeq(value, ",") {
				if name = strings.TrimSpace(name); name != "" && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

// served reports whether the API server has a resource, or an earlier version that is read as well.
func (d *doctor) served(ctx context.Context, r schema.GroupVersionResource) (bool, error) {
	for _, version := range append([]string{r.Version}, dialect.Earlier(r.Resource)...) {
		r.Version = version
		path := "/apis/" + r.GroupVersion().String()
		if r.Group == "" {
			path = "/api/" + r.Version
		}
		var list metav1.APIResourceList
		if err := d.api.Read(ctx, path, &list); err != nil && !apierrors.IsNotFound(err) {
			return false, err
		}
		if slices.ContainsFunc(list.APIResources, func(one metav1.APIResource) bool { return one.Name == r.Resource }) {
			return true, nil
		}
	}
	return false, nil
}

// unreadable returns why the operator cannot read objects of a kind, and the way out; "" if it can.
func (d *doctor) unreadable(ctx context.Context, r schema.GroupVersionResource) (cause, way string, err error) {
	switch served, err := d.served(ctx, r); {
	case err != nil:
		return "", "", err
	case !served && dialect.Optional(r.Resource):
		return "", "", nil
	case !served:
		return "the API server does not serve them in version " + r.Version, "install their definition", nil
	}
	var definition metav1.PartialObjectMetadata
	if strings.Contains(r.Group, ".") && d.api.Read(ctx, extensions+r.GroupResource().String(), &definition) == nil &&
		definition.DeletionTimestamp != nil {
		return "their definition is being deleted", "install it again when it is gone", nil
	}
	for _, verb := range []string{"list", "watch"} {
		review := d.asOperator(authorizationv1.ResourceAttributes{Group: r.Group, Resource: r.Resource, Verb: verb})
		if err := d.api.Review(ctx, command.Authorization+"subjectaccessreviews", review); err != nil {
			return "", "", err
		}
		if !review.Status.Allowed {
			return "the operator's account may not " + verb + " them",
				"grant the right, as the chart's value sources does", nil
		}
	}
	return "", "", nil
}
