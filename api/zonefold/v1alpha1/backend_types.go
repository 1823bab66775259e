package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Backend is a place that zones are delivered to: a name server, or a service
// that hosts zones.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=zb
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Type",type=string,JSONPath=`.status.type`
// +kubebuilder:printcolumn:name="Default",type=boolean,JSONPath=`.spec.default`
// +kubebuilder:printcolumn:name="Mode",type=string,JSONPath=`.spec.mode`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Backend struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Where zones go, which zones, and how.
	Spec BackendSpec `json:"spec"`

	// What the operator found. Only the operator writes it.
	//
	// +optional
	Status BackendStatus `json:"status,omitzero"`
}

// BackendList is a list of Backends.
//
// +kubebuilder:object:root=true
type BackendList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Backend `json:"items"`
}

// BackendSpec is what a user says about a place for zones. It names exactly one
// kind of server. A kind that this operator does not know how to serve makes
// the Backend not ready, reason NotSupported.
//
// +kubebuilder:validation:XValidation:rule=`[has(self.embedded), has(self.rfc2136), has(self.powerdns), has(self.bind9), has(self.dnsClass), has(self.provider)].filter(set, set).size() == 1`,message="a Backend is exactly one of embedded, rfc2136, powerdns, bind9, dnsClass and provider"
// +kubebuilder:validation:XValidation:rule=`!has(self.registries) || size(self.registries) == 0 || has(self.rfc2136) || has(self.powerdns) || has(self.provider)`,message="only rfc2136, powerdns and provider have registries: the other kinds own their zones, or do not show them"
// +kubebuilder:validation:XValidation:rule=`!has(self.registries) || size(self.registries) == 0 || !has(self.foreign) || self.foreign == 'Keep'`,message="registries need foreign: Keep, as Delete removes what other owners have"
// +kubebuilder:validation:XValidation:rule=`!has(self.registries) || self.registries.filter(registry, has(registry.write) && registry.write).size() <= 1`,message="at most one of the registries is written"
// +kubebuilder:validation:XValidation:rule=`!has(self.registries) || self.registries.filter(registry, has(registry.dynamoDB)).size() <= 1`,message="at most one of the registries is in DynamoDB"
// +kubebuilder:validation:XValidation:rule=`!has(self.protection) || !has(self.protection.policy) || self.protection.policy == 'Sync' || !has(self.embedded)`,message="embedded takes no protection.policy but Sync: it begins empty whenever the operator starts, and has only what is wanted then"
type BackendSpec struct {
	// The operator itself answers for the zones.
	//
	// +optional
	Embedded *Embedded `json:"embedded,omitempty"`

	// Name servers that take dynamic updates (RFC 2136).
	//
	// +optional
	RFC2136 *RFC2136 `json:"rfc2136,omitempty"`

	// A PowerDNS server, by its HTTP API.
	//
	// +optional
	PowerDNS *PowerDNS `json:"powerdns,omitempty"`

	// A Bind9Cluster (bindy.firestoned.io) of this Kubernetes cluster.
	//
	// +optional
	Bind9 *Bind9 `json:"bind9,omitempty"`

	// The servers of a DNSClass (dns.homelab.mortenolsen.pro).
	//
	// +optional
	DNSClass *DNSClass `json:"dnsClass,omitempty"`

	// A cloud service that hosts zones.
	//
	// +optional
	Provider *Provider `json:"provider,omitempty"`

	// Whether Zones without backendRefs are delivered here. Several Backends may
	// say so; such a Zone goes to all of them. Default false.
	//
	// +kubebuilder:default=false
	// +optional
	Default bool `json:"default,omitempty"`

	// Who may have which zones here. With grants, a root Zone (one that no other
	// Zone encloses or delegates) is accepted only if a grant gives its name to
	// its namespace (else NotGranted), and this Backend serves nobody else. Without
	// grants on any Backend, the first Zone of a name has it, unless the operator
	// requires grants. The root and public suffixes need one always, with a pattern
	// that has no "*". An empty list is no grants.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	// +optional
	Grants []Grant `json:"grants,omitempty"`

	// What happens to record sets on the server that zonefold never wrote. Keep
	// (the default) leaves them, also the server's name servers at the apex.
	// Delete removes them. It has no effect with embedded and bind9, which own
	// their zones, nor with dnsClass, whose servers list nothing: foreign sets stay
	// there. What a server makes itself (signatures, keys) always stays.
	//
	// +kubebuilder:default=Keep
	// +optional
	Foreign ForeignPolicy `json:"foreign,omitempty"`

	// The registries of the external-dns that write to the same zones: one entry
	// for each set of their flags. A set that a registry gives to an owner stays
	// the owner's, even if a Record asks for it. Needs foreign: Keep.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=8
	// +optional
	Registries []Registry `json:"registries,omitempty"`

	// Sync (the default) changes the server. Observe computes the difference and
	// reports it, and writes nothing.
	//
	// +kubebuilder:default=Sync
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// Holds deletions that look like a mistake. Without it, every deletion is made;
	// `{}` has the defaults.
	//
	// +optional
	Protection *Protection `json:"protection,omitempty"`

	// How often the server's content is compared as a whole, to find what
	// somebody else changed, as in `30m`; the moment is spread at random. At
	// least `1s`. Default: the operator's `--audit-interval`, which is `1h`. Changes
	// of objects never wait for it.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule=`duration(self) >= duration('1s')`,message="auditInterval must be at least 1s"
	// +optional
	AuditInterval *metav1.Duration `json:"auditInterval,omitempty"`

	// How long after its deletion a Zone waits for servers that cannot be reached, as in
	// `1h`. Then it goes, and what is left behind is listed in status.leftBehind and
	// removed when they can be reached. At least `1s`. Default `15m`. A Zone whose
	// servers answer, or whose deletion is held by the protection, does not go by time.
	//
	// +kubebuilder:validation:Type=string
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
	// +kubebuilder:validation:XValidation:rule=`duration(self) >= duration('1s')`,message="leaveBehindAfter must be at least 1s"
	// +optional
	LeaveBehindAfter *metav1.Duration `json:"leaveBehindAfter,omitempty"`
}

