package v1beta1

// ACL is an address match list of BIND. An entry is `any`, `none`, `localhost`,
// `localnets`, an address, a network, `key NAME` or the name of a list in acls,
// each with an optional `!` before it.
//
// +listType=atomic
// +kubebuilder:validation:MaxItems=64
// +kubebuilder:validation:items:MaxLength=256
// +kubebuilder:validation:XValidation:rule=`self.all(e, e.matches('^!?(key [A-Za-z0-9][A-Za-z0-9._-]*|[A-Za-z][A-Za-z0-9_-]*)$') || isIP(e.startsWith('!') ? e.substring(1) : e) || isCIDR(e.startsWith('!') ? e.substring(1) : e))`,message="an entry is any, none, localhost, localnets, an address, a network, a key by its name (key NAME) or the name of a list in acls, with or without ! before it"
type ACL []string

// Addresses is a list of IP addresses.
//
// +listType=atomic
// +kubebuilder:validation:MaxItems=32
// +kubebuilder:validation:items:MaxLength=45
// +kubebuilder:validation:XValidation:rule=`self.all(a, isIP(a))`,message="these are IP addresses, without a port: 192.0.2.1 or 2001:db8::1"
type Addresses []string

// HostName is a name of letters, digits and hyphens, with or without a dot at its
// end. It is absolute either way.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=254
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?$') && (size(self) < 254 || self.endsWith('.'))`,message="a host name has at most 253 characters, in labels of at most 63 letters, digits and hyphens, of which the hyphens are inside"
type HostName string

// Target is the name that a record points to. It is fully qualified: the records
// of different zones would read a relative one differently.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=254
// +kubebuilder:validation:XValidation:rule=`self.endsWith('.')`,message="the name must be fully qualified: end it with a dot"
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^(\.|([A-Za-z0-9_]([A-Za-z0-9_/-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_/-]{0,61}[A-Za-z0-9_])?\.?)$')`,message="a name has labels of at most 63 letters, digits, underscores, hyphens and slashes, of which the last two are inside"
type Target string

// RecordName is the name of a record in its zone.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=254
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^(@|\*|(\*\.)?([A-Za-z0-9_]([A-Za-z0-9_/-]{0,61}[A-Za-z0-9_])?\.)*[A-Za-z0-9_]([A-Za-z0-9_/-]{0,61}[A-Za-z0-9_])?\.?)$')`,message="a record's name is @ for the zone itself, or labels of at most 63 letters, digits, underscores, hyphens and slashes, of which the last two are inside; the first label may be *"
type RecordName string

// ObjectName is the name of a Kubernetes object.
//
// +kubebuilder:validation:MaxLength=253
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
type ObjectName string

// Seconds is a time of the DNS. 2147483647 is the largest (RFC 2181 §8).
//
// +kubebuilder:validation:Minimum=0
// +kubebuilder:validation:Maximum=2147483647
type Seconds int64

// Interval is a time of the DNS of at least a second.
//
// +kubebuilder:validation:Minimum=1
// +kubebuilder:validation:Maximum=2147483647
type Interval int64
