package v1beta1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// DNSZone is a zone on BIND servers: those of a cluster, those that it selects by
// their labels, or both. It has the records that name it and those that it
// selects.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Namespaced,shortName=zone;zones;dz;dzs
// +kubebuilder:metadata:annotations="helm.sh/resource-policy=keep"
// +kubebuilder:printcolumn:name="Zone",type=string,JSONPath=`.spec.zoneName`
// +kubebuilder:printcolumn:name="Provider",type=string,JSONPath=`..['clusterRef','clusterProviderRef','servedBy']`
// +kubebuilder:printcolumn:name="Records",type=integer,JSONPath=`.status.recordsCount`
// +kubebuilder:printcolumn:name="Instances",type=integer,JSONPath=`.status.bind9InstancesCount`
// +kubebuilder:printcolumn:name="TTL",type=integer,JSONPath=`.spec.ttl`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,priority=1
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type DNSZone struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the zone is called, where it is served, and its SOA.
	Spec DNSZoneSpec `json:"spec"`

	// What the operator found and published. Only the operator writes it.
	//
	// +nullable
	// +optional
	Status DNSZoneStatus `json:"status,omitzero"`
}

// DNSZoneList is a list of DNSZones.
//
// +kubebuilder:object:root=true
type DNSZoneList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []DNSZone `json:"items"`
}

