package backends

import (
	"cmp"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	dialect "github.com/zonefold/zonefold/internal/dialect/backends"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// Settings are the spec of a Backend with its credentials: what a client needs.
// Exactly one of the fields is set.
type Settings struct {
	Embedded *EmbeddedSettings
	RFC2136  *RFC2136Settings
	PowerDNS *PowerDNSSettings
	DNSHook  *controller.ClassServer
	Provider *ProviderSettings
	Cluster  types.NamespacedName // the Bind9Cluster; its servers come and go
}

// RFC2136Settings are those of servers that take dynamic updates.
type RFC2136Settings struct {
	Servers []string // as rfc2136.Canonical reads them
	View    string
	Key
}

// A Key is shared with a name server (RFC 8945).
type Key struct {
	KeyName   dnsname.Name // zero: nothing is signed
	Algorithm string       // "" is hmac-sha256
	Secret    string       // base64
}

// PowerDNSSettings are those of a PowerDNS API.
type PowerDNSSettings struct {
	URL, ServerID, APIKey, ZoneKind string
	CABundle                        string // PEM
}

// kind returns the kind of backend that a spec names.
func kind(spec *v1alpha1.BackendSpec) string {
	switch {
	case spec.Embedded != nil:
		return delivery.KindEmbedded
	case spec.RFC2136 != nil:
		return "rfc2136"
	case spec.PowerDNS != nil:
		return "powerdns"
	case spec.Bind9 != nil:
		return "bind9"
	case spec.DNSClass != nil:
		return "dnsClass"
	case spec.Provider != nil:
		return "provider"
	}
	return ""
}

// secrets returns a Secret by namespace and name.
type secrets func(namespace, name string) (*corev1.Secret, error)

// A resolver turns specs into Settings.
type resolver struct {
	namespace string // the operator's
	embedded  bool   // it is a name server
	fleets    bool   // it runs some
	secrets   secrets
	class     func(name string) (controller.ClassServer, *controller.Outcome) // nil: there are none
	// Secrets are not looked at, and taken to be right
	blind bool
}

// settings resolves a spec, or says why it cannot be used.
func (r resolver) settings(spec *v1alpha1.BackendSpec) (Settings, *controller.Outcome) {
	switch kind(spec) {
	case delivery.KindEmbedded:
		return r.embeddedServer(spec.Embedded)
	case "rfc2136":
		return r.rfc2136(spec.RFC2136)
	case "powerdns":
		return r.powerdns(spec.PowerDNS)
	case "bind9":
		return r.cluster(spec.Bind9)
	case "dnsClass":
		return r.hook(spec.DNSClass)
	case "provider":
		return r.provider(spec.Provider)
	case "":
		return Settings{}, problem(controller.ReasonInvalidSpec,
			"The spec names no kind of server; add one, such as rfc2136.")
	}
	return Settings{}, problem(controller.ReasonNotSupported,
		"This operator does not support backends of kind %s; use another kind or a newer operator.", kind(spec))
}

func (r resolver) cluster(spec *v1alpha1.Bind9) (Settings, *controller.Outcome) {
	if !r.fleets {
		return Settings{}, problem(controller.ReasonNotSupported,
			"This operator runs no fleets of BIND; add bindy to its --dialects, or use another kind of server.")
	}
	return Settings{Cluster: types.NamespacedName{Namespace: spec.ClusterRef.Namespace, Name: spec.ClusterRef.Name}}, nil
}

func (r resolver) hook(spec *v1alpha1.DNSClass) (Settings, *controller.Outcome) {
	if r.class == nil {
		return Settings{}, problem(controller.ReasonNotSupported,
			"This operator does not serve DNSClasses; add homelab to its --dialects, or use another kind of server.")
	}
	server, trouble := r.class(spec.Name)
	if trouble != nil {
		return Settings{}, trouble
	}
	return Settings{DNSHook: &server}, nil
}

func (r resolver) rfc2136(spec *v1alpha1.RFC2136) (Settings, *controller.Outcome) {
	key, trouble := r.key(spec.TSIG)
	if trouble != nil {
		return Settings{}, trouble
	}
	return Settings{RFC2136: &RFC2136Settings{Servers: spec.Servers, View: spec.View, Key: key}}, nil
}

// key reads a key; nil is the zero Key.
func (r resolver) key(spec *v1alpha1.TSIG) (Key, *controller.Outcome) {
	if spec == nil {
		return Key{}, nil
	}
	name, err := dialect.KeyName(spec)
	if err != nil {
		return Key{}, problem(controller.ReasonInvalidSpec,
			"The TSIG keyName is no domain name: %v; write it as in the server's configuration.", err)
	}
	text, trouble := r.secret(spec.SecretRef)
	if trouble != nil {
		return Key{}, trouble
	}
	if _, err := backend.TSIGSecret(text); err != nil && !r.blind {
		return Key{}, problem(controller.ReasonInvalidSpec, "Secret %s, of the TSIG key %s: %v.", r.named(spec.SecretRef),
			name, err)
	}
	return Key{KeyName: name, Algorithm: spec.Algorithm, Secret: strings.TrimSpace(text)}, nil
}

func (r resolver) powerdns(spec *v1alpha1.PowerDNS) (Settings, *controller.Outcome) {
	key, trouble := r.secret(spec.SecretRef)
	if trouble != nil {
		return Settings{}, trouble
	}
	full := dialect.PowerDNS(*spec)
	return Settings{PowerDNS: &PowerDNSSettings{URL: full.URL, ServerID: full.ServerID, APIKey: strings.TrimSpace(key),
		ZoneKind: full.ZoneKind, CABundle: full.CABundle}}, nil
}

// secret returns the one value that a reference names. What it says names the Secret
// and never what is in it.
func (r resolver) secret(ref v1alpha1.SecretKeyRef) (string, *controller.Outcome) {
	if r.blind {
		return "", nil
	}
	s, where, trouble := r.consenting(ref.Namespace, ref.Name)
	if trouble != nil {
		return "", trouble
	}
	value, err := dialect.ValueIn(s.Data, ref.Key)
	if err != nil {
		return "", problem(controller.ReasonSecretNotFound, "Secret %s %v.", where, err)
	}
	return value, nil
}

// named is what a reference names, for people.
func (r resolver) named(ref v1alpha1.SecretKeyRef) string {
	text := cmp.Or(ref.Namespace, r.namespace) + "/" + ref.Name
	if ref.Key != "" {
		text += ", key " + ref.Key
	}
	return text
}

// consenting returns a Secret that may be read for a Backend, and what it is called; "" is the operator's namespace.
func (r resolver) consenting(namespace, name string) (s *corev1.Secret, where string, trouble *controller.Outcome) {
	if namespace == "" {
		namespace = r.namespace
	}
	where = namespace + "/" + name
	s, err := r.secrets(namespace, name)
	switch {
	case err != nil:
		return nil, where, problem(controller.ReasonSecretNotFound,
			"Secret %s cannot be read: %v. Create it, or let the operator read Secrets of its namespace.", where, err)
	case namespace != r.namespace && s.Labels[v1alpha1.CredentialsLabel] != "true":
		return nil, where, problem(controller.ReasonSecretForbidden,
			"Secret %s is not in the operator's namespace %s and does not have the label %s: \"true\".", where, r.namespace,
			v1alpha1.CredentialsLabel)
	}
	return s, where, nil
}

func problem(reason, format string, args ...any) *controller.Outcome {
	o := controller.Not(reason, fmt.Sprintf(format, args...))
	return &o
}
