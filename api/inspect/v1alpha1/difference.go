package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A ZoneDifference says how the servers of a zone differ from what is wanted. The operator reads them for the answer.
type ZoneDifference struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	// Zone is the domain name of the zone; empty if the object is refused.
	Zone string `json:"zone,omitempty"`
	// Servers are those that the operator brings the zone to, and those that follow them.
	Servers []ComparedServer `json:"servers"`
}

// A ComparedServer is how a zone stands at one of its servers.
type ComparedServer struct {
	// Backend is the object that names the server, such as a Backend or a Bind9Instance.
	Backend string `json:"backend"`
	// Server is what messages call the server.
	Server string `json:"server"`
	// Observed says that the operator writes nothing there.
	Observed bool `json:"observed,omitempty"`
	// Serial of the zone at the server; absent: it shows none.
	Serial *int64 `json:"serial,omitempty"`
	// Missing says that the server has no such zone.
	Missing bool `json:"missing,omitempty"`
	// Have are the sets that differ as the server holds them, and Want as they should be.
	Have []Set `json:"have"`
	Want []Set `json:"want"`
	// Refused are sets that are wanted and would not be written.
	Refused []RefusedSet `json:"refused,omitempty"`
	// Foreign are sets that nobody wants, and that stay.
	Foreign []Set `json:"foreign,omitempty"`
	// Message says why nothing is known; empty: the server was read.
	Message string `json:"message,omitempty"`
}

// A Set is all records of one name and type.
type Set struct {
	Name string   `json:"name"`
	Type string   `json:"type"`
	TTL  int64    `json:"ttl"`
	Data []string `json:"data"`
	// Owner by a registry of external-dns, of a foreign set.
	Owner string `json:"owner,omitempty"`
}

// A RefusedSet is one that a server does not let zonefold write.
type RefusedSet struct {
	Name   string `json:"name"`
	Type   string `json:"type"`
	Reason string `json:"reason"`
}
