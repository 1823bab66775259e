package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The group, its version, and what there is in it.
const (
	Group      = "inspect.zonefold.dev"
	Version    = "v1alpha1"
	APIVersion = Group + "/" + Version
	Kind       = "Inspection"

	// Difference is the subresource of zones that shows how their servers differ from what is wanted, and
	// DifferenceKind the kind of its answers.
	Difference     = "difference"
	DifferenceKind = "ZoneDifference"

	// APIService is the object that has the API server pass on requests for the group.
	APIService = Version + "." + Group
)

// Resource returns what the objects of a kind are called in this group: zones and records those of kubi.zone, others by
// their full names, such as dnszones.bindy.firestoned.io, since several groups have dnsrecords.
func Resource(group, plural string) string {
	if group == kubizone {
		return plural
	}
	return plural + "." + group
}

// kubizone is the group whose kinds have short names here.
const kubizone = "kubi.zone"

// Path returns the path of what is known of an object of a Resource.
func Path(namespace, resource, name string) string {
	return "/apis/" + APIVersion + "/namespaces/" + namespace + "/" + resource + "/" + name
}

// An Inspection is what the operator knows of an object, which has the same namespace and name.
type Inspection struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// Zone is the domain name of the zone that the object is, or is in; empty if the object is refused, or in none.
	Zone string `json:"zone,omitempty"`
	// Servers are the name servers, or zones of services, that the operator brings the zone, or the record, to.
	Servers []Server `json:"servers"`
}

// A Server is what the operator knows of one server of a zone.
type Server struct {
	// Backend is the object that names the server, such as a Backend, a Bind9Instance or a DNSClass.
	Backend string `json:"backend"`
	// Server is what messages call the server.
	Server string `json:"server"`
	// Serial of the zone whose content the server has confirmed.
	Serial *int64 `json:"serial,omitempty"`
	// Data, of a record, are what the server held of its set when the operator last looked; absent: that is not known.
	Data *[]string `json:"data,omitempty"`
	// Reason and Message say why the server is behind.
	Reason  string `json:"reason,omitempty"`
	Message string `json:"message,omitempty"`
	// LastHeard is when the server last answered, be it that it refused.
	LastHeard *metav1.Time `json:"lastHeard,omitempty"`
	// Since is since when each attempt has failed, or none has.
	Since *metav1.Time `json:"since,omitempty"`
	// Failures counts the attempts that have failed since.
	Failures int `json:"failures,omitempty"`
	// NextTry is when the operator turns to the server again, unless something changes before.
	NextTry *metav1.Time `json:"nextTry,omitempty"`
	// Published and Confirmed are when the newest change that the server has confirmed was published, and confirmed;
	// absent if there was none since the operator leads.
	Published *metav1.MicroTime `json:"published,omitempty"`
	Confirmed *metav1.MicroTime `json:"confirmed,omitempty"`
	// Running says that it does so right now.
	Running bool `json:"running,omitempty"`
}