// ForeignPolicy says what happens to what zonefold never wrote.
//
// +kubebuilder:validation:Enum=Keep;Delete
type ForeignPolicy string

const (
	// ForeignKeep leaves foreign sets alone.
	ForeignKeep ForeignPolicy = "Keep"
	// ForeignDelete removes them.
	ForeignDelete ForeignPolicy = "Delete"
)

// Mode says whether a Backend is written to.
//
// +kubebuilder:validation:Enum=Sync;Observe
type Mode string

const (
	// ModeSync makes the server's content what the zones ask.
	ModeSync Mode = "Sync"
	// ModeObserve only reports the difference.
	ModeObserve Mode = "Observe"
)

// Grant gives zones to namespaces: each of its zones to each of its namespaces.
//
// +kubebuilder:validation:XValidation:rule=`has(self.namespaces) != has(self.namespaceSelector)`,message="a grant has either namespaces or a namespaceSelector (an empty one selects every namespace)"
type Grant struct {
	// The namespaces, by name.
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// The namespaces, by their labels. `{}` is every namespace.
	//
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// Patterns of the names of the zones, with a trailing dot: `example.org.`,
	// `*.example.org.` (everything below, not example.org. itself).
	//
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.all(zone, zone.endsWith('.'))`,message="the zones of a grant are absolute: end each with a dot"
	Zones []string `json:"zones"`
}

// Bind9 delivers to a Bind9Cluster.
type Bind9 struct {
	// The Bind9Cluster.
	ClusterRef ClusterRef `json:"clusterRef"`
}

// ClusterRef names a Bind9Cluster.
type ClusterRef struct {
	// Name of the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace"`
}

// DNSClass delivers to the servers of a DNSClass.
type DNSClass struct {
	// Name of the DNSClass object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Provider is a cloud service that hosts zones.
type Provider struct {
	// Which service, for example `aws-route53`.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	Type string `json:"type"`

	// The credentials. Without it, those of the operator's surroundings are
	// used, where the service has such.
	//
	// +optional
	SecretRef *SecretRef `json:"secretRef,omitempty"`

	// The region, where the service has such.
	//
	// +kubebuilder:validation:MaxLength=253
	// +optional
	Region string `json:"region,omitempty"`

	// Settings that only this service has.
	//
	// +kubebuilder:validation:MaxProperties=64
	// +optional
	Config map[string]string `json:"config,omitempty"`
}

// BackendStatus is what the operator says about a Backend.
type BackendStatus struct {
	// Which kind of server the spec names, for example `rfc2136`.
	//
	// +optional
	Type string `json:"type,omitempty"`

	// How many Zones are delivered here.
	//
	// +optional
	Zones int32 `json:"zones,omitempty"`

	// What Zones have left behind that went before they could be withdrawn: at most
	// 1,000. An entry goes when its sets are removed, or wanted by another Zone of
	// the name. If you remove an entry by hand, its sets stay where they are.
	//
	// +listType=map
	// +listMapKey=fqdn
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=1000
	// +optional
	LeftBehind []LeftBehind `json:"leftBehind,omitempty"`

	// The metadata.generation of the Backend that this status describes.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready: the Backend can be used. Reasons when it is not: NotSupported,
	// InvalidSpec, SecretNotFound (or no such key in it), SecretForbidden (it does
	// not consent), NotAuthorised, Unavailable, Throttled (the service asks to
	// wait), NoSuchZone (there is no hosted zone with the ID in config.zone),
	// Pending (nothing is known of it yet).
	//
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
