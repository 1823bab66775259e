package bindy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/internal/controller"
)

// cautions are what about a server works and deserves a look. They are no refusals: a Service may be reached from a network of one's own only.
func (p *plan) cautions(of string) []trouble { return append(p.exposures(of), p.unused(of)...) }

// unused are fields that are taken since manifests of the existing Bindy have them, and do nothing there either.
func (p *plan) unused(of string) []trouble {
	var out []trouble
	if len(p.instance.Spec.PrimaryServers) > 0 {
		out = append(out, trouble{v1beta1.ReasonNotUsed, sentence("%s has primaryServers, which are not used, as in the existing Bindy: a secondary has its zones from the primaries of its own cluster; take them out", of)})
	}
	if p.parent != nil && len(p.parent.spec.RNDCSecretRefs) > 0 {
		out = append(out, trouble{v1beta1.ReasonNotUsed, sentence("%s has no key from rndcSecretRefs of its cluster, which are not used, as in the existing Bindy; name the Secret in %s.rndcKey.secretRef", of, p.role)})
	}
	return out
}

// exposures are what those outside can make of a server.
func (p *plan) exposures(of string) []trouble {
	var out []trouble
	hidden := hidesClients(&p.service.Spec)
	if hidden {
		out = append(out, trouble{v1beta1.ReasonClientsHidden, sentence("%s has a Service of type %s without externalTrafficPolicy Local, so that BIND sees addresses of nodes in the place of clients': "+
			"its rate limit does not count them, and addresses in allowQuery and allowTransfer are those of nodes; set externalTrafficPolicy: Local, or let in by key", of, p.service.Spec.Type)})
	}
	if p.refs.NamedConf != "" || p.refs.NamedConfOptions != "" || !p.options.Recursion {
		return out
	}
	const way = "list the networks of its clients in allowQuery, or set recursion to false"
	switch list := p.options.AllowQuery; {
	case slices.ContainsFunc(list, isAnybody):
		out = append(out, trouble{v1beta1.ReasonOpenResolver, sentence("%s resolves the names of others for whoever reaches it, and so sends large answers to whomever somebody else pretends to be: "+
			"recursion is true, and allowQuery has everybody in it; %s", of, way)})
	case list == nil && hidden:
		out = append(out, trouble{v1beta1.ReasonOpenResolver, sentence("%s resolves the names of others for clients that it takes for its own node: recursion is true, there is no allowQuery, "+
			"and all clients have addresses of nodes; set externalTrafficPolicy: Local, and %s", of, way)})
	}
	return out
}

// hidesClients reports whether what comes to a Service from outside may go through a node whose address it then has.
func hidesClients(s *corev1.ServiceSpec) bool {
	return exposed(s) && s.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal
}

// isAnybody reports whether an entry of an address match list is about every address of a family.
func isAnybody(entry string) bool {
	return strings.EqualFold(entry, "any") || strings.HasSuffix(entry, "/0") && !strings.HasPrefix(entry, "!")
}

// warnings makes one condition of cautions.
func warnings(c *controller.Conditions, cautions []trouble) {
	if len(cautions) == 0 {
		return
	}
	var messages []string
	for _, t := range cautions {
		messages = append(messages, t.message)
	}
	c.Set(controller.ConditionWarning, controller.OK(cautions[0].reason, strings.Join(messages, " ")))
}

// A Caution is what about the servers that an object asks for works and deserves a look.
type Caution struct{ Reason, Message string }

// Cautions are those of a cluster, provider or instance that has no faults; what an instance has from its cluster parent finds, as for [Faults].
func Cautions(o client.Object, s Settings, parentOf func(namespace, name string) (kind string, spec *v1beta1.CommonSpec)) (out []Caution) {
	switch o := o.(type) {
	case *v1beta1.ClusterBind9Provider:
		return fleetCautions(describe(v1beta1.KindProvider, client.ObjectKeyFromObject(o)), o.Name, &o.Spec.CommonSpec, s)
	case *v1beta1.Bind9Cluster:
		return fleetCautions(describe(v1beta1.KindCluster, client.ObjectKeyFromObject(o)), o.Name, &o.Spec.CommonSpec, s)
	case *v1beta1.Bind9Instance:
		p, err := planAlone(o, s, parentOf)
		if err != nil || p == nil {
			return nil // something else says so
		}
		return p.told(describe(v1beta1.KindInstance, client.ObjectKeyFromObject(o)))
	}
	return nil
}

// fleetCautions are those of the servers that a cluster or provider, which is called so for people, would have.
func fleetCautions(called, name string, spec *v1beta1.CommonSpec, s Settings) (out []Caution) {
	for _, role := range roles() {
		if count, err := spec.Replicas(role); err != nil || count == 0 {
			continue
		}
		p, err := planOf(anyInstance(name, role), &parent{kind: v1beta1.KindCluster, name: name, spec: spec}, s)
		if err != nil {
			continue // something else says so
		}
		out = append(out, p.told(fmt.Sprintf("Each %s of %s", role.Canonical(), called))...)
	}
	return out
}

// told returns the cautions of a plan for people.
func (p *plan) told(of string) (out []Caution) {
	for _, c := range p.cautions(of) {
		out = append(out, Caution{c.reason, sentence("%s", c.message)})
	}
	return out
}

// notes are cautions as admission says them.
func notes(cautions []Caution) (out []string) {
	for _, c := range cautions {
		out = append(out, sentence("note (%s): %s", c.Reason, c.Message))
	}
	return out
}
