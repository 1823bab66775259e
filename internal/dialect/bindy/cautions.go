package bindy

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// Cautions are what about a server works and deserves a look. They are no refusals: a Service may be reached from a
// network of one's own only.
func (p *Plan) Cautions(of string) []Trouble { return append(p.exposures(of), p.unused(of)...) }

// unused are fields that are taken since manifests of the existing Bindy have them, and do nothing there either.
func (p *Plan) unused(of string) []Trouble {
	var out []Trouble
	if len(p.Instance.Spec.PrimaryServers) > 0 {
		out = append(out, Trouble{v1beta1.ReasonNotUsed,
			Sentence("%s has primaryServers, which are not used, as in the existing Bindy: a secondary gets its zones from "+
				"the primaries of its own cluster; remove them", of)})
	}
	if p.Parent != nil && len(p.Parent.Spec.RNDCSecretRefs) > 0 {
		out = append(out, Trouble{v1beta1.ReasonNotUsed,
			Sentence("%s has no key from rndcSecretRefs of its cluster, which are not used, as in the existing Bindy; name "+
				"the Secret in %s.rndcKey.secretRef", of, p.Role)})
	}
	if source, err := p.KeySource(); err == nil && source.Key != nil && source.Key.Secret != nil &&
		len(source.Key.Secret.Data)+len(source.Key.Secret.StringData) > 0 {
		out = append(out, Trouble{v1beta1.ReasonNotUsed,
			Sentence("%s has a generated key: the text of secret in %s is not used, as in the existing Bindy; create a "+
				"Secret, and name it in secretRef", of, source.Field)})
	}
	return out
}

// exposures are what those outside can make of a server.
func (p *Plan) exposures(of string) []Trouble {
	var out []Trouble
	hidden := hidesClients(&p.Service.Spec)
	if hidden {
		out = append(out, Trouble{v1beta1.ReasonClientsHidden,
			Sentence("%s has a Service of type %s without externalTrafficPolicy Local, so BIND sees addresses of nodes "+
				"instead of clients; its rate limit does not count them, and allowQuery and allowTransfer match nodes; set "+
				"externalTrafficPolicy: Local, or use keys", of, p.Service.Spec.Type)})
	}
	if p.refs.NamedConf != "" || p.refs.NamedConfOptions != "" || !p.options.Recursion {
		return out
	}
	const way = "list the networks of its clients in allowQuery, or set recursion to false"
	switch list := p.options.AllowQuery; {
	case slices.ContainsFunc(list, isAnybody):
		out = append(out, Trouble{v1beta1.ReasonOpenResolver,
			Sentence("%s resolves names of other servers for everyone who can reach it, so attackers can make it send large "+
				"answers to a victim (RFC 5358): recursion is true, and allowQuery includes everyone; %s", of, way)})
	case list == nil && hidden:
		out = append(out, Trouble{v1beta1.ReasonOpenResolver,
			Sentence("%s resolves names of other servers for everyone, because all clients appear with addresses of nodes: "+
				"recursion is true without allowQuery; set externalTrafficPolicy: Local, and %s", of, way)})
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

// A Caution is what about the servers that an object asks for works and deserves a look.
type Caution struct{ Reason, Message string }

// Cautions are those of a cluster, provider or instance that has no faults; what an instance has from its cluster
// parent finds, as for [Faults].
func Cautions(o Object, s Settings,
	parentOf func(namespace, name string) (kind string, spec *v1beta1.CommonSpec)) (out []Caution) {
	switch o := o.(type) {
	case *v1beta1.ClusterBind9Provider:
		return fleetCautions(Describe(v1beta1.KindProvider, keyOf(o)), o.Name, &o.Spec.CommonSpec, s)
	case *v1beta1.Bind9Cluster:
		return fleetCautions(Describe(v1beta1.KindCluster, keyOf(o)), o.Name, &o.Spec.CommonSpec, s)
	case *v1beta1.Bind9Instance:
		p, err := planAlone(o, s, parentOf)
		if err != nil || p == nil {
			return nil // something else says so
		}
		return p.CautionsForPeople(Describe(v1beta1.KindInstance, keyOf(o)))
	}
	return nil
}

// fleetCautions are those of the servers that a cluster or provider, which is called so for people, would have.
func fleetCautions(called, name string, spec *v1beta1.CommonSpec, s Settings) (out []Caution) {
	for _, role := range Roles() {
		if count, err := spec.Replicas(role); err != nil || count == 0 {
			continue
		}
		p, err := PlanOf(anyInstance(name, role), &Parent{Kind: v1beta1.KindCluster, Name: name, Spec: spec}, s)
		if err != nil {
			continue // something else says so
		}
		out = append(out, p.CautionsForPeople(fmt.Sprintf("Each %s of %s", role.Canonical(), called))...)
	}
	return out
}

// CautionsForPeople returns the cautions of a plan for people.
func (p *Plan) CautionsForPeople(of string) (out []Caution) {
	for _, c := range p.Cautions(of) {
		out = append(out, Caution{c.Reason, Sentence("%s", c.Message)})
	}
	return out
}

// Notes are cautions as admission says them.
func Notes(cautions []Caution) (out []string) {
	for _, c := range cautions {
		out = append(out, Sentence("note (%s): %s", c.Reason, c.Message))
	}
	return out
}
