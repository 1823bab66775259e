package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Zone is a part of the DNS namespace: either a domain of its own, or a
// sub-zone of another Zone. It adopts the Records and sub-zones that its
// delegations allow.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=kz
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Domain Name",type=string,JSONPath=`.spec.domainName`
// +kubebuilder:printcolumn:name="FQDN",type=string,JSONPath=`.status.fqdn`
// +kubebuilder:printcolumn:name="Hash",type=string,JSONPath=`.status.hash`,priority=1
// +kubebuilder:printcolumn:name="Serial",type=integer,JSONPath=`.status.serial`
// +kubebuilder:printcolumn:name="Parent",type=string,JSONPath=`.metadata.labels.kubi\.zone/parent-zone`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type Zone struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the zone is called, who may write into it, and its SOA.
	Spec ZoneSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status ZoneStatus `json:"status,omitzero"`
}

// ZoneList is a list of Zones.
//
// +kubebuilder:object:root=true
type ZoneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Zone `json:"items"`
}

// ZoneSpec is what a user says about a zone.
//
// An error in evaluating a rule, unlike a rule that is not met, would also block
// changes that leave a stored spec as it is, those of the status among them: integers
// overflow, and a stored spec may lack what is required.
//
// +kubebuilder:validation:XValidation:rule=`!has(self.domainName) || self.domainName.matches(r'(^|[^\\])(\\\\)*\.$') || (has(self.zoneRef) && self.zoneRef != null)`,message="domainName is relative, so zoneRef must name the parent Zone; to make it fully qualified, end it with a dot"
// +kubebuilder:validation:XValidation:rule=`!has(self.domainName) || !self.domainName.matches(r'(^|[^\\])(\\\\)*\.$') || !has(self.zoneRef) || self.zoneRef == null`,message="domainName is fully qualified, so zoneRef must be absent; to make it relative to zoneRef, remove the trailing dot"
// +kubebuilder:validation:XValidation:rule=`self.retry < self.refresh`,message="retry (default 7200) must be less than refresh (default 86400)"
// +kubebuilder:validation:XValidation:rule=`double(self.expire) - double(self.refresh) > double(self.retry)`,message="expire (default 3600000) must be greater than refresh (default 86400) and retry (default 7200) together"
// +kubebuilder:validation:XValidation:rule=`!has(self.reverse) || !has(self.domainName) || !self.domainName.matches(r'(^|[^\\])(\\\\)*\.$') || self.domainName.matches(r'(?i)(^|[^\\]\.)(in-addr|ip6)\.arpa\.$')`,message="reverse is for the names of addresses, so domainName must be in-addr.arpa. or ip6.arpa., or end in one of the two"
type ZoneSpec struct {
	// Either a fully qualified name with a trailing dot (`example.org.`), or a
	// partial name (`dev`) to which the parent's name is added; the latter needs
	// zoneRef. `.` is the root. Escapes of RFC 1035 §5.1 and Unicode labels are
	// accepted. What is no domain name is not accepted, reason InvalidName; a name
	// that an older Zone has, DuplicateZone.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	DomainName string `json:"domainName"`

	// The Zone to whose name a partial domainName is added. A Zone has either a
	// fully qualified domainName or a zoneRef. Its parent, whose delegations decide,
	// is found by name either way: it is the nearest Zone above, even if zoneRef
	// names another one. If that Zone is of the same namespace and has no rule for
	// this one, this Zone is independent and has no parent; a warning says so,
	// reason Undelegated. Reasons not to be accepted: ReferenceNotFound,
	// ReferenceCycle, ParentUnresolved, ParentNotAccepted, NotDelegated.
	//
	// +nullable
	// +optional
	ZoneRef *ZoneRef `json:"zoneRef,omitempty"`

	// Rules by which this zone adopts records and sub-zones. A Record that no rule
	// allows is not adopted, reason NotDelegated, not even one of the Zone's own
	// namespace. Nor is a Zone, which is accepted as an independent one if it is of
	// that namespace. Default: no rules. A rule with an unknown field or a bad
	// pattern grants nothing; the Zone's warning says so, reason InvalidRule. The
	// rules beyond 4096 rules, namespaces, patterns and types together grant
	// nothing either.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=4096
	// +kubebuilder:default={}
	// +optional
	Delegations []Delegation `json:"delegations,omitempty"`

	// Time-to-live, in seconds, of records that have none of their own, and of
	// the SOA. Default 360.
	//
	// +kubebuilder:default=360
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	TTL *Number `json:"ttl,omitempty"`

	// Seconds after which a secondary asks for the SOA again. Default 86400.
	//
	// +kubebuilder:default=86400
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	Refresh *Number `json:"refresh,omitempty"`

	// Seconds after which a secondary that got no answer asks again. Less than
	// refresh; a stored Zone where it is not is served with a warning, reason
	// InvalidTimers. Default 7200.
	//
	// +kubebuilder:default=7200
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	Retry *Number `json:"retry,omitempty"`

	// Seconds after which a secondary that got no answer stops serving the zone.
	// Greater than refresh and retry together; a stored Zone where it is not is
	// served with a warning, reason InvalidTimers. Default 3600000.
	//
	// +kubebuilder:default=3600000
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	Expire *Number `json:"expire,omitempty"`

	// Seconds for which resolvers may remember that a name does not exist, if
	// the SOA's own time-to-live is not less. Default 360.
	//
	// +kubebuilder:default=360
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483647
	// +optional
	NegativeResponseCache *Number `json:"negativeResponseCache,omitempty"`

	// The primary name server in the SOA, fully qualified. Default: the first
	// name server of the zone's apex, else `ns.` in the zone.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'(^|[^\\])(\\\\)*\.$')`,message="mname must be fully qualified: end it with a dot"
	// +optional
	MName string `json:"mname,omitempty"`

	// The mailbox of the zone's administrator in the SOA, as a fully qualified
	// domain name (`hostmaster.example.org.`; a dot before the `@` is escaped,
	// `first\.last.example.org.`). Default: `hostmaster.` in the zone.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'(^|[^\\])(\\\\)*\.$')`,message="rname must be fully qualified: end it with a dot, and write a dot instead of the @"
	// +optional
	RName string `json:"rname,omitempty"`

	// Derives a PTR record for each address in the zone that accepted A and AAAA
	// records have, whatever objects these come from. Only zones under in-addr.arpa
	// and ip6.arpa can have them; others get a warning, reason NotReverse. Only the
	// most specific Zone is asked. An existing PTR, CNAME or NS record comes first.
	//
	// +optional
	Reverse *Reverse `json:"reverse,omitempty"`

	// The Backends that serve the zone. Default: those marked `default`. A
	// Backend that does not exist or cannot be used, or whose grants do not
	// include this Zone, keeps Served from being True; the others are not
	// affected. A Zone without any Backend is not served, reason NoBackend.
	//
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=32
	// +optional
	BackendRefs []BackendRef `json:"backendRefs,omitempty"`

	// Unread is what could not be read. It is not written back.
	Unread Unread `json:"-"`
}