// DNSZoneSpec is what a user says about a zone.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.soa) && dyn(self.soa) != null) || (has(self.soaRecord) && dyn(self.soaRecord) != null)`,message="a DNSZone needs soa (or soaRecord, which is another form of it)"
// +kubebuilder:validation:XValidation:rule=`!has(self.clusterRef) || dyn(self.clusterRef) == null || size(self.clusterRef) == 0 || !has(self.clusterProviderRef) || dyn(self.clusterProviderRef) == null || size(self.clusterProviderRef) == 0 || self.clusterRef == self.clusterProviderRef`,message="clusterRef and clusterProviderRef are two forms of one field and name different clusters; remove one of them"
// +kubebuilder:validation:XValidation:rule=`!has(self.soa) || dyn(self.soa) == null || !has(self.soaRecord) || dyn(self.soaRecord) == null || self.soaRecord.primaryNs.lowerAscii() in [self.soa.primaryNameServer.lowerAscii(), self.soa.primaryNameServer.lowerAscii() + '.'] || self.soaRecord.primaryNs.lowerAscii() + '.' == self.soa.primaryNameServer.lowerAscii()`,message="soa.primaryNameServer and soaRecord.primaryNs differ; remove one of soa and soaRecord, or make them equal"
// +kubebuilder:validation:XValidation:rule=`!has(self.soa) || dyn(self.soa) == null || !has(self.soaRecord) || dyn(self.soaRecord) == null || self.soaRecord.adminEmail.replace('@', '.').replace('\\', "").lowerAscii() in [self.soa.adminEmail.replace('@', '.').replace('\\', "").lowerAscii(), self.soa.adminEmail.replace('@', '.').replace('\\', "").lowerAscii() + '.'] || self.soaRecord.adminEmail.replace('@', '.').replace('\\', "").lowerAscii() + '.' == self.soa.adminEmail.replace('@', '.').replace('\\', "").lowerAscii()`,message="soa.adminEmail and soaRecord.adminEmail differ; remove one of soa and soaRecord, or make them equal"
// +kubebuilder:validation:XValidation:rule=`!has(self.soa) || dyn(self.soa) == null || !has(self.soaRecord) || dyn(self.soaRecord) == null || ((!has(self.soa.serial) || dyn(self.soa.serial) == null || !has(self.soaRecord.serial) || dyn(self.soaRecord.serial) == null || self.soa.serial == self.soaRecord.serial) && (!has(self.soa.refresh) || dyn(self.soa.refresh) == null || !has(self.soaRecord.refresh) || dyn(self.soaRecord.refresh) == null || self.soa.refresh == self.soaRecord.refresh) && (!has(self.soa.retry) || dyn(self.soa.retry) == null || !has(self.soaRecord.retry) || dyn(self.soaRecord.retry) == null || self.soa.retry == self.soaRecord.retry) && (!has(self.soa.expire) || dyn(self.soa.expire) == null || !has(self.soaRecord.expire) || dyn(self.soaRecord.expire) == null || self.soa.expire == self.soaRecord.expire) && (!has(self.soa.negativeTtl) || dyn(self.soa.negativeTtl) == null || !has(self.soaRecord.negativeTtl) || dyn(self.soaRecord.negativeTtl) == null || self.soa.negativeTtl == self.soaRecord.negativeTtl))`,message="the numbers in soa and soaRecord differ; remove one of the two, or make them equal"
type DNSZoneSpec struct {
	// The name of the zone: labels of letters, digits and hyphens, without a dot
	// at the end.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches(r'^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?$')`,message="a zone's name has no dot at its end and consists of labels of at most 63 letters, digits and hyphens, of which the hyphens are inside"
	// +kubebuilder:validation:XValidation:rule=`!isIP(self)`,message="a zone's name is no address; the zone of the addresses of 192.0.2.0/24 is 2.0.192.in-addr.arpa"
	ZoneName string `json:"zoneName"`

	// The SOA. The operator gives it its serial.
	//
	// +nullable
	// +optional
	SOA *SOA `json:"soa,omitempty"`

	// Another form of soa.
	//
	// +nullable
	// +optional
	SOARecord *SOARecord `json:"soaRecord,omitempty"`

	// Time-to-live, in seconds, of records that have none of their own. Default:
	// that of the SOA, else 300.
	//
	// +nullable
	// +optional
	TTL *Seconds `json:"ttl,omitempty"`

	// The servers of this cluster have the zone: a Bind9Cluster of this namespace,
	// else the cluster that the ClusterBind9Provider of this name has here.
	//
	// +kubebuilder:validation:MaxLength=253
	// +nullable
	// +optional
	ClusterRef string `json:"clusterRef,omitempty"`

	// An older form of clusterRef for a ClusterBind9Provider.
	//
	// +kubebuilder:validation:MaxLength=253
	// +nullable
	// +optional
	ClusterProviderRef string `json:"clusterProviderRef,omitempty"`

	// Bind9Instances that have the zone as well, by their labels: those that one
	// of the selectors selects, in its namespaces.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +nullable
	// +optional
	Bind9InstancesFrom []InstanceSelection `json:"bind9InstancesFrom,omitempty"`

	// Records of this namespace that are in the zone besides those that name it:
	// those that one of the selectors selects.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +nullable
	// +optional
	RecordsFrom []Selection `json:"recordsFrom,omitempty"`

	// Name servers of the zone besides the one in the SOA, and their addresses.
	//
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +nullable
	// +optional
	NameServers []NameServer `json:"nameServers,omitempty"`

	// Addresses of name servers by name; an older form of nameServers.
	//
	// +kubebuilder:validation:MaxProperties=32
	// +kubebuilder:validation:XValidation:rule=`self.all(host, size(host) <= 254 && host.matches(r'^([A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.?$') && isIP(self[host]))`,message="nameServerIps has names of name servers, and an IP address for each"
	// +nullable
	// +optional
	NameServerIPs map[string]NameServerIP `json:"nameServerIps,omitempty"`

	// The addresses that a name server in the zone gets if it has none, of both
	// families: ClusterIP, those of the servers' Services inside the cluster;
	// LoadBalancer, the external ones of the Services; Node, those of the nodes that
	// the pods run on. Default: ClusterIP.
	//
	// +listType=set
	// +kubebuilder:validation:MaxItems=3
	// +nullable
	// +optional
	AddressTypes []AddressType `json:"addressTypes,omitempty"`

	// The policy that the zone is signed with: that of its servers by its name, or
	// `default`, which is BIND's own. With `none` or `insecure` it is not signed.
	// Default: that of the servers.
	//
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`
	// +nullable
	// +optional
	DNSSECPolicy string `json:"dnssecPolicy,omitempty"`
}

// AddressType is a kind of address at which a server is reached.
//
// +kubebuilder:validation:Enum=ClusterIP;LoadBalancer;Node
type AddressType string

// The types of addresses.
const (
	AddressClusterIP    AddressType = "ClusterIP"
	AddressLoadBalancer AddressType = "LoadBalancer"
	AddressNode         AddressType = "Node"
)

// NameServerIP is the address of a name server.
//
// +kubebuilder:validation:MaxLength=45
type NameServerIP string

// Selection selects objects by their labels.
type Selection struct {
	// All of its requirements must be met. An empty one selects everything.
	Selector metav1.LabelSelector `json:"selector"`
}

// InstanceSelection selects Bind9Instances by their labels, in some namespaces.
type InstanceSelection struct {
	Selection `json:",inline"`

	// The namespaces in which instances are selected. Default: that of the DNSZone.
	// An instance of another namespace has the zone only if its annotation
	// bindy.firestoned.io/allow-zone-namespaces allows it, too.
	//
	// +listType=set
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +nullable
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// What instances of other namespaces may do for the zone besides answering for
	// it. Default: nothing. Those of its own namespace may do all of it.
	//
	// +listType=set
	// +kubebuilder:validation:MaxItems=2
	// +nullable
	// +optional
	Usages []InstanceUsage `json:"usages,omitempty"`
}

// InstanceUsage is something that an instance may do for a zone besides answering
// for it. Addresses: name servers in the zone that have no address get its
// own. Signing: it may be the one that signs the zone, with keys that are in its
// namespace.
//
// +kubebuilder:validation:Enum=Addresses;Signing
type InstanceUsage string

// The usages of an instance.
const (
	UsageAddresses InstanceUsage = "Addresses"
	UsageSigning   InstanceUsage = "Signing"
)

// SOA is the start of authority of a zone. The names are absolute, with or
// without a dot at the end.
type SOA struct {
	// The primary name server.
	PrimaryNameServer HostName `json:"primaryNameServer"`

	// The mailbox of the zone's administrator, with a dot or an `@` after its
	// first part.
	AdminEmail Mailbox `json:"adminEmail"`

	// The time-to-live of the SOA in seconds. Default: the zone's ttl, else 300.
	//
	// +nullable
	// +optional
	TTL *Seconds `json:"ttl,omitempty"`

	SOATimes `json:",inline"`
}

// SOARecord is another form of SOA.
type SOARecord struct {
	// The primary name server.
	PrimaryNS HostName `json:"primaryNs"`

	// The mailbox of the zone's administrator, with a dot or an `@` after its
	// first part.
	AdminEmail Mailbox `json:"adminEmail"`

	SOATimes `json:",inline"`
}

// Mailbox is a mail address as a name: `admin.example.com` or
// `admin@example.com`. In a name, a dot in the part before the @ has a backslash
// before it (RFC 1035 §5.1): john.doe@example.com is john\.doe.example.com.
//
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=254
// +kubebuilder:validation:XValidation:rule=`self.matches(r'^[A-Za-z0-9_]([A-Za-z0-9_+-]{0,61}[A-Za-z0-9_])?((\\?\.[A-Za-z0-9_]([A-Za-z0-9_+-]{0,61}[A-Za-z0-9_])?)*@[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*|(\\\.[A-Za-z0-9_]([A-Za-z0-9_+-]{0,61}[A-Za-z0-9_])?)*(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*)?)\.?$')`,message="adminEmail is a mailbox written as admin.example.com or admin@example.com, of letters, digits, hyphens, + and _; as a name, with a backslash before each dot that is before the @"
type Mailbox string

// SOATimes are the numbers of a SOA.
type SOATimes struct {
	// The operator starts above it once, and counts on from there.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=4294967295
	// +nullable
	// +optional
	Serial *int64 `json:"serial,omitempty"`

	// Seconds after which a secondary asks for the SOA again. Default 3600.
	//
	// +nullable
	// +optional
	Refresh *Interval `json:"refresh,omitempty"`

	// Seconds after which a secondary that got no answer asks again. Default 600.
	//
	// +nullable
	// +optional
	Retry *Interval `json:"retry,omitempty"`

	// Seconds after which a secondary that got no answer stops serving the zone.
	// Default 604800.
	//
	// +nullable
	// +optional
	Expire *Interval `json:"expire,omitempty"`

	// Seconds for which resolvers may remember that a name does not exist, if the
	// SOA's own time-to-live is not less. Default 86400.
	//
	// +nullable
	// +optional
	NegativeTTL *Seconds `json:"negativeTtl,omitempty"`
}

// NameServer is a name server of a zone.
type NameServer struct {
	// Its name, with or without a dot at the end; absolute either way.
	Hostname HostName `json:"hostname"`

	// Its IPv4 address, where it is in the zone.
	//
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule=`isIP(self) && ip(self).family() == 4`,message="ipv4Address must be an IPv4 address such as 192.0.2.1"
	// +nullable
	// +optional
	IPv4Address string `json:"ipv4Address,omitempty"`

	// Its IPv6 address, where it is in the zone.
	//
	// +kubebuilder:validation:MaxLength=45
	// +kubebuilder:validation:XValidation:rule=`isIP(self) && ip(self).family() == 6`,message="ipv6Address must be an IPv6 address such as 2001:db8::1"
	// +nullable
	// +optional
	IPv6Address string `json:"ipv6Address,omitempty"`
}