// Reverse says which names the PTR records of a zone lead to.
type Reverse struct {
	// The namespaces of the A and AAAA records. `*` stands for all. Default: that of the Zone.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=1024
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +optional
	From []string `json:"from,omitempty"`

	// Which PTR an address with several names gets. `oldest`, which is the default:
	// the one to the name of the oldest object.
	//
	// +kubebuilder:validation:Enum=oldest
	// +optional
	Conflict string `json:"conflict,omitempty"`
}

// ReverseOldest is the value of conflict that prefers the oldest object.
const ReverseOldest = "oldest"

// ZoneRef names a Zone by its object's name.
type ZoneRef struct {
	// Name of the Zone object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Zone object. Default: the namespace of the object that
	// has the reference.
	//
	// +nullable
	// +kubebuilder:validation:MaxLength=63
	// +optional
	Namespace string `json:"namespace,omitempty"`
}

// NamespaceOr returns the namespace that is referred to from an object in the
// namespace own.
func (r ZoneRef) NamespaceOr(own string) string {
	if r.Namespace == "" {
		return own
	}
	return r.Namespace
}

// BackendRef names a Backend, which is cluster-scoped.
type BackendRef struct {
	// Name of the Backend object.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// ZoneNumbers are the numbers of a Zone with its defaults filled in. They are
// in seconds and not validated: in an object stored under an older schema they
// may lie outside of 0…2147483647.
type ZoneNumbers struct {
	TTL, Refresh, Retry, Expire, NegativeResponseCache int64
}

// Numbers returns the zone's numbers, the document's default where there is
// none: an object in a file has not passed an API server that fills them in.
func (s ZoneSpec) Numbers() ZoneNumbers {
	or := func(n *Number, def int64) int64 {
		if n == nil {
			return def
		}
		return int64(*n)
	}
	return ZoneNumbers{
		TTL:                   or(s.TTL, 360),
		Refresh:               or(s.Refresh, 86400),
		Retry:                 or(s.Retry, 7200),
		Expire:                or(s.Expire, 3600000),
		NegativeResponseCache: or(s.NegativeResponseCache, 360),
	}
}
